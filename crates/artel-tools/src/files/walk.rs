//! Walks a tree by ripgrep's rules, and opens the files found without leaving the tree.
//!
//! Names are listed by path, and links are never followed. Content needs more care:
//! between the listing and the opening, a folder can be exchanged for a link. So files are
//! opened beneath the root's handle, with links forbidden in the whole path. That takes
//! one system call per file, as many as an ordinary open. The full check by [`RootFolder`]
//! follows for the few files whose content is shown.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use artel_files::{FileEntryKind, FileIdentity, RootFolder};
use artel_policy::FileTarget;
use ignore::{DirEntry, WalkBuilder};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::spot::{ResolvedToolPath, shown};
use crate::above::{AncestorIgnoreRules, heed_rules};
use crate::{ToolContext, ToolError};

/// The start of a walk.
pub(crate) struct TreeWalkStart<'b> {
    pub(crate) root: &'b RootFolder,
    pub(crate) target: FileTarget,
    pub(crate) found: FileEntryKind,
    /// Length of the root's part of each path, including its slash.
    prefix: usize,
}

/// Treatment of hidden names in a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HiddenFileHandling {
    /// Names that begin with a dot are skipped, as in ripgrep.
    Skipped,
    /// All names are shown except git's own folder.
    Shown,
}

/// A handle of a root for reading many files.
pub(crate) struct RootReadHandle {
    handle: OwnedFd,
}

impl<'b> TreeWalkStart<'b> {
    /// Finds the start. The path must exist, and listing it must be allowed.
    pub(crate) fn find(bench: &'b ToolContext, path: Option<&str>) -> Result<Self, ToolError> {
        let spot = ResolvedToolPath::find(bench, path.unwrap_or("."))?;
        let found = spot.found().ok_or_else(|| spot.missing())?;
        spot.may_read()?;
        let root = spot.root.path().as_os_str();
        let slash = usize::from(!root.as_encoded_bytes().ends_with(b"/"));
        Ok(Self {
            root: spot.root,
            found,
            prefix: root.len() + slash,
            target: spot.target,
        })
    }

    /// Returns the absolute path of the folder.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.target.path.as_str() {
            "" => self.root.path().to_owned(),
            path => self.root.path().join(path),
        }
    }

    /// Prepares a walk. Ignore files apply with and without git, because a scratch copy of a
    /// tree is the same tree. The person's global ignore rules do not apply, because the
    /// result should not depend on the machine.
    pub(crate) fn walk(&self, hidden: HiddenFileHandling) -> WalkBuilder {
        let folder = self.folder();
        let above = AncestorIgnoreRules::of(self.root.path(), &folder);
        let mut walk = WalkBuilder::new(&folder);
        heed_rules(&mut walk, &folder);
        walk.hidden(hidden == HiddenFileHandling::Skipped)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| entry.file_name() != ".git" && !above.hides(entry));
        walk
    }

    /// Returns an entry's path relative to the root.
    pub(crate) fn relative<'e>(&self, entry: &'e DirEntry) -> &'e Path {
        let path = entry.path();
        let bytes = path.as_os_str().as_encoded_bytes();
        match bytes.get(self.prefix..) {
            // Cut after a slash, the rest is a path as the walk made it.
            Some(_) => path
                .to_str()
                .and_then(|path| path.get(self.prefix..))
                .map(Path::new)
                .or_else(|| path.strip_prefix(self.root.path()).ok())
                .unwrap_or(path),
            None => Path::new(""),
        }
    }

    /// Returns a path as a call would name it. A name with control characters is quoted,
    /// because it would break the lines of the result.
    pub(crate) fn name(&self, path: &Path) -> String {
        let name = shown(&self.target.place, &path.to_string_lossy());
        if name.chars().any(char::is_control) {
            format!("{name:?}")
        } else {
            name
        }
    }
}

impl RootReadHandle {
    /// Opens a handle of the root, after checking that it is the very same folder.
    pub(crate) fn of(root: &RootFolder) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(root.path(), flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        let here = FileIdentity {
            device: stat.st_dev,
            inode: stat.st_ino,
        };
        let there = root.resolve(Path::new(".")).map_err(io::Error::other)?;
        match there.about {
            Some(about) if about.identity == here => Ok(Self { handle }),
            _ => Err(io::Error::other("the tree's folder was exchanged")),
        }
    }

    /// Opens a file for reading. A link anywhere in its path is an error. Opening a pipe does
    /// not block.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        for _ in 0..8 {
            match rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                opened => return Ok(File::from(opened?)),
            }
        }
        Err(rustix::io::Errno::AGAIN.into())
    }
}
