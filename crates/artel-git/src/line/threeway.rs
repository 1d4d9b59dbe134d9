//! Three-way merges of commits without a working tree, and the details of conflicts.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::GitExitAnswer;
use crate::tree::store::{GitObjectStore, GitTreeFile};
use crate::{GitIdentity, RunTreeError};

use super::{PlanBranch, PlanBranchError, id_of};

/// Largest part of each side that is shown, in bytes.
const MOST_SHOWN: usize = 8 * 1024;

/// Number of conflicts for which both sides are shown. The others get only their names.
const MOST_DETAILED: usize = 50;

/// Largest content that is read to be shown, in bytes.
const LARGEST_READ: u64 = 4 << 20;

/// A file that two sides changed in different ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// Path of the file.
    pub path: PathBuf,
    /// The way in which the two sides clash.
    pub what: MergeConflictKind,
    /// Text of the branch in the places of the conflict, or `None` if it has no such file.
    /// `None` too if there are too many conflicts to show.
    pub ours: Option<String>,
    /// Text of the change in the same places.
    pub theirs: Option<String>,
}

/// The ways in which two sides can differ in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeConflictKind {
    /// Both sides changed the file.
    BothChanged,
    /// Both sides made the file.
    BothMade,
    /// The change removed a file that the branch changed.
    RemovedByTheirs,
    /// The branch removed a file that the change changed.
    RemovedByOurs,
    /// Files and folders block each other, or were moved to different places.
    InTheWay,
}

impl MergeConflictKind {
    /// Returns a description for a person.
    pub fn text(self) -> &'static str {
        match self {
            Self::BothChanged => "both sides changed it",
            Self::BothMade => "both sides made it",
            Self::RemovedByTheirs => "changed on the branch, removed by the change",
            Self::RemovedByOurs => "removed on the branch, changed by the change",
            Self::InTheWay => "moved or in the way of something else",
        }
    }
}

/// The outcome of a three-way merge: a clean tree, or conflicts.
#[derive(Debug)]
pub(super) enum ThreeWayMergeOutcome {
    Clean(String),
    Conflict(Vec<MergeConflict>),
}

impl PlanBranch {
    /// Merges the change from the tree of commit `base` to the tree `theirs` into commit
    /// `ours`.
    pub(super) fn three_way(
        &self,
        base: &str,
        ours: &str,
        theirs: &str,
    ) -> Result<ThreeWayMergeOutcome, PlanBranchError> {
        // These commits exist only for the merge: their one common ancestor is the wanted one.
        if self.is_within(base, ours)? {
            let theirs = self.side(theirs, &[base])?;
            return self.merge_commits(ours, &theirs);
        }
        let trees = self.trees(&[base, ours])?;
        let base = self.side(&trees[0], &[])?;
        let ours = self.side(&trees[1], &[&base])?;
        let theirs = self.side(theirs, &[&base])?;
        self.merge_commits(&ours, &theirs)
    }

    /// Merges two commits that have a common history.
    pub(super) fn merge_commits(
        &self,
        ours: &str,
        theirs: &str,
    ) -> Result<ThreeWayMergeOutcome, PlanBranchError> {
        let arguments = ["merge-tree", "--write-tree", "-z", ours, theirs];
        let (answer, said) = self.git().answer(&arguments, Vec::new())?;
        let mut fields = said.split(|byte| *byte == 0);
        let tree = id_of(fields.next().unwrap_or_default());
        if answer == GitExitAnswer::Yes {
            return Ok(ThreeWayMergeOutcome::Clean(tree));
        }
        let mut stages: BTreeMap<PathBuf, [Option<GitTreeFile>; 3]> = BTreeMap::new();
        for field in fields.take_while(|field| !field.is_empty()) {
            let Some((path, stage, side)) = staged(field) else {
                return Err(PlanBranchError::Damaged {
                    path: self.repository_at(),
                    why: "git merged in words that nobody here knows",
                });
            };
            stages.entry(path).or_default()[stage] = Some(side);
        }
        let conflicts = self.conflicts(&tree, stages)?;
        Ok(ThreeWayMergeOutcome::Conflict(conflicts))
    }

    /// Makes a commit that serves only as a side of a merge, or as the commit of a tree to
    /// check out.
    pub(super) fn side(&self, tree: &str, parents: &[&str]) -> Result<String, PlanBranchError> {
        self.write_commit(tree, parents, "a side\n", 0, &GitIdentity::artel())
    }

    /// Returns whether a commit is another one, or one of its ancestors.
    pub(super) fn is_within(&self, commit: &str, of: &str) -> Result<bool, PlanBranchError> {
        if commit == of {
            return Ok(true);
        }
        let arguments = ["merge-base", "--is-ancestor", commit, of];
        let (answer, _) = self.git().answer(&arguments, Vec::new())?;
        Ok(answer == GitExitAnswer::Yes)
    }

