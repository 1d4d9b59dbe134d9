//! A plan as people read it, and what they made of it.
//!
//! The file is made from the structure, and the structure is read back from the file: for every
//! plan that was [put right](super::normalise) the two are inverse. Derived parts (layers, progress,
//! permissions, next steps) are written for the reader and passed over when the file is read.
//!
//! Structure are the headings of the second and third level, the fields of a step, and the lines
//! that begin with `Work:` and `Check:`. Where such a line is part of a text, a backslash stands
//! before it.

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

/// Everything that stands in the file of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The frontmatter.
    pub head: Head,
    /// The plan.
    pub plan: Plan,
    /// How far each step has come, by id; a step that is not here waits.
    pub progress: BTreeMap<String, Mark>,
    /// What people said about it.
    pub remarks: Vec<Remark>,
    /// Other notes that it belongs together with.
    pub links: Vec<String>,
}

/// What a file says about its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The piece of work.
    pub trace: TraceId,
    /// The request, by the name of its file.
    pub request: String,
    /// How far it has come.
    pub status: PlanState,
    /// Which version it is.
    pub version: u32,
    /// The hash of the plan as it was when the file was written.
    pub hash: String,
    /// When this version was made.
    pub created: Option<Timestamp>,
    /// The role or person that wrote it.
    pub agent: String,
    /// The portal.
    pub portal: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Other lines of the frontmatter, as a person wrote them.
    pub other: Vec<String>,
}

/// How far a step has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Where it is.
    pub state: StepState,
    /// Why it failed or was not begun.
    pub why: Option<String>,
}

/// What somebody said about a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Who and when, as it stands in the file; nothing for what a person added by hand.
    pub by: Option<String>,
    /// What they said.
    pub text: String,
}

/// What was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The frontmatter.
    pub head: Head,
    /// The plan. Whether it can be used, [`check`](super::check()) says.
    pub plan: Plan,
    /// What people said about it.
    pub remarks: Vec<Remark>,
}

impl Remark {
    /// Says who said something and when, as the file shows it.
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
