//! Files that only their owner may see: reading has a size limit, writing is atomic.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use zeroize::Zeroizing;

use crate::VaultError;

/// Largest size of a file of keys, in bytes.
pub(crate) const LARGEST: usize = 1 << 20;

/// Number of tries to get the lock. They take longer than a system key store needs to
/// answer.
const TRIES: u32 = 2_000;
const PAUSE: Duration = Duration::from_millis(5);

/// Reads a file that only this user can read. Returns `None` if the file does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
    // Does not block, in case somebody put a pipe there.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let Some(file) = open(path, flags | OFlags::NOFOLLOW)? else {
        return Ok(None);
    };
    let length = check(&file, path, FileType::RegularFile)?;
    // Reserves all its room at the start, so that no copy is left behind by growing.
    let room = usize::try_from(length).map_or(LARGEST, |length| length.min(LARGEST));
    let mut bytes = Zeroizing::new(Vec::with_capacity(room + 1));
    File::from(file)
        .take(LARGEST as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(VaultError::system(path, "read"))?;
    if bytes.len() > LARGEST {
        return Err(VaultError::damaged(path, "it is larger than 1 MiB"));
    }
    Ok(Some(bytes))
}

/// Creates or replaces a file in one step, durably. The caller holds the lock, so an
/// existing temporary file was left by a crash.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let on_its_way = on_its_way(path);
    remove(&on_its_way)?;
    let written = write_new(&on_its_way, bytes).and_then(|()| {
        fs::rename(&on_its_way, path).map_err(VaultError::system(path, "put in place"))
    });
    if written.is_err() {
        // The first error is the one to report; the next write removes leftovers.
        drop(fs::remove_file(&on_its_way));
    }
    written?;
    sync_folder_of(path)
}

/// Removes a file, or a link but not its target. A missing file is not an error.
pub(crate) fn remove(path: &Path) -> Result<(), VaultError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(VaultError::system(path, "remove")(cause))
        }
        _ => Ok(()),
    }
}

/// Returns the temporary name under which a file is written before it is renamed.
pub(crate) fn on_its_way(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

/// Makes the names in the folder of `path` durable.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), VaultError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(VaultError::system(folder, "sync"))
}

/// Creates the folder if necessary, accessible to its owner alone. Refuses a folder that
/// others can change.
pub(crate) fn make_folder(folder: &Path) -> Result<(), VaultError> {
    make_folders(folder).map_err(VaultError::system(folder, "make"))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let Some(handle) = open(folder, flags)? else {
        let gone = io::Error::from(ErrorKind::NotFound);
        return Err(VaultError::system(folder, "open")(gone));
    };
    check(&handle, folder, FileType::Directory)?;
    Ok(())
}

/// Takes the lock that every change of the keys needs. Dropping the file releases it.
pub(crate) fn lock(path: &Path) -> Result<File, VaultError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK | OFlags::NOCTTY;
    let Some(file) = open(path, flags | OFlags::NOFOLLOW)? else {
        return Err(VaultError::system(path, "make")(Errno::NOENT));
    };
    let file = File::from(file);
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(cause)) => return Err(VaultError::system(path, "lock")(cause)),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(PAUSE),
        }
    }
    let path = path.to_owned();
    Err(VaultError::Busy { path })
}

fn open(path: &Path, flags: OFlags) -> Result<Option<OwnedFd>, VaultError> {
    match rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP) => Err(VaultError::damaged(path, "it is a symbolic link")),
        Err(cause) => Err(VaultError::system(path, "open")(cause)),
    }
}

/// Checks that a file or folder has the wanted type and is private, and returns its size.
fn check(handle: &OwnedFd, path: &Path, wanted: FileType) -> Result<u64, VaultError> {
    let about = rustix::fs::fstat(handle).map_err(VaultError::system(path, "look at"))?;
    if FileType::from_raw_mode(about.st_mode) != wanted {
        return Err(VaultError::damaged(path, "it is not an ordinary file"));
    }
    let us = rustix::process::geteuid().as_raw();
    match KeyFileExposure::of(about.st_uid, us, about.st_mode, wanted) {
        Some(exposure) => {
            let advice = exposure.advice(path);
            let path = path.to_owned();
            Err(VaultError::NotPrivate {
                path,
                what: exposure.what(),
                advice,
            })
        }
        None => Ok(about.st_size.unsigned_abs()),
    }
}

/// The way in which a file or folder that should be private is exposed to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyFileExposure {
    Foreign,
    OpenFile,
    OpenFolder,
}

impl KeyFileExposure {
    /// A file is private if nobody else can even read it, a folder if nobody else can change
    /// its content.
    fn of(owner: u32, us: u32, mode: u32, kind: FileType) -> Option<Self> {
        if owner != us {
            return Some(Self::Foreign);
        }
        match kind {
            FileType::Directory => (mode & 0o022 != 0).then_some(Self::OpenFolder),
            _ => (mode & 0o077 != 0).then_some(Self::OpenFile),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Foreign => "it belongs to another user",
            Self::OpenFile => "others can read or change it",
            Self::OpenFolder => "others can change what is in it",
        }
    }

    fn advice(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Foreign => "run this as the user it belongs to, or move it away".to_owned(),
            Self::OpenFile => format!(
                "run `chmod 600 {path}`; if others may have read it, replace the keys at your \
                 providers"
            ),
            Self::OpenFolder => format!("run `chmod 700 {path}`"),
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(VaultError::system(path, "make"))?;
    let mut file = File::from(file);
    let written = file
        // An unusual umask would leave a file that nobody can read.
        .set_permissions(fs::Permissions::from_mode(0o600))
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all());
    written.map_err(VaultError::system(path, "write"))
}

fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new("/"));
    make_folders(parent)?;
    match DirBuilder::new().mode(0o700).create(folder) {
        // Another process was faster.
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(cause) => Err(cause),
        Ok(()) => File::open(parent)?.sync_all(),
    }
}

/// Returns whether the name exists, even as a dangling link.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_means_that_others_get_nothing() {
        use KeyFileExposure::{Foreign, OpenFile, OpenFolder};
        let (file, folder) = (FileType::RegularFile, FileType::Directory);
        for (owner, mode, kind, wanted) in [
            (7, 0o600, file, None),
            (7, 0o400, file, None),
            (7, 0o700, file, None),
            (7, 0o640, file, Some(OpenFile)),
            (7, 0o604, file, Some(OpenFile)),
            (7, 0o620, file, Some(OpenFile)),
            (7, 0o601, file, Some(OpenFile)),
            (8, 0o600, file, Some(Foreign)),
            (0, 0o600, file, Some(Foreign)),
            (7, 0o700, folder, None),
            (7, 0o755, folder, None),
            (7, 0o770, folder, Some(OpenFolder)),
            (7, 0o702, folder, Some(OpenFolder)),
            (8, 0o700, folder, Some(Foreign)),
        ] {
            assert_eq!(
                KeyFileExposure::of(owner, 7, mode, kind),
                wanted,
                "{owner} {mode:o}"
            );
        }
    }
}
