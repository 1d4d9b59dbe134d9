//! One hook: its event, its command, and how far it reaches.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::answer::HookAnswer;
use super::event::HookEvent;
use super::matcher::HookMatcher;

/// A declared hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The event that the hook is run for.
    pub event: HookEvent,
    /// The tools, sources or reasons of the event that the hook is for.
    pub matcher: HookMatcher,
    /// The command or built-in code to run.
    pub action: HookAction,
    /// The time limit, or `None` for the default.
    pub timeout: Option<Duration>,
    /// Lower numbers run first, 0 to 100; equal ones keep the order of declaration.
    pub priority: u8,
    /// The effect of a failure of the hook.
    pub on_failure: HookFailureMode,
    /// The hook's reach out of the sandbox.
    pub profile: HookSandboxProfile,
    /// The source of the declaration.
    pub source: HookSource,
}

/// The command or built-in code of a hook.
#[derive(Clone)]
pub enum HookAction {
    /// A shell command.
    Command(String),
    /// A part of this program.
    BuiltIn(Arc<dyn BuiltInHook>),
}

/// A hook that is part of this program. It gets what a command would read, and answers as
/// a command would. It must not wait long and must not change anything itself.
pub trait BuiltInHook: Send + Sync {
    /// Returns the name for the record.
    fn name(&self) -> &str;

    /// Answers, or returns why the hook failed.
    fn answer(&self, event: HookEvent, input: &Value) -> Result<HookAnswer, String>;
}

/// The effect on the guarded thing if a hook crashes, takes too long or answers nonsense.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HookFailureMode {
    /// The failure is reported, and the run proceeds.
    #[default]
    Warn,
    /// The guarded thing does not happen.
    Block,
}

/// A hook's reach out of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSandboxProfile {
    /// Hosts that it can reach; counts only for the person's own hooks.
    pub network: Vec<String>,
    /// Additional paths that it can read; counts only for the person's own hooks.
    pub read: Vec<PathBuf>,
    /// Paths that it can write; for hooks other than the person's own, only paths in the
    /// run's files.
    pub write: Vec<PathBuf>,
}

/// The source of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookSource {
    /// Artel itself.
    BuiltIn,
    /// The person, in their own settings file.
    User(PathBuf),
    /// A file that came with the work: the workshop's settings, a role, a portal's
    /// settings.
    Other(PathBuf),
}

impl Hook {
    /// Makes a hook from a command, with defaults for everything else.
    pub fn of_command(
        event: HookEvent,
        matcher: HookMatcher,
        command: &str,
        source: HookSource,
    ) -> Self {
        Self {
            event,
            matcher,
            action: HookAction::Command(command.to_owned()),
            timeout: None,
            priority: Self::PRIORITY,
            on_failure: HookFailureMode::Warn,
            profile: HookSandboxProfile::default(),
            source,
        }
    }

    /// Priority of hooks that set none: the middle.
    pub const PRIORITY: u8 = 50;

    /// Returns the command, or the name of a built-in hook.
    pub fn label(&self) -> &str {
        match &self.action {
            HookAction::Command(command) => command,
            HookAction::BuiltIn(hook) => hook.name(),
        }
    }

    /// Returns the time limit.
    pub fn time(&self) -> Duration {
        self.timeout.unwrap_or_else(|| self.event.patience())
    }
}

impl fmt::Debug for HookAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => f.debug_tuple("Command").field(command).finish(),
            Self::BuiltIn(hook) => f.debug_tuple("BuiltIn").field(&hook.name()).finish(),
        }
    }
}
