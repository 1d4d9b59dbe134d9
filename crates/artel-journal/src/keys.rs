//! The key that signs checkpoints, and the signers this user knows.
//!
//! The key lies in the user's data folder, out of reach of agents. Anyone who has it can
//! sign again: signatures prove only that nobody *without* the key changed the journal.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use artel_types::WorkshopId;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use crate::anchor;
use crate::durable;
use crate::error::JournalError;

/// Problem of a key file that is not private.
pub(crate) const READABLE: &str = "others can read it; its mode must be 0600";

/// Problem of a signature whose signer this user does not know.
pub(crate) const UNKNOWN_SIGNER: &str = "signed with an unknown key";

/// A public Ed25519 key.
pub(crate) type Signer = [u8; 32];

/// The user's signing key, and the other signers they accepted.
pub struct JournalSigningKeys {
    pair: Option<Ed25519KeyPair>,
    path: PathBuf,
    known: BTreeSet<Signer>,
}

impl JournalSigningKeys {
    /// Loads the key, making one the first time.
    pub fn load_or_create(data: &Path, workshop: WorkshopId) -> Result<Self, JournalError> {
        let path = key_path(data);
        if !path.exists() {
            Self::load(data, workshop)?;
            create(&path)?;
        }
        Self::load(data, workshop)
    }

    /// Loads the key if there is one; without it, signatures can be checked but not made. A key
    /// that has signed and is gone is an error: with a new key, what it signed would look
    /// forged.
    pub fn load(data: &Path, workshop: WorkshopId) -> Result<Self, JournalError> {
        let path = key_path(data);
        let mut known = read_known(data, workshop);
        let pair = if path.exists() {
            Some(read_pair(&path)?)
        } else if anchor::signers(data).is_subset(&known) {
            None
        } else {
            let what = "it is gone, and journals were signed with it".to_owned();
            return Err(JournalError::Key { path, what });
        };
        if let Some(pair) = &pair {
            known.insert(public(pair));
        }
        Ok(Self { pair, path, known })
    }

    /// Remembers the signers of a journal that the person decided to trust. They count for that
    /// workshop alone, or its author could sign for all others too.
    pub fn learn(
        data: &Path,
        workshop: WorkshopId,
        signers: &[[u8; 32]],
    ) -> Result<(), JournalError> {
        let mut known = read_known(data, workshop);
        known.extend(signers.iter().copied());
        let text: String = known
            .iter()
            .map(|signer| format!("{}\n", hex(signer)))
            .collect();
        let path = known_path(data, workshop);
        let folder = data.join("signers");
        durable::make_folder(&folder)
            .map_err(|cause| JournalError::file("make", &folder, cause))?;
        durable::write(&path, text.as_bytes())
            .map_err(|cause| JournalError::file("write", &path, cause))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<(Signer, Vec<u8>), JournalError> {
        let pair = self.pair.as_ref().ok_or_else(|| JournalError::Key {
            path: self.path.clone(),
            what: "it is missing".to_owned(),
        })?;
        Ok((public(pair), pair.sign(message).as_ref().to_vec()))
    }

    /// Checks a signature by a signer that this user knows.
    pub(crate) fn check(
        &self,
        signer: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), &'static str> {
        let is_known = self.known.iter().any(|known| known == signer);
        if !is_known {
            return Err(UNKNOWN_SIGNER);
        }
        if is_signed(signer, message, signature) {
            return Ok(());
        }
        Err("its signature is wrong")
    }
}

/// Returns this user's own public key, if there is a usable key.
pub(crate) fn own_signer(data: &Path) -> Option<Signer> {
    read_pair(&key_path(data)).ok().map(|pair| public(&pair))
}

/// Returns whether a signature was made by `signer`, known or not.
pub(crate) fn is_signed(signer: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, signer)
        .verify(message, signature)
        .is_ok()
}

fn key_path(data: &Path) -> PathBuf {
    data.join("signing.key")
}

fn known_path(data: &Path, workshop: WorkshopId) -> PathBuf {
    data.join("signers").join(workshop.to_string())
}

fn create(path: &Path) -> Result<(), JournalError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    durable::make_folder(folder).map_err(|cause| JournalError::file("make", folder, cause))?;
    let fresh =
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| JournalError::Key {
            path: path.to_owned(),
            what: "no random bytes to make it".to_owned(),
        })?;
    // Two processes may both find no key: the first link wins, and the second process uses that
    // key.
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = write_private(&temporary, fresh.as_ref())
        .and_then(|()| match fs::hard_link(&temporary, path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::AlreadyExists => Err(cause),
            _ => durable::sync_folder(folder),
        })
        .map_err(|cause| JournalError::file("write", path, cause));
    drop(fs::remove_file(&temporary));
    written
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn read_pair(path: &Path) -> Result<Ed25519KeyPair, JournalError> {
    let unusable = |what: &str| JournalError::Key {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    let about = fs::metadata(path).map_err(|cause| JournalError::file("read", path, cause))?;
    if !about.is_file() {
        return Err(unusable("it is not a regular file"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(unusable(READABLE));
    }
    let bytes =
        durable::read_small(path).map_err(|cause| JournalError::file("read", path, cause))?;
    Ed25519KeyPair::from_pkcs8(&bytes).map_err(|_| unusable("it is damaged"))
}

fn read_known(data: &Path, workshop: WorkshopId) -> BTreeSet<Signer> {
    let bytes = durable::read_small(&known_path(data, workshop)).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(unhex)
        .collect()
}

fn public(pair: &Ed25519KeyPair) -> Signer {
    let mut signer = [0; 32];
    signer.copy_from_slice(pair.public_key().as_ref());
    signer
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

impl std::fmt::Debug for JournalSigningKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JournalSigningKeys({})", self.path.display())
    }
}
