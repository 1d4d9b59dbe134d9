//! The events that hooks are run for.

use std::time::Duration;

/// An event that hooks are told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// A run begins or is taken up again.
    SessionStart,
    /// A person's words are about to reach an agent.
    UserPromptSubmit,
    /// The model is about to be called.
    PreModel,
    /// The model replied.
    PostModel,
    /// A tool is about to be called.
    PreToolUse,
    /// A person is about to be asked about a call.
    PermissionRequest,
    /// A tool call succeeded.
    PostToolUse,
    /// A tool call failed.
    PostToolUseFailure,
    /// The conversation is about to be shortened.
    PreCompact,
    /// The conversation was shortened.
    PostCompact,
    /// A run begins that another run called.
    SubagentStart,
    /// A run that another run called is about to end.
    SubagentStop,
    /// A run is about to end with its answer.
    Stop,
    /// A run is over.
    SessionEnd,
}

/// Default time limit of a hook.
const PATIENCE: Duration = Duration::from_secs(600);

/// Default time limit while a person waits for their prompt to be accepted.
const PATIENCE_AT_THE_PROMPT: Duration = Duration::from_secs(30);

impl HookEvent {
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

    /// Returns the event's name, as in declarations and `hook_event_name`.
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

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Returns the default time limit of a hook for this event.
    pub(super) fn patience(self) -> Duration {
        match self {
            Self::UserPromptSubmit => PATIENCE_AT_THE_PROMPT,
            _ => PATIENCE,
        }
    }

    /// Returns whether the event comes before something that a hook can prevent.
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

    /// Returns whether exit code 2 blocks something; otherwise its reason is for the
    /// person.
    pub(super) fn hears_exit_two(self) -> bool {
        !matches!(
            self,
            Self::SessionStart | Self::SubagentStart | Self::PostCompact | Self::SessionEnd
        )
    }

    /// Returns whether a hook's plain output, which is not JSON, is for the agent.
    pub(super) fn hears_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}