    /// Returns the trees of commits or trees.
    pub(super) fn trees(&self, treeish: &[&str]) -> Result<Vec<String>, PlanBranchError> {
        let names: Vec<String> = treeish
            .iter()
            .map(|name| Ok(format!("{}^{{tree}}", super::spell(name)?)))
            .collect::<Result<_, PlanBranchError>>()?;
        let mut arguments = vec!["rev-parse"];
        arguments.extend(names.iter().map(String::as_str));
        let said = self.git().run(&arguments)?;
        let said = String::from_utf8_lossy(&said);
        Ok(said.lines().map(str::to_owned).collect())
    }

    fn conflicts(
        &self,
        tree: &str,
        stages: BTreeMap<PathBuf, [Option<GitTreeFile>; 3]>,
    ) -> Result<Vec<MergeConflict>, PlanBranchError> {
        let store = self.store();
        let merged = store.manifest(tree)?;
        let mut found = Vec::new();
        for (path, [base, ours, theirs]) in stages {
            let what = match (&base, &ours, &theirs) {
                (Some(_), Some(_), Some(_)) => MergeConflictKind::BothChanged,
                (None, Some(_), Some(_)) => MergeConflictKind::BothMade,
                (Some(_), Some(_), None) => MergeConflictKind::RemovedByTheirs,
                (Some(_), None, Some(_)) => MergeConflictKind::RemovedByOurs,
                _ => MergeConflictKind::InTheWay,
            };
            let mut sides = [None, None];
            if found.len() < MOST_DETAILED {
                let both = ours.is_some() && theirs.is_some();
                let marked = merged.get(&path).filter(|_| both);
                let marked = marked.map(|side| text(&store, side)).transpose()?;
                sides = match marked.as_deref().and_then(parts) {
                    Some([ours, theirs]) => [Some(ours), Some(theirs)],
                    None => [
                        ours.map(|side| text(&store, &side)).transpose()?,
                        theirs.map(|side| text(&store, &side)).transpose()?,
                    ],
                };
            }
            let [ours, theirs] = sides.map(|side| side.map(bounded));
            found.push(MergeConflict {
                path,
                what,
                ours,
                theirs,
            });
        }
        if found.is_empty() {
            found.push(MergeConflict {
                path: PathBuf::from("."),
                what: MergeConflictKind::InTheWay,
                ours: None,
                theirs: None,
            });
        }
        Ok(found)
    }
}

/// Reads `<mode> <id> <stage>\t<path>`.
fn staged(field: &[u8]) -> Option<(PathBuf, usize, GitTreeFile)> {
    let tab = field.iter().position(|byte| *byte == b'\t')?;
    let path = Path::new(OsStr::from_bytes(&field[tab + 1..])).to_owned();
    let words: Vec<&str> = std::str::from_utf8(&field[..tab])
        .ok()?
        .split(' ')
        .collect();
    let [mode, id, stage] = words[..] else {
        return None;
    };
    let stage: usize = stage.parse().ok()?;
    let side = GitTreeFile {
        mode: u32::from_str_radix(mode, 8).ok()?,
        id: id.to_owned(),
    };
    (1..=3).contains(&stage).then(|| (path, stage - 1, side))
}

fn text(store: &GitObjectStore, side: &GitTreeFile) -> Result<String, RunTreeError> {
    let ids = [side.id.as_str()];
    let size = match side.mode {
        0o160_000 => return Ok(format!("a repository at {}", side.id)),
        _ => store.sizes(&ids)?.first().copied().unwrap_or_default(),
    };
    if size > LARGEST_READ {
        return Ok(format!("{size} bytes"));
    }
    let mut held = String::new();
    store.contents(&ids, |_, bytes| {
        held = match std::str::from_utf8(bytes) {
            Ok(text) if !bytes.contains(&0) => text.to_owned(),
            _ => format!("{} bytes that are no text", bytes.len()),
        };
        Ok::<(), RunTreeError>(())
    })?;
    Ok(held)
}

/// Returns the text of each side between git's conflict marks, or `None` if there are none.
fn parts(marked: &str) -> Option<[String; 2]> {
    let mut sides = [String::new(), String::new()];
    let mut here: Option<usize> = None;
    let mut is_any = false;
    for (number, line) in marked.lines().enumerate() {
        match here {
            None if line.starts_with("<<<<<<< ") => {
                for side in &mut sides {
                    side.push_str(&format!("@ line {}\n", number + 1));
                }
                (here, is_any) = (Some(0), true);
            }
            Some(0) if line == "=======" => here = Some(1),
            Some(1) if line.starts_with(">>>>>>> ") => here = None,
            Some(side) => {
                sides[side].push_str(line);
                sides[side].push('\n');
            }
            None => {}
        }
    }
    is_any.then_some(sides)
}

fn bounded(mut text: String) -> String {
    if text.len() > MOST_SHOWN {
        let whole = text.len();
        let end = (0..=MOST_SHOWN).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push_str(&format!("\n… {} more bytes\n", whole - text.len()));
    }
    text
}
