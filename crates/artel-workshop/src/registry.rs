//! Which workshops this user made or trusted, noted in their data folder.

use std::path::{Path, PathBuf};

use artel_files::{make_dirs, read_bounded, write_atomic};
use artel_types::{Code, Failure, WorkshopId};
use serde::{Deserialize, Serialize};

use crate::trouble::file_failure;

/// A workshop that may be found by standing in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its id.
    pub id: WorkshopId,
    /// Where it was when it was noted; a copy elsewhere is not trusted.
    pub path: PathBuf,
}

const LARGEST: u64 = 4 << 20;

/// Tells whether this user made or trusted the workshop at this place.
pub(crate) fn knows(data: &Path, id: WorkshopId, root: &Path) -> Result<bool, Failure> {
    Ok(read(data)?.contains(&Entry {
        id,
        path: root.to_owned(),
    }))
}

/// Notes a workshop.
pub(crate) fn note(data: &Path, id: WorkshopId, root: &Path) -> Result<(), Failure> {
    let mut entries = read(data)?;
    let entry = Entry {
        id,
        path: root.to_owned(),
    };
    if entries.contains(&entry) {
        return Ok(());
    }
    entries.push(entry);
    make_dirs(data, 0o700).map_err(|error| file_failure(Code::W008, &error))?;
    let bytes = serde_json::to_vec_pretty(&entries).unwrap_or_default();
    write_atomic(&path(data), &bytes, 0o600).map_err(|error| file_failure(Code::W008, &error))
}

fn read(data: &Path) -> Result<Vec<Entry>, Failure> {
    let path = path(data);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = read_bounded(&path, LARGEST).map_err(|error| file_failure(Code::W008, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(Code::W008, format!("`{}` is damaged", path.display()))
            .because(error.to_string())
            .advise("remove it, then `artel workshop trust DIR` for each workshop of yours")
    })
}

fn path(data: &Path) -> PathBuf {
    data.join("workshops.json")
}
