//! Writes files so that they are either complete or absent, even after a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::JournalError;

/// Writes to a temporary name, syncs, renames, and syncs the folder: a rename alone is atomic but
/// not durable.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Two threads may write the same blob at once; each needs a name of its own.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
    let written = write_and_rename(&temporary, path, bytes);
    if written.is_err() {
        // The first error is the one that matters; `clean` removes a left-over temporary file.
        drop(fs::remove_file(&temporary));
    }
    written?;
    sync_folder(folder)
}

fn write_and_rename(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, path)
}

/// Makes a folder that only its owner can enter, with its parents, each on disk before the
/// next.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    make_folder(parent)?;
    match fs::DirBuilder::new().mode(0o700).create(path) {
        // Another process was faster.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(cause) => Err(cause),
        Ok(()) => sync_folder(parent),
    }
}

pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Removes a database that a crash may have left half-written, with the logs beside it.
/// SQLite would replay an old log into a new file of the same name.
pub(crate) fn remove_database(path: &Path) -> io::Result<()> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        match fs::remove_file(beside(path, suffix)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the path with `suffix` appended to its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes an empty file for a database, readable only by its owner. SQLite would make it
/// with the mode that the umask leaves, and others could read it until it is protected.
pub(crate) fn make_private(path: &Path) -> Result<(), JournalError> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => protect(path),
        Err(cause) => Err(JournalError::file("make", path, cause)),
    }
}

/// Lets only the owner read and write a file. It works by name: opening and closing a
/// database by other means would release SQLite's locks on it.
pub(crate) fn protect(path: &Path) -> Result<(), JournalError> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|cause| JournalError::file("protect", path, cause))
}

/// Reads a small file of ours, up to 1 MiB. Refuses anything else under its name (a pipe, a
/// device, a link to one), because reading it could block or never end.
pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 1 << 20;
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if about.len() > LARGEST {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    fs::read(path)
}

/// Opens a lock file, never through a link. Makes the file if it is missing.
pub(crate) fn lock_file(path: &Path) -> Result<File, JournalError> {
    let open = || -> io::Result<File> {
        if path.symlink_metadata().is_ok_and(|about| !about.is_file()) {
            return Err(io::Error::other("it is not a regular file"));
        }
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
    };
    open().map_err(|cause| JournalError::file("open", path, cause))
}

/// Number of tries, [`PAUSE`] apart, for a lock that another process holds during one small
/// write.
const TRIES: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(1);

/// Takes a lock that other processes hold only briefly. Gives up after about a second,
/// because a stopped process must not stop the others.
pub(crate) fn lock(path: &Path) -> Result<File, JournalError> {
    let file = lock_file(path)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(cause)) => {
                return Err(JournalError::file("lock", path, cause));
            }
            Err(fs::TryLockError::WouldBlock) => std::thread::park_timeout(PAUSE),
        }
    }
    Err(JournalError::Busy {
        holder: "another process".to_owned(),
        seconds: 1,
    })
}
