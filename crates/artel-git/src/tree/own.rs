//! A run's own repository, beside its tree: written by hand, used by git.
//!
//! It lies outside the tree, where nothing that runs in the tree can write, so its settings
//! are ours alone: it has no filter, no hook and no driver. It borrows the person's objects
//! and never writes to theirs.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::{GitIdentity, GitRunner};

use super::RunTreeError;
use super::layout::RepositoryLayout;
use super::place::{EnclosingRepository, GitHead};

/// Settings of every call here: names and bytes stay as they are. Objects are handed to the
/// disk as they are written; the only wait for the disk is for the record that names them.
pub(crate) const SETTINGS: &[&str] = &[
    "core.autocrlf=false",
    "core.eol=lf",
    "core.safecrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.protectHFS=false",
    "core.protectNTFS=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    "core.logAllRefUpdates=false",
    "core.looseCompression=1",
    "core.fsync=loose-object,pack",
    "core.fsyncMethod=writeout-only",
];

/// The paths in a run's folder, and git runners for them.
#[derive(Debug, Clone)]
pub(super) struct RunFolderPaths {
    pub(super) program: PathBuf,
    /// The run's folder.
    pub(super) at: PathBuf,
    /// Folder of the files within the tree: below the same folders as in the person's
    /// repository.
    pub(super) files: PathBuf,
}

impl RunFolderPaths {
    pub(super) fn new(program: &Path, at: &Path, prefix: &Path) -> Self {
        Self {
            program: program.to_owned(),
            at: at.to_owned(),
            files: at.join("tree").join(prefix).components().collect(),
        }
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.at.join("tree")
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.at.join("git")
    }

    /// Returns the file that points git from the tree to the repository.
    pub(super) fn dot_git(&self) -> PathBuf {
        self.tree().join(".git")
    }

    /// Deletes the index of snapshots, so that the next scan reads every file.
    pub(super) fn forget(&self) {
        drop(fs::remove_file(self.private_index()));
    }

    fn private_index(&self) -> PathBuf {
        self.at.join("index")
    }

    /// Returns a git runner with the index that people and agents see.
    pub(super) fn visible(&self) -> GitRunner {
        self.git(&self.tree())
    }

    /// Returns a git runner with the index of snapshots. Paths are relative to the files.
    pub(super) fn private(&self) -> GitRunner {
        let index = self.private_index();
        // A killed git leaves its lock behind; nobody else uses this index.
        drop(fs::remove_file(index.with_extension("lock")));
        self.git(&self.files).variable("GIT_INDEX_FILE", index)
    }

    fn git(&self, tree: &Path) -> GitRunner {
        let git = GitRunner::new(&self.program, tree, GitIdentity::artel())
            .patiently(super::LONGEST_CALL, super::MOST_OUTPUT)
            .variable("GIT_DIR", self.repository())
            .variable("GIT_WORK_TREE", tree);
        SETTINGS.iter().fold(git, |git, setting| git.set(setting))
    }

    /// Writes the repository's files, and the file that points to it.
    pub(super) fn lay_out(
        &self,
        repository: Option<&EnclosingRepository>,
        head: Option<&GitHead>,
    ) -> Result<(), RunTreeError> {
        let borrowed = repository.filter(|_| head.is_some());
        let objects: Vec<PathBuf> = borrowed
            .map(|repository| repository.common.join("objects"))
            .into_iter()
            .collect();
        RepositoryLayout {
            format: head.map_or("sha1", |head| &head.format),
            exclude: repository.map(EnclosingRepository::exclude),
            shallow: borrowed.map(|repository| repository.common.join("shallow")),
            objects: &objects,
            head: head.map(|head| (head.commit.as_str(), head.branch.as_deref())),
            ..RepositoryLayout::new(&self.repository())
        }
        .write()?;
        self.lead()
    }

