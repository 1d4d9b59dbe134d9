//! The newest signed head, kept outside the workshop.
//!
//! Anyone who can rewrite the journal file can cut its tail and everything that mentions
//! it. The anchor lies in the user's data folder, where agents cannot write, so a cut or a
//! roll-back to an older copy is still found.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use artel_types::{Timestamp, WorkshopId};
use serde::{Deserialize, Serialize};

use crate::chain::{Hash, checkpoint_message};
use crate::durable;
use crate::error::JournalError;
use crate::keys::{JournalSigningKeys, Signer, hex, unhex};

/// The newest head signed on this machine, as kept in the user's data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalAnchor {
    /// Sequence number of the last event it covers.
    pub seq: u64,
    /// Hash of that event, in hex.
    pub hash: String,
    /// When it was signed.
    pub at: Timestamp,
    signer: String,
    signature: String,
    /// One note for every time a person restored an earlier journal.
    #[serde(default)]
    pub restored: Vec<AnchorRestoreNote>,
}

/// A note, kept outside the journal, that a person restored it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorRestoreNote {
    /// When the journal was restored.
    pub at: Timestamp,
    /// The actor who restored it.
    pub by: String,
    /// Source of the restored events.
    pub source: String,
    /// Number of the newest event known before the restore.
    pub had: u64,
    /// Number of the last event that was kept.
    pub kept: u64,
}

/// A signed head, borrowed to be stored as the anchor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckpointRef<'a> {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    pub(crate) at: i64,
    pub(crate) signer: &'a [u8],
    pub(crate) signature: &'a [u8],
}

impl JournalAnchor {
    /// Reads the anchor of a workshop, if there is one.
    pub fn load(data: &Path, workshop: WorkshopId) -> Result<Option<Self>, JournalError> {
        let path = path(data, workshop);
        let text = match durable::read_small(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => {
                let what = cause.to_string();
                return Err(JournalError::Anchor { path, what });
            }
        };
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|cause: serde_json::Error| {
                let what = cause.to_string();
                JournalError::Anchor { path, what }
            })
    }

    pub(crate) fn hash_bytes(&self) -> Option<Hash> {
        unhex(&self.hash)
    }

    /// Checks the anchor's own signature.
    pub(crate) fn check(&self, keys: &JournalSigningKeys) -> Result<(), &'static str> {
        let hash = unhex(&self.hash).ok_or("its hash is not one")?;
        let signer = unhex(&self.signer).ok_or("its signer is not a key")?;
        let signature = unhex_long(&self.signature).ok_or("its signature is not one")?;
        keys.check(
            &signer,
            &checkpoint_message(self.seq, &hash, self.at.as_micros()),
            &signature,
        )
    }
}

/// Moves the anchor forward. Only [`put_back`], a person's act, ever moves it back.
pub(crate) fn advance(
    data: &Path,
    workshop: WorkshopId,
    head: CheckpointRef<'_>,
) -> Result<(), JournalError> {
    let _lock = lock(data, workshop)?;
    let old = JournalAnchor::load(data, workshop)?;
    if old.as_ref().is_some_and(|old| old.seq >= head.seq) {
        return Ok(());
    }
    let restored = old.map(|old| old.restored).unwrap_or_default();
    store(data, workshop, head, restored)
}

/// Sets the anchor to a restored head and notes who restored it.
pub(crate) fn put_back(
    data: &Path,
    workshop: WorkshopId,
    head: CheckpointRef<'_>,
    note: AnchorRestoreNote,
) -> Result<(), JournalError> {
    let _lock = lock(data, workshop)?;
    // A damaged anchor must not keep a person from recovering; the notes in it are lost.
    let old = JournalAnchor::load(data, workshop).unwrap_or_default();
    let mut restored = old.map(|old| old.restored).unwrap_or_default();
    restored.push(note);
    store(data, workshop, head, restored)
}

/// Removes the anchor of a journal that is gone.
pub(crate) fn forget(data: &Path, workshop: WorkshopId) -> Result<(), JournalError> {
    let path = path(data, workshop);
    for path in [path.with_extension("lock"), path] {
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                return Err(JournalError::file("remove", path, cause));
            }
            _ => {}
        }
    }
    Ok(())
}

fn store(
    data: &Path,
    workshop: WorkshopId,
    head: CheckpointRef<'_>,
    restored: Vec<AnchorRestoreNote>,
) -> Result<(), JournalError> {
    let anchor = JournalAnchor {
        seq: head.seq,
        hash: hex(&head.hash),
        at: Timestamp::from_micros(head.at),
        signer: hex(head.signer),
        signature: hex(head.signature),
        restored,
    };
    let path = path(data, workshop);
    let text = serde_json::to_string_pretty(&anchor).unwrap_or_default();
    durable::write(&path, text.as_bytes()).map_err(|cause| JournalError::file("write", path, cause))
}

/// Returns the signers of all anchors in the data folder. Damaged anchors are skipped.
pub(crate) fn signers(data: &Path) -> BTreeSet<Signer> {
    let Ok(entries) = fs::read_dir(data.join("heads")) else {
        return BTreeSet::new();
    };
    let signer = |path: PathBuf| {
        let anchor: JournalAnchor =
            serde_json::from_slice(&durable::read_small(&path).ok()?).ok()?;
        unhex(&anchor.signer)
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(signer)
        .collect()
}

fn path(data: &Path, workshop: WorkshopId) -> PathBuf {
    data.join("heads").join(format!("{workshop}.json"))
}

fn lock(data: &Path, workshop: WorkshopId) -> Result<fs::File, JournalError> {
    let folder = data.join("heads");
    durable::make_folder(&folder).map_err(|cause| JournalError::file("make", &folder, cause))?;
    durable::lock(&folder.join(format!("{workshop}.lock")))
}

fn unhex_long(text: &str) -> Option<Vec<u8>> {
    let first = unhex(text.get(..64)?)?;
    let second = unhex(text.get(64..)?)?;
    Some([first, second].concat())
}
