//! Policy decisions, pure and total: every input gets an answer, and nothing is run to
//! find it.
//!
//! A command is judged by its parsed words, a file by its resolved path, never by text
//! that only looks alike. Whatever cannot be understood is asked about, never allowed.
#![warn(missing_docs)]

mod action;
pub mod command;
mod decision;
pub mod environment;
pub mod path;
mod policy;
pub mod programs;
pub mod record;
pub mod redact;
pub mod rules;

pub use action::{FileTarget, GitOperation, PolicyAction, TargetTree};
pub use artel_types::{DecidedBy, SandboxOpening};
pub use decision::{PolicyAnswer, PolicyRuling};
pub use policy::{
    BackgroundConnection, BoundAdmission, CommandApproval, ContainmentMode, Grant, GrantEntry,
    GrantFile, GrantScope, PathWall, PathWallKind, Policy, PolicyBound, PolicyContext,
    PortalPermission, RunWalls, SandboxWalls, StepBound, StepWriteAccess, UncontainedReason,
    WorkFileOwner, git_may, openings, too_broad,
};
pub use record::{ConsentRecord, ConsentRecordFile, ConsentRecordHash};
