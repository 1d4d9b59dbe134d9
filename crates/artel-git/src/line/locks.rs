//! Clears locks that a git of ours left in a person's repository when it was killed
//! together with us.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{PlanBranch, PlanBranchError, found};
use crate::tree::place::EnclosingRepository;

/// Tolerance for the steps in which file system clocks move.
const STEP: Duration = Duration::from_secs(1);

impl PlanBranch {
    /// Removes the locks of a branch, and of the working tree, that were made since Artel began
    /// to move the branch. Leaves them if a git is running there: they may be its own.
    pub fn clear_locks(&self, branch: &str, since: SystemTime) -> Result<(), PlanBranchError> {
        let Some(repository) = self.repository() else {
            return Ok(());
        };
        let ours = |path: &PathBuf| {
            let made = fs::symlink_metadata(path).and_then(|it| it.modified());
            made.is_ok_and(|made| made + STEP >= since)
        };
        let left: Vec<PathBuf> = locks(&repository, branch)
            .into_iter()
            .filter(ours)
            .collect();
        if left.is_empty() || is_git_at_work(&repository) {
            return Ok(());
        }
        for path in left {
            fs::remove_file(&path).map_err(found(&path))?;
        }
        Ok(())
    }
}

fn locks(repository: &EnclosingRepository, branch: &str) -> Vec<PathBuf> {
    let own = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock"];
    let own = own.map(|name| repository.own.join(name));
    let shared = [
        "packed-refs.lock".to_owned(),
        format!("refs/heads/{branch}.lock"),
    ];
    let shared = shared.map(|name| repository.common.join(name));
    own.into_iter().chain(shared).collect()
}

/// Returns whether some git process works in the repository, or may do so but cannot be
/// inspected.
fn is_git_at_work(repository: &EnclosingRepository) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return true;
    };
    let is_git = |process: &Path| {
        let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
        name.trim_end() == "git" || name.starts_with("git-")
    };
    let stands_here = |process: &Path| match fs::read_link(process.join("cwd")) {
        Ok(at) => [&repository.top, &repository.own, &repository.common]
            .iter()
            .any(|folder| at.starts_with(folder)),
        // A process that has ended works nowhere; somebody else's may work here.
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    };
    let mut processes = processes.filter_map(Result::ok).map(|it| it.path());
    processes.any(|process| is_git(&process) && stands_here(&process))
}
