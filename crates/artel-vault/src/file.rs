//! The encrypted file, and beside it the random part of its encryption key.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use crate::contents::VaultEntry;
use crate::seal::{self, KEY_BYTES, KeyFileBinding, KeyFileUnsealError};
use crate::{VaultError, private};

const MACHINE_ID: &str = "/etc/machine-id";

/// The file with the list of keys, bound to this machine and this user.
pub(crate) struct KeyFile {
    folder: PathBuf,
    binding: KeyFileBinding,
}

impl KeyFile {
    /// Locates the file in `folder` without creating anything.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let machine = machine_id();
        let user = rustix::process::geteuid().as_raw();
        Self {
            folder: folder.to_owned(),
            binding: KeyFileBinding { machine, user },
        }
    }

    /// Returns whether there is anything to read or to remove.
    pub(crate) fn is_there(&self) -> bool {
        [self.path(), self.key_file()]
            .iter()
            .any(|path| private::is_there(path))
    }

    /// Binds the file to another machine or user than the current ones.
    #[cfg(test)]
    pub(crate) fn bind_to(&mut self, machine: &str, user: u32) {
        let machine = machine.to_owned();
        self.binding = KeyFileBinding { machine, user };
    }

    /// Returns the path of the file, even if it does not exist.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("keys.enc")
    }

    fn key_file(&self) -> PathBuf {
        self.folder.join("keys.key")
    }

    /// Waits for other processes to finish their change, then locks the keys.
    pub(crate) fn take_turn(&self) -> Result<File, VaultError> {
        private::make_folder(&self.folder)?;
        private::lock(&self.folder.join("keys.lock"))
    }

    /// Reads the list. Without a file it is empty.
    pub(crate) fn read(&self) -> Result<Vec<VaultEntry>, VaultError> {
        let path = self.path();
        let Some(bytes) = private::read(&path)? else {
            return Ok(Vec::new());
        };
        let random = self.random_part()?.ok_or_else(|| {
            VaultError::damaged(&path, "`keys.key`, which belongs to it, is gone")
        })?;
        seal::open(&bytes, &random, &self.binding).map_err(|unopened| match unopened {
            KeyFileUnsealError::Newer(found) => {
                let newest = seal::FORMAT;
                VaultError::TooNew {
                    path,
                    found,
                    newest,
                }
            }
            other => VaultError::damaged(&path, other.what()),
        })
    }

    /// Replaces the list. The caller must hold the lock and have read the list.
    pub(crate) fn write(&self, mut entries: Vec<VaultEntry>) -> Result<(), VaultError> {
        entries.sort_by(|a, b| (&a.provider, &a.account).cmp(&(&b.provider, &b.account)));
        let random = match self.random_part()? {
            Some(random) => random,
            None => self.make_random_part()?,
        };
        let mut nonce = [0; _];
        fill(&mut nonce)?;
        let sealed = seal::seal(&entries, nonce, &random, &self.binding);
        let path = self.path();
        match sealed {
            Some(bytes) if bytes.len() <= private::LARGEST => private::write(&path, &bytes),
            _ => Err(VaultError::Full { path }),
        }
    }

    fn random_part(&self) -> Result<Option<Zeroizing<[u8; KEY_BYTES]>>, VaultError> {
        let path = self.key_file();
        let Some(bytes) = private::read(&path)? else {
            return Ok(None);
        };
        let random = <[u8; KEY_BYTES]>::try_from(&bytes[..])
            .map_err(|_| VaultError::damaged(&path, "it does not have 32 bytes"))?;
        Ok(Some(Zeroizing::new(random)))
    }

    fn make_random_part(&self) -> Result<Zeroizing<[u8; KEY_BYTES]>, VaultError> {
        let mut random = Zeroizing::new([0; KEY_BYTES]);
        fill(&mut random[..])?;
        private::write(&self.key_file(), &random[..])?;
        Ok(random)
    }

    /// Removes all files. The sealed file goes first: without it the random part is useless.
    pub(crate) fn remove(&self) -> Result<(), VaultError> {
        for path in [self.path(), self.key_file()] {
            private::remove(&path)?;
            private::remove(&private::on_its_way(&path))?;
        }
        private::sync_folder_of(&self.path())
    }
}

/// Returns the id of this machine, or an empty text if there is none: containers often
/// have no id.
fn machine_id() -> String {
    let mut id = String::new();
    let read = File::open(MACHINE_ID).and_then(|file| file.take(64).read_to_string(&mut id));
    match read {
        Ok(_) => id.trim().to_owned(),
        Err(_) => String::new(),
    }
}

fn fill(bytes: &mut [u8]) -> Result<(), VaultError> {
    SystemRandom::new()
        .fill(bytes)
        .map_err(|_| VaultError::NoRandom)
}
