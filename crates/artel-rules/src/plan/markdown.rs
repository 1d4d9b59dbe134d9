//! The Markdown file of a plan, as people read and edit it.
//!
//! The file is written from the plan, and the plan is read back from the file: for every
//! [normalised](super::normalise) plan the two are inverse. Derived parts (layers,
//! progress, permissions, next steps) are written for the reader and ignored when the file
//! is read.
//!
//! The structure consists of the headings of the second and third level, the fields of a
//! step, and the lines that begin with `Work:` and `Check:`. If such a line is part of a
//! text, a backslash precedes it.

mod fields;
mod parse;
mod render;
mod sections;
mod steps;
mod text;

use std::collections::BTreeMap;

use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{Timestamp, TraceId};

pub use parse::parse;
pub use render::render;

/// Everything in the file of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDocument {
    /// The frontmatter.
    pub head: PlanFrontmatter,
    pub plan: Plan,
    /// The progress of each step, by id; a step that is missing here waits.
    pub progress: BTreeMap<String, StepProgress>,
    /// The comments of people.
    pub remarks: Vec<PlanDocumentComment>,
    /// Links to related notes.
    pub links: Vec<String>,
}

/// The frontmatter of a plan's file.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFrontmatter {
    /// The trace of the work.
    pub trace: TraceId,
    /// The file name of the request.
    pub request: String,
    /// The state of the plan.
    pub status: PlanState,
    /// Number of the version.
    pub version: u32,
    /// The hash of the plan when the file was written.
    pub hash: String,
    /// When this version was made.
    pub created: Option<Timestamp>,
    /// The role or person that wrote it.
    pub agent: String,
    /// The portal that the plan is for, if any.
    pub portal: Option<String>,
    /// Words for finding the plan.
    pub tags: Vec<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
}

/// The progress of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepProgress {
    pub state: StepState,
    /// Why the step failed or was not begun.
    pub why: Option<String>,
}

/// A comment on a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDocumentComment {
    /// The author and time as they stand in the file, or `None` for a comment that a
    /// person added by hand.
    pub by: Option<String>,
    pub text: String,
}

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedPlanDocument {
    /// The frontmatter.
    pub head: PlanFrontmatter,
    /// The plan. [`check`](super::check()) decides whether it can be used.
    pub plan: Plan,
    /// The comments of people.
    pub remarks: Vec<PlanDocumentComment>,
}

impl PlanDocumentComment {
    /// Makes a comment with its author and time, as the file shows them.
    pub fn signed(name: &str, at: Timestamp, version: u32, text: impl Into<String>) -> Self {
        let name: String = name
            .chars()
            .filter(|c| !matches!(c, '*' | '\n' | '\r'))
            .collect();
        Self {
            by: Some(format!("{} on version {version}, {at}", name.trim())),
            text: text.into(),
        }
    }
}

#[cfg(test)]
mod tests;
