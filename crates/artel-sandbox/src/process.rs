//! A started command as seen by its starting process: signals go in, the exit comes out.
//!
//! The direct child is the starter. It ends only after every process of the tree has
//! ended, so once its end is seen, nothing of the tree survives.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::control::{self, SandboxStarterMessage};
use crate::error::SandboxError;
use crate::level::SandboxLayer;

/// The way a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandExit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It never ran: a wall could not be built, or the program could not be started.
    NotStarted {
        /// The step that failed: `user namespace`, `view`, `program`, …
        step: String,
        /// The reason, fit for a person.
        why: String,
    },
}

/// Resources used by a command and everything it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandResourceUsage {
    /// Peak memory in bytes: of the tree if a cgroup counts it, otherwise of its largest
    /// process.
    pub peak_memory: u64,
    /// Processor time.
    pub cpu: Duration,
    /// The limit that was reached, if any.
    pub limited: Option<ExceededCommandLimit>,
}

/// A limit that a command reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceededCommandLimit {
    /// Memory: the kernel ended its largest process.
    Memory,
    /// The number of processes and threads: starting another failed.
    Processes,
    /// The size of a file, or of all that was written.
    FileSize,
    /// The number of files.
    Files,
    /// Processor time.
    CpuTime,
}

/// A running command. Dropping it ends the whole tree.
#[derive(Debug)]
pub struct SandboxedProcess {
    pidfd: OwnedFd,
    control: OwnedFd,
    state: Mutex<SandboxedProcessState>,
}

/// The starter's reports so far.
#[derive(Debug)]
struct SandboxedProcessState {
    starter: Child,
    /// The first process inside its own namespace; ending it ends them all.
    first: Option<OwnedFd>,
    failed: Option<(String, String)>,
    status: Option<i32>,
    layers: Vec<SandboxLayer>,
    usage: CommandResourceUsage,
    set_aside: Vec<PathBuf>,
    exit: Option<CommandExit>,
}

impl SandboxedProcess {
    /// Takes over a starter that was just started.
    pub(crate) fn new(starter: Child, control: OwnedFd) -> Result<Self, SandboxError> {
        let pid = rustix::process::Pid::from_child(&starter);
        let pidfd = pidfd_open(pid, PidfdFlags::empty())
            .map_err(SandboxError::system("watch the sandbox's starter"))?;
        let state = SandboxedProcessState {
            starter,
            first: None,
            failed: None,
            status: None,
            layers: Vec::new(),
            usage: CommandResourceUsage::default(),
            set_aside: Vec::new(),
            exit: None,
        };
        Ok(Self {
            pidfd,
            control,
            state: Mutex::new(state),
        })
    }

