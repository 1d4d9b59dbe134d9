//! Checks whether there is room for a file: asks the file system, then tries one small
//! write.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use artel_types::DiskShortageReason;
use rustix::fs::{StatVfs, StatVfsMountFlags};

use crate::temp;

/// Free bytes that a small write needs at most, with what the file system itself adds.
const LITTLE: u64 = 64 * 1024;

/// Test data written to see whether a write succeeds.
const PROBE: [u8; 16 * 1024] = [0; 16 * 1024];

/// Returns the shortage that the file system of a path reports, or `None` if it can be
/// written to.
pub fn shortage(path: &Path) -> Option<DiskShortageReason> {
    let there = path.ancestors().find(|it| it.exists())?;
    let about = rustix::fs::statvfs(there).ok()?;
    of_numbers(&about)
}

fn of_numbers(about: &StatVfs) -> Option<DiskShortageReason> {
    if about.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Some(DiskShortageReason::ReadOnly);
    }
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    // A file system without an inode table has no limit on the number of files.
    let has_names = about.f_files == 0 || about.f_favail > 0;
    // A file system that counts no blocks, as some implemented by programs, does not report
    // free space.
    let has_blocks = about.f_blocks == 0 || free >= LITTLE;
    (!has_blocks || !has_names).then_some(DiskShortageReason::Full)
}

/// Like [`shortage`], but also writes a little to a temporary file beside `path`, at the
/// offset where `path` ends. Only a write reveals quotas and limits on file size. The
/// folder must be Artel's own.
pub fn shortage_by_writing(path: &Path) -> Option<DiskShortageReason> {
    if let Some(found) = shortage(path) {
        return Some(found);
    }
    let folder = path.parent()?;
    let length = std::fs::metadata(path).map_or(0, |about| about.len());
    match written(folder, length) {
        Ok(()) => None,
        Err(cause) => of_error(&cause),
    }
}

/// Maps the system errors that mean a lack of room.
fn of_error(cause: &io::Error) -> Option<DiskShortageReason> {
    match cause.kind() {
        io::ErrorKind::StorageFull => Some(DiskShortageReason::Full),
        io::ErrorKind::QuotaExceeded => Some(DiskShortageReason::Quota),
        io::ErrorKind::FileTooLarge => Some(DiskShortageReason::FileSize),
        io::ErrorKind::ReadOnlyFilesystem => Some(DiskShortageReason::ReadOnly),
        _ => None,
    }
}

fn written(folder: &Path, offset: u64) -> io::Result<()> {
    let path = folder.join(temp::fresh_name());
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let written = write(&file, offset);
    // If the removal fails, `clean` removes the file like any other unfinished one.
    drop(std::fs::remove_file(&path));
    written
}

fn write(file: &File, offset: u64) -> io::Result<()> {
    file.write_all_at(&PROBE, offset)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_room_none_is_missed_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(shortage(&file), None);
        assert_eq!(shortage_by_writing(&file), None);
        assert_eq!(shortage_by_writing(&folder.path().join("no/such")), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_system_that_counts_nothing_is_not_full() {
        let folder = tempfile::tempdir().unwrap();
        let mut about = rustix::fs::statvfs(folder.path()).unwrap();
        about.f_flag = StatVfsMountFlags::empty();
        (about.f_blocks, about.f_bavail) = (1000, 0);
        assert_eq!(of_numbers(&about), Some(DiskShortageReason::Full));
        (about.f_blocks, about.f_files, about.f_favail) = (0, 0, 0);
        assert_eq!(of_numbers(&about), None);
        about.f_flag = StatVfsMountFlags::RDONLY;
        assert_eq!(of_numbers(&about), Some(DiskShortageReason::ReadOnly));
    }

    #[test]
    fn a_full_device_is_told_by_the_error_of_a_write() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = full.write_all_at(&PROBE, 0).unwrap_err();
        assert_eq!(of_error(&error), Some(DiskShortageReason::Full));
        let other = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(of_error(&other), None);
    }
}
