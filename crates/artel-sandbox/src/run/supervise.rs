//! The loop that waits for everything at once.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use artel_rules::patience::{
    self, CommandGracePeriods, CommandShutdown, CommandShutdownStep, CommandWatchdog,
    CommandWatchdogDecision,
};
use artel_types::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::cancel::{CancelToken, CancelTokenState};
use super::channel::OutputStreamReader;
use super::spool::OutputSpooler;
use super::{
    CommandTermination, CommandTerminationCause, CommandWatchOptions, FinishedCommand,
    LiveCommandEvent, OutputStreamKind,
};
use crate::process::{CommandExit, CommandResourceUsage, SandboxedProcess};

/// Size of one read, in bytes.
const PIECE: usize = 256 << 10;

/// Time for which a pipe that another process still holds is read after the command has
/// ended.
const DRAIN: Duration = Duration::from_millis(500);

/// Capacity of the largest pipe, in bytes. Anything beyond it was written after the end.
const LARGEST_PIPE: usize = 1 << 20;

/// Time that the kernel gets to end the processes it was told to kill.
const STUCK: Duration = Duration::from_secs(5);

/// A running process tree, as far as watching it goes.
pub(super) trait ProcessTree {
    /// Returns a descriptor that becomes readable when the tree has ended.
    fn pidfd(&self) -> BorrowedFd<'_>;
    /// Sends a signal to the whole tree.
    fn signal(&self, signal: Signal) -> io::Result<()>;
    /// Kills the whole tree at once, whether its leader still runs or only what it left
    /// behind.
    fn kill_all(&self) -> io::Result<()>;
    /// Returns how it ended, or `None` while it runs.
    fn try_wait(&self) -> Option<CommandExit>;
    /// Returns the resources it used.
    fn usage(&self) -> CommandResourceUsage;
    /// Returns the paths it created that were set aside.
    fn set_aside(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

impl ProcessTree for SandboxedProcess {
    fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd()
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        self.signal(signal)
    }

    fn kill_all(&self) -> io::Result<()> {
        self.kill_all()
    }

    fn try_wait(&self) -> Option<CommandExit> {
        self.try_wait()
    }

    fn usage(&self) -> CommandResourceUsage {
        self.usage()
    }

    fn set_aside(&self) -> Vec<PathBuf> {
        self.set_aside()
    }
}

/// The state of watching one command.
struct CommandSupervisor<'a, T> {
    tree: &'a T,
    live: &'a mut dyn FnMut(LiveCommandEvent<'_>),
    clock: Clock,
    began: Duration,
    channels: [OutputStreamReader; 2],
    patience: CommandWatchdog,
    graces: CommandGracePeriods,
    cancel: CancelToken,
    known: CancelTokenState,
    ending: Option<(CommandShutdown, CommandTerminationCause)>,
    exit: Option<CommandExit>,
    /// Whether open pipes were abandoned because another process still held them.
    gave_up: bool,
}

/// The next thing to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SupervisorWait {
    /// This point in time, or an event before it.
    At(Duration),
    /// Nothing any more.
    Over,
}

/// Watches a command until it and its output have ended.
pub(super) fn supervise<T: ProcessTree>(
    tree: &T,
    pipes: [OwnedFd; 2],
    files: [OutputSpooler; 2],
    watch: CommandWatchOptions<'_>,
) -> io::Result<FinishedCommand> {
    let [stdout, stderr] = pipes;
    let [stdout_file, stderr_file] = files;
    let open = |stream, pipe, file| {
        OutputStreamReader::open(stream, pipe, &watch.redactor, file, watch.excerpt)
    };
    let channels = [
        open(OutputStreamKind::Stdout, stdout, stdout_file)?,
        open(OutputStreamKind::Stderr, stderr, stderr_file)?,
    ];
    let began = watch.clock.uptime();
    let mut supervisor = CommandSupervisor {
        tree,
        live: watch.live,
        clock: watch.clock,
        began,
        channels,
        patience: CommandWatchdog::new(watch.patience),
        graces: watch.graces,
        cancel: watch.cancel,
        known: CancelTokenState::Not,
        ending: None,
        exit: None,
        gave_up: false,
    };
    let mut buffer = vec![0; PIECE];
    supervisor.attend(&mut buffer)?;
    let duration = supervisor.now();
    supervisor.sweep(&mut buffer)?;
    Ok(supervisor.finish(duration))
}

