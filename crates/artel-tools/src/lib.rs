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

pub use bench::{Bench, FillIn, Judge, NoGuard, Person, SkillHeld};
pub use checks::check_tools;
pub use declared::{BadDeclaration, Declared};
pub use fetch::fetch_tools;
pub use files::file_tools;
pub use git::git_tools;
pub use hands::{
    Approver, CallIntent, Called, ContentMarks, GrantedPolicy, Hands, Log, Offer, Openings,
    Question, RecordedOpenings, Reply, RunGrant, Said, Unfinished, exact_call,
};
pub use notes::{Finish, Memory, Notes, Task, TaskState};
pub use process::{
    Audience, Consent, JobState, Jobs, Keys, Order, StartedFor, Workroom, histories_of_kept,
    keep_from_reading_in, run as run_order, workroom,
};
pub use registry::{FindTools, Line, MOST_FOUND, Registry, Viewer};
pub use seen::{Part, Seen, Standing};
pub use shell::shell_tools;
pub use similar::nearest;
pub use talk::talk_tools;
pub use tool::{
    Card, Effect, Hints, Image, Observation, Reach, Tool, Trouble, TroubleKind, Unknown, parse,
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
