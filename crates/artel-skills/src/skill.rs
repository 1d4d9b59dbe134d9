//! A loaded skill.

use std::path::PathBuf;

use serde::Serialize;

use crate::{Remark, SkillFrontmatter};

/// A folder with a `SKILL.md`, read and checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skill {
    /// The skill's name: the one that it states, or its folder's if that cannot be used.
    pub name: String,
    /// A description of what it does and when to use it.
    pub description: String,
    /// The absolute path of its folder, without links.
    pub folder: PathBuf,
    /// The origin of the skill.
    pub scope: SkillOrigin,
    /// The other frontmatter fields.
    pub front: SkillFrontmatter,
    /// The instructions as their author wrote them.
    #[serde(skip)]
    pub body: String,
    /// Number of lines of `SKILL.md`, counted as editors do.
    pub lines: usize,
    /// Size of `SKILL.md` in bytes.
    pub bytes: u64,
    /// BLAKE3 over the paths and bytes of everything in the folder. Trust is bound to this
    /// hash.
    pub hash: String,
    /// The files that can be read on demand, sorted by path.
    pub files: Vec<SkillSupportingFile>,
    /// The files that can be run, sorted by path.
    pub scripts: Vec<SkillScript>,
    /// Notes for the author.
    pub remarks: Vec<Remark>,
}

/// The origin of a skill. It decides which questions are asked before its first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillOrigin {
    /// The workshop's own skill.
    Workshop,
    /// A skill that came with a project.
    Portal,
    /// A skill in the person's home folder.
    User,
}

/// A file beside `SKILL.md` that is read only when the work needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillSupportingFile {
    /// Path relative to the skill's folder, with slashes.
    pub path: String,
    /// The description of it in `SKILL.md`.
    pub description: Option<String>,
    pub bytes: u64,
    /// Number of lines, or `None` if it is not text.
    pub lines: Option<usize>,
}

/// A file of the `scripts` folder that can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillScript {
    /// Path relative to the skill's folder, with slashes.
    pub path: String,
    pub bytes: u64,
}