impl<T: ProcessTree> CommandSupervisor<'_, T> {
    /// Waits for the end of the command, and ends it when that is due.
    fn attend(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        loop {
            self.exit = self.tree.try_wait();
            if self.exit.is_some() {
                return Ok(());
            }
            match self.decide()? {
                SupervisorWait::Over => return Ok(()),
                SupervisorWait::At(until) => self.await_news(until, buffer)?,
            };
        }
    }

    /// Ends the processes that the command left behind, and reads the rest of the pipes.
    fn sweep(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        self.tree.kill_all()?;
        let until = self.now().saturating_add(DRAIN);
        let mut drained = 0;
        while self.channels.iter().any(|channel| channel.pipe().is_some()) {
            let heard = self.await_news(until, buffer)?;
            drained += heard;
            // A process survived the kill, or never belonged to the tree.
            if self.now() >= until && (heard == 0 || drained > 2 * LARGEST_PIPE) {
                self.gave_up = true;
                break;
            }
        }
        Ok(())
    }

    /// Checks the cancel and the time, sends the signals that are due, and returns how long to
    /// wait.
    fn decide(&mut self) -> io::Result<SupervisorWait> {
        let at = self.now();
        self.known = self.cancel.state();
        match (&mut self.ending, self.known) {
            (None, CancelTokenState::Hard) => {
                self.ending = Some((CommandShutdown::hard(at), CommandTerminationCause::Cancel))
            }
            (None, CancelTokenState::Soft) => {
                self.ending = Some((
                    CommandShutdown::soft(self.graces, at),
                    CommandTerminationCause::Cancel,
                ));
            }
            (Some((ending, _)), CancelTokenState::Hard) => ending.harden(at),
            (Some(_), _) => {}
            (None, CancelTokenState::Not) => match self.patience.verdict(at) {
                CommandWatchdogDecision::Keep { until } => return Ok(SupervisorWait::At(until)),
                CommandWatchdogDecision::End { why } => {
                    self.ending = Some((
                        CommandShutdown::soft(self.graces, at),
                        CommandTerminationCause::Timeout(why),
                    ));
                }
            },
        }
        self.end(at)
    }

    /// Continues the ending of the command.
    fn end(&mut self, at: Duration) -> io::Result<SupervisorWait> {
        while let Some((ending, _)) = &mut self.ending {
            match ending.step(at) {
                CommandShutdownStep::Wait { until } => return Ok(SupervisorWait::At(until)),
                CommandShutdownStep::Send(signal) => self.send(signal)?,
                CommandShutdownStep::Spent => {
                    let killed = ending.sent().kill.unwrap_or(at);
                    let until = killed.saturating_add(STUCK);
                    return Ok(if at < until {
                        SupervisorWait::At(until)
                    } else {
                        SupervisorWait::Over
                    });
                }
            }
        }
        Ok(SupervisorWait::Over)
    }

    /// Sends a signal. Stopped processes are woken, because they could not react otherwise.
    fn send(&mut self, signal: patience::CommandStopSignal) -> io::Result<()> {
        match signal {
            patience::CommandStopSignal::Interrupt => self.tree.signal(Signal::INT)?,
            patience::CommandStopSignal::Terminate => self.tree.signal(Signal::TERM)?,
            patience::CommandStopSignal::Kill => self.tree.kill_all()?,
        }
        if signal != patience::CommandStopSignal::Kill {
            self.tree.signal(Signal::CONT)?;
        }
        (self.live)(LiveCommandEvent::Signalled(signal));
        Ok(())
    }

    /// Waits for output, the end, a cancel or the deadline, reads the output, and returns the
    /// number of bytes read.
    fn await_news(&mut self, until: Duration, buffer: &mut [u8]) -> io::Result<usize> {
        let (readable, at) = {
            let mut waits = Vec::with_capacity(4);
            for channel in &self.channels {
                waits.extend(channel.pipe().map(wait_for));
            }
            if self.exit.is_none() {
                waits.push(wait_for(self.tree.pidfd()));
                waits.extend(self.cancel.news(self.known).map(wait_for));
            }
            let timeout = until.saturating_sub(self.now());
            let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
            match poll(&mut waits, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(cause) => return Err(cause.into()),
            }
            let mut events = waits.iter().map(|wait| !wait.revents().is_empty());
            let mut readable = [false; 2];
            for (channel, readable) in self.channels.iter().zip(&mut readable) {
                *readable = channel.pipe().is_some() && events.next().unwrap_or(false);
            }
            (readable, self.now())
        };
        let mut bytes = 0;
        for (channel, readable) in self.channels.iter_mut().zip(readable) {
            if readable {
                let heard = channel.read(buffer, &mut *self.live);
                bytes += heard.bytes;
                if heard.news {
                    self.patience.heard_news(at);
                }
            }
        }
        Ok(bytes)
    }

    fn finish(self, duration: Duration) -> FinishedCommand {
        let usage = self.tree.usage();
        let killed = self.killed(&usage);
        let set_aside = self.tree.set_aside();
        let live = self.live;
        let [stdout, stderr] = self.channels.map(|channel| channel.finish(&mut *live));
        FinishedCommand {
            partial: killed.is_some() || self.gave_up || self.exit.is_none(),
            exit: self.exit,
            killed,
            duration,
            stdout,
            stderr,
            usage,
            set_aside,
        }
    }

    /// Returns how it was ended: by us, or by the kernel enforcing a limit.
    fn killed(&self, usage: &CommandResourceUsage) -> Option<CommandTermination> {
        if let Some((ending, by)) = &self.ending {
            let sent = ending.sent();
            let signal = match sent.last()? {
                patience::CommandStopSignal::Interrupt => libc::SIGINT,
                patience::CommandStopSignal::Terminate => libc::SIGTERM,
                patience::CommandStopSignal::Kill => libc::SIGKILL,
            };
            return Some(CommandTermination {
                by: *by,
                signal,
                sent,
            });
        }
        match (usage.limited, &self.exit) {
            (Some(limited), Some(CommandExit::Signal(signal))) => Some(CommandTermination {
                by: CommandTerminationCause::Limit(limited),
                signal: *signal,
                sent: patience::SentStopSignals::default(),
            }),
            _ => None,
        }
    }

    /// Returns the time since the command started.
    fn now(&self) -> Duration {
        self.clock.uptime().saturating_sub(self.began)
    }
}

fn wait_for(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}
