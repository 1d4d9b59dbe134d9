//! Tests with processes that obey signals and processes that do not.

use std::process::{Child, Command, Stdio};

use super::*;

/// A process that is killed at the end of the test.
struct Process(Child);

impl Process {
    #[expect(clippy::disallowed_methods, reason = "a process to end")]
    fn start() -> Self {
        let mut sleep = Command::new("sleep");
        Self(sleep.arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn handle(&self) -> OwnedFd {
        let pid = Pid::from_raw(self.0.id().cast_signed()).unwrap();
        pidfd_open(pid, PidfdFlags::empty()).unwrap()
    }

    fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()));
        stat.unwrap().contains(") T ")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test]
async fn one_that_listens_ends_and_one_that_does_not_is_still_there() {
    let (listens, sleeps) = (Process::start(), Process::start());
    let (one, other) = (listens.handle(), sleeps.handle());
    pidfd_send_signal(&other, Signal::STOP).unwrap();
    // Of two pending signals, the lower number is delivered first.
    while !sleeps.is_stopped() {
        std::thread::yield_now();
    }
    for process in [&one, &other] {
        pidfd_send_signal(process, Signal::TERM).unwrap();
    }
    assert!(has_ended(&one, CLEARING).await);
    assert!(!has_ended(&other, LOOK).await);
    pidfd_send_signal(&other, Signal::KILL).unwrap();
    assert!(has_ended(&other, CLEARING).await);
}
