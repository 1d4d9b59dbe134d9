//! Plans merges, undos and redos. The commits are made in the line, and nothing of the
//! person's is touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::Identity;
use crate::TreeError;
use crate::tree::placing::{Placing, State};
use crate::tree::plan::Step;
use crate::tree::store::{Difference, Lines};

use super::person::{Person, Seat};
use super::threeway::Merged;
use super::{Line, LineError, MergeRefused, paths, spell};

/// A merge to plan.
#[derive(Debug, Clone, Copy)]
pub struct MergeOrder<'m> {
    /// Commit to merge, or a branch of the line.
    pub head: &'m str,
    /// Branch of the person's to merge into, such as `main`.
    pub into: &'m str,
    /// Full message of the merge commit.
    pub message: &'m str,
    /// Date in seconds since 1970.
    pub when: i64,
    /// Author and committer.
    pub author: &'m Identity,
}

/// An undo or a redo to plan.
#[derive(Debug, Clone, Copy)]
pub struct UndoOrder<'u> {
    /// Commit whose change is reversed: a merge to undo it, an undo to redo what it undid.
    pub commit: &'u str,
    /// Branch of the person's that has the commit.
    pub into: &'u str,
    /// Full message of the new commit.
    pub message: &'u str,
    /// Date in seconds since 1970.
    pub when: i64,
    /// Author and committer.
    pub author: &'u Identity,
}

/// A commit made for a person's branch, but not put there yet. It can be stored before it
/// is carried out, and carried out again after a kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
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
pub struct ByHand {
    /// Commit in the branch's first-parent history that brought it: a merge, or the commit
    /// itself.
    pub commit: String,
    /// Commit of the branch before that.
    pub before: String,
    /// Whether it was merged or the branch was moved.
    pub way: HandWay,
}

/// The two ways in which a person can bring a commit into a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandWay {
    /// With a merge commit.
    Merged,
    /// By moving the branch to the commit.
    Moved,
}

impl HandWay {
    /// Returns the way as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Moved => "moved",
        }
    }
}

impl Line {
    /// Returns how a commit came into a person's branch, or `None` if it is not in the branch.
    pub fn brought_by_hand(&self, head: &str, into: &str) -> Result<Option<ByHand>, LineError> {
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
        let parent = |commit: &str| -> Result<String, LineError> {
            let name = format!("{commit}^1");
            Ok(super::id_of(&self.git().run(&["rev-parse", &name])?))
        };
        if first.is_empty() || parent(first)? == head {
            return Ok(Some(ByHand {
                before: parent(&head)?,
                commit: head,
                way: HandWay::Moved,
            }));
        }
        Ok(Some(ByHand {
            before: parent(first)?,
            commit: first.to_owned(),
            way: HandWay::Merged,
        }))
    }

