//! How a command is ended: asked, told, then killed.

use std::time::Duration;

/// How long a command gets to react.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graces {
    /// After it was interrupted.
    pub interrupt: Duration,
    /// After it was told to terminate.
    pub terminate: Duration,
}

/// A signal of the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// `SIGINT`, as if a person had pressed Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGKILL`, which cannot be refused.
    Kill,
}

/// The ending of one command. It begins when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    graces: Graces,
    phase: Phase,
    sent: Sent,
}

/// What was sent, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// When it was interrupted.
    pub interrupt: Option<Duration>,
    /// When it was told to terminate.
    pub terminate: Option<Duration>,
    /// When it was killed.
    pub kill: Option<Duration>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send this to all of its processes, then ask again.
    Send(Signal),
    /// Wait for it to leave, until then.
    Wait {
        /// When to ask again.
        until: Duration,
    },
    /// Everything was sent.
    Spent,
}

/// The signal that is due, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Due(Signal, Duration),
    Spent,
}

impl Graces {
    /// Those of every command: five seconds, then three.
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
    /// Returns the name everybody knows.
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

    /// Gives up being polite: what was not sent yet is left out, and the kill is due now.
    pub fn harden(&mut self, at: Duration) {
        if self.phase != Phase::Spent {
            self.phase = Phase::Due(Signal::Kill, at);
        }
    }

    /// Says what to do at this moment. A signal it names counts as sent.
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

    /// Returns what was sent so far.
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
