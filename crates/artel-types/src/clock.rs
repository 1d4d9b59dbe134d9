//! Time as a value that is handed in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::Timestamp;

/// Tells the time. Two readings: the wall clock, which jumps, and the time since the machine
/// started, which does not; durations are measured with the second.
#[derive(Clone)]
pub struct Clock {
    wall: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// Makes a clock from its two readings.
    pub fn new(
        wall: impl Fn() -> Timestamp + Send + Sync + 'static,
        uptime: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        Self {
            wall: Arc::new(wall),
            uptime: Arc::new(uptime),
        }
    }

    /// Makes a clock that stands still.
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at, || Duration::ZERO)
    }

    /// Returns the wall clock's reading.
    pub fn now(&self) -> Timestamp {
        (self.wall)()
    }

    /// Returns the time since the machine started; it never goes back.
    pub fn uptime(&self) -> Duration {
        (self.uptime)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
