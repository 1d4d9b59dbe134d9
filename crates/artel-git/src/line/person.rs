//! The person's repository, read with care: the commit they are on, and the operations they
//! have under way.
//!
//! The person's own git never compares their files here, because it would run their
//! filters. The line's git does it, on a copy of their index.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::tree::place::EnclosingRepository;
use crate::tree::store::GitTreeFile;
use crate::{GitError, GitIdentity, GitRunner, RunTreeError};

use super::{PlanBranch, PlanBranchError, id_of};

/// Largest number of changed files that are named.
const MOST_DIRTY: usize = 1000;

/// Largest number of characters kept of a name or an address.
const LONGEST_NAME: usize = 200;

/// Git's own files that show an unfinished operation, with advice on what to do about it.
const UNDER_WAY: &[(&str, &str)] = &[
    (
        "MERGE_HEAD",
        "a merge of yours is under way; finish it with `git commit`, or try `git merge --abort`",
    ),
    (
        "CHERRY_PICK_HEAD",
        "a cherry-pick of yours is under way; try `git cherry-pick --continue` or `--abort`",
    ),
    (
        "REVERT_HEAD",
        "a revert of yours is under way; try `git revert --continue` or `--abort`",
    ),
    (
        "rebase-merge",
        "a rebase of yours is under way; try `git rebase --continue` or `--abort`",
    ),
    (
        "rebase-apply",
        "a rebase of yours is under way; try `git rebase --continue` or `--abort`",
    ),
];

/// The state of the person's checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonCheckoutState {
    /// Commit that is checked out.
    pub commit: String,
    /// Branch that is checked out, such as `main`, or `None` if `HEAD` is detached.
    pub branch: Option<String>,
    /// Files that the person changed, or made and did not add; at most a thousand. A folder
    /// ends in `/`.
    pub dirty: Vec<PathBuf>,
}

/// A person's repository, with a git runner for it.
#[derive(Debug)]
pub(super) struct PersonRepository {
    pub(super) repository: EnclosingRepository,
    pub(super) git: GitRunner,
}

/// The place where a branch is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BranchCheckoutLocation {
    Here,
    Elsewhere(PathBuf),
    Nowhere,
}

/// The entries of a person's index.
pub(super) type Entries = BTreeMap<PathBuf, GitTreeFile>;

