//! The shutdown of a command: interrupt, terminate, then kill.

use std::time::Duration;

/// The time that a command gets to react to signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graces {
    /// Time after the interrupt.
    pub interrupt: Duration,
    /// Time after the request to terminate.
    pub terminate: Duration,
}

/// A signal of the shutdown sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// `SIGINT`, as if a person had pressed Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGKILL`, which cannot be refused.
    Kill,
}

/// The shutdown of one command. It starts when this is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    graces: Graces,
    phase: Phase,
    sent: Sent,
}

/// The signals sent so far, each with its moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// When the command was interrupted.
    pub interrupt: Option<Duration>,
    /// When the command was told to terminate.
    pub terminate: Option<Duration>,
    /// When the command was killed.
    pub kill: Option<Duration>,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send this signal to all processes of the command, then ask again.
    Send(Signal),
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
enum Phase {
    Due(Signal, Duration),
    Spent,
}

impl Graces {
    /// The usual grace periods: five seconds, then three.
    pub const USUAL: Self = Self {
        interrupt: Duration::from_secs(5),
        terminate: Duration::from_secs(3),
    };
}

impl Default for Graces {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Signal {
    /// Returns the usual name, such as `SIGINT`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Kill => "SIGKILL",
        }
    }
}

impl Sent {
    /// Returns the last signal that was sent.
    pub fn last(&self) -> Option<Signal> {
        let all = [
            (self.kill, Signal::Kill),
            (self.terminate, Signal::Terminate),
            (self.interrupt, Signal::Interrupt),
        ];
        all.into_iter().find_map(|(at, signal)| at.map(|_| signal))
    }
}

impl Ending {
    /// Begins politely: the interrupt is due now.
    pub fn soft(graces: Graces, at: Duration) -> Self {
        Self::due(graces, Signal::Interrupt, at)
    }

    /// Begins with the kill.
    pub fn hard(at: Duration) -> Self {
        Self::due(Graces::USUAL, Signal::Kill, at)
    }

    /// Stops being polite: signals that were not sent yet are skipped, and the kill is due
    /// now.
    pub fn harden(&mut self, at: Duration) {
        if self.phase != Phase::Spent {
            self.phase = Phase::Due(Signal::Kill, at);
        }
    }

    /// Returns what to do now. A signal returned here counts as sent.
    pub fn step(&mut self, at: Duration) -> Step {
        let Phase::Due(signal, due) = self.phase else {
            return Step::Spent;
        };
        if at < due {
            return Step::Wait { until: due };
        }
        let (noted, next) = match signal {
            Signal::Interrupt => (
                &mut self.sent.interrupt,
                Phase::Due(Signal::Terminate, at.saturating_add(self.graces.interrupt)),
            ),
            Signal::Terminate => (
                &mut self.sent.terminate,
                Phase::Due(Signal::Kill, at.saturating_add(self.graces.terminate)),
            ),
            Signal::Kill => (&mut self.sent.kill, Phase::Spent),
        };
        *noted = Some(at);
        self.phase = next;
        Step::Send(signal)
    }

    /// Returns the signals sent so far.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    fn due(graces: Graces, signal: Signal, at: Duration) -> Self {
        Self {
            graces,
            phase: Phase::Due(signal, at),
            sent: Sent::default(),
        }
    }
}
