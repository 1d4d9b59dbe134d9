//! The reasons why git cannot carry out a person's order, with the remedies.

use std::path::{Path, PathBuf};

use artel_git::{MergeRefusedError, PlanBranchError};
use artel_types::{ChangesetCreated, Failure, FailureCode, counted, shown_path};

use crate::trouble::shell_word;
use crate::works::crew::git_failed;

/// Largest number of files named in a message.
const MOST_NAMED: usize = 10;

/// The changeset and command that a refusal talks about.
pub(super) struct ChangesetRefusalContext<'a> {
    pub(super) id: String,
    pub(super) created: &'a ChangesetCreated,
    /// The command to repeat afterwards.
    pub(super) again: String,
}

impl ChangesetRefusalContext<'_> {
    /// Explains why the order could not begin.
    pub(super) fn refused(&self, refused: MergeRefusedError) -> Failure {
        let words = refused.to_string();
        match refused {
            MergeRefusedError::Conflict { into, conflicts } => {
                let paths: Vec<_> = conflicts.iter().map(|it| it.path.clone()).collect();
                let what = format!(
                    "`{into}` has other changes in the same places: {}",
                    names(&paths)
                );
                let why = conflicts.iter().take(MOST_NAMED).map(|it| {
                    format!(
                        "{}: {}",
                        shown_path(&it.path.to_string_lossy()),
                        it.what.text()
                    )
                });
                Failure::new(FailureCode::R006, what)
                    .because(why.collect::<Vec<_>>().join("; "))
                    .advise(self.after_conflict(&into))
            }
            MergeRefusedError::Dirty { files } => self.dirty(&files),
            MergeRefusedError::Converted { files } => {
                let what = format!(
                    "git converts these between commit and disk: {}",
                    names(&files)
                );
                Failure::new(FailureCode::R006, what)
                    .because("what converts them is never run here")
                    .advise(format!("`{}`", self.by_hand()))
            }
            MergeRefusedError::NoBranch { branch } => {
                let what = format!("there is no branch `{branch}` any more");
                Failure::new(FailureCode::R008, what).advise(format!(
                    "name another with `artel changeset approve {} --into BRANCH`, or make it with \
                     `{} branch {branch}`",
                    self.id,
                    self.git()
                ))
            }
            MergeRefusedError::Busy { why } => {
                Failure::new(FailureCode::R008, "your repository is not ready for it")
                    .because(why)
                    .advise(format!("see to that, then `{}`", self.again))
            }
            MergeRefusedError::Elsewhere { branch, at } => {
                let what = format!(
                    "`{branch}` is checked out in the worktree `{}`",
                    at.display()
                );
                let at = shell_word(&at);
                Failure::new(FailureCode::R008, what).advise(format!(
                    "switch it to another branch with `git -C {at} switch -`, then `{}`",
                    self.again
                ))
            }
            MergeRefusedError::Already { .. } => {
                Failure::new(FailureCode::R008, words).advise(format!(
                    "`artel changeset reject {} --reason \"it is there already\"` closes it",
                    self.id
                ))
            }
            MergeRefusedError::NotThere { .. } => {
                Failure::new(FailureCode::R008, words).advise(format!(
                    "look for it with `{} log --oneline --grep {}`",
                    self.git(),
                    self.id
                ))
            }
            MergeRefusedError::Line(error) => self.failed(error),
        }
    }

    /// Explains why the order was begun and taken back, or could not be completed.
    pub(super) fn failed(&self, error: PlanBranchError) -> Failure {
        let what = error.to_string();
        match error {
            PlanBranchError::Dirty { files } => self.dirty(&files),
            PlanBranchError::Moved { .. } | PlanBranchError::Switched { .. } => {
                Failure::new(FailureCode::R006, what)
                    .advise(format!("`{}` takes it from there", self.again))
            }
            PlanBranchError::Busy { why } => {
                Failure::new(FailureCode::R008, "your repository is not ready for it")
                    .because(why)
                    .advise(format!("see to that, then `{}`", self.again))
            }
            PlanBranchError::Gone { .. } => Failure::new(FailureCode::R008, what).advise(format!(
                "put the repository back, then `{}`; or `artel changeset reject {} --reason \"…\"`",
                self.again, self.id
            )),
            error => git_failed(error).advise(format!("mend the cause, then `{}`", self.again)),
        }
    }

    fn dirty(&self, files: &[PathBuf]) -> Failure {
        let own = counted(files.len() as u64, "file");
        let what = format!(
            "you have changes of your own in {own} of it: {}",
            names(files)
        );
        let git = self.git();
        let failure = Failure::new(FailureCode::R006, what)
            .because("nothing was changed; they would be overwritten");
        if self.created.patch.is_some() {
            let id = &self.id;
            return failure.advise(format!(
                "put yours aside, then `{}`; or bring the two together yourself with `artel \
                 changeset show {id} --diff`, then `artel changeset reject {id} --reason \"done by \
                 hand\"`",
                self.again,
            ));
        }
        failure.advise(format!(
            "commit them with `{git} commit`, or put them aside with `{git} stash \
                 --include-untracked`; then `{}`",
            self.again
        ))
    }

    fn after_conflict(&self, into: &str) -> String {
        let (id, git) = (&self.id, self.git());
        let reject = format!("`artel changeset reject {id} --reason \"…\"`");
        match &self.created.branch {
            Some(branch) if self.again.contains(" approve ") => format!(
                "`{git} switch {branch}`, `{git} rebase {into}`, settle it, `{git} switch {into}`, \
                 then `artel changeset approve {id} --waive \"rebased by hand\"`; or {reject}"
            ),
            _ => format!(
                "change those places so that they are as the changeset left them, then `{}`",
                self.again
            ),
        }
    }

    fn by_hand(&self) -> String {
        let branch = self.created.branch.as_deref().unwrap_or(&self.created.head);
        format!("{} merge --no-ff {branch}", self.git())
    }

    fn git(&self) -> String {
        format!("git -C {}", shell_word(Path::new(&self.created.folder)))
    }
}

/// Returns the command that applies a patch to a folder without a repository.
pub(super) fn apply_by_hand(folder: &str, patch: &str) -> String {
    let (folder, patch) = (shell_word(Path::new(folder)), shell_word(Path::new(patch)));
    format!("cd {folder} && git apply {patch}")
}

/// Names the first files and counts the rest.
pub(super) fn names(files: &[PathBuf]) -> String {
    let shown = files.iter().take(MOST_NAMED);
    let mut names: Vec<String> = shown
        .map(|file| format!("`{}`", shown_path(&file.to_string_lossy())))
        .collect();
    if files.len() > MOST_NAMED {
        names.push(format!("and {} more", files.len() - MOST_NAMED));
    }
    names.join(", ")
}
