//! Plans merges, undos and redos. The commits are made in the line, and nothing of the
//! person's is touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::GitIdentity;
use crate::RunTreeError;
use crate::tree::placing::{FilePlacement, PlacementFileState};
use crate::tree::plan::PlacementStep;
use crate::tree::store::{DiffLineCounting, GitTreeDifference};

use super::person::{BranchCheckoutLocation, PersonRepository};
use super::threeway::ThreeWayMergeOutcome;
use super::{MergeRefusedError, PlanBranch, PlanBranchError, paths, spell};

/// A merge to plan.
#[derive(Debug, Clone, Copy)]
pub struct MergeSpec<'m> {
    /// Commit to merge, or a branch of the line.
    pub head: &'m str,
    /// Branch of the person's to merge into, such as `main`.
    pub into: &'m str,
    /// Full message of the merge commit.
    pub message: &'m str,
    /// Date in seconds since 1970.
    pub when: i64,
    /// Author and committer.
    pub author: &'m GitIdentity,
}

/// An undo or a redo to plan.
#[derive(Debug, Clone, Copy)]
pub struct UndoSpec<'u> {
    /// Commit whose change is reversed: a merge to undo it, an undo to redo what it undid.
    pub commit: &'u str,
    /// Branch of the person's that has the commit.
    pub into: &'u str,
    /// Full message of the new commit.
    pub message: &'u str,
    /// Date in seconds since 1970.
    pub when: i64,
    /// Author and committer.
    pub author: &'u GitIdentity,
}

/// A commit made for a person's branch, but not put there yet. It can be stored before it
/// is carried out, and carried out again after a kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedMerge {
    /// Branch of the person's to move.
    pub into: String,
    /// Commit that the branch is at.
    pub old: String,
    /// Commit that the branch will be at.
    pub new: String,
    /// Files that change, in order.
    #[serde(with = "paths")]
    pub files: Vec<PathBuf>,
    /// Folders that have to be made in the person's working tree.
    #[serde(with = "paths")]
    pub folders: Vec<PathBuf>,
    /// Whether the branch is checked out, so that working tree and index change with it.
    pub is_checked_out: bool,
}

/// The way in which a person brought a commit into their branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualMerge {
    /// Commit in the branch's first-parent history that brought it: a merge, or the commit
    /// itself.
    pub commit: String,
    /// Commit of the branch before that.
    pub before: String,
    /// Whether it was merged or the branch was moved.
    pub way: ManualMergeKind,
}

/// The two ways in which a person can bring a commit into a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualMergeKind {
    /// With a merge commit.
    Merged,
    /// By moving the branch to the commit.
    Moved,
}

impl ManualMergeKind {
    /// Returns the way as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Moved => "moved",
        }
    }
}

impl PlanBranch {
    /// Returns how a commit came into a person's branch, or `None` if it is not in the branch.
    pub fn brought_by_hand(
        &self,
        head: &str,
        into: &str,
    ) -> Result<Option<ManualMerge>, PlanBranchError> {
        let head = spell(head)?;
        let Some(tip) = self.person()?.branch(into)? else {
            return Ok(None);
        };
        if !self.is_within(&head, &tip)? {
            return Ok(None);
        }
        let range = format!("{head}..{tip}");
        let since = ["rev-list", "--first-parent", "--ancestry-path", &range];
        let since = self.git().run(&since)?;
        let since = String::from_utf8_lossy(&since);
        // The oldest first-parent commit of the branch that has it either sits right on top of
        // it or merges it.
        let first = since.lines().last().unwrap_or_default();
        let parent = |commit: &str| -> Result<String, PlanBranchError> {
            let name = format!("{commit}^1");
            Ok(super::id_of(&self.git().run(&["rev-parse", &name])?))
        };
        if first.is_empty() || parent(first)? == head {
            return Ok(Some(ManualMerge {
                before: parent(&head)?,
                commit: head,
                way: ManualMergeKind::Moved,
            }));
        }
        Ok(Some(ManualMerge {
            before: parent(first)?,
            commit: first.to_owned(),
            way: ManualMergeKind::Merged,
        }))
    }

    /// Plans a merge with a merge commit, even if the branch could be fast-forwarded.
    pub fn plan_merge(&self, order: &MergeSpec<'_>) -> Result<PreparedMerge, MergeRefusedError> {
        let (person, old) = self.branch_for(order.into)?;
        let head = match self.head_or_id(order.head)? {
            Some(head) => head,
            None => return Err(bad_name(order.head).into()),
        };
        if self.is_within(&head, &old)? {
            return Err(already(order.into));
        }
        let tree = clean(self.merge_commits(&old, &head)?, order.into)?;
        let parents = [old.as_str(), head.as_str()];
        let new = self.write_commit(&tree, &parents, order.message, order.when, order.author)?;
        self.check(&person, order.into, old.clone(), new)
    }

    /// Plans a commit that undoes a merge and keeps what people have changed since.
    pub fn plan_undo(&self, order: &UndoSpec<'_>) -> Result<PreparedMerge, MergeRefusedError> {
        self.plan_reverse(order)
    }

    /// Plans a commit that restores what an undo took away; `order.commit` is the undo.
    pub fn plan_redo(&self, order: &UndoSpec<'_>) -> Result<PreparedMerge, MergeRefusedError> {
        self.plan_reverse(order)
    }

