//! The list of workshops that this user made or trusted, kept in their data folder.

use std::path::{Path, PathBuf};

use artel_files::{make_dirs, read_bounded, write_atomic};
use artel_types::{Failure, FailureCode, SecretRedactor, WorkshopId};
use serde::{Deserialize, Serialize};

use crate::lock;
use crate::trouble::file_failure;

/// A workshop that is found when the person works inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkshopRegistryEntry {
    id: WorkshopId,
    /// The path when it was added, for people to read: with secrets redacted, and approximated
    /// if it is not UTF-8.
    path: String,
    /// The hash of the path, which decides. A copy elsewhere is not trusted.
    place: String,
}

impl WorkshopRegistryEntry {
    fn is_at(&self, root: &Path) -> bool {
        self.place == place(root)
    }
}

const LARGEST: u64 = 4 << 20;

const LOCK: &str = "workshops.lock";

/// Returns whether this user made or trusted this workshop at this path.
pub(crate) fn knows(data: &Path, id: WorkshopId, root: &Path) -> Result<bool, Failure> {
    let is_it = |entry: &WorkshopRegistryEntry| entry.id == id && entry.is_at(root);
    Ok(read(data)?.iter().any(is_it))
}

/// Returns whether this user made or trusted any workshop at this path.
pub(crate) fn knows_place(data: &Path, root: &Path) -> Result<bool, Failure> {
    Ok(read(data)?.iter().any(|entry| entry.is_at(root)))
}

/// Returns the paths of the workshops that this user made or trusted, if they still exist
/// there.
pub(crate) fn places(data: &Path) -> Result<Vec<PathBuf>, Failure> {
    let places = read(data)?.into_iter().map(|entry| {
        let path = PathBuf::from(&entry.path);
        entry.is_at(&path).then_some(path)
    });
    Ok(places.flatten().filter(|path| path.is_dir()).collect())
}

/// Adds a workshop to the list.
pub(crate) fn note(
    data: &Path,
    id: WorkshopId,
    root: &Path,
    redactor: &SecretRedactor,
) -> Result<(), Failure> {
    if knows(data, id, root)? {
        return Ok(());
    }
    let failed = |error| file_failure(FailureCode::W008, &error);
    make_dirs(data, 0o700).map_err(failed)?;
    // Without the lock, two processes could drop each other's entry.
    let _lock = lock::hold(&data.join(LOCK))?;
    let mut entries = read(data)?;
    entries.push(WorkshopRegistryEntry {
        id,
        path: redactor.redact(&root.display().to_string()).into_owned(),
        place: place(root),
    });
    store(data, &entries)
}

/// Removes a workshop that no longer exists from the list.
pub(crate) fn forget(data: &Path, id: WorkshopId, root: &Path) -> Result<(), Failure> {
    if !knows(data, id, root)? {
        return Ok(());
    }
    let _lock = lock::hold(&data.join(LOCK))?;
    let mut entries = read(data)?;
    entries.retain(|entry| entry.id != id || !entry.is_at(root));
    store(data, &entries)
}

fn store(data: &Path, entries: &[WorkshopRegistryEntry]) -> Result<(), Failure> {
    let bytes = serde_json::to_vec_pretty(entries).map_err(|error| {
        Failure::new(FailureCode::X001, "the list of workshops cannot be written")
            .because(error.to_string())
    })?;
    write_atomic(&path(data), &bytes, 0o600)
        .map_err(|error| file_failure(FailureCode::W008, &error))
}

fn place(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    blake3::hash(root.as_os_str().as_bytes())
        .to_hex()
        .to_string()
}

fn read(data: &Path) -> Result<Vec<WorkshopRegistryEntry>, Failure> {
    let path = path(data);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes =
        read_bounded(&path, LARGEST).map_err(|error| file_failure(FailureCode::W008, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(
            FailureCode::W008,
            format!("`{}` is damaged", path.display()),
        )
        .because(error.to_string())
        .advise("remove it, then `artel workshop trust DIR` for each workshop of yours")
    })
}

fn path(data: &Path) -> PathBuf {
    data.join("workshops.json")
}
