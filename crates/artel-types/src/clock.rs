//! Time, passed in as a value.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::Timestamp;

/// A source of time with two readings: the wall clock, which may jump, and the time since
/// the machine started, which never does. Durations are measured with the second.
#[derive(Clone)]
pub struct Clock {
    wall: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl Clock {
    /// Creates a clock from its two readings.
    pub fn new(
        wall: impl Fn() -> Timestamp + Send + Sync + 'static,
        uptime: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        Self {
            wall: Arc::new(wall),
            uptime: Arc::new(uptime),
        }
    }

    /// Creates a clock that always shows `at`.
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at, || Duration::ZERO)
    }

    /// Returns the current wall-clock time.
    pub fn now(&self) -> Timestamp {
        (self.wall)()
    }

    /// Returns the time since the machine started. It never goes backwards.
    pub fn uptime(&self) -> Duration {
        (self.uptime)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
