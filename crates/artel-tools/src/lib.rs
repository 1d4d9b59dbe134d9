//! The tools of agents, their registry and discovery, and declared tools.
//!
//! A tool states what a call would do before it does it, and policy decides in between.
//! The loop that calls tools is not in this crate.

mod above;
mod bench;
mod checks;
mod declared;
mod fetch;
mod files;
mod git;
mod hands;
mod memory;
mod notes;
pub mod pathcheck;
mod process;
mod registry;
mod seen;
mod shell;
mod similar;
mod talk;
mod tool;

pub use bench::{AskablePerson, FillIn, NoGuard, PlaceGuardProvider, SkillHeld, ToolContext};
pub use checks::check_tools;
pub use declared::{DeclaredTool, ToolDeclarationError};
pub use fetch::fetch_tools;
pub use files::file_tools;
pub use git::git_tools;
pub use hands::{
    AttributedToolApproval, ContentMarks, GrantedPolicy, RecordedOpenings, RunGrant,
    ToolApprovalAnswer, ToolApprovalOffer, ToolApprovalQuestion, ToolCallApprover, ToolCallIntent,
    ToolCallOutcome, ToolCallRecorder, ToolRunner, TreeWallOpenings, UnfinishedToolCallError,
    exact_call,
};
pub use notes::{RememberedNote, RunFinish, RunNotes, TodoTask, TodoTaskState};
pub use process::{
    BackgroundJobState, BackgroundJobs, ProcessStartReason, ToolCallConsent, ToolProcessObserver,
    ToolProcessSpec, ToolSandbox, ToolSecretLookup, histories_of_kept, keep_from_reading_in,
    run as run_order, workroom,
};
pub use registry::{FindToolsTool, MOST_FOUND, ToolManifestLine, ToolRegistry, ToolViewer};
pub use seen::{ModelFileFreshness, ModelKnownFiles, Part};
pub use shell::shell_tools;
pub use similar::nearest;
pub use talk::talk_tools;
pub use tool::{
    HintVisibility, Tool, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolImage, ToolObservation, ToolSchemaDelivery, parse,
};

/// Returns every built-in tool, except `find_tools`, which needs to know the others.
pub fn built_in() -> Vec<std::sync::Arc<dyn Tool>> {
    let all = [
        file_tools(),
        shell_tools(),
        git_tools(),
        talk_tools(),
        check_tools(),
        fetch_tools(),
    ];
    all.into_iter().flatten().collect()
}
