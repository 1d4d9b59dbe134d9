//! Copies files out of a person's folder: within limits, with modes and times, cloned if
//! possible.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, SeekFrom, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::beneath::NoFollowFolder;
use super::{RunTreeError, RunTreeLimits};

/// Largest total size that a run takes along, in bytes.
pub(crate) const MOST_BYTES: u64 = 4 << 30;

/// Number of largest folders that an error names.
const NAMED: usize = 3;

/// Copies files out of the person's folder, within limits.
pub(crate) struct FolderCopier<'c> {
    folder: &'c Path,
    from: NoFollowFolder,
    to: &'c Path,
    /// Whether the file system can share blocks between files. Found out by trying.
    clones: bool,
    made: HashSet<PathBuf>,
    bounds: RunTreeLimits,
    most_bytes: u64,
}

impl<'c> FolderCopier<'c> {
    pub(crate) fn new(
        folder: &'c Path,
        to: &'c Path,
        bounds: RunTreeLimits,
    ) -> Result<Self, RunTreeError> {
        Ok(Self {
            folder,
            from: NoFollowFolder::open(folder)?,
            to,
            clones: true,
            made: HashSet::new(),
            bounds,
            most_bytes: MOST_BYTES,
        })
    }

    /// Refuses to copy more than this many bytes in total.
    pub(crate) fn at_most(mut self, bytes: u64) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// Copies those of the paths that exist, and returns them. A path that leads through a link
    /// counts as missing, and so does anything that is neither file nor link.
    pub(crate) fn all(&mut self, paths: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, RunTreeError> {
        let mut there = Vec::with_capacity(paths.len());
        for path in paths {
            match self.from.look(path) {
                Ok(Some(stat)) => there.push((path, stat)),
                Ok(None) | Err(RunTreeError::LedAway { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        there.retain(|(_, stat)| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            kind.is_file() || kind.is_symlink()
        });
        check(self.folder, &there, (self.bounds.files, self.most_bytes))?;
        for (path, stat) in &there {
            self.one(path, stat)?;
        }
        Ok(there.into_iter().map(|(path, _)| path.clone()).collect())
    }

    fn one(&mut self, path: &Path, stat: &Stat) -> Result<(), RunTreeError> {
        let to = self.to.join(path);
        if let Some(above) = path.parent() {
            self.folders(above)?;
        }
        if FileType::from_raw_mode(stat.st_mode).is_symlink() {
            let target = self.from.read_link(path)?;
            return std::os::unix::fs::symlink(target, &to)
                .map_err(RunTreeError::system("make the link", &to));
        }
        let mut source = self.from.open_file(path)?;
        let mode = stat.st_mode & 0o777;
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode | 0o200)
            .open(&to)
            .map_err(RunTreeError::system("make", &to))?;
        self.bytes(&mut source, &mut copy)
            .map_err(RunTreeError::system("copy", &to))?;
        finish(&copy, mode, stat).map_err(RunTreeError::system("set mode and time of", &to))
    }

    fn bytes(&mut self, source: &mut File, copy: &mut File) -> io::Result<()> {
        if self.clones {
            match rustix::fs::ioctl_ficlone(&*copy, &*source) {
                Ok(()) => return Ok(()),
                Err(_) => self.clones = false,
            }
        }
        copy_data(source, copy)
    }

    /// Makes folders with the permissions that they have in the person's folder.
    fn folders(&mut self, path: &Path) -> Result<(), RunTreeError> {
        if path.as_os_str().is_empty() || self.made.contains(path) {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.folders(above)?;
        }
        let mode = self.from.look(path)?.map_or(0o777, |stat| stat.st_mode);
        let to = self.to.join(path);
        let made = DirBuilder::new().mode(mode & 0o777 | 0o700).create(&to);
        match made {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(RunTreeError::system("make the folder", &to)(error)),
        }
        self.made.insert(path.to_owned());
        Ok(())
    }
}

/// Refuses files that exceed the limits, and names the largest folders.
pub(crate) fn check(
    folder: &Path,
    there: &[(&PathBuf, Stat)],
    (most_files, most_bytes): (usize, u64),
) -> Result<(), RunTreeError> {
    let bytes = there.iter().map(|(_, stat)| size(stat)).sum();
    if there.len() <= most_files && bytes <= most_bytes {
        return Ok(());
    }
    let mut folders: BTreeMap<&Path, (u64, usize)> = BTreeMap::new();
    for (path, stat) in there {
        let first = path.parent().and_then(|above| above.iter().next());
        let sums = folders
            .entry(Path::new(first.unwrap_or(".".as_ref())))
            .or_default();
        sums.0 += size(stat);
        sums.1 += 1;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    // Sorts by the limit that was exceeded.
    let by_bytes = bytes > most_bytes;
    folders.sort_by_key(|(_, (bytes, files))| {
        std::cmp::Reverse(if by_bytes { *bytes } else { *files as u64 })
    });
    let largest: Vec<_> = folders
        .iter()
        .take(NAMED)
        .map(|(path, (bytes, files))| {
            format!("`{}` ({files} files, {bytes} bytes)", path.display())
        })
        .collect();
    Err(RunTreeError::TooLarge {
        folder: folder.to_owned(),
        files: there.len(),
        bytes,
        most_files,
        most_bytes,
        largest: largest.join(", "),
    })
}

/// Copies the content of a file, and keeps its holes.
fn copy_data(source: &mut File, copy: &mut File) -> io::Result<()> {
    let size = source.metadata()?.len();
    let mut at = 0;
    while at < size {
        let data = match rustix::fs::seek(&*source, SeekFrom::Data(at)) {
            Ok(data) => data,
            // The rest of the file is a hole.
            Err(Errno::NXIO) => break,
            // Some file systems do not report holes.
            Err(Errno::INVAL) => {
                source.seek(io::SeekFrom::Start(at))?;
                copy.seek(io::SeekFrom::Start(at))?;
                return io::copy(source, copy).map(drop);
            }
            Err(cause) => return Err(cause.into()),
        };
        let hole = rustix::fs::seek(&*source, SeekFrom::Hole(data))?;
        source.seek(io::SeekFrom::Start(data))?;
        copy.seek(io::SeekFrom::Start(data))?;
        let copied = io::copy(&mut Read::take(&mut *source, hole - data), copy)?;
        // Somebody truncated the file in the meantime.
        if copied == 0 {
            return Ok(());
        }
        at = data + copied;
    }
    copy.set_len(size)
}

fn finish(copy: &File, mode: u32, stat: &Stat) -> Result<(), Errno> {
    rustix::fs::fchmod(copy, rustix::fs::Mode::from_raw_mode(mode))?;
    let modified = Timespec {
        tv_sec: stat.st_mtime,
        tv_nsec: i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
    };
    rustix::fs::futimens(
        copy,
        &Timestamps {
            last_access: modified,
            last_modification: modified,
        },
    )
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}
