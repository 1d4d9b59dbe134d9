//! Readings from the system: the clock that all processes share, and the resources of this
//! process.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time in nanoseconds, which is the same in all processes of the machine.
pub(crate) fn now() -> u64 {
    nanos(ClockId::Monotonic)
}

/// Returns the processor time of this process in nanoseconds.
pub(crate) fn work() -> u64 {
    nanos(ClockId::ProcessCPUTime)
}

/// Returns the memory of this process in bytes.
pub(crate) fn memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .unwrap();
    kib * 1_024.0
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
}
