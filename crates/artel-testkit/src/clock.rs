//! A clock that stands still until the test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use artel_types::{Clock, Timestamp};

/// A clock whose two readings are under the test's control.
#[derive(Debug, Clone)]
pub struct ManualClock {
    wall: Arc<AtomicI64>,
    uptime: Arc<AtomicU64>,
}

impl ManualClock {
    /// Starts at the given moment.
    pub fn at(moment: &str) -> Self {
        let moment: Timestamp = moment
            .parse()
            .expect("a moment such as 2026-11-15T08:00:00Z");
        Self {
            wall: Arc::new(AtomicI64::new(moment.as_micros())),
            uptime: Arc::new(AtomicU64::new(1_000_000)),
        }
    }

    /// Advances both readings.
    pub fn pass(&self, span: Duration) {
        let micros = u64::try_from(span.as_micros()).expect("a span within reason");
        self.wall.fetch_add(micros.cast_signed(), Ordering::SeqCst);
        self.uptime.fetch_add(micros, Ordering::SeqCst);
    }

    /// Moves only the wall clock, as a person or a time server does.
    pub fn jump(&self, micros: i64) {
        self.wall.fetch_add(micros, Ordering::SeqCst);
    }

    /// Returns the clock to pass in.
    pub fn clock(&self) -> Clock {
        let (wall, uptime) = (Arc::clone(&self.wall), Arc::clone(&self.uptime));
        Clock::new(
            move || Timestamp::from_micros(wall.load(Ordering::SeqCst)),
            move || Duration::from_micros(uptime.load(Ordering::SeqCst)),
        )
    }
}

/// Returns the machine's own clock, for child processes that race each other.
pub fn system_clock() -> Clock {
    artel_config::system_clock()
}
