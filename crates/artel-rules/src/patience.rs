//! The time limits of running commands, and the way in which a command is ended.
//!
//! A build that keeps printing is left alone, and one that hangs is not. A command always
//! gets its base time. It then continues as long as it says something new every so often,
//! up to the longest time. Dots, spinners and bare percentages are not news.
//!
//! Nothing here reads a clock. Every moment is passed in as the time since the command
//! began.

mod ear;
mod ending;
mod known;

use std::fmt;
use std::time::Duration;

pub use ear::{ProgressDetector, is_noise};
pub use ending::{
    CommandGracePeriods, CommandShutdown, CommandShutdownStep, CommandStopSignal, SentStopSignals,
};

/// The time limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandTimeLimits {
    /// Time that every command gets.
    pub base: Duration,
    /// Time that each meaningful line adds after that.
    pub extend: Duration,
    /// Time after which the command is ended, whatever it says.
    pub longest: Duration,
}

/// Decides whether one running command may continue.
#[derive(Debug, Clone)]
pub struct CommandWatchdog {
    limits: CommandTimeLimits,
    /// When the command last said something new.
    last: Option<Duration>,
}

/// Whether a command may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandWatchdogDecision {
    /// It may continue.
    Keep {
        /// When to ask again, unless new output comes earlier.
        until: Duration,
    },
    /// It must be ended.
    End {
        /// The limit that was exceeded.
        why: CommandTimeout,
    },
}

/// The time limit that a command exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandTimeout {
    /// The base time is over and there was no news for a while.
    Silent {
        /// The base time.
        base: Duration,
        /// The time without news.
        quiet: Duration,
    },
    /// The longest time is over.
    Endless {
        /// The longest time.
        longest: Duration,
    },
}

impl CommandTimeLimits {
    /// The limits of a declared tool.
    pub const DECLARED: Self = Self::of_base(Duration::from_secs(10));

    /// The limits of a script, or of a command that is not known to take long.
    pub const COMMAND: Self = Self::of_base(Duration::from_secs(120));

    /// Derives the limits from the base time alone.
    pub const fn of_base(base: Duration) -> Self {
        Self {
            base,
            extend: Duration::from_secs(30),
            longest: Duration::from_secs(30 * 60),
        }
    }

    /// Makes limits that no output can extend, because a person named the time.
    pub const fn exactly(time: Duration) -> Self {
        Self {
            base: time,
            extend: Duration::ZERO,
            longest: time,
        }
    }

    /// Returns the limits of one simple command, given as its words: minutes for a command
    /// that is known to build, test or install.
    pub fn of_command(words: &[impl AsRef<str>]) -> Self {
        known::base(words).map_or(Self::COMMAND, Self::of_base)
    }

    /// Returns the limits of a line with several simple commands: those of the longest.
    pub fn of_commands<'a, W: AsRef<str> + 'a>(
        commands: impl IntoIterator<Item = &'a [W]>,
    ) -> Self {
        let all = commands.into_iter().map(Self::of_command);
        all.max_by_key(|limits| limits.base)
            .unwrap_or(Self::COMMAND)
    }
}

/// Returns whether a command, given as its words, is known to build, test or install.
pub fn is_build(words: &[impl AsRef<str>]) -> bool {
    known::base(words).is_some()
}

impl CommandWatchdog {
    pub fn new(limits: CommandTimeLimits) -> Self {
        Self { limits, last: None }
    }

    /// Notes a printed line; noise is ignored.
    pub fn heard(&mut self, line: &[u8], at: Duration) {
        if !is_noise(line) {
            self.heard_news(at);
        }
    }

    /// Notes that the command said something new, as an [`ProgressDetector`] can detect.
    pub fn heard_news(&mut self, at: Duration) {
        self.last = self.last.max(Some(at));
    }

    /// Decides whether the command may continue.
    pub fn verdict(&self, at: Duration) -> CommandWatchdogDecision {
        let CommandTimeLimits {
            base,
            extend,
            longest,
        } = self.limits;
        let stretched = self.last.map_or(base, |last| last.saturating_add(extend));
        let until = base.max(stretched).min(longest);
        if at < until {
            return CommandWatchdogDecision::Keep { until };
        }
        let why = if at >= longest {
            CommandTimeout::Endless { longest }
        } else {
            let quiet = at.saturating_sub(self.last.unwrap_or_default());
            CommandTimeout::Silent { base, quiet }
        };
        CommandWatchdogDecision::End { why }
    }
}

impl fmt::Display for CommandTimeout {
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

/// Rounds down to tenths of a second, because people do not read nanoseconds.
fn tenths(span: Duration) -> Duration {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(millis / 100 * 100)
}

#[cfg(test)]
mod tests;
