//! The shutdown of a command: interrupt, terminate, then kill.

use std::time::Duration;

/// The time that a command gets to react to signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandGracePeriods {
    /// Time after the interrupt.
    pub interrupt: Duration,
    /// Time after the request to terminate.
    pub terminate: Duration,
}

/// A signal of the shutdown sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandStopSignal {
    /// `SIGINT`, as if a person had pressed Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGKILL`, which cannot be refused.
    Kill,
}

/// The shutdown of one command. It starts when this is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandShutdown {
    graces: CommandGracePeriods,
    phase: CommandShutdownPhase,
    sent: SentStopSignals,
}

/// The signals sent so far, each with its moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentStopSignals {
    /// When the command was interrupted.
    pub interrupt: Option<Duration>,
    /// When the command was told to terminate.
    pub terminate: Option<Duration>,
    /// When the command was killed.
    pub kill: Option<Duration>,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandShutdownStep {
    /// Send this signal to all processes of the command, then ask again.
    Send(CommandStopSignal),
    /// Wait for the command to exit.
    Wait {
        /// When to ask again.
        until: Duration,
    },
    /// All signals were sent.
    Spent,
}

/// The next signal with its due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandShutdownPhase {
    Due(CommandStopSignal, Duration),
    Spent,
}

impl CommandGracePeriods {
    /// The usual grace periods: five seconds, then three.
    pub const USUAL: Self = Self {
        interrupt: Duration::from_secs(5),
        terminate: Duration::from_secs(3),
    };
}

impl Default for CommandGracePeriods {
    fn default() -> Self {
        Self::USUAL
    }
}

impl CommandStopSignal {
    /// Returns the usual name, such as `SIGINT`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Kill => "SIGKILL",
        }
    }
}

impl SentStopSignals {
    /// Returns the last signal that was sent.
    pub fn last(&self) -> Option<CommandStopSignal> {
        let all = [
            (self.kill, CommandStopSignal::Kill),
            (self.terminate, CommandStopSignal::Terminate),
            (self.interrupt, CommandStopSignal::Interrupt),
        ];
        all.into_iter().find_map(|(at, signal)| at.map(|_| signal))
    }
}

impl CommandShutdown {
    /// Begins politely: the interrupt is due now.
    pub fn soft(graces: CommandGracePeriods, at: Duration) -> Self {
        Self::due(graces, CommandStopSignal::Interrupt, at)
    }

    /// Begins with the kill.
    pub fn hard(at: Duration) -> Self {
        Self::due(CommandGracePeriods::USUAL, CommandStopSignal::Kill, at)
    }

    /// Stops being polite: signals that were not sent yet are skipped, and the kill is due
    /// now.
    pub fn harden(&mut self, at: Duration) {
        if self.phase != CommandShutdownPhase::Spent {
            self.phase = CommandShutdownPhase::Due(CommandStopSignal::Kill, at);
        }
    }

    /// Returns what to do now. A signal returned here counts as sent.
    pub fn step(&mut self, at: Duration) -> CommandShutdownStep {
        let CommandShutdownPhase::Due(signal, due) = self.phase else {
            return CommandShutdownStep::Spent;
        };
        if at < due {
            return CommandShutdownStep::Wait { until: due };
        }
        let (noted, next) = match signal {
            CommandStopSignal::Interrupt => (
                &mut self.sent.interrupt,
                CommandShutdownPhase::Due(
                    CommandStopSignal::Terminate,
                    at.saturating_add(self.graces.interrupt),
                ),
            ),
            CommandStopSignal::Terminate => (
                &mut self.sent.terminate,
                CommandShutdownPhase::Due(
                    CommandStopSignal::Kill,
                    at.saturating_add(self.graces.terminate),
                ),
            ),
            CommandStopSignal::Kill => (&mut self.sent.kill, CommandShutdownPhase::Spent),
        };
        *noted = Some(at);
        self.phase = next;
        CommandShutdownStep::Send(signal)
    }

    /// Returns the signals sent so far.
    pub fn sent(&self) -> SentStopSignals {
        self.sent
    }

    fn due(graces: CommandGracePeriods, signal: CommandStopSignal, at: Duration) -> Self {
        Self {
            graces,
            phase: CommandShutdownPhase::Due(signal, at),
            sent: SentStopSignals::default(),
        }
    }
}
