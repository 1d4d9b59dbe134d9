//! What stays out of snapshots and is never put in place: metadata of repositories, what is neither
//! file nor folder, and what is too deep, too large or too much.
//!
//! Leaving something out costs the run nothing else: its other files are kept, and what the run
//! began with below such a path counts as unchanged. Whoever ends a run names what was left out.
//! What was there from the start is the person's and no news.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType};

use super::TreeError;

/// What makes git take a folder for a repository: the second is that of a linked tree.
const LAYOUTS: [&[&str]; 2] = [&["HEAD", "objects", "refs"], &["HEAD", "commondir"]];

/// How the record of what was there from the start begins.
const RECORD: &str = "artel aside 1";

/// The name of that record in the run's folder.
const NAME: &str = "aside";

/// More than that record holds.
const LARGEST_RECORD: u64 = 64 << 20;

/// As many entries of a repository tell whether it is still the one that was there at the start.
const MOST_ENTRIES: usize = 10_000;

/// How much of what a run makes is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeBounds {
    /// How many files a tree may hold.
    pub files: usize,
    /// How many bytes a file may have.
    pub file_bytes: u64,
}

impl Default for TreeBounds {
    fn default() -> Self {
        Self {
            files: 200_000,
            file_bytes: 100 << 20,
        }
    }
}

/// Something that is in no snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is, relative to the files.
    pub path: PathBuf,
    /// Why.
    pub why: SetAsideReason,
    /// What tells whether it is still the same; nothing where only its place counts.
    pub(super) stamp: u64,
}

/// Why something is in no snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetAsideReason {
    /// It is called `.git`, or a link stands in the place of a file of git's.
    GitMetadata,
    /// Git takes the folder for a repository by what is in it.
    BareRepository,
    /// It is a pipe, a socket or a device.
    SpecialFile,
    /// It lies too deep below the root.
    TooDeep,
    /// It has more bytes than are kept.
    TooLarge(u64),
    /// It holds so many new files that the tree would hold more than are kept.
    TooMany(u64),
    /// So many new files lie directly in it.
    TooManyIn(u64),
}

impl SetAsideReason {
    /// Tells whether what the run began with there counts as unchanged.
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

/// What was set aside when the tree was made, and how much it keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct Began {
    pub(super) bounds: TreeBounds,
    aside: BTreeMap<PathBuf, u64>,
}

impl Began {
    pub(super) fn with(bounds: TreeBounds, aside: &[SetAside]) -> Self {
        let aside = aside.iter().map(|one| (one.path.clone(), one.stamp));
        Self {
            bounds,
            aside: aside.collect(),
        }
    }

    /// Tells whether something stood there from the start, changed or not.
    pub(super) fn held(&self, path: &Path) -> bool {
        self.aside.contains_key(path)
    }

    /// Tells whether it is what stood there from the start.
    pub(super) fn holds(&self, one: &SetAside) -> bool {
        self.aside.get(&one.path) == Some(&one.stamp)
    }

    pub(super) fn write(&self, at: &Path, aside: &[SetAside]) -> Result<(), TreeError> {
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

    /// Reads the record; a tree of before there was one has none, and its bounds are the usual ones.
    pub(super) fn read(at: &Path) -> Result<Self, TreeError> {
        let path = at.join(NAME);
        let bytes = match artel_files::read_bounded(&path, LARGEST_RECORD) {
            Ok(bytes) => bytes,
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error.into()),
        };
        parse(&bytes).ok_or(TreeError::Damaged {
            path,
            why: "it is no record of what was set aside",
        })
    }
}

fn parse(bytes: &[u8]) -> Option<Began> {
    let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    if fields.next()? != RECORD.as_bytes() {
        return None;
    }
    let bounds = std::str::from_utf8(fields.next()?).ok()?;
    let (files, file_bytes) = bounds.split_once(' ')?;
    let mut began = Began {
        bounds: TreeBounds {
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

/// Tells whether git takes a folder with these names in it for a repository.
pub(crate) fn is_repository<'n>(names: impl Iterator<Item = &'n OsStr> + Clone) -> bool {
    let has = |wanted: &&str| names.clone().any(|name| name.eq_ignore_ascii_case(wanted));
    LAYOUTS.iter().any(|layout| layout.iter().all(has))
}

/// Tells whether a name is one of those by which git knows a repository.
pub(crate) fn is_of_repository(name: &OsStr) -> bool {
    let mut names = LAYOUTS.iter().flat_map(|layout| layout.iter());
    names.any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns a number that changes when a repository changes, as far as its entries tell.
pub(super) fn stamp_of(folder: impl AsFd) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut left = MOST_ENTRIES;
    feed(folder.as_fd(), 0, &mut left, &mut hasher);
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Repositories are not deep; what is deeper is not looked at.
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