impl PlanBranch {
    /// Returns the current state of the person's checkout. For a folder in no repository, it is
    /// the first commit, made from the files as they were.
    pub fn base(&self) -> Result<PersonCheckoutState, PlanBranchError> {
        if let Some(first) = &self.first {
            return Ok(PersonCheckoutState {
                commit: first.clone(),
                branch: None,
                dirty: Vec::new(),
            });
        }
        let person = self.person()?;
        let arguments = ["rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"];
        let said = match person.git.run(&arguments) {
            Ok(said) => String::from_utf8_lossy(&said).into_owned(),
            Err(GitError::Refused { .. }) => {
                return Err(PlanBranchError::NoCommit {
                    folder: self.origin.clone(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let mut lines = said.lines();
        let commit = lines.next().unwrap_or_default().to_owned();
        let branch = lines
            .next()
            .and_then(|name| name.strip_prefix("refs/heads/"));
        let dirty = self.dirty(&person, &commit)?;
        Ok(PersonCheckoutState {
            branch: branch.map(str::to_owned),
            commit,
            dirty,
        })
    }

    /// Returns the name and address that the person set for git, in the repository or in their
    /// own file below `home`. Uses Artel's where they set none.
    pub fn identity(&self, home: &Path) -> GitIdentity {
        let mut found = [None, None];
        let local = self.repository().map(|found| found.common.join("config"));
        let global = [".gitconfig", ".config/git/config"].map(|name| home.join(name));
        for file in local.iter() {
            self.look_up(file, "--no-includes", home, &mut found);
        }
        for file in &global {
            self.look_up(file, "--includes", home, &mut found);
        }
        let artel = GitIdentity::artel();
        let [name, email] = found;
        GitIdentity {
            name: name.unwrap_or(artel.name),
            email: email.unwrap_or(artel.email),
        }
    }

    /// Looks up name and address in one settings file, as far as they are still unknown.
    fn look_up(&self, file: &Path, includes: &str, home: &Path, found: &mut [Option<String>; 2]) {
        if found.iter().all(Option::is_some) || !file.is_file() {
            return;
        }
        let mut arguments: Vec<OsString> = vec!["config".into(), "--file".into(), file.into()];
        let rest = [includes, "-z", "--get-regexp", r"^user\.(name|email)$"];
        arguments.extend(rest.map(OsString::from));
        let git = self.git().variable("HOME", home);
        let said = git.run_on(&arguments, Vec::new()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let mut here = [None, None];
        for (key, value) in said.split('\0').filter_map(|entry| entry.split_once('\n')) {
            let place = usize::from(key.ends_with("email"));
            here[place] = Some(plain(value)).filter(|value| !value.is_empty());
        }
        for (known, value) in found.iter_mut().zip(here) {
            *known = known.take().or(value);
        }
    }

    pub(super) fn person(&self) -> Result<PersonRepository, PlanBranchError> {
        let folder = || self.origin.clone();
        if self.is_private() {
            return Err(PlanBranchError::Private { folder: folder() });
        }
        let repository = EnclosingRepository::find(&self.origin);
        let repository = repository.ok_or_else(|| PlanBranchError::Gone { folder: folder() })?;
        let git = repository
            .git(&self.program)
            .variable("GIT_NO_REPLACE_OBJECTS", "1")
            .set("core.fsync=all")
            .set("core.fsyncMethod=batch");
        Ok(PersonRepository { repository, git })
    }

    fn dirty(
        &self,
        person: &PersonRepository,
        commit: &str,
    ) -> Result<Vec<PathBuf>, PlanBranchError> {
        let index = self.index();
        person.copy_index(&index.0)?;
        let git = self.git_with(&index.0, &person.repository.top);
        git.run(&[
            "update-index",
            "-q",
            "--ignore-submodules",
            "--unmerged",
            "--refresh",
        ])?;
        let plain = ["-z", "--name-only", "--no-renames", "--ignore-submodules"];
        let changed = git.run(&[&["diff-files"], &plain[..]].concat())?;
        let staged = git.run(&[&["diff-index", "--cached"], &plain[..], &[commit]].concat())?;
        let others = ["ls-files", "-z", "-o", "--exclude-standard", "--directory"];
        let others = person
            .git
            .run(&[&others[..], &["--no-empty-directory"]].concat())?;
        let all = [changed, staged, others].concat();
        let mut paths: Vec<PathBuf> = all
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .collect();
        paths.sort();
        paths.dedup();
        paths.truncate(MOST_DIRTY);
        Ok(paths)
    }
}

impl PersonRepository {
    /// Returns the commit of a branch, or `None` if there is no such branch.
    pub(super) fn branch(&self, name: &str) -> Result<Option<String>, PlanBranchError> {
        let name = format!("refs/heads/{name}^{{commit}}");
        match self.git.run(&["rev-parse", "--verify", "--quiet", &name]) {
            Ok(said) => Ok(Some(id_of(&said))),
            Err(GitError::Refused { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns where a branch is checked out, across all worktrees of the repository.
    pub(super) fn seat(&self, branch: &str) -> Result<BranchCheckoutLocation, PlanBranchError> {
        let said = self.git.run(&["worktree", "list", "--porcelain", "-z"])?;
        let wanted = format!("branch refs/heads/{branch}");
        let EnclosingRepository {
            top, own, common, ..
        } = &self.repository;
        let mut at = None;
        let mut seat = BranchCheckoutLocation::Nowhere;
        for line in said.split(|byte| *byte == 0) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                // The first entry is the main worktree, for which a submodule lists another
                // path.
                let is_main = at.is_none() && own == common;
                let path = PathBuf::from(OsStr::from_bytes(path));
                at = Some(if is_main { top.clone() } else { path });
            } else if line == wanted.as_bytes() {
                let at = at.clone().unwrap_or_default();
                if at.canonicalize().is_ok_and(|at| at == *top) {
                    return Ok(BranchCheckoutLocation::Here);
                }
                seat = BranchCheckoutLocation::Elsewhere(at);
            }
        }
        Ok(seat)
    }

    /// Returns whether a branch is being rebased, in any worktree. It is then checked out
    /// nowhere, but still not free to move.
    pub(super) fn is_rebased(&self, branch: &str) -> bool {
        let common = &self.repository.common;
        let linked = fs::read_dir(common.join("worktrees"));
        let linked = linked.into_iter().flatten().flatten();
        let places = linked.map(|entry| entry.path()).chain([common.clone()]);
        let wanted = format!("refs/heads/{branch}");
        places
            .flat_map(|at| ["rebase-merge", "rebase-apply"].map(|name| at.join(name)))
            .any(|at| {
                let held = artel_files::read_bounded(&at.join("head-name"), 4096);
                held.is_ok_and(|held| id_of(&held) == wanted)
            })
    }

    /// Returns a description of the person's operation that is under way, if any.
    pub(super) fn under_way(&self) -> Option<String> {
        let own = &self.repository.own;
        let is_there = |name: &str| own.join(name).symlink_metadata().is_ok();
        let found = UNDER_WAY.iter().find(|(name, _)| is_there(name));
        if let Some((_, why)) = found {
            return Some((*why).to_owned());
        }
        let lock = own.join("index.lock");
        is_there("index.lock").then(|| locked(&lock))
    }

    pub(super) fn index(&self) -> PathBuf {
        self.repository.own.join("index")
    }

    /// Copies the person's index to a place of ours. A split index is copied as one complete
    /// file.
    pub(super) fn copy_index(&self, to: &Path) -> Result<(), PlanBranchError> {
        let from = self.index();
        match fs::copy(&from, to) {
            Ok(_) => {}
            // A repository from which everything was removed need not have an index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(RunTreeError::system("copy", &from)(error).into()),
        }
        let entries = fs::read_dir(&self.repository.own);
        let is_split = entries
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name().as_bytes().starts_with(b"sharedindex."));
        if is_split {
            let git = self.git.clone().variable("GIT_INDEX_FILE", to);
            git.run(&["update-index", "--no-split-index"])?;
        }
        Ok(())
    }

    /// Returns the entries of the person's index, or `None` if a merge left conflicts in it.
    pub(super) fn entries(&self) -> Result<Option<Entries>, PlanBranchError> {
        let said = self.git.run(&["ls-files", "-s", "-z"])?;
        let mut entries = Entries::new();
        for line in said
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let words: Vec<&[u8]> = line[..tab].split(|byte| *byte == b' ').collect();
            let [mode, id, stage] = words[..] else {
                continue;
            };
            if stage != b"0" {
                return Ok(None);
            }
            if let Some(side) = GitTreeFile::of(mode, id) {
                entries.insert(PathBuf::from(OsStr::from_bytes(&line[tab + 1..])), side);
            }
        }
        Ok(Some(entries))
    }

    /// Returns the files that git would convert between commit and disk.
    pub(super) fn converted(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, PlanBranchError> {
        let mut list = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        let words = ["check-attr", "-z", "--stdin", "filter", "eol", "ident"];
        let said = self
            .git
            .run_with(&[&words[..], &["working-tree-encoding"]].concat(), list)?;
        let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
        let mut found = Vec::new();
        for answer in fields.chunks_exact(3) {
            let is_off = matches!(answer[2], b"unspecified" | b"unset");
            let is_plain = is_off || (answer[1] == b"eol" && answer[2] == b"lf");
            let path = PathBuf::from(OsStr::from_bytes(answer[0]));
            if !is_plain && found.last() != Some(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Moves a branch from one commit to another. `None` as the old commit makes the branch,
    /// `None` as the new one removes it.
    pub(super) fn move_branch(
        &self,
        branch: &str,
        (from, to): (Option<&str>, Option<&str>),
        format: &str,
        why: &str,
    ) -> Result<(), PlanBranchError> {
        let zeros = nothing(format);
        let name = format!("refs/heads/{branch}");
        let (old, new) = (from.unwrap_or(&zeros), to.unwrap_or(&zeros));
        self.clear_lock(&name, new);
        let line = format!("update {name}\0{new}\0{old}\0");
        let arguments = ["update-ref", "-m", why, "-z", "--stdin"];
        match self.git.run_with(&arguments, line.into_bytes()) {
            Ok(_) => Ok(()),
            Err(GitError::Refused { said, .. }) if said.contains(".lock") => {
                Err(PlanBranchError::Busy { why: said })
            }
            // A git of ours that outlived its kill may have moved the branch already.
            Err(GitError::Refused { .. }) => match self.branch(branch)? {
                found if found.as_deref() == to => Ok(()),
                found => Err(PlanBranchError::Moved {
                    branch: branch.to_owned(),
                    found,
                }),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a branch lock that a killed git of ours left. Only we would write the id of a
    /// commit that we made into a lock.
    fn clear_lock(&self, name: &str, new: &str) {
        let lock = self.repository.common.join(format!("{name}.lock"));
        let held = artel_files::read_bounded(&lock, 128).unwrap_or_default();
        if id_of(&held) == new {
            drop(fs::remove_file(lock));
        }
    }
}

/// Returns the message that somebody else holds the index lock.
pub(super) fn locked(lock: &Path) -> String {
    format!(
        "another git is at work in your repository (`{}` is there); wait for it, or remove that \
         file if no git is running",
        lock.display()
    )
}

/// Returns the all-zero id, which stands for no object.
pub(super) fn nothing(format: &str) -> String {
    "0".repeat(if format == "sha256" { 64 } else { 40 })
}

/// Removes the characters that git does not allow in a name or an address.
fn plain(value: &str) -> String {
    let is_good = |letter: &char| !letter.is_control() && !matches!(letter, '<' | '>');
    let value: String = value.chars().filter(is_good).take(LONGEST_NAME).collect();
    let is_edge = |letter: char| letter.is_whitespace() || ".,:;\"'\\".contains(letter);
    value.trim_matches(is_edge).to_owned()
}