    /// Plans a merge with a merge commit, even if the branch could be fast-forwarded.
    pub fn plan_merge(&self, order: &MergeOrder<'_>) -> Result<Merge, MergeRefused> {
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
    pub fn plan_undo(&self, order: &UndoOrder<'_>) -> Result<Merge, MergeRefused> {
        self.plan_reverse(order)
    }

    /// Plans a commit that restores what an undo took away; `order.commit` is the undo.
    pub fn plan_redo(&self, order: &UndoOrder<'_>) -> Result<Merge, MergeRefused> {
        self.plan_reverse(order)
    }

    /// Plans a commit that reverses the change of another one.
    fn plan_reverse(&self, order: &UndoOrder<'_>) -> Result<Merge, MergeRefused> {
        let (person, old) = self.branch_for(order.into)?;
        let commit = spell(order.commit)?;
        if !self.is_within(&commit, &old)? {
            return Err(MergeRefused::NotThere {
                commit,
                into: order.into.to_owned(),
            });
        }
        let before = self
            .git()
            .run(&["rev-parse", &format!("{commit}^1^{{tree}}")]);
        let before = super::id_of(&before.map_err(LineError::from)?);
        let merged = self.three_way(&commit, &old, &before)?;
        let tree = clean(merged, order.into)?;
        if tree == self.tree_of(&old)? {
            return Err(already(order.into));
        }
        let parents = [old.as_str()];
        let new = self.write_commit(&tree, &parents, order.message, order.when, order.author)?;
        self.check(&person, order.into, old.clone(), new)
    }

    fn branch_for(&self, into: &str) -> Result<(Person, String), MergeRefused> {
        let person = self.person()?;
        let old = person.branch(into)?;
        let old = old.ok_or_else(|| MergeRefused::NoBranch {
            branch: into.to_owned(),
        })?;
        Ok((person, old))
    }

    fn head_or_id(&self, name: &str) -> Result<Option<String>, LineError> {
        if super::is_id(name) {
            Ok(Some(name.to_owned()))
        } else {
            self.head(name)
        }
    }

    /// Checks that the person's folder is ready for the merge.
    fn check(
        &self,
        person: &Person,
        into: &str,
        old: String,
        new: String,
    ) -> Result<Merge, MergeRefused> {
        let differences = self.store().differences(&old, &new, Lines::Uncounted)?;
        let mut merge = Merge {
            into: into.to_owned(),
            old,
            new,
            files: differences.iter().map(|one| one.path.clone()).collect(),
            folders: Vec::new(),
            is_checked_out: false,
        };
        match person.seat(into)? {
            Seat::Nowhere if person.is_rebased(into) => {
                let why =
                    format!("`{into}` is being rebased; try `git rebase --continue` or `--abort`");
                return Err(MergeRefused::Busy { why });
            }
            Seat::Nowhere => return Ok(merge),
            Seat::Elsewhere(at) => {
                return Err(MergeRefused::Elsewhere {
                    branch: into.to_owned(),
                    at,
                });
            }
            Seat::Here => merge.is_checked_out = true,
        }
        self.recover(person)?;
        if let Some(why) = person.under_way() {
            return Err(MergeRefused::Busy { why });
        }
        let files = person.converted(&merge.files)?;
        if !files.is_empty() {
            return Err(MergeRefused::Converted { files });
        }
        merge.folders = self.check_files(person, differences)?;
        Ok(merge)
    }

    /// Checks that files and index match the branch, and returns the folders to make.
    fn check_files(
        &self,
        person: &Person,
        differences: Vec<Difference>,
    ) -> Result<Vec<PathBuf>, MergeRefused> {
        let Some(entries) = person.entries()? else {
            return Err(MergeRefused::Busy {
                why: super::deed::UNDECIDED.to_owned(),
            });
        };
        let placing = self.placing(person)?;
        let steps = super::deed::steps(differences);
        let states = placing.states(&steps)?;
        let mut files = blocked(&placing, &steps)?;
        for (step, state) in steps.iter().zip(&states) {
            let is_as_before = matches!(state, State::Before(_));
            if !is_as_before || entries.get(&step.path) != step.old.as_ref() {
                files.push(step.path.clone());
            }
        }
        if !files.is_empty() {
            files.sort();
            files.dedup();
            return Err(MergeRefused::Dirty { files });
        }
        Ok(placing.missing_folders(&steps)?)
    }
}

/// Returns the new files that need a folder where the person has a file.
pub(super) fn blocked(placing: &Placing, steps: &[Step]) -> Result<Vec<PathBuf>, TreeError> {
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

fn has_way(placing: &Placing, step: &Step, gone: &BTreeSet<&Path>) -> Result<bool, TreeError> {
    if step.new.is_none() || step.old.is_some() {
        return Ok(true);
    }
    for folder in step.path.ancestors().skip(1) {
        if folder.as_os_str().is_empty() || gone.contains(folder) {
            continue;
        }
        let stat = match placing.origin.look(folder) {
            Ok(stat) => stat,
            Err(TreeError::LedAway { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        if stat.is_some_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_dir()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn clean(merged: Merged, into: &str) -> Result<String, MergeRefused> {
    match merged {
        Merged::Clean(tree) => Ok(tree),
        Merged::Conflict(conflicts) => Err(MergeRefused::Conflict {
            into: into.to_owned(),
            conflicts,
        }),
    }
}

fn already(into: &str) -> MergeRefused {
    MergeRefused::Already {
        into: into.to_owned(),
    }
}

fn bad_name(name: &str) -> LineError {
    LineError::BadName {
        name: name.to_owned(),
    }
}
