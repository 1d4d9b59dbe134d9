//! Chooses what to leave out of a tree that holds too many files: as few folders as
//! possible, and nothing that the run began with.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::walk::{RunTreeScanner, is_too_deep, open_folder};

/// Depth below the root to which folders are told apart. Deeper files count for the folder
/// above.
const DEPTH: usize = 6;

/// Largest number of folders told apart. The files of other folders count for those above
/// them.
const MOST_FOLDERS: usize = 50_000;

/// Largest number of files counted. A tree with more is as good as endless.
const MOST_COUNTED: u64 = 4_000_000;

/// The folders and files that are left out of a tree because it holds too many.
#[derive(Debug, Clone, Default)]
pub(super) struct OverflowExclusions {
    /// Whole folders that are left out, with their numbers of new files.
    folders: BTreeMap<PathBuf, u64>,
    /// Folders of which only the new files directly in them are left out, with their numbers.
    files_of: BTreeMap<PathBuf, u64>,
    /// Files that the run began with. They are never left out.
    began: BTreeSet<PathBuf>,
}

impl OverflowExclusions {
    pub(super) fn folder(&self, path: &Path) -> Option<u64> {
        self.folders.get(path).copied()
    }

    pub(super) fn file(&self, path: &Path) -> Option<u64> {
        let files = self.files_of.get(path.parent()?)?;
        (!self.began.contains(path)).then_some(*files)
    }

    /// Chooses what else to leave out, so that at most `most` files remain. Returns whether
    /// there was anything to choose.
    pub(super) fn choose(
        &mut self,
        look: &mut RunTreeScanner<'_>,
        began: BTreeSet<PathBuf>,
    ) -> OverflowChoice {
        let most = u64::try_from(look.bounds.files).unwrap_or(u64::MAX);
        self.began = began;
        let mut count = NewFilesByFolder::of(&self.began);
        count.tree(look);
        let mut excess = count.all.saturating_sub(most);
        let mut chosen = OverflowChoice::Nothing;
        while excess > 0 {
            let Some((place, files)) = count.best(excess) else {
                break;
            };
            count.take(&place, files);
            excess = excess.saturating_sub(files);
            chosen = OverflowChoice::Something;
            match place {
                OverflowPlace::Folder(path) => self.folders.insert(path, files),
                OverflowPlace::FilesOf(path) => self.files_of.insert(path, files),
            };
        }
        chosen
    }
}

/// Whether there was anything to leave out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OverflowChoice {
    Something,
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum OverflowPlace {
    Folder(PathBuf),
    FilesOf(PathBuf),
}

/// Numbers of new files by folder.
struct NewFilesByFolder<'b> {
    began: &'b BTreeSet<PathBuf>,
    all: u64,
    /// In the folder and everything below it.
    below: BTreeMap<PathBuf, u64>,
    /// Directly in the folder.
    own: BTreeMap<PathBuf, u64>,
}

impl<'b> NewFilesByFolder<'b> {
    fn of(began: &'b BTreeSet<PathBuf>) -> Self {
        Self {
            began,
            all: 0,
            below: BTreeMap::new(),
            own: BTreeMap::new(),
        }
    }

    fn tree(&mut self, look: &mut RunTreeScanner<'_>) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(top) = rustix::fs::open(look.files, flags, Mode::empty()) {
            self.folder(look, top, Path::new(""));
        }
    }

    fn folder(&mut self, look: &mut RunTreeScanner<'_>, handle: OwnedFd, at: &Path) {
        let Ok(mut dir) = Dir::new(handle) else {
            return;
        };
        let mut folders = Vec::new();
        while let Some(Ok(entry)) = dir.read() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || self.all >= MOST_COUNTED {
                continue;
            }
            if entry.file_type() == FileType::Directory {
                folders.push(name.to_owned());
            } else {
                self.add(at, &at.join(name));
            }
        }
        let Ok(handle) = dir.fd() else { return };
        for name in folders {
            let path = at.join(&name);
            let is_skipped = name.eq_ignore_ascii_case(".git")
                || is_too_deep(&path)
                || look.without.folder(&path).is_some()
                || look.left_out.is_left_out(&path, &mut look.rules);
            let stat = rustix::fs::statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW);
            if let (false, Ok(stat)) = (is_skipped, stat)
                && let Ok(inner) = open_folder(&handle.as_fd(), &name, &stat)
            {
                self.folder(look, inner, &path);
            }
        }
    }

    fn add(&mut self, folder: &Path, file: &Path) {
        self.all += 1;
        if self.began.contains(file) {
            return;
        }
        let known: PathBuf = folder.iter().take(DEPTH).collect();
        for above in known.ancestors() {
            if self.below.len() < MOST_FOLDERS || self.below.contains_key(above) {
                *self.below.entry(above.to_owned()).or_default() += 1;
            }
        }
        if known == folder && (self.own.len() < MOST_FOLDERS || self.own.contains_key(folder)) {
            *self.own.entry(known).or_default() += 1;
        }
    }

    /// Returns the smallest place that is enough, or else the largest one. The root itself is
    /// never left out, only new files in it.
    fn best(&self, excess: u64) -> Option<(OverflowPlace, u64)> {
        let folders = self.below.iter();
        let folders = folders.filter(|(path, _)| !path.as_os_str().is_empty());
        let folders = folders.map(|(path, files)| (OverflowPlace::Folder(path.clone()), *files));
        let own = self.own.iter();
        let own = own.map(|(path, files)| (OverflowPlace::FilesOf(path.clone()), *files));
        // Of two that hold equally many, a folder with nothing of the person's in it wins, then
        // the deeper one, which is more exact.
        let rank = |place: &OverflowPlace| match place {
            OverflowPlace::Folder(path) if self.holds_began(path) => (0, path.iter().count()),
            OverflowPlace::FilesOf(path) => (1, path.iter().count()),
            OverflowPlace::Folder(path) => (2, path.iter().count()),
        };
        let all: Vec<_> = folders.chain(own).filter(|(_, files)| *files > 0).collect();
        let enough = all.iter().filter(|(_, files)| *files >= excess);
        let enough = enough.min_by_key(|(place, files)| (*files, std::cmp::Reverse(rank(place))));
        let largest = || {
            all.iter()
                .max_by_key(|(place, files)| (*files, rank(place)))
        };
        enough.or_else(largest).cloned()
    }

    /// Returns whether a folder holds anything that the run began with.
    fn holds_began(&self, folder: &Path) -> bool {
        let mut after = self.began.range(folder.to_owned()..);
        after.next().is_some_and(|path| path.starts_with(folder))
    }

    /// Stops counting the files of a place.
    fn take(&mut self, place: &OverflowPlace, files: u64) {
        let (OverflowPlace::Folder(path) | OverflowPlace::FilesOf(path)) = place;
        for above in path.ancestors() {
            if let Some(count) = self.below.get_mut(above) {
                *count = count.saturating_sub(files);
            }
        }
        match place {
            OverflowPlace::Folder(path) => {
                self.below.retain(|other, _| !other.starts_with(path));
                self.own.retain(|other, _| !other.starts_with(path));
            }
            OverflowPlace::FilesOf(path) => {
                self.own.remove(path);
            }
        }
    }
}
