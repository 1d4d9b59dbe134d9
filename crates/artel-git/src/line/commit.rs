//! Commits a step's files: takes them over from a checkout and puts them onto the branch,
//! one commit per step.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::tree::beneath::NoFollowFolder;
use crate::tree::checkout::CheckoutChanges;
use crate::tree::restore::{TEMP, is_folder, wanted_of};
use crate::tree::store::GitTreeFile;
use crate::{GitIdentity, RunTree, RunTreeError};

use super::threeway::{MergeConflict, ThreeWayMergeOutcome};
use super::{PlanBranch, PlanBranchError, id_of, spell};

/// A commit to make.
#[derive(Debug, Clone, Copy)]
pub struct CommitSpec<'c> {
    /// Tree with the files.
    pub tree: &'c str,
    /// Commit that the work began with.
    pub base: &'c str,
    /// Commit that the new one follows. It differs from `base` if other work came in between.
    pub onto: &'c str,
    /// Full message, trailers included.
    pub message: &'c str,
    /// Date in seconds since 1970.
    pub when: i64,
    /// Author and committer.
    pub author: &'c GitIdentity,
}

/// The outcome of a commit order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// There was nothing to commit.
    Nothing,
    /// The commit was made.
    Done {
        /// Id of the new commit.
        commit: String,
        /// Files that differ from the commit before it, in order.
        files: Vec<PathBuf>,
    },
    /// Other work changed the same places, so no commit was made.
    Conflict(Vec<MergeConflict>),
}

impl PlanBranch {
    /// Takes over the current files of a checkout and returns their tree: the tree of the
    /// commit with exactly the run's changes in it. New files that git ignores are left out.
    pub fn take(&self, tree: &RunTree) -> Result<String, PlanBranchError> {
        let Some(work) = tree.work()? else {
            return Err(PlanBranchError::NoCheckout {
                files: tree.files().to_owned(),
            });
        };
        bring(
            &tree.repository().join("objects"),
            &self.repository_at().join("objects"),
        )?;
        if work.is_all {
            return Ok(work.now);
        }
        if work.differences.is_empty() {
            return Ok(work.source.tree);
        }
        self.put_into_tree(&work)
    }

    /// Returns `tree` with these files and folders as they are in `from`. Those that are
    /// missing in `from` are removed.
    pub fn graft(
        &self,
        tree: &str,
        from: &str,
        paths: &[PathBuf],
    ) -> Result<String, PlanBranchError> {
        let (tree, from) = (spell(tree)?, spell(from)?);
        let index = self.index();
        let git = self.git_with(&index.0, &self.at);
        git.run(&["read-tree", &format!("{tree}^{{tree}}")])?;
        if !paths.is_empty() {
            let with_paths = |words: &[&str]| -> Vec<OsString> {
                let words = words.iter().map(OsString::from);
                words
                    .chain(paths.iter().map(|path| path.clone().into()))
                    .collect()
            };
            let there = git.run_on(&with_paths(&["ls-files", "-z", "--"]), Vec::new())?;
            let listed = with_paths(&["ls-tree", "-r", "-z", &from]);
            let coming = self.git().run_on(&listed, Vec::new())?;
            let mut lines = Vec::new();
            for path in there
                .split(|byte| *byte == 0)
                .filter(|path| !path.is_empty())
            {
                gone(&mut lines, &self.format, path);
            }
            // `update-index` understands the format of `ls-tree`.
            lines.extend_from_slice(&coming);
            git.run_with(&INDEX_INFO, lines)?;
        }
        Ok(id_of(&git.run(&["write-tree"])?))
    }

    /// Makes these files of a checkout what they are in a tree of this line. Files that the
    /// tree does not have are removed, and so is anything that blocks a file's path.
    pub fn put_back(
        &self,
        tree: &RunTree,
        from: &str,
        paths: &[PathBuf],
    ) -> Result<(), PlanBranchError> {
        let prefix = self.prefix();
        let beneath = NoFollowFolder::open(tree.files())?.without_waiting();
        for path in paths {
            // A checkout holds only the person's folder.
            let Ok(inside) = path.strip_prefix(&prefix) else {
                continue;
            };
            let Some(side) = self.side_at(from, path)? else {
                beneath.remove(inside)?;
                continue;
            };
            clear_way(tree, &beneath, inside)?;
            let put = |_, bytes: &[u8]| beneath.put(inside, wanted_of(&side, bytes), TEMP.as_ref());
            self.store()
                .contents::<RunTreeError>(&[side.id.as_str()], put)?;
        }
        Ok(())
    }

    /// Makes one commit of a change, with a three-way merge if other work came in between. The
    /// same order makes the same commit again.
    pub fn commit(&self, order: &CommitSpec<'_>) -> Result<CommitOutcome, PlanBranchError> {
        let trees = self.trees(&[order.tree, order.base, order.onto])?;
        let [tree, base, onto] = &trees[..] else {
            return Err(PlanBranchError::BadName {
                name: order.tree.to_owned(),
            });
        };
        if tree == base {
            return Ok(CommitOutcome::Nothing);
        }
        let merged = if base == onto {
            ThreeWayMergeOutcome::Clean(tree.clone())
        } else {
            self.three_way(&spell(order.base)?, &spell(order.onto)?, tree)?
        };
        let tree = match merged {
            ThreeWayMergeOutcome::Clean(tree) if &tree == onto => {
                return Ok(CommitOutcome::Nothing);
            }
            ThreeWayMergeOutcome::Clean(tree) => tree,
            ThreeWayMergeOutcome::Conflict(conflicts) => {
                return Ok(CommitOutcome::Conflict(conflicts));
            }
        };
        let parents = [spell(order.onto)?];
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        let commit = self.write_commit(&tree, &parents, order.message, order.when, order.author)?;
        let files = self.changed(onto, &tree)?;
        Ok(CommitOutcome::Done { commit, files })
    }

