//! Finds the repository that a folder lies in, without asking git.
//!
//! A folder is data that somebody else may have written, and its `.git` may point anywhere.
//! Only what provably belongs together is accepted: a `.git` folder, a linked worktree
//! whose repository points back, a submodule whose repository lies in that of a folder
//! above. Anything else counts as no repository, so that nobody's other repositories are
//! read by mistake.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{GitError, GitIdentity, GitRunner};

use super::RunTreeError;

/// Largest size of git's one-line files, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Largest number of object folders in a chain of borrowing.
const MOST_BORROWED: usize = 8;

/// The repository that a folder lies in.
#[derive(Debug, Clone)]
pub(crate) struct EnclosingRepository {
    /// Root of its working tree, with links resolved.
    pub(crate) top: PathBuf,
    /// The folder, with links resolved.
    pub(crate) folder: PathBuf,
    /// Folder that holds `HEAD`.
    pub(crate) own: PathBuf,
    /// Folder that holds the objects and the exclude file.
    pub(crate) common: PathBuf,
}

/// The commit that a person has checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitHead {
    pub(crate) commit: String,
    /// Full name of the branch, such as `refs/heads/main`, or `None` if `HEAD` is detached.
    pub(crate) branch: Option<String>,
    /// Object format: `sha1` or `sha256`.
    pub(crate) format: String,
}

impl EnclosingRepository {
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let is_there = |top: &&Path| top.join(".git").symlink_metadata().is_ok();
        let top = folder.ancestors().find(is_there)?.to_owned();
        let dot_git = top.join(".git");
        let kind = dot_git.symlink_metadata().ok()?.file_type();
        let (own, common) = if kind.is_dir() {
            // A plain repository shares nothing with others.
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

    /// Returns a git runner that reads this repository and no other.
    pub(crate) fn git(&self, program: &Path) -> GitRunner {
        GitRunner::new(program, &self.top, GitIdentity::artel())
            .patiently(super::LONGEST_CALL, super::MOST_OUTPUT)
            .set("core.bare=false")
            .variable("GIT_DIR", &self.own)
            .variable("GIT_WORK_TREE", &self.top)
    }

    /// Returns the commit that the person has checked out, or `None` before the first commit.
    pub(crate) fn head(&self, program: &Path) -> Result<Option<GitHead>, RunTreeError> {
        if self.foreign().is_some() {
            return Ok(None);
        }
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
        Ok(Some(GitHead {
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

    /// Returns the object folders needed to read this repository: its own, and those it borrows
    /// from within itself.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        self.object_folders().0
    }

    /// Returns something outside this repository that reading it would need: a foreign object
    /// folder that it borrows from, or a link or list that leads elsewhere. A repository is
    /// data from anywhere, and can name any folder it likes.
    pub(crate) fn foreign(&self) -> Option<PathBuf> {
        self.object_folders().1
    }

    /// Returns a link that stands where the repository keeps objects.
    pub(crate) fn link_in_objects(&self) -> Option<PathBuf> {
        leads_away(&self.common.join("objects"))
    }

    fn object_folders(&self) -> (Vec<PathBuf>, Option<PathBuf>) {
        let mut found = vec![self.common.join("objects")];
        let mut next = 0;
        while next < found.len() {
            let here = found[next].clone();
            next += 1;
            if let Some(link) = leads_away(&here) {
                return (found, Some(link));
            }
            let list = here.join("info/alternates");
            if list.symlink_metadata().is_err() {
                continue;
            }
            let Ok(text) = artel_files::read_bounded(&list, LONGEST) else {
                return (found, Some(list));
            };
            for line in text.split(|byte| *byte == b'\n') {
                if line.is_empty() || line.starts_with(b"#") {
                    continue;
                }
                let named = here.join(OsStr::from_bytes(line));
                let own = named.canonicalize().ok().filter(|it| self.is_own(it));
                match own {
                    Some(own) if found.contains(&own) => {}
                    Some(own) if found.len() < MOST_BORROWED => found.push(own),
                    _ => return (found, Some(named)),
                }
            }
        }
        (found, None)
    }

    /// Returns whether an object folder lies in this repository, or in another one below the
    /// same root.
    fn is_own(&self, objects: &Path) -> bool {
        let lies_here = objects.starts_with(&self.common) || objects.starts_with(&self.top);
        let about = |name: &str| objects.parent().is_some_and(|git| git.join(name).is_file());
        lies_here && objects.ends_with("objects") && about("HEAD")
    }

    /// Returns the exclude file, or `/dev/null` if something else stands in the place of its
    /// folder.
    pub(crate) fn exclude(&self) -> PathBuf {
        let info = self.common.join("info");
        if is_folder(&info) {
            info.join("exclude")
        } else {
            PathBuf::from("/dev/null")
        }
    }
}

/// Returns a link in an object folder or below it: in the place of a pack, a single object
/// or a list. Git makes no such links, but follows every one.
fn leads_away(objects: &Path) -> Option<PathBuf> {
    let mut waiting = vec![objects.to_owned()];
    while let Some(folder) = waiting.pop() {
        // A folder that cannot be listed here cannot be read by git either.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => return Some(entry.path()),
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                _ => {}
            }
        }
    }
    None
}

/// Follows a `.git` file, if the repository it names points back.
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
    let is_module =
        has_no_other && top.ancestors().skip(1).any(is_module) && names_worktree(&own, top);
    is_module.then(|| (own.clone(), own.clone()))
}

/// Returns whether the settings of a submodule name this working tree. Its neighbours'
/// repositories lie in the same folder, and it must not read them.
fn names_worktree(own: &Path, top: &Path) -> bool {
    let text = artel_files::read_bounded(&own.join("config"), LONGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut values = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "worktree").then(|| value.trim().trim_matches('"').to_owned())
    });
    values.any(|value| own.join(value).canonicalize().is_ok_and(|it| it == top))
}

fn line_of(file: &Path) -> Option<String> {
    let text = artel_files::read_bounded(file, LONGEST).ok()?;
    let text = String::from_utf8(text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}
