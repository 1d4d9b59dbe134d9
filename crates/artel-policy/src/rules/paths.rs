//! The files that a ban or ask rule matches: the same answer for tools and for commands.
//!
//! A grant is read as it is written. A ban on a path also covers everything below it,
//! however it is written, and it binds every tool that reads or changes the file, not only
//! the one it names.

use std::path::Path;

use globset::GlobMatcher;

use super::pattern::PolicyRulePattern;
use super::{PolicyRule, compile};

/// The use that is made of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathUse {
    /// Reading, searching or listing.
    Reading,
    /// Creating, changing or removing.
    Writing,
}

/// The tools whose rules are about reading files, and those whose rules are about changing
/// them.
const READING: [&str; 4] = ["read", "glob", "grep", "list"];
const WRITING: [&str; 6] = [
    "edit",
    "write",
    "multi_edit",
    "batch_write",
    "apply_patch",
    "format",
];

/// The tools whose bare names stand for all reading or all changing of files.
const KINDS: [(&str, PathUse); 3] = [
    ("read", PathUse::Reading),
    ("edit", PathUse::Writing),
    ("write", PathUse::Writing),
];

/// The pattern that matches every path.
const EVERYTHING: &str = "**";

/// A pattern of paths or names.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    /// The pattern as written, for grants.
    pub(super) granted: GlobMatcher,
    /// The topmost paths it matches, for bans.
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

/// Returns the pattern for bans: `private/` and `private/**` also match the folder itself.
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

impl PolicyRule {
    /// Returns the use of files that the rule bans or asks about, or `None` if it is not about
    /// files.
    pub fn path_use(&self) -> Option<PathUse> {
        let is = |tools: &[&str]| tools.contains(&self.tool.as_str());
        match &self.form {
            PolicyRulePattern::Glob(_) if is(&READING) => Some(PathUse::Reading),
            PolicyRulePattern::Glob(_) if is(&WRITING) => Some(PathUse::Writing),
            PolicyRulePattern::Any => {
                let kind = KINDS.iter().find(|(tool, _)| *tool == self.tool);
                kind.map(|(_, path_use)| *path_use)
            }
            _ => None,
        }
    }

    /// Returns whether the rule's tool changes files.
    pub fn is_about_changing_files(&self) -> bool {
        WRITING.contains(&self.tool.as_str())
    }

    /// Returns the pattern of the topmost paths that the rule bans or asks about.
    pub fn banned_pattern(&self) -> Option<&str> {
        self.path_use()?;
        match &self.form {
            PolicyRulePattern::Glob(pattern) => Some(pattern.banned.glob().glob()),
            _ => Some(EVERYTHING),
        }
    }

    /// Returns whether the rule, as a ban or ask rule, matches this use of a path, which is
    /// relative to the workspace and resolved.
    pub fn catches_path(&self, path_use: PathUse, path: &str) -> bool {
        if self.path_use() != Some(path_use) {
            return false;
        }
        match &self.form {
            PolicyRulePattern::Glob(pattern) => {
                let path = Path::new(path.strip_prefix("./").unwrap_or(path));
                let mut above = path.ancestors();
                pattern.granted.is_match(path)
                    || above.any(|it| it != Path::new("") && pattern.banned.is_match(it))
            }
            _ => true,
        }
    }

    /// Returns whether the rule keeps every file from being read. That cannot be a wall around
    /// some files: without any file no command runs.
    pub fn bans_all_reading(&self) -> bool {
        self.path_use() == Some(PathUse::Reading) && self.banned_pattern() == Some(EVERYTHING)
    }
}
