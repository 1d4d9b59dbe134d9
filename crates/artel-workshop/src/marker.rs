//! `.artel/workshop.json`: what makes a folder a workshop.

use std::collections::BTreeMap;
use std::path::Path;

use artel_files::{create_new, read_bounded, write_atomic};
use artel_types::{Failure, FailureCode, WorkshopId};
use serde::{Deserialize, Serialize};

use crate::caller::fresh_workshop;
use crate::trouble::file_failure;
use crate::upgrade::UPGRADES;

/// The identity of a workshop, and the templates that were written into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkshopMarker {
    pub id: WorkshopId,
    /// The version of Artel that created the workshop.
    pub version: String,
    /// The hash of each template as written. A file that still has this hash was never edited.
    #[serde(default)]
    pub templates: BTreeMap<String, String>,
    /// The number of upgrades for older workshops that have been applied here.
    #[serde(default)]
    pub upgrades: u32,
    /// The skills that existed before the workshop, relative to its root. A person has to
    /// trust them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills_found: Vec<std::path::PathBuf>,
}

const LARGEST: u64 = 64 << 10;

impl WorkshopMarker {
    pub(crate) fn path(root: &Path) -> std::path::PathBuf {
        root.join(".artel/workshop.json")
    }

    /// Returns the marker for a workshop that is about to be created.
    pub(crate) fn fresh() -> Result<Self, Failure> {
        Ok(Self {
            id: fresh_workshop()?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            templates: BTreeMap::default(),
            upgrades: UPGRADES,
            skills_found: Vec::new(),
        })
    }

    /// Reads the marker, or returns `None` if the folder is not a workshop.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>, Failure> {
        let path = Self::path(root);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let bytes = read_bounded(&path, LARGEST)
            .map_err(|error| file_failure(FailureCode::W008, &error))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Failure::new(
                FailureCode::W008,
                format!("`{}` is damaged", path.display()),
            )
            .because(error.to_string())
            .advise("put it back from a copy; it holds the id that the journal names")
        })
    }

    /// Returns the failure for a folder that has a journal but no marker.
    pub(crate) fn missing(root: &Path) -> Failure {
        Failure::new(
            FailureCode::W008,
            format!("`{}` is gone", Self::path(root).display()),
        )
        .because("there is a journal beside it, so this is a workshop")
        .advise("put it back from a copy; it holds the id that the journal names")
    }

    /// Writes the marker unless there is one. If two processes try, one wins and both use its
    /// marker.
    pub(crate) fn create(&self, root: &Path) -> Result<(), Failure> {
        match create_new(&Self::path(root), &self.bytes(), 0o600) {
            Ok(()) | Err(artel_files::FileError::Exists { .. }) => Ok(()),
            Err(error) => Err(file_failure(FailureCode::W004, &error)),
        }
    }

    pub(crate) fn write(&self, root: &Path) -> Result<(), Failure> {
        write_atomic(&Self::path(root), &self.bytes(), 0o600)
            .map_err(|error| file_failure(FailureCode::W004, &error))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
