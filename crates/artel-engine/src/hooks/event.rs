//! What hooks are run for.

use std::time::Duration;

/// Something that hooks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// A run begins or is taken up again.
    SessionStart,
    /// A person's words are about to reach an agent.
    UserPromptSubmit,
    /// The model is about to be asked.
    PreModel,
    /// The model answered.
    PostModel,
    /// A tool is about to be called.
    PreToolUse,
    /// A person is about to be asked about a call.
    PermissionRequest,
    /// A tool did what it was called for.
    PostToolUse,
    /// A tool did not do what it was called for.
    PostToolUseFailure,
    /// The conversation is about to be made shorter.
    PreCompact,
    /// The conversation was made shorter.
    PostCompact,
    /// A run begins that another one called.
    SubagentStart,
    /// A run that another one called is about to end.
    SubagentStop,
    /// A run is about to end with its answer.
    Stop,
    /// A run is over.
    SessionEnd,
}

/// How long a hook may take, unless it says otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// The same where a person waits for their words to be taken.
const PATIENCE_AT_THE_PROMPT: Duration = Duration::from_secs(30);

impl Event {
    /// Every event.
    pub const ALL: [Self; 14] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreModel,
        Self::PostModel,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PreCompact,
        Self::PostCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::Stop,
        Self::SessionEnd,
    ];

    /// Returns its name as declarations and `hook_event_name` spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreModel => "PreModel",
            Self::PostModel => "PostModel",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::Stop => "Stop",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Finds an event by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Returns how long a hook for it may take, unless it says otherwise.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::UserPromptSubmit => PATIENCE_AT_THE_PROMPT,
            _ => PATIENCE,
        }
    }

    /// Tells whether it comes before something that a hook can keep from happening.
    pub(super) fn is_gate(self) -> bool {
        matches!(
            self,
            Self::SessionStart
                | Self::UserPromptSubmit
                | Self::PreModel
                | Self::PreToolUse
                | Self::PermissionRequest
                | Self::PreCompact
                | Self::SubagentStart
        )
    }

    /// Tells whether exit code 2 blocks anything; otherwise its reason is for the person.
    pub(super) fn hears_exit_two(self) -> bool {
        !matches!(
            self,
            Self::SessionStart | Self::SubagentStart | Self::PostCompact | Self::SessionEnd
        )
    }

    /// Tells whether a hook's plain output, which is not JSON, is for the agent.
    pub(super) fn hears_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}
