//! Finding the repository that a folder lies in, without asking git.
//!
//! A folder is data that somebody else may have written, and its `.git` may point anywhere. Only
//! what provably belongs together is taken: a `.git` folder, a linked worktree whose repository
//! points back, a submodule whose repository lies in that of a folder above. Anything else counts
//! as no repository, so that nobody's other repositories are read by mistake.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Git, GitError, Identity};

use super::TreeError;

/// Longer than any of git's one-line files.
const LONGEST: u64 = 64 * 1024;

/// How many repositories may borrow from one another.
const MOST_BORROWED: usize = 8;

/// The repository that a folder lies in.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// The root of its working tree, without links.
    pub(crate) top: PathBuf,
    /// The folder, without links.
    pub(crate) folder: PathBuf,
    /// Where `HEAD` lies.
    pub(crate) own: PathBuf,
    /// Where objects and the exclude file lie.
    pub(crate) common: PathBuf,
}

/// The commit that a person stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) commit: String,
    /// The name of the branch, such as `refs/heads/main`; nothing when detached.
    pub(crate) branch: Option<String>,
    /// `sha1` or `sha256`.
    pub(crate) format: String,
}

impl Repository {
    /// Finds the repository that a folder lies in.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let is_there = |top: &&Path| top.join(".git").symlink_metadata().is_ok();
        let top = folder.ancestors().find(is_there)?.to_owned();
        let dot_git = top.join(".git");
        let kind = dot_git.symlink_metadata().ok()?.file_type();
        let (own, common) = if kind.is_dir() {
            // A plain repository shares with nobody.
            let is_plain = dot_git.join("commondir").symlink_metadata().is_err();
            is_plain.then(|| (dot_git.clone(), dot_git))?
        } else if kind.is_file() {
            pointed_to(&top, &dot_git)?
        } else {
            return None;
        };
        let is_whole = own.join("HEAD").symlink_metadata().is_ok()
            && is_folder(&common.join("objects"))
            && is_folder(&common.join("refs"));
        is_whole.then_some(Self {
            top,
            folder,
            own,
            common,
        })
    }

    /// Returns the folder's path from the root of the working tree.
    pub(crate) fn prefix(&self) -> &Path {
        self.folder.strip_prefix(&self.top).unwrap_or(Path::new(""))
    }

    /// Returns the git that reads this repository, and only here.
    pub(crate) fn git(&self, program: &Path) -> Git {
        Git::new(program, &self.top, Identity::artel())
            .patiently(super::LONGEST_CALL, super::MOST_OUTPUT)
            .set("core.bare=false")
            .variable("GIT_DIR", &self.own)
            .variable("GIT_WORK_TREE", &self.top)
    }

    /// Returns the commit that the person stands on; nothing before the first.
    pub(crate) fn head(&self, program: &Path) -> Result<Option<Head>, TreeError> {
        let git = self.git(program);
        let said = match git.run(&["rev-parse", "--show-object-format", "HEAD^{commit}"]) {
            Ok(said) => said,
            Err(GitError::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let said = String::from_utf8_lossy(&said);
        let mut lines = said.lines();
        let (Some(format), Some(commit)) = (lines.next(), lines.next()) else {
            return Ok(None);
        };
        Ok(Some(Head {
            commit: commit.to_owned(),
            branch: self.branch(),
            format: format.to_owned(),
        }))
    }

    fn branch(&self) -> Option<String> {
        let text = line_of(&self.own.join("HEAD"))?;
        let name = text.strip_prefix("ref:")?.trim().to_owned();
        let is_plain = name.strip_prefix("refs/heads/").is_some_and(|rest| {
            let is_good = |part: &str| {
                !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with(".lock")
            };
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+#".contains(&byte);
            rest.split('/').all(is_good) && rest.bytes().all(is_plain) && !rest.contains("..")
        });
        is_plain.then_some(name)
    }

    /// Returns the folders of objects that reading this repository needs: its own, and those that
    /// it borrows from itself.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        let mut found = vec![self.common.join("objects")];
        let mut next = 0;
        while next < found.len() && found.len() < MOST_BORROWED {
            let here = found[next].clone();
            next += 1;
            let text = artel_files::read_bounded(&here.join("info/alternates"), LONGEST);
            let text = text.unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                let borrowed = here.join(line);
                let is_new = !line.is_empty() && !line.starts_with('#') && borrowed.is_dir();
                if is_new && !found.contains(&borrowed) {
                    found.push(borrowed);
                }
            }
        }
        found
    }
}

/// Follows a `.git` file, if what it names points back.
fn pointed_to(top: &Path, dot_git: &Path) -> Option<(PathBuf, PathBuf)> {
    let text = line_of(dot_git)?;
    let own = top.join(text.strip_prefix("gitdir:")?.trim());
    let own = own.canonicalize().ok()?;
    if let Some(back) = line_of(&own.join("gitdir")) {
        let common = own.join(line_of(&own.join("commondir"))?);
        let common = common.canonicalize().ok()?;
        let points_back = own.join(back).canonicalize().ok()? == dot_git;
        let is_one_of_its = own.parent()?.parent()? == common;
        return (points_back && is_one_of_its).then_some((own, common));
    }
    let is_module = |above: &Path| own.starts_with(above.join(".git/modules"));
    let has_no_other = own.join("commondir").symlink_metadata().is_err();
    let is_module = has_no_other && top.ancestors().skip(1).any(is_module);
    is_module.then(|| (own.clone(), own.clone()))
}

fn line_of(file: &Path) -> Option<String> {
    let text = artel_files::read_bounded(file, LONGEST).ok()?;
    let text = String::from_utf8(text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}
