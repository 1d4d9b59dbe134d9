//! Creates git repositories for people who agreed to one.

use std::path::Path;

use artel_git::{GitError, GitIdentity, GitRunner};
use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::trouble::shell_word;

/// Returns the failure for a repository without commits, with advice on how to make one.
pub(crate) fn no_commit(folder: &Path) -> Failure {
    let (shown, at) = (folder.display(), shell_word(folder));
    Failure::new(
        FailureCode::W008,
        format!("`{shown}` has no commit to start from"),
    )
    .because("results are branches, and a branch starts from a commit")
    .advise(format!(
        "`git -C {at} add -A && git -C {at} commit --allow-empty -m start`, then again"
    ))
}

impl CommandContext {
    /// Returns whether a folder is in a git repository.
    pub fn is_in_repository(&self, folder: &Path) -> bool {
        folder.ancestors().any(|it| it.join(".git").exists())
    }

    /// Refuses a folder whose repository has no commit yet, because a branch needs one to
    /// start from.
    pub(crate) fn has_a_commit(&self, folder: &Path) -> Result<(), Failure> {
        let Some(git) = self
            .program("git")
            .filter(|_| self.is_in_repository(folder))
        else {
            return Ok(());
        };
        let git = GitRunner::new(git, folder, GitIdentity::artel());
        let found = git.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        match found {
            Err(GitError::Refused { .. }) => Err(no_commit(folder)),
            // The next code that needs git reports any other problem.
            _ => Ok(()),
        }
    }

    /// Creates a repository in a folder and commits its contents, with `says` as the message.
    pub fn begin_repository(&self, folder: &Path, says: &str) -> Result<(), Failure> {
        let git = self.program("git").ok_or_else(|| {
            Failure::new(FailureCode::W008, "a repository needs git")
                .because("there is no `git` on the PATH")
                .advise("install git")
        })?;
        let git = GitRunner::new(git, folder, GitIdentity::artel());
        let message = format!("--message={says}");
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--allow-empty", &message],
        ] {
            git.run(words).map_err(|error| {
                let what = format!("no repository could be begun in `{}`", folder.display());
                Failure::new(FailureCode::W008, what)
                    .because(error.to_string())
                    .advise("`git --version` says whether git works; then again")
            })?;
        }
        Ok(())
    }
}
