//! A skill as it was loaded.

use std::path::PathBuf;

use serde::Serialize;

use crate::{Front, Remark};

/// A folder with a `SKILL.md`, read and checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skill {
    /// What it is called: its own word, or its folder's where that cannot be used.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Where it lies: absolute, without links.
    pub folder: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// Its other fields.
    pub front: Front,
    /// The instructions as their author wrote them.
    #[serde(skip)]
    pub body: String,
    /// How many lines `SKILL.md` has, counted as editors do.
    pub lines: usize,
    /// How many bytes `SKILL.md` has.
    pub bytes: u64,
    /// BLAKE3 over the paths and bytes of everything in the folder: what trust is given to.
    pub hash: String,
    /// What can be read on demand, in the order of paths.
    pub files: Vec<Supporting>,
    /// What can be run, in the order of paths.
    pub scripts: Vec<Script>,
    /// What its author should know.
    pub remarks: Vec<Remark>,
}

/// Whose a skill is. It decides what is asked before its first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The workshop's own.
    Workshop,
    /// It came with a project.
    Portal,
    /// It lies in the person's home.
    User,
}

/// A file beside `SKILL.md` that is read only when the work needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Supporting {
    /// Relative to the skill's folder, with slashes.
    pub path: String,
    /// What `SKILL.md` says about it.
    pub description: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many lines, if it is text.
    pub lines: Option<usize>,
}

/// A file of the `scripts` folder that can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// Relative to the skill's folder, with slashes.
    pub path: String,
    /// How many bytes it has.
    pub bytes: u64,
}