    /// Returns a descriptor that becomes readable when every process has ended.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Sends a signal to the command. An interrupt goes to its process group, as from a
    /// terminal. Any other signal goes to every process of the tree if it has its own process
    /// namespace, otherwise to the group.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let number = u8::try_from(signal.as_raw()).map_err(io::Error::other)?;
        match control::send(self.control.as_fd(), &[number], &[]) {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(cause)
                if cause.raw_os_error() == Some(rustix::io::Errno::CONNRESET.raw_os_error()) =>
            {
                Ok(())
            }
            other => other,
        }
    }

    /// Ends the whole tree at once, without giving it a chance to react.
    pub fn kill_all(&self) -> io::Result<()> {
        let mut state = self.state();
        if state.exit.is_some() {
            return Ok(());
        }
        self.listen(&mut state, RecvFlags::DONTWAIT);
        let ended = match &state.first {
            Some(first) => pidfd_send_signal(first, Signal::KILL),
            // Without its own namespace, only the starter can follow the tree, so the starter
            // ends it.
            None => return self.signal(Signal::KILL),
        };
        match ended {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Returns how the command ended, or `None` while it runs.
    pub fn try_wait(&self) -> Option<CommandExit> {
        let mut state = self.state();
        if state.exit.is_none() {
            self.listen(&mut state, RecvFlags::DONTWAIT);
            let ended = match state.starter.try_wait() {
                Ok(None) => return None,
                Ok(Some(status)) => status.into_raw_status(),
                // Someone else reaped our child; it has ended all the same.
                Err(_) => 0,
            };
            // Messages sent before the end are still to be read.
            self.listen(&mut state, RecvFlags::DONTWAIT);
            state.settle(ended);
        }
        state.exit.clone()
    }

    /// Waits until every process has ended.
    pub fn wait(&self) -> CommandExit {
        loop {
            if let Some(exit) = self.try_wait() {
                return exit;
            }
            // After an interrupted wait, the loop checks again.
            let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], None);
        }
    }

    /// Returns the resources used; complete once the command has ended.
    pub fn usage(&self) -> CommandResourceUsage {
        self.state().usage
    }

    /// Returns the paths that the command created under other spellings of protected names,
    /// such as `.GIT`. They are known once it has ended, and by then renamed to
    /// `.GIT.set-aside`.
    pub fn set_aside(&self) -> Vec<PathBuf> {
        self.state().set_aside.clone()
    }

    /// Sends the starter its orders, before any other message.
    pub(crate) fn order(&self, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        control::send(self.control.as_fd(), &[0], fds)
    }

    /// Waits until the starter reports that the tree exists, and returns the listeners it
    /// created.
    pub(crate) fn greet(
        &self,
        doors: SandboxStarterMilestone,
    ) -> Vec<(Option<std::net::SocketAddr>, OwnedFd)> {
        let mut state = self.state();
        while state.failed.is_none() {
            let heard = control::hear(&self.control, RecvFlags::empty());
            let Ok(Some((said, fds))) = heard else {
                break;
            };
            match said {
                SandboxStarterMessage::Doors(kinds) => return kinds.into_iter().zip(fds).collect(),
                said => {
                    let hello = said == SandboxStarterMessage::Hello;
                    state.take(said, fds);
                    if hello && doors == SandboxStarterMilestone::Hello {
                        break;
                    }
                }
            }
        }
        Vec::new()
    }

    /// Returns the results of the sandbox's own test, once it has ended.
    pub(crate) fn layers(&self) -> Vec<SandboxLayer> {
        self.state().layers.clone()
    }

    fn state(&self) -> MutexGuard<'_, SandboxedProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes all pending messages.
    fn listen(&self, state: &mut SandboxedProcessState, flags: RecvFlags) {
        while let Ok(Some((said, fds))) = control::hear(&self.control, flags) {
            state.take(said, fds);
        }
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        if self.try_wait().is_none() {
            // The tree ends by itself when our end of the socket closes; the signal is only
            // faster.
            drop(self.kill_all());
            self.wait();
        }
    }
}

/// The point up to which a start is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SandboxStarterMilestone {
    /// Until the tree exists.
    Hello,
    /// Until its listeners have arrived.
    Doors,
}

impl SandboxedProcessState {
    fn take(&mut self, said: SandboxStarterMessage, fds: Vec<OwnedFd>) {
        match said {
            SandboxStarterMessage::Hello => self.first = fds.into_iter().next(),
            SandboxStarterMessage::Doors(_) => {}
            SandboxStarterMessage::Failed { step, why } => {
                self.failed.get_or_insert((step, why));
            }
            SandboxStarterMessage::Probed(layers) => self.layers = layers,
            SandboxStarterMessage::Exited(status) => self.status = Some(status),
            SandboxStarterMessage::Done {
                status,
                peak,
                cpu,
                limited,
                set_aside,
            } => {
                self.set_aside = set_aside;
                self.status.get_or_insert(status);
                self.usage = CommandResourceUsage {
                    peak_memory: peak,
                    cpu,
                    limited,
                };
            }
        }
    }

    /// Determines how the command ended, from the most precise report to the least.
    fn settle(&mut self, starter: i32) {
        let exit = match (self.failed.take(), self.status) {
            (Some((step, why)), _) => CommandExit::NotStarted { step, why },
            (None, Some(status)) => CommandExit::of(status),
            (None, None) => match CommandExit::of(starter) {
                CommandExit::Signal(signal) => CommandExit::Signal(signal),
                other => CommandExit::NotStarted {
                    step: "starter".to_owned(),
                    why: format!("it ended without a report ({other:?})"),
                },
            },
        };
        if self.usage.limited.is_none() {
            self.usage.limited = match exit {
                CommandExit::Signal(libc::SIGXFSZ) => Some(ExceededCommandLimit::FileSize),
                CommandExit::Signal(libc::SIGXCPU) => Some(ExceededCommandLimit::CpuTime),
                _ => None,
            };
        }
        self.exit = Some(exit);
    }
}

impl CommandExit {
    /// Reads a status in the form of `waitpid`.
    fn of(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signal(libc::WTERMSIG(status))
        } else {
            Self::Code(libc::WEXITSTATUS(status))
        }
    }
}

/// Returns the raw form of a status that the standard library has read.
trait RawStatus {
    fn into_raw_status(self) -> i32;
}

impl RawStatus for std::process::ExitStatus {
    fn into_raw_status(self) -> i32 {
        std::os::unix::process::ExitStatusExt::into_raw(self)
    }
}
