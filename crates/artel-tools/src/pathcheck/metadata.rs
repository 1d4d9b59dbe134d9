//! Guards version-control metadata and tool configuration whose names do not show it.
//!
//! A name alone does not show that `.git` leads to `store/`, or that a folder is a
//! repository because of the three names in it. Git goes by both, and so would the
//! person's next command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use artel_files::{
    FileAccessGuard, FileAccessKind, FileAccessRefusal, FileEntryKind, FolderEntry, FolderListing,
    RootFolder, RootFolderError,
};
use artel_policy::path::protected;

const GIT: &str = "never.git-metadata";

/// Largest number of names in a folder that are searched for links with protected names.
const MOST_ENTRIES: usize = 10_000;
/// Largest `.git` file read, in bytes; it has one line.
const MOST_GITDIR_BYTES: u64 = 8192;

/// Largest depth of a path: every folder above it is searched, so there must not be too
/// many.
const DEEPEST: usize = 512;

/// Names that make git treat a folder as a repository; the second layout is that of a
/// linked worktree.
const LAYOUTS: [&[&str]; 2] = [&["HEAD", "objects", "refs"], &["HEAD", "commondir"]];

/// Refuses to write or remove the target of a protected name, and everything in a folder
/// that git treats as a repository, or that would make a folder into one.
pub struct ProtectedMetadataGuard<'r> {
    root: &'r RootFolder,
}

impl<'r> ProtectedMetadataGuard<'r> {
    /// Creates the guard of a root.
    pub fn of(root: &'r RootFolder) -> Self {
        Self { root }
    }

    /// Returns the refusal to change a path beneath this folder, or `None` if the folder gives
    /// no reason.
    fn ground(
        &self,
        folder: &Path,
        path: &Path,
    ) -> Result<Option<FileAccessRefusal>, RootFolderError> {
        let here = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let listing = match self.root.list(here, MOST_ENTRIES, &anything) {
            Ok(listing) => listing,
            // The folder does not exist yet, so it is empty.
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        if self.is_repository(folder, path, &listing) {
            let reason = "its folder is a git repository by what is in it";
            return Ok(Some(refusal(GIT, reason)));
        }
        let leads_here = |entry: &FolderEntry| {
            let (target, ground) = self.lead(folder, entry)?;
            let is_above = !target.as_os_str().is_empty() && path.starts_with(target);
            is_above.then_some(ground)
        };
        let ground = listing.entries.iter().find_map(leads_here);
        Ok(ground.map(|ground| refusal(ground, "a name that agents never change leads to it")))
    }

    /// Returns whether git treats the folder as a repository, or would once the path exists.
    fn is_repository(&self, folder: &Path, path: &Path, listing: &FolderListing) -> bool {
        let next = path
            .strip_prefix(folder)
            .ok()
            .and_then(|below| below.iter().next());
        let has = |name: &&str| {
            next == Some(OsStr::new(name))
                || listing.entries.iter().any(|entry| entry.name == *name)
                || (listing.is_cut && self.is_there(&folder.join(name)))
        };
        LAYOUTS.iter().any(|layout| layout.iter().all(has))
    }

    fn is_there(&self, path: &Path) -> bool {
        self.root
            .look(path)
            .is_ok_and(|found| found.about.is_some())
    }

    /// Returns the target of a protected name, if it is elsewhere beneath the root.
    fn lead(&self, folder: &Path, entry: &FolderEntry) -> Option<(PathBuf, &'static str)> {
        let path = folder.join(&entry.name);
        let ground = protected(&path.to_string_lossy())?;
        let target = match entry.found {
            FileEntryKind::Link => path,
            FileEntryKind::File if ground == GIT => folder.join(self.gitdir(&path)?),
            _ => return None,
        };
        let resolved = self.root.resolve(&target).ok()?;
        Some((resolved.path, ground))
    }

    /// Reads the location of the repository from a `.git` file.
    fn gitdir(&self, path: &Path) -> Option<PathBuf> {
        let bytes = self.root.read(path, MOST_GITDIR_BYTES, &anything).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        text.strip_prefix("gitdir:")
            .map(|target| PathBuf::from(target.trim()))
    }
}

impl FileAccessGuard for ProtectedMetadataGuard<'_> {
    fn judge(&self, path: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal> {
        if op == FileAccessKind::Read {
            return Ok(());
        }
        if path.iter().count() > DEEPEST {
            let reason = format!("it lies deeper than {DEEPEST} folders");
            return Err(refusal("never.unknown", &reason));
        }
        for folder in path.ancestors().skip(1) {
            match self.ground(folder, path) {
                Ok(None) => {}
                Ok(Some(refusal)) => return Err(refusal),
                Err(error) => {
                    let reason = format!("its folder cannot be looked through: {error}");
                    return Err(refusal("never.unknown", &reason));
                }
            }
        }
        Ok(())
    }
}

fn anything(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Ok(())
}

fn refusal(rule: &str, reason: &str) -> FileAccessRefusal {
    FileAccessRefusal {
        rule: rule.to_owned(),
        reason: reason.to_owned(),
    }
}
