//! The three inbox folders and their files, as the watcher sees them.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_rules::settle::WatchedFileFingerprint;
use artel_types::Timestamp;

use super::is_wanted;

/// The folders that people put files into.
pub(super) const FOLDERS: [&str; 3] = ["Inbox/Requests", "Inbox/Plans", "Inbox/Active"];

/// Size of the largest file that is read; larger files are compared by size and time only.
const LARGEST: u64 = 16 << 20;

/// Tells a version of a file from earlier ones without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InboxFileStamp {
    file: u64,
    size: u64,
    /// Modification time in nanoseconds.
    modified: i128,
}

impl InboxFileStamp {
    fn of(about: &std::fs::Metadata) -> Self {
        Self {
            file: about.ino(),
            size: about.size(),
            modified: i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec()),
        }
    }

    /// Returns whether the file was not written to for `span`. A modification time in the
    /// future counts as not.
    pub(super) fn has_rested(&self, now: Timestamp, span: Duration) -> bool {
        let age = i128::from(now.as_micros()) * 1_000 - self.modified;
        age >= i128::try_from(span.as_nanos()).unwrap_or(i128::MAX)
    }
}

/// Returns every file that may be a person's, with its stamp.
pub(super) fn in_folders(root: &Path) -> HashMap<PathBuf, InboxFileStamp> {
    let mut found = HashMap::new();
    for folder in FOLDERS {
        let entries = std::fs::read_dir(root.join(folder));
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            if is_wanted(&path)
                && let Ok(about) = entry.metadata()
                && !about.is_dir()
            {
                found.insert(path, InboxFileStamp::of(&about));
            }
        }
    }
    found
}

/// Reads a file's fingerprint and stamp; returns `None` if there is no file.
pub(super) fn fingerprint(path: &Path) -> Option<(WatchedFileFingerprint, InboxFileStamp)> {
    let stamp = InboxFileStamp::of(&path.symlink_metadata().ok()?);
    let read = artel_files::read_bounded(path, LARGEST);
    let hash = match read {
        Ok(bytes) => *blake3::hash(&bytes).as_bytes(),
        Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => return None,
        // If the file cannot be read, taking it up reports that.
        Err(_) => [0; 32],
    };
    let print = WatchedFileFingerprint {
        size: stamp.size,
        modified: stamp.modified,
        hash,
    };
    Some((print, stamp))
}

/// Returns the device and inode of a folder, which identify it until it is replaced; `None`
/// if there is no folder.
pub(super) fn identity(folder: &Path) -> Option<(u64, u64)> {
    let about = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((about.dev(), about.ino()))
}

/// Returns whether a folder can change without a notification, because it is on another
/// machine or served by a user-space program.
pub(super) fn is_remote(folder: &Path) -> bool {
    const REMOTE: &[i64] = &[
        0x6969,      // NFS
        0x517B,      // SMB
        0xFF53_4D42, // CIFS
        0xFE53_4D42, // SMB 2
        0x6573_5546, // FUSE
        0x0102_1997, // 9P
        0x00C3_6400, // Ceph
        0x5346_414F, // AFS
        0x786F_4256, // shared folders of a virtual machine
    ];
    rustix::fs::statfs(folder).is_ok_and(|about| REMOTE.contains(&about.f_type))
}
