//! Which files a ban or a question is about: one answer for tools and for commands.
//!
//! A grant is read as it is written. A ban on a path is one on everything below it too, however it is
//! written, and it binds whatever reads or changes the file, not only the tool that it names.

use std::path::Path;

use globset::GlobMatcher;

use super::pattern::Form;
use super::{Rule, compile};

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathUse {
    /// It is read, searched or listed.
    Reading,
    /// It is made, changed or removed.
    Writing,
}

/// The tools whose rules are about reading, and about changing.
const READING: [&str; 4] = ["read", "glob", "grep", "list"];
const WRITING: [&str; 6] = [
    "edit",
    "write",
    "multi_edit",
    "batch_write",
    "apply_patch",
    "format",
];

/// The tools whose names alone stand for all that reads, and for all that changes.
const KINDS: [(&str, PathUse); 3] = [
    ("read", PathUse::Reading),
    ("edit", PathUse::Writing),
    ("write", PathUse::Writing),
];

/// The pattern of every path.
const EVERYTHING: &str = "**";

/// A pattern of paths or names.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    /// As it is written, for grants.
    pub(super) granted: GlobMatcher,
    /// The topmost paths that it is about, for bans.
    banned: GlobMatcher,
}

impl PathPattern {
    pub(super) fn read(pattern: &str) -> Result<Self, globset::Error> {
        Ok(Self {
            granted: compile(pattern)?,
            banned: compile(topmost(pattern))?,
        })
    }
}

/// `private/` and `private/**` are about the folder itself too.
fn topmost(pattern: &str) -> &str {
    let folder = pattern.trim_end_matches('/');
    let whole = folder.strip_suffix("/**").unwrap_or(folder);
    let is_open = whole.contains(['*', '?', '[', '{', '\\']);
    match folder {
        "" | "." => EVERYTHING,
        _ if is_open => folder,
        _ => whole,
    }
}

impl Rule {
    /// Returns the use of files that it bans or asks about, if it is about files.
    pub fn path_use(&self) -> Option<PathUse> {
        let is = |tools: &[&str]| tools.contains(&self.tool.as_str());
        match &self.form {
            Form::Glob(_) if is(&READING) => Some(PathUse::Reading),
            Form::Glob(_) if is(&WRITING) => Some(PathUse::Writing),
            Form::Any => {
                let kind = KINDS.iter().find(|(tool, _)| *tool == self.tool);
                kind.map(|(_, path_use)| *path_use)
            }
            _ => None,
        }
    }

    /// Tells whether its tool changes files.
    pub fn is_about_changing_files(&self) -> bool {
        WRITING.contains(&self.tool.as_str())
    }

    /// Returns the pattern of the topmost paths that it bans or asks about.
    pub fn banned_pattern(&self) -> Option<&str> {
        self.path_use()?;
        match &self.form {
            Form::Glob(pattern) => Some(pattern.banned.glob().glob()),
            _ => Some(EVERYTHING),
        }
    }

    /// Tells whether a ban or a question in these words is about this use of a path, relative to the
    /// workspace and resolved.
    pub fn catches_path(&self, path_use: PathUse, path: &str) -> bool {
        if self.path_use() != Some(path_use) {
            return false;
        }
        match &self.form {
            Form::Glob(pattern) => {
                let path = Path::new(path.strip_prefix("./").unwrap_or(path));
                let mut above = path.ancestors();
                pattern.granted.is_match(path)
                    || above.any(|it| it != Path::new("") && pattern.banned.is_match(it))
            }
            _ => true,
        }
    }

    /// Tells whether it keeps every file from being read. That is no wall around some of them: a
    /// command without any file is none.
    pub fn bans_all_reading(&self) -> bool {
        self.path_use() == Some(PathUse::Reading) && self.banned_pattern() == Some(EVERYTHING)
    }
}
