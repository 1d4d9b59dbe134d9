//! Locates the files that a command names, from the shell's working directory.

use std::path::Path;

use crate::path;

/// Paths that can be written to without a trace.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "-"];

/// File endings that a pattern may match when it is written to. No file that a program
/// loads unasked ends like this.
const PLAIN_ENDINGS: &[&str] = &[
    "c", "cc", "cpp", "css", "go", "h", "hpp", "html", "java", "js", "jsx", "log", "o", "out",
    "py", "pyc", "rb", "rs", "sh", "svg", "tmp", "ts", "tsx", "txt", "vue",
];

/// The directory a command line has changed to, as names below the root of the workspace.
#[derive(Debug)]
pub(super) struct ShellWorkingDirectory<'a> {
    workspace: Option<&'a Path>,
    at: Vec<String>,
}

/// Why a path needs a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathDoubt {
    pub(super) rule: &'static str,
    pub(super) reason: String,
}

impl<'a> ShellWorkingDirectory<'a> {
    pub(super) fn new(workspace: Option<&'a Path>) -> Self {
        Self {
            workspace,
            at: Vec::new(),
        }
    }

    /// Follows a change of directory, or returns why it needs a question. A change into a
    /// protected folder is followed as well, because the commands after it work there.
    pub(super) fn change(&mut self, words: &[String]) -> Option<PathDoubt> {
        let mut operands = words
            .iter()
            .skip(1)
            .filter(|word| !matches!(word.as_str(), "-P" | "-L" | "-e" | "-@" | "--"));
        let target = match (operands.next(), operands.next()) {
            (Some(target), None) if !target.starts_with('-') && !target.is_empty() => target,
            _ => {
                return Some(PathDoubt {
                    rule: "path.outside",
                    reason: "it changes to a directory that is not named".to_owned(),
                });
            }
        };
        let Some(place) = self.resolve(&self.at, target) else {
            return Some(outside(target));
        };
        self.at = place;
        let ground = protected(&self.at.join("/"))?;
        Some(guarded(ground, target))
    }

    /// Returns whether the line has changed to another directory below the root of the
    /// workspace.
    pub(super) fn has_moved(&self) -> bool {
        !self.at.is_empty()
    }

    /// Returns why writing to a path needs a question. The path is resolved both from the
    /// current directory and from the root, because a change of directory can fail.
    pub(super) fn write(&self, target: &str) -> Option<PathDoubt> {
        if SINKS.contains(&target) {
            return None;
        }
        for start in [self.at.as_slice(), &[]] {
            let Some(place) = self.resolve(start, target) else {
                return Some(outside(target));
            };
            if place.is_empty() {
                return Some(guarded("path.protected", target));
            }
            if let Some(ground) = protected(&place.join("/")) {
                return Some(guarded(ground, target));
            }
        }
        is_loose(target).then(|| PathDoubt {
            rule: "shell.glob",
            reason: format!("nobody knows which files `{target}` stands for"),
        })
    }

    /// Returns the places below the root where a path may lie.
    pub(super) fn places(&self, target: &str) -> Vec<String> {
        let starts = [self.at.as_slice(), &[]];
        let places = starts
            .iter()
            .filter_map(|start| self.resolve(start, target));
        places.map(|place| place.join("/")).collect()
    }

    /// Returns why reading a path needs a question.
    pub(super) fn read(&self, target: &str) -> Option<PathDoubt> {
        let place = match self.resolve(&self.at, target) {
            Some(place) => place.join("/"),
            None => target.to_owned(),
        };
        let ground = path::sensitive(&place)?;
        Some(PathDoubt {
            rule: ground,
            reason: format!("`{target}` may hold secrets"),
        })
    }

    /// Resolves a path by its text to names below the root, or `None` if it leaves the root.
    fn resolve(&self, start: &[String], target: &str) -> Option<Vec<String>> {
        if target.starts_with('~') {
            return None;
        }
        let (mut names, rest) = if target.starts_with('/') {
            let root = self.workspace?.to_str()?.trim_end_matches('/');
            let rest = target.strip_prefix(root)?;
            if !rest.is_empty() && !rest.starts_with('/') {
                return None;
            }
            (Vec::new(), rest)
        } else {
            (start.to_vec(), target)
        };
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop()?;
                }
                _ => names.push(name.to_owned()),
            }
        }
        Some(names)
    }
}

fn protected(place: &str) -> Option<&'static str> {
    path::protected(place)
}

/// Returns whether a pattern may match files that the author did not think of.
fn is_loose(target: &str) -> bool {
    let Some(at) = target.find(['*', '?', '[']) else {
        return false;
    };
    let tail = &target[at..];
    let ending = tail.rsplit_once('.').map(|(_, ending)| ending);
    tail.contains('/') || !ending.is_some_and(|ending| PLAIN_ENDINGS.contains(&ending))
}

fn outside(target: &str) -> PathDoubt {
    PathDoubt {
        rule: "path.outside",
        reason: format!("`{target}` lies outside the workspace"),
    }
}

fn guarded(rule: &'static str, target: &str) -> PathDoubt {
    PathDoubt {
        rule,
        reason: format!("`{target}` is protected"),
    }
}