    /// Writes the file that points git from the tree to the repository, replacing whatever was
    /// put in its place.
    pub(super) fn lead(&self) -> Result<(), RunTreeError> {
        let path = self.dot_git();
        match path.symlink_metadata() {
            Ok(about) if about.is_dir() => {
                artel_files::remove_tree(&path).map_err(RunTreeError::system("remove", &path))?
            }
            Ok(_) if artel_files::read_bounded(&path, 64).is_ok_and(|said| said == DOT_GIT) => {
                return Ok(());
            }
            Ok(_) => fs::remove_file(&path).map_err(RunTreeError::system("remove", &path))?,
            Err(_) => {}
        }
        let mut file = fs::File::create_new(&path).map_err(RunTreeError::system("make", &path))?;
        file.write_all(DOT_GIT)
            .map_err(RunTreeError::system("write", &path))
    }

    /// Fills both indexes from the person's last commit, and notes which files are unchanged.
    /// No objects are written for those, so none of the person's objects are touched.
    pub(super) fn fill(&self, head: Option<&GitHead>, prefix: &Path) -> Result<(), RunTreeError> {
        if head.is_none() {
            return Ok(());
        }
        let visible = self.visible();
        visible.run(&["read-tree", "HEAD"])?;
        if prefix.as_os_str().is_empty() {
            visible.run(&["update-index", "-q", "--refresh"])?;
            let (from, to) = (self.repository().join("index"), self.private_index());
            fs::copy(&from, &to).map_err(RunTreeError::system("copy", &from))?;
            return Ok(());
        }
        self.hide_others(&visible, prefix)?;
        visible.run(&["update-index", "-q", "--refresh"])?;
        let part = format!("HEAD:{}", prefix.display());
        let private = self.private();
        // A folder that the last commit does not have, or whose name is not UTF-8, has no part
        // in it.
        if private.run(&["read-tree", &part]).is_ok() {
            private.run(&["update-index", "-q", "--refresh"])?;
        }
        Ok(())
    }

    /// Writes the files of a commit into the empty tree and fills both indexes from it. Of a
    /// part, only the files below it and the ignore files above it are written.
    pub(super) fn check_out(&self, commit: &str, prefix: &Path) -> Result<(), RunTreeError> {
        let visible = self.visible();
        if prefix.as_os_str().is_empty() {
            visible.run(&["read-tree", "--reset", "-u", commit])?;
            let (from, to) = (self.repository().join("index"), self.private_index());
            fs::copy(&from, &to).map_err(RunTreeError::system("copy", &from))?;
            return Ok(());
        }
        visible.run(&["read-tree", commit])?;
        self.hide_others(&visible, prefix)?;
        visible.run(&["checkout-index", "-a", "-u"])?;
        for folder in prefix.ancestors().skip(1) {
            let path = folder.join(".gitignore");
            let name = format!("{commit}:{}", path.display());
            if let Ok(text) = visible.run(&["cat-file", "blob", &name]) {
                let to = self.tree().join(&path);
                fs::write(&to, text).map_err(RunTreeError::system("write", &to))?;
            }
        }
        let part = format!("{commit}:{}", prefix.display());
        let private = self.private();
        // A folder that the commit does not have has no part in it.
        if private.run(&["read-tree", &part]).is_ok() {
            private.run(&["update-index", "-q", "--refresh"])?;
        }
        Ok(())
    }

    /// Tells git not to report the files outside the run's part as missing.
    fn hide_others(&self, visible: &GitRunner, prefix: &Path) -> Result<(), RunTreeError> {
        let listed = visible.run(&["ls-files", "-z"])?;
        let mut prefix = prefix.as_os_str().as_bytes().to_vec();
        prefix.push(b'/');
        let mut others = Vec::new();
        for path in listed.split(|byte| *byte == 0) {
            if !path.is_empty() && !path.starts_with(&prefix) {
                others.extend_from_slice(path);
                others.push(0);
            }
        }
        visible.run_with(
            &["update-index", "--skip-worktree", "-z", "--stdin"],
            others,
        )?;
        Ok(())
    }
}

/// Content of the tree's `.git` file.
const DOT_GIT: &[u8] = b"gitdir: ../git\n";
