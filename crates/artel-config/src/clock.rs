//! The machine's clock. All other code is handed a clock.

use std::time::Duration;

use artel_types::{Clock, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// Returns the clock of this machine. Its uptime also counts while the machine sleeps, so
/// that a lease does not outlive a closed lid.
pub fn system_clock() -> Clock {
    Clock::new(
        || {
            let now = clock_gettime(ClockId::Realtime);
            Timestamp::from_micros(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)
        },
        || {
            let up = clock_gettime(ClockId::Boottime);
            Duration::new(
                up.tv_sec.cast_unsigned(),
                u32::try_from(up.tv_nsec).unwrap_or(0),
            )
        },
    )
}
