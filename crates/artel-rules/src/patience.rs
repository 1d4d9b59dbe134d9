//! Patience: how long a running command is waited for, and how it is ended.
//!
//! A build that keeps printing is left alone, one that hangs is not. A command always gets its
//! base time, then as long again as it says something new every so often, and never more than the
//! longest time. Dots, spinners and bare percentages say nothing new.
//!
//! Nothing here reads a clock. Every moment is the time since the command began, handed in.

mod ear;
mod ending;
mod known;

use std::fmt;
use std::time::Duration;

pub use ear::{Ear, is_noise};
pub use ending::{Ending, Graces, Sent, Signal, Step};

/// How long a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time it gets in any case.
    pub base: Duration,
    /// How long each meaningful line keeps it alive after that.
    pub extend: Duration,
    /// The time after which it ends, whatever it says.
    pub longest: Duration,
}

/// The wait for one command.
#[derive(Debug, Clone)]
pub struct Patience {
    limits: Limits,
    /// When it last said something new.
    last: Option<Duration>,
}

/// Whether a command may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Keep {
        /// When to ask again, unless it is heard of sooner.
        until: Duration,
    },
    /// It is to be ended.
    End {
        /// Which limit ran out.
        why: Overdue,
    },
}

/// The limit that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdue {
    /// The base time is over and nothing new was heard for a while.
    Silent {
        /// The base time.
        base: Duration,
        /// For how long nothing new was heard.
        quiet: Duration,
    },
    /// The longest time is over.
    Endless {
        /// The longest time.
        longest: Duration,
    },
}

impl Limits {
    /// Those of a declared tool.
    pub const DECLARED: Self = Self::of_base(Duration::from_secs(10));

    /// Those of a script or a command that is not known to take long.
    pub const COMMAND: Self = Self::of_base(Duration::from_secs(120));

    /// Makes limits from the base time alone.
    pub const fn of_base(base: Duration) -> Self {
        Self {
            base,
            extend: Duration::from_secs(30),
            longest: Duration::from_secs(30 * 60),
        }
    }

    /// Makes limits that no output can stretch: a person named the time.
    pub const fn exactly(time: Duration) -> Self {
        Self {
            base: time,
            extend: Duration::ZERO,
            longest: time,
        }
    }

    /// Returns the limits of one simple command, given as its words: minutes for what is known to
    /// build, test or install.
    pub fn of_command(words: &[impl AsRef<str>]) -> Self {
        known::base(words).map_or(Self::COMMAND, Self::of_base)
    }

    /// Returns the limits of a line of several simple commands: those of the longest.
    pub fn of_commands<'a, W: AsRef<str> + 'a>(
        commands: impl IntoIterator<Item = &'a [W]>,
    ) -> Self {
        let all = commands.into_iter().map(Self::of_command);
        all.max_by_key(|limits| limits.base)
            .unwrap_or(Self::COMMAND)
    }
}

/// Tells whether a command is known to build, test or install, given as its words.
pub fn is_build(words: &[impl AsRef<str>]) -> bool {
    known::base(words).is_some()
}

impl Patience {
    /// Begins to wait.
    pub fn new(limits: Limits) -> Self {
        Self { limits, last: None }
    }

    /// Takes note of a line that was printed. Noise is not taken note of.
    pub fn heard(&mut self, line: &[u8], at: Duration) {
        if !is_noise(line) {
            self.heard_news(at);
        }
    }

    /// Takes note that something new was said; an [`Ear`] can tell.
    pub fn heard_news(&mut self, at: Duration) {
        self.last = self.last.max(Some(at));
    }

    /// Decides whether the command may go on.
    pub fn verdict(&self, at: Duration) -> Verdict {
        let Limits {
            base,
            extend,
            longest,
        } = self.limits;
        let stretched = self.last.map_or(base, |last| last.saturating_add(extend));
        let until = base.max(stretched).min(longest);
        if at < until {
            return Verdict::Keep { until };
        }
        let why = if at >= longest {
            Overdue::Endless { longest }
        } else {
            let quiet = at.saturating_sub(self.last.unwrap_or_default());
            Overdue::Silent { base, quiet }
        };
        Verdict::End { why }
    }
}

impl fmt::Display for Overdue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent { base, quiet } => write!(
                f,
                "its {base:?} were over and it had said nothing new for {:?}",
                tenths(*quiet)
            ),
            Self::Endless { longest } => write!(f, "it may not take more than {longest:?}"),
        }
    }
}

/// A person does not read nanoseconds.
fn tenths(span: Duration) -> Duration {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(millis / 100 * 100)
}

#[cfg(test)]
mod tests;
