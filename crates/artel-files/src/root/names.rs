//! A file's other names: hard links inside the root are counted, so that a link to a file
//! outside is detected.
//!
//! A link made by `ln` leaves no trace in the path, only in the number of links. If all
//! names lie inside, the file is as much inside as any other. The guard is then asked
//! about each name, so that a second name does not unlock a file that the first one would
//! not.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, OFlags};

use super::error::{RootAttemptError, RootFolderError};
use super::{FileIdentity, FileMetadata, RootFolder, ask};
use crate::{FileAccessGuard, FileAccessKind, FileEntryKind};

/// Number of entries searched for a file's other names before giving up. Names not found
/// by then count as outside.
pub const MOST_ENTRIES_SEARCHED: usize = 100_000;

/// Depth limit of the search: each level holds a handle.
const DEEPEST: usize = 200;

impl RootFolder {
    /// Refuses an ordinary file that has a name outside the root, or a name inside that the
    /// guard does not allow for this access.
    pub(super) fn judge_names(
        &self,
        asked: &Path,
        about: &FileMetadata,
        guard: &dyn FileAccessGuard,
        op: FileAccessKind,
    ) -> Result<(), RootAttemptError> {
        if about.found != FileEntryKind::File || about.links <= 1 {
            return Ok(());
        }
        let mut search = HardLinkSearch {
            root: self,
            identity: about.identity,
            names: vec![],
            searched: 0,
        };
        search.run(about.links);
        // Checked again, so that a name moved during the search is not counted twice.
        let is_there = |name: &PathBuf| {
            let opened = self.reopen(asked, name, OFlags::PATH | OFlags::NOFOLLOW);
            opened.is_ok_and(|(_, there)| there.identity == about.identity)
        };
        search.names.retain(is_there);
        if (search.names.len() as u64) < about.links {
            return Err(RootAttemptError::Failed(RootFolderError::NamedElsewhere {
                path: asked.to_owned(),
                links: about.links,
                found: search.names.len() as u64,
                searched: search.searched,
            }));
        }
        for name in &search.names {
            ask(guard, asked, name, op)?;
        }
        Ok(())
    }
}

struct HardLinkSearch<'s> {
    root: &'s RootFolder,
    identity: FileIdentity,
    names: Vec<PathBuf>,
    searched: usize,
}

impl HardLinkSearch<'_> {
    /// Searches the tree until all names are found or the bound is reached. Folders that
    /// cannot be opened hide their contents; the count then stays short.
    fn run(&mut self, wanted: u64) {
        let mut at = PathBuf::new();
        let mut open: Vec<Dir> = self.enter(&at).into_iter().collect();
        while let Some(dir) = open.last_mut() {
            if self.names.len() as u64 == wanted || self.searched == MOST_ENTRIES_SEARCHED {
                return;
            }
            let Some(Ok(entry)) = dir.read() else {
                open.pop();
                at.pop();
                continue;
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.searched += 1;
            match entry.file_type() {
                FileType::Directory | FileType::Unknown if open.len() < DEEPEST => {
                    at.push(name);
                    match self.enter(&at) {
                        Some(dir) => open.push(dir),
                        None => self.step_back(&mut at, entry.ino()),
                    }
                }
                _ => self.note(&at, name, entry.ino()),
            }
        }
    }

    fn enter(&self, at: &Path) -> Option<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        Dir::new(self.root.open_at(at, flags).ok()?).ok()
    }

    /// Notes an entry that did not open as a folder: on a file system that reports no kinds it
    /// may be a file.
    fn step_back(&mut self, at: &mut PathBuf, inode: u64) {
        let name: OsString = at.file_name().unwrap_or_default().to_owned();
        at.pop();
        self.note(at, &name, inode);
    }

    fn note(&mut self, at: &Path, name: &OsStr, inode: u64) {
        if inode == self.identity.inode {
            self.names.push(at.join(name));
        }
    }
}
