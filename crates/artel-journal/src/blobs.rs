//! Large values, filed under the hash of their bytes.

use std::fs;
use std::path::{Path, PathBuf};

use artel_types::{BlobHash, BlobRef, DiskSpaceMonitor, SecretRedactor};

use crate::durable;
use crate::error::JournalError;
use crate::patience;

/// The folder of large values. A blob is written before the event that names it.
#[derive(Debug, Clone)]
pub struct BlobStore {
    folder: PathBuf,
    redactor: SecretRedactor,
    room: DiskSpaceMonitor,
}

impl BlobStore {
    pub(crate) fn new(folder: PathBuf, redactor: SecretRedactor, room: DiskSpaceMonitor) -> Self {
        Self {
            folder,
            redactor,
            room,
        }
    }

    /// Opens the folder for reading.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(
            folder.into(),
            SecretRedactor::none(),
            DiskSpaceMonitor::unwaited(),
        )
    }

    /// Stores bytes, with the secrets in them removed, and returns their address once they are
    /// on disk. If the disk is full, it waits for room as an append does.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        let clean = self.redactor.redact_bytes(bytes);
        let blob = BlobHash::from_bytes(*blake3::hash(&clean).as_bytes());
        let path = self.path(&blob);
        let reference = BlobRef {
            blob,
            bytes: clean.len() as u64,
        };
        if self.get(&reference.blob).is_ok() {
            return Ok(reference);
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        patience::until_written(&self.room, &path, reference.bytes, || {
            durable::make_folder(folder)
                .map_err(|cause| JournalError::file("make", folder, cause))?;
            durable::write(&path, &clean).map_err(|cause| JournalError::file("write", &path, cause))
        })?;
        Ok(reference)
    }

    /// Returns the bytes. Fails if they are missing or no longer what was stored.
    pub fn get(&self, blob: &BlobHash) -> Result<Vec<u8>, JournalError> {
        let wrong = |what: &str| JournalError::Blob {
            hash: blob.to_string(),
            what: what.to_owned(),
        };
        let path = self.path(blob);
        // A pipe or a device in its place would block the read forever.
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            return Err(wrong("not a regular file"));
        }
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Err(wrong("missing"));
            }
            Err(cause) => return Err(JournalError::file("read", path, cause)),
        };
        if BlobHash::from_bytes(*blake3::hash(&bytes).as_bytes()) != *blob {
            return Err(wrong("damaged"));
        }
        Ok(bytes)
    }

    /// Lists the stored blobs with their sizes. Other files are skipped.
    pub fn list(&self) -> Result<Vec<BlobRef>, JournalError> {
        let failed = |path: &Path, cause| JournalError::file("read", path, cause);
        let mut found = Vec::new();
        if !self.folder.exists() {
            return Ok(found);
        }
        for shelf in fs::read_dir(&self.folder).map_err(|cause| failed(&self.folder, cause))? {
            let shelf = shelf.map_err(|cause| failed(&self.folder, cause))?.path();
            let Ok(entries) = fs::read_dir(&shelf) else {
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(|cause| failed(&shelf, cause))?;
                let name = format!(
                    "{}{}",
                    shelf.file_name().unwrap_or_default().to_string_lossy(),
                    entry.file_name().to_string_lossy()
                );
                let about = entry.metadata().map_err(|cause| failed(&shelf, cause))?;
                if let Ok(blob) = BlobHash::try_from(name) {
                    found.push(BlobRef {
                        blob,
                        bytes: about.len(),
                    });
                }
            }
        }
        Ok(found)
    }

    /// Removes a blob that no event names.
    pub fn remove(&self, blob: &BlobHash) -> Result<(), JournalError> {
        let path = self.path(blob);
        fs::remove_file(&path).map_err(|cause| JournalError::file("remove", path, cause))
    }

    fn path(&self, blob: &BlobHash) -> PathBuf {
        let (shelf, name) = blob.as_str().split_at(2);
        self.folder.join(shelf).join(name)
    }
}
