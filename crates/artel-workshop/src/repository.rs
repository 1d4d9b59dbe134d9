//! Repositories that are begun for a person who said yes to one.

use std::path::Path;

use artel_git::{Git, Identity};
use artel_types::{Code, Failure};

use crate::caller::Caller;

impl Caller {
    /// Tells whether a folder is in a git repository.
    pub fn is_in_repository(&self, folder: &Path) -> bool {
        folder.ancestors().any(|it| it.join(".git").exists())
    }

    /// Begins a repository in a folder and commits what is there; the commit says this.
    pub fn begin_repository(&self, folder: &Path, says: &str) -> Result<(), Failure> {
        let git = self.program("git").ok_or_else(|| {
            Failure::new(Code::W008, "a repository needs git")
                .because("there is no `git` on the PATH")
                .advise("install git")
        })?;
        let git = Git::new(git, folder, Identity::artel());
        let message = format!("--message={says}");
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--allow-empty", &message],
        ] {
            git.run(words).map_err(|error| {
                let what = format!("no repository could be begun in `{}`", folder.display());
                Failure::new(Code::W008, what)
                    .because(error.to_string())
                    .advise("`git --version` says whether git works; then again")
            })?;
        }
        Ok(())
    }
}
