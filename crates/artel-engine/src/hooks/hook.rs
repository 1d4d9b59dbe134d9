//! One hook: what it is run for, what is run, and how far it reaches.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use super::event::Event;
use super::matcher::Matcher;

/// A hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// What it is run for.
    pub event: Event,
    /// Which tools, sources or reasons of it.
    pub matcher: Matcher,
    /// What is run.
    pub action: Action,
    /// How long it may take, if not as long as others.
    pub timeout: Option<Duration>,
    /// Lower runs first, 0 to 100; equals keep the order they were declared in.
    pub priority: u8,
    /// What it means if it fails.
    pub on_failure: OnFailure,
    /// How far it reaches out of the sandbox.
    pub profile: Profile,
    /// Who declared it.
    pub source: Source,
}

/// What a hook runs.
#[derive(Clone)]
pub enum Action {
    /// A command of the shell.
    Command(String),
    /// A part of this program.
    BuiltIn(Arc<dyn BuiltIn>),
}

/// A hook that is part of this program. It gets what a command would read, and answers as a command
/// would; it must neither wait long nor change anything by itself.
pub trait BuiltIn: Send + Sync {
    /// Returns its name for the record.
    fn name(&self) -> &str;

    /// Answers, or says why it failed.
    fn answer(&self, event: Event, input: &Value) -> Result<Answer, String>;
}

/// What a hook that crashes, takes too long or talks nonsense means for what it guards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// It is said, and things go on.
    #[default]
    Warn,
    /// What it guards does not happen.
    Block,
}

/// How far a hook reaches out of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Hosts; only those of the person's own hooks count.
    pub network: Vec<String>,
    /// What it can read besides; only of the person's own hooks.
    pub read: Vec<PathBuf>,
    /// What it can write; of others than the person's own hooks only what is in the run's files.
    pub write: Vec<PathBuf>,
}

/// Who declared a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Artel itself.
    BuiltIn,
    /// The person, in their own settings file.
    User(PathBuf),
    /// A file that came with the work: the workshop's settings, a role, a portal's settings.
    Other(PathBuf),
}

impl Hook {
    /// Makes a hook of a command with nothing special about it.
    pub fn of_command(event: Event, matcher: Matcher, command: &str, source: Source) -> Self {
        Self {
            event,
            matcher,
            action: Action::Command(command.to_owned()),
            timeout: None,
            priority: Self::PRIORITY,
            on_failure: OnFailure::Warn,
            profile: Profile::default(),
            source,
        }
    }

    /// Hooks without a priority run in the middle.
    pub const PRIORITY: u8 = 50;

    /// Returns what is run, or its name.
    pub fn label(&self) -> &str {
        match &self.action {
            Action::Command(command) => command,
            Action::BuiltIn(hook) => hook.name(),
        }
    }

    /// Returns how long it may take.
    pub fn time(&self) -> Duration {
        self.timeout.unwrap_or_else(|| self.event.patience())
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => f.debug_tuple("Command").field(command).finish(),
            Self::BuiltIn(hook) => f.debug_tuple("BuiltIn").field(&hook.name()).finish(),
        }
    }
}