    /// Plans a commit that reverses the change of another one.
    fn plan_reverse(&self, order: &UndoSpec<'_>) -> Result<PreparedMerge, MergeRefusedError> {
        let (person, old) = self.branch_for(order.into)?;
        let commit = spell(order.commit)?;
        if !self.is_within(&commit, &old)? {
            return Err(MergeRefusedError::NotThere {
                commit,
                into: order.into.to_owned(),
            });
        }
        let before = self
            .git()
            .run(&["rev-parse", &format!("{commit}^1^{{tree}}")]);
        let before = super::id_of(&before.map_err(PlanBranchError::from)?);
        let merged = self.three_way(&commit, &old, &before)?;
        let tree = clean(merged, order.into)?;
        if tree == self.tree_of(&old)? {
            return Err(already(order.into));
        }
        let parents = [old.as_str()];
        let new = self.write_commit(&tree, &parents, order.message, order.when, order.author)?;
        self.check(&person, order.into, old.clone(), new)
    }

    fn branch_for(&self, into: &str) -> Result<(PersonRepository, String), MergeRefusedError> {
        let person = self.person()?;
        let old = person.branch(into)?;
        let old = old.ok_or_else(|| MergeRefusedError::NoBranch {
            branch: into.to_owned(),
        })?;
        Ok((person, old))
    }

    fn head_or_id(&self, name: &str) -> Result<Option<String>, PlanBranchError> {
        if super::is_id(name) {
            Ok(Some(name.to_owned()))
        } else {
            self.head(name)
        }
    }

    /// Checks that the person's folder is ready for the merge.
    fn check(
        &self,
        person: &PersonRepository,
        into: &str,
        old: String,
        new: String,
    ) -> Result<PreparedMerge, MergeRefusedError> {
        let differences = self
            .store()
            .differences(&old, &new, DiffLineCounting::Uncounted)?;
        let mut merge = PreparedMerge {
            into: into.to_owned(),
            old,
            new,
            files: differences.iter().map(|one| one.path.clone()).collect(),
            folders: Vec::new(),
            is_checked_out: false,
        };
        match person.seat(into)? {
            BranchCheckoutLocation::Nowhere if person.is_rebased(into) => {
                let why =
                    format!("`{into}` is being rebased; try `git rebase --continue` or `--abort`");
                return Err(MergeRefusedError::Busy { why });
            }
            BranchCheckoutLocation::Nowhere => return Ok(merge),
            BranchCheckoutLocation::Elsewhere(at) => {
                return Err(MergeRefusedError::Elsewhere {
                    branch: into.to_owned(),
                    at,
                });
            }
            BranchCheckoutLocation::Here => merge.is_checked_out = true,
        }
        self.recover(person)?;
        if let Some(why) = person.under_way() {
            return Err(MergeRefusedError::Busy { why });
        }
        let files = person.converted(&merge.files)?;
        if !files.is_empty() {
            return Err(MergeRefusedError::Converted { files });
        }
        merge.folders = self.check_files(person, differences)?;
        Ok(merge)
    }

    /// Checks that files and index match the branch, and returns the folders to make.
    fn check_files(
        &self,
        person: &PersonRepository,
        differences: Vec<GitTreeDifference>,
    ) -> Result<Vec<PathBuf>, MergeRefusedError> {
        let Some(entries) = person.entries()? else {
            return Err(MergeRefusedError::Busy {
                why: super::deed::UNDECIDED.to_owned(),
            });
        };
        let placing = self.placing(person)?;
        let steps = super::deed::steps(differences);
        let states = placing.states(&steps)?;
        let mut files = blocked(&placing, &steps)?;
        for (step, state) in steps.iter().zip(&states) {
            let is_as_before = matches!(state, PlacementFileState::Before(_));
            if !is_as_before || entries.get(&step.path) != step.old.as_ref() {
                files.push(step.path.clone());
            }
        }
        if !files.is_empty() {
            files.sort();
            files.dedup();
            return Err(MergeRefusedError::Dirty { files });
        }
        Ok(placing.missing_folders(&steps)?)
    }
}

/// Returns the new files that need a folder where the person has a file.
pub(super) fn blocked(
    placing: &FilePlacement,
    steps: &[PlacementStep],
) -> Result<Vec<PathBuf>, RunTreeError> {
    let gone = steps.iter().filter(|step| step.new.is_none());
    let gone: BTreeSet<&Path> = gone.map(|step| step.path.as_path()).collect();
    let mut found = Vec::new();
    for step in steps {
        if !has_way(placing, step, &gone)? {
            found.push(step.path.clone());
        }
    }
    Ok(found)
}

fn has_way(
    placing: &FilePlacement,
    step: &PlacementStep,
    gone: &BTreeSet<&Path>,
) -> Result<bool, RunTreeError> {
    if step.new.is_none() || step.old.is_some() {
        return Ok(true);
    }
    for folder in step.path.ancestors().skip(1) {
        if folder.as_os_str().is_empty() || gone.contains(folder) {
            continue;
        }
        let stat = match placing.origin.look(folder) {
            Ok(stat) => stat,
            Err(RunTreeError::LedAway { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        if stat.is_some_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn clean(merged: ThreeWayMergeOutcome, into: &str) -> Result<String, MergeRefusedError> {
    match merged {
        ThreeWayMergeOutcome::Clean(tree) => Ok(tree),
        ThreeWayMergeOutcome::Conflict(conflicts) => Err(MergeRefusedError::Conflict {
            into: into.to_owned(),
            conflicts,
        }),
    }
}

fn already(into: &str) -> MergeRefusedError {
    MergeRefusedError::Already {
        into: into.to_owned(),
    }
}

fn bad_name(name: &str) -> PlanBranchError {
    PlanBranchError::BadName {
        name: name.to_owned(),
    }
}
