//! Watching plain children: the same loop, without the walls.

mod ends;
mod floods;
mod output;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_types::Timestamp;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use super::supervise::{ProcessTree, supervise};
use super::*;

/// A child with its process group, without walls.
struct Plain {
    child: Mutex<Child>,
    group: Pid,
    pidfd: OwnedFd,
}

impl Plain {
    #[expect(
        clippy::disallowed_methods,
        reason = "the walls are not what is tested here"
    )]
    fn shell(script: &str, folder: &Path) -> (Self, [OwnedFd; 2]) {
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let pipes = [
            child.stdout.take().unwrap().into(),
            child.stderr.take().unwrap().into(),
        ];
        let group = Pid::from_child(&child);
        let pidfd = pidfd_open(group, PidfdFlags::empty()).unwrap();
        let child = Mutex::new(child);
        let tree = Self {
            child,
            group,
            pidfd,
        };
        (tree, pipes)
    }
}

impl ProcessTree for Plain {
    fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        match rustix::process::kill_process_group(self.group, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }

    fn kill_all(&self) -> io::Result<()> {
        ProcessTree::signal(self, Signal::KILL)
    }

    fn try_wait(&self) -> Option<CommandExit> {
        use std::os::unix::process::ExitStatusExt as _;
        let status = self.child.lock().unwrap().try_wait().unwrap()?;
        Some(match status.code() {
            Some(code) => CommandExit::Code(code),
            None => CommandExit::Signal(status.signal().unwrap()),
        })
    }

    fn usage(&self) -> CommandResourceUsage {
        CommandResourceUsage::default()
    }
}

/// Settings for watching a child in a test.
struct Trial {
    folder: TempDir,
    cancel: CancelToken,
    clock: Clock,
    patience: patience::CommandTimeLimits,
    graces: patience::CommandGracePeriods,
    redactor: SecretRedactor,
    head: u64,
    tail: usize,
}

impl Trial {
    /// Waits long, but gives children little time to exit after a signal.
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            cancel: CancelToken::new().unwrap(),
            clock: monotonic(),
            patience: patience::CommandTimeLimits::COMMAND,
            graces: patience::CommandGracePeriods {
                interrupt: Duration::from_millis(100),
                terminate: Duration::from_millis(100),
            },
            redactor: SecretRedactor::none(),
            head: 9 << 20,
            tail: 1 << 20,
        }
    }

    /// Gives exactly this much time.
    fn with_time(millis: u64) -> Self {
        Self {
            patience: patience::CommandTimeLimits::exactly(Duration::from_millis(millis)),
            ..Self::new()
        }
    }

    fn run(&self, script: &str) -> FinishedCommand {
        self.run_live(script, &mut |_| {})
    }

    /// Runs a command whose time starts with its first output: on a busy machine it may take
    /// long to get that far.
    fn run_timed(mut self, script: &str) -> (Self, FinishedCommand) {
        let real = monotonic();
        let begun: Arc<Mutex<Option<Duration>>> = Arc::default();
        let (reading, begins) = (real.clone(), Arc::clone(&begun));
        self.clock = Clock::new(
            || Timestamp::from_micros(0),
            move || {
                let begun = *begun.lock().unwrap();
                begun.map_or(Duration::ZERO, |begun| reading.uptime() - begun)
            },
        );
        let finished = self.run_live(script, &mut |_| {
            begins.lock().unwrap().get_or_insert(real.uptime());
        });
        (self, finished)
    }

    fn run_live(
        &self,
        script: &str,
        live: &mut dyn FnMut(LiveCommandEvent<'_>),
    ) -> FinishedCommand {
        let (tree, pipes) = Plain::shell(script, self.folder.path());
        let spool = self.folder.path().join("spool");
        std::fs::create_dir(&spool).unwrap();
        let watch = CommandWatchOptions {
            live,
            clock: self.clock.clone(),
            patience: self.patience,
            graces: self.graces,
            cancel: self.cancel.clone(),
            redactor: self.redactor.clone(),
            spool: OutputSpoolOptions {
                folder: spool,
                head: self.head,
                tail: self.tail,
            },
            excerpt: excerpt::OutputExcerptLimits::default(),
        };
        let files = watch.spool.open().unwrap();
        supervise(&tree, pipes, files, watch).unwrap()
    }

    /// Creates a named pipe in the child's folder.
    fn fifo(&self, name: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }
}

fn monotonic() -> Clock {
    Clock::new(
        || Timestamp::from_micros(0),
        || Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap(),
    )
}

/// Returns a clock that only the test moves.
fn hand_clock() -> (Clock, Arc<Mutex<Duration>>) {
    let time = Arc::new(Mutex::new(Duration::ZERO));
    let reading = Arc::clone(&time);
    let clock = Clock::new(
        || Timestamp::from_micros(0),
        move || *reading.lock().unwrap(),
    );
    (clock, time)
}

fn text(output: &CommandOutput) -> String {
    std::fs::read_to_string(&output.spooled.path).unwrap()
}
