//! Paths that stay out of snapshots and are never put in place: metadata of repositories,
//! anything that is neither file nor folder, and what is too deep, too large or too much.
//!
//! Leaving something out costs the run nothing else: its other files are kept, and files
//! that the run began with below such a path count as unchanged. The end of a run reports
//! what was left out, except what was there from the start: that is the person's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use super::RunTreeError;

/// Names that make git take a folder for a repository. The second set is that of a linked
/// worktree.
const LAYOUTS: [&[&str]; 2] = [&["HEAD", "objects", "refs"], &["HEAD", "commondir"]];

/// First field of the record of what was there from the start.
const RECORD: &str = "artel aside 1";

/// Name of that record in the run's folder.
const NAME: &str = "aside";

/// Largest size of that record, in bytes.
const LARGEST_RECORD: u64 = 64 << 20;

/// Number of entries that are compared to tell whether a repository is still the one from
/// the start.
const MOST_ENTRIES: usize = 10_000;

/// Limits on what is kept of a run's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTreeLimits {
    /// Largest number of files in a tree.
    pub files: usize,
    /// Largest size of a file, in bytes.
    pub file_bytes: u64,
}

impl Default for RunTreeLimits {
    fn default() -> Self {
        Self {
            files: 200_000,
            file_bytes: 100 << 20,
        }
    }
}

/// A path that is in no snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsidePath {
    /// Path relative to the files.
    pub path: PathBuf,
    /// Reason that it is in no snapshot.
    pub why: SetAsideReason,
    /// Stamp that tells whether it is still the same, or 0 if only its path counts.
    pub(super) stamp: u64,
}

/// The reasons for which a path is in no snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetAsideReason {
    /// It is called `.git`, or a link stands in the place of one of git's files.
    GitMetadata,
    /// Its content makes git take the folder for a repository.
    BareRepository,
    /// It is a pipe, a socket or a device.
    SpecialFile,
    /// It lies too deep below the root.
    TooDeep,
    /// It is larger than the limit; the size is in bytes.
    TooLarge(u64),
    /// It holds this many new files, so that the tree would hold more than are kept.
    TooMany(u64),
    /// This many new files lie directly in it, more than are kept.
    TooManyIn(u64),
}

impl SetAsideReason {
    /// Returns whether files that the run began with there count as unchanged.
    pub(super) fn keeps_start(self) -> bool {
        match self {
            Self::GitMetadata | Self::SpecialFile | Self::TooManyIn(_) => false,
            Self::BareRepository | Self::TooDeep | Self::TooLarge(_) | Self::TooMany(_) => true,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::GitMetadata => "git",
            Self::BareRepository => "bare",
            Self::SpecialFile => "special",
            Self::TooDeep => "deep",
            Self::TooLarge(_) => "large",
            Self::TooMany(_) => "many",
            Self::TooManyIn(_) => "many-in",
        }
    }
}

/// The paths that were set aside when the tree was made, with the tree's limits.
#[derive(Debug, Clone, Default)]
pub(super) struct InitialSetAside {
    pub(super) bounds: RunTreeLimits,
    aside: BTreeMap<PathBuf, u64>,
}

impl InitialSetAside {
    pub(super) fn with(bounds: RunTreeLimits, aside: &[SetAsidePath]) -> Self {
        let aside = aside.iter().map(|one| (one.path.clone(), one.stamp));
        Self {
            bounds,
            aside: aside.collect(),
        }
    }

    /// Returns whether something stood at this path from the start, changed or not.
    pub(super) fn held(&self, path: &Path) -> bool {
        self.aside.contains_key(path)
    }

    /// Returns whether this is unchanged since the start.
    pub(super) fn holds(&self, one: &SetAsidePath) -> bool {
        self.aside.get(&one.path) == Some(&one.stamp)
    }

    pub(super) fn write(&self, at: &Path, aside: &[SetAsidePath]) -> Result<(), RunTreeError> {
        let bounds = format!("{} {}", self.bounds.files, self.bounds.file_bytes);
        let mut record = Vec::new();
        let mut field = |bytes: &[u8]| {
            record.extend_from_slice(bytes);
            record.push(0);
        };
        field(RECORD.as_bytes());
        field(bounds.as_bytes());
        for one in aside {
            field(format!("{} {}", one.why.word(), one.stamp).as_bytes());
            field(one.path.as_os_str().as_bytes());
        }
        artel_files::write_atomic(&at.join(NAME), &record, 0o600)?;
        Ok(())
    }

    /// Reads the record. Trees made before there was one have no record, and get the default
    /// limits.
    pub(super) fn read(at: &Path) -> Result<Self, RunTreeError> {
        let path = at.join(NAME);
        let bytes = match artel_files::read_bounded(&path, LARGEST_RECORD) {
            Ok(bytes) => bytes,
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error.into()),
        };
        parse(&bytes).ok_or(RunTreeError::Damaged {
            path,
            why: "it is no record of what was set aside",
        })
    }
}

fn parse(bytes: &[u8]) -> Option<InitialSetAside> {
    let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    if fields.next()? != RECORD.as_bytes() {
        return None;
    }
    let bounds = std::str::from_utf8(fields.next()?).ok()?;
    let (files, file_bytes) = bounds.split_once(' ')?;
    let mut began = InitialSetAside {
        bounds: RunTreeLimits {
            files: files.parse().ok()?,
            file_bytes: file_bytes.parse().ok()?,
        },
        aside: BTreeMap::new(),
    };
    while let Some(line) = fields.next() {
        let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
        let (_, stamp) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        began.aside.insert(path, stamp.parse().ok()?);
    }
    Some(began)
}

/// Returns whether git takes a folder with these names in it for a repository.
pub(crate) fn is_repository<'n>(names: impl Iterator<Item = &'n OsStr> + Clone) -> bool {
    let has = |wanted: &&str| names.clone().any(|name| name.eq_ignore_ascii_case(wanted));
    LAYOUTS.iter().any(|layout| layout.iter().all(has))
}

/// Returns whether a name is one of those by which git recognizes a repository.
pub(crate) fn is_of_repository(name: &OsStr) -> bool {
    let mut names = LAYOUTS.iter().flat_map(|layout| layout.iter());
    names.any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns a number that changes when a repository changes, as far as its entries show.
pub(super) fn stamp_of(folder: impl AsFd) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut left = MOST_ENTRIES;
    feed(folder.as_fd(), 0, &mut left, &mut hasher);
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Deepest level that is compared. Repositories are not deeper.
const DEEPEST: usize = 16;

fn feed(
    folder: std::os::fd::BorrowedFd<'_>,
    depth: usize,
    left: &mut usize,
    hasher: &mut blake3::Hasher,
) {
    use rustix::fs::{Dir, Mode, OFlags};
    let Ok(dir) = Dir::read_from(folder) else {
        return;
    };
    let mut names: Vec<OsString> = Vec::new();
    for entry in dir.flatten().take(*left) {
        names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    }
    names.sort();
    for name in names.iter().filter(|name| *name != "." && *name != "..") {
        *left = left.saturating_sub(1);
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        let is_folder = FileType::from_raw_mode(stat.st_mode).is_dir();
        hasher.update(&stat.st_mode.to_le_bytes());
        if !is_folder {
            hasher.update(&stat.st_size.to_le_bytes());
            hasher.update(&stat.st_mtime.to_le_bytes());
            hasher.update(&stat.st_mtime_nsec.to_le_bytes());
        } else if depth < DEEPEST {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(inner) = rustix::fs::openat(folder, name, flags, Mode::empty()) {
                feed(inner.as_fd(), depth + 1, left, hasher);
            }
        }
    }
}