    /// Writes a commit that depends only on the arguments.
    pub(super) fn write_commit(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
        when: i64,
        author: &GitIdentity,
    ) -> Result<String, PlanBranchError> {
        let mut arguments = vec!["commit-tree", tree];
        for parent in parents {
            arguments.extend(["-p", parent]);
        }
        let date = format!("@{} +0000", when.max(0));
        let mut git = self.git();
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .variable(&format!("GIT_{role}_NAME"), &author.name)
                .variable(&format!("GIT_{role}_EMAIL"), &author.email)
                .variable(&format!("GIT_{role}_DATE"), &date);
        }
        let message = format!("{}\n", message.trim_end()).replace('\0', "");
        Ok(id_of(&git.run_with(&arguments, message.into_bytes())?))
    }

    /// Puts a run's changes into the tree it was checked out from.
    fn put_into_tree(&self, work: &CheckoutChanges) -> Result<String, PlanBranchError> {
        let index = self.index();
        let git = self.git_with(&index.0, &self.at);
        git.run(&["read-tree", &work.source.tree])?;
        let mut lines = Vec::new();
        let mut ordered: Vec<_> = work.differences.iter().collect();
        ordered.sort_by_key(|one| one.new.is_some());
        for one in ordered {
            let path: PathBuf = work.prefix.join(&one.path);
            entry(&mut lines, &self.format, one.new.as_ref(), &path);
        }
        git.run_with(&INDEX_INFO, lines)?;
        Ok(id_of(&git.run(&["write-tree"])?))
    }

    /// Sets entries in an index that belongs to this working tree.
    pub(super) fn set_entries<'e>(
        &self,
        index: &Path,
        work_tree: &Path,
        entries: impl Iterator<Item = (&'e Path, Option<&'e GitTreeFile>)>,
    ) -> Result<(), PlanBranchError> {
        let mut lines = Vec::new();
        for (path, side) in entries {
            entry(&mut lines, &self.format, side, path);
        }
        let git = self.git_with(index, work_tree);
        git.run_with(&INDEX_INFO, lines)?;
        // Lets git note sizes and times, so that it need not read the files next time.
        git.run(&["update-index", "-q", "--ignore-submodules", "--refresh"])?;
        Ok(())
    }
}

/// Removes anything that blocks a file's path: a link or file among the folders above it,
/// or a folder with its name.
fn clear_way(tree: &RunTree, beneath: &NoFollowFolder, path: &Path) -> Result<(), RunTreeError> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    while let Some(folder) = above.pop() {
        let stands = if folder.as_os_str().is_empty() {
            None
        } else {
            beneath.look(folder)?
        };
        if stands.is_some_and(|stat| !is_folder(stat)) {
            return beneath.remove(folder);
        }
    }
    if beneath.look(path)?.is_some_and(is_folder) {
        let whole = tree.files().join(path);
        return artel_files::remove_tree(&whole).map_err(RunTreeError::system("remove", &whole));
    }
    Ok(())
}

/// Sets index entries from text lines; an entry replaces anything in its way.
const INDEX_INFO: [&str; 5] = ["update-index", "--add", "--replace", "-z", "--index-info"];

fn entry(lines: &mut Vec<u8>, format: &str, side: Option<&GitTreeFile>, path: &Path) {
    let path = path.as_os_str().as_bytes();
    let Some(side) = side else {
        return gone(lines, format, path);
    };
    lines.extend_from_slice(format!("{:o} {}\t", side.mode, side.id).as_bytes());
    lines.extend_from_slice(path);
    lines.push(0);
}

fn gone(lines: &mut Vec<u8>, format: &str, path: &[u8]) {
    let zeros = super::person::nothing(format);
    lines.extend_from_slice(format!("0 {zeros}\t").as_bytes());
    lines.extend_from_slice(path);
    lines.push(0);
}

/// Brings objects from a run's repository into the line's. Objects never change, so a hard
/// link will do. A pack's index comes after the pack, because git looks for the index.
fn bring(from: &Path, to: &Path) -> Result<(), RunTreeError> {
    let mut files = BTreeSet::new();
    let listed = |folder: &Path| -> Result<Vec<PathBuf>, RunTreeError> {
        let failed = || RunTreeError::system("list", folder);
        let entries = fs::read_dir(folder).map_err(failed())?;
        entries
            .map(|entry| Ok(entry.map_err(failed())?.path()))
            .collect()
    };
    for folder in listed(from)? {
        let name = folder.file_name().unwrap_or_default().to_owned();
        if name == "info" || !folder.is_dir() {
            continue;
        }
        for file in listed(&folder)? {
            let file_name = file.file_name().unwrap_or_default().to_owned();
            let is_whole = !file_name.as_bytes().starts_with(b"tmp_")
                && !file_name.as_bytes().starts_with(b".tmp");
            if is_whole {
                let is_index = file.extension().is_some_and(|ending| ending == "idx");
                files.insert((is_index, Path::new(&name).join(file_name)));
            }
        }
    }
    for (_, file) in files {
        let (source, target) = (from.join(&file), to.join(&file));
        if target.symlink_metadata().is_ok() {
            continue;
        }
        link(&source, &target).map_err(RunTreeError::system("bring over", &source))?;
    }
    Ok(())
}

fn link(source: &Path, target: &Path) -> io::Result<()> {
    if let Some(above) = target.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::hard_link(source, target) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        // On another file system the object is copied, and gets its name only when it is
        // complete.
        Err(_) => {
            let temp = target.with_extension("bring");
            fs::copy(source, &temp)?;
            fs::rename(&temp, target)
        }
    }
}
