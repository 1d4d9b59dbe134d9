//! Encryption of the file: pure functions over bytes.
//!
//! `magic (8) | format (1) | nonce (12) | sealed list | tag (16)`, with ChaCha20-Poly1305.
//! Magic and format are authenticated too. The encryption key is derived from 32 random
//! bytes, stored beside the file, and the identity of this machine and this user.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use zeroize::Zeroizing;

use crate::contents::{self, VaultEntry};

/// The format that is written.
pub(crate) const FORMAT: u8 = 1;

/// Length of the random part of the encryption key, in bytes.
pub(crate) const KEY_BYTES: usize = 32;

const MAGIC: &[u8; 8] = b"ARTELKEY";
const HEADER: usize = MAGIC.len() + 1;
const PURPOSE: &[u8] = b"artel keys 1";

/// The machine and user that the file is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyFileBinding {
    /// Id of the machine; empty if it has none.
    pub(crate) machine: String,
    /// The user id.
    pub(crate) user: u32,
}

/// Why sealed bytes cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFileUnsealError {
    /// The bytes do not begin like a file of keys, or are too short for one.
    NotKeys,
    /// This build does not know the format.
    Newer(u8),
    /// The bytes were changed, or sealed with another key, on another machine or for another
    /// user.
    Wrong,
}

impl KeyFileUnsealError {
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::NotKeys => "it is cut off, or not a file of keys",
            Self::Newer(_) => "it has a newer format",
            Self::Wrong => {
                "it was changed, or written on another machine, by another user or with another \
                 `keys.key`"
            }
        }
    }
}

/// Encrypts the list. The caller must never use a `nonce` twice.
pub(crate) fn seal(
    entries: &[VaultEntry],
    nonce: [u8; NONCE_LEN],
    random: &[u8; KEY_BYTES],
    binding: &KeyFileBinding,
) -> Option<Vec<u8>> {
    let header = header(FORMAT);
    let mut list = contents::encode(entries, CHACHA20_POLY1305.tag_len());
    key(random, binding)?
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(header),
            &mut *list,
        )
        .ok()?;
    Some([&header[..], &nonce, &list].concat())
}

/// Decrypts the list.
pub(crate) fn open(
    bytes: &[u8],
    random: &[u8; KEY_BYTES],
    binding: &KeyFileBinding,
) -> Result<Vec<VaultEntry>, KeyFileUnsealError> {
    let (header, sealed) = bytes
        .split_first_chunk::<HEADER>()
        .ok_or(KeyFileUnsealError::NotKeys)?;
    let (format, magic) = header.split_last().ok_or(KeyFileUnsealError::NotKeys)?;
    if magic != MAGIC || *format == 0 {
        return Err(KeyFileUnsealError::NotKeys);
    }
    if *format > FORMAT {
        return Err(KeyFileUnsealError::Newer(*format));
    }
    let (nonce, sealed) = sealed
        .split_first_chunk()
        .ok_or(KeyFileUnsealError::NotKeys)?;
    let mut list = Zeroizing::new(sealed.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let plain = key(random, binding)
        .ok_or(KeyFileUnsealError::Wrong)?
        .open_in_place(nonce, Aad::from(*header), &mut list)
        .map_err(|_| KeyFileUnsealError::Wrong)?;
    contents::decode(plain).ok_or(KeyFileUnsealError::Wrong)
}

fn header(format: u8) -> [u8; HEADER] {
    let mut header = [format; HEADER];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header
}

fn key(random: &[u8; KEY_BYTES], binding: &KeyFileBinding) -> Option<LessSafeKey> {
    let user = binding.user.to_le_bytes();
    let bound_to = [PURPOSE, &user, binding.machine.as_bytes()];
    let secret = Salt::new(HKDF_SHA256, PURPOSE).extract(random);
    let derived = secret.expand(&bound_to, &CHACHA20_POLY1305).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(derived)))
}
