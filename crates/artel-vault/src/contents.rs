//! Content of the encrypted file: the list of keys, with the values that are stored here.
//!
//! Fields follow one another, each with its length in front. The layout belongs to the
//! format number in the file's header and never changes for that number. It is not JSON
//! because a JSON reader keeps copies of what it reads, and nobody would wipe those.

use artel_types::{Secret, Timestamp};
use zeroize::Zeroizing;

const IN_SYSTEM: u8 = 0;
const IN_FILE: u8 = 1;

/// One key on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VaultEntry {
    pub(crate) provider: String,
    pub(crate) account: String,
    pub(crate) since: Timestamp,
    /// The key, or `None` if the system's key store has it.
    pub(crate) value: Option<Secret>,
}

impl VaultEntry {
    pub(crate) fn is_of(&self, provider: &str, account: &str) -> bool {
        self.provider == provider && self.account == account
    }

    fn length(&self) -> usize {
        let value = self.value.as_ref().map_or(0, |key| key.expose().len());
        let numbers = 3 * size_of::<u32>() + size_of::<i64>() + size_of::<u8>();
        numbers + self.provider.len() + self.account.len() + value
    }
}

/// Encodes the list. Reserves `spare` bytes at the end, so that appending does not move
/// the bytes.
pub(crate) fn encode(entries: &[VaultEntry], spare: usize) -> Zeroizing<Vec<u8>> {
    let length: usize = entries.iter().map(VaultEntry::length).sum();
    let mut bytes = Zeroizing::new(Vec::with_capacity(length + spare));
    for entry in entries {
        put(&mut bytes, &entry.provider);
        put(&mut bytes, &entry.account);
        bytes.extend_from_slice(&entry.since.as_micros().to_le_bytes());
        match &entry.value {
            None => bytes.push(IN_SYSTEM),
            Some(key) => {
                bytes.push(IN_FILE);
                put(&mut bytes, key.expose());
            }
        }
    }
    bytes
}

/// Decodes the list. Returns `None` if the bytes are malformed.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Vec<VaultEntry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let (provider, account) = (text(&mut bytes)?, text(&mut bytes)?);
        let micros = i64::from_le_bytes(array(&mut bytes)?);
        let value = match array::<1>(&mut bytes)? {
            [IN_SYSTEM] => None,
            [IN_FILE] => Some(Secret::new(text(&mut bytes)?)),
            _ => return None,
        };
        entries.push(VaultEntry {
            provider: provider.to_owned(),
            account: account.to_owned(),
            since: Timestamp::from_micros(micros),
            value,
        });
    }
    Some(entries)
}

fn put(bytes: &mut Vec<u8>, text: &str) {
    // A text too long for this number is far beyond the largest file.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn text<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = u32::from_le_bytes(array(bytes)?);
    let (text, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_entry()(
            provider in ".{0,20}",
            account in ".{0,20}",
            micros in any::<i64>(),
            value in proptest::option::of(".{0,80}"),
        ) -> VaultEntry {
            let since = Timestamp::from_micros(micros);
            VaultEntry { provider, account, since, value: value.map(Secret::new) }
        }
    }

    proptest! {
        #[test]
        fn a_list_reads_back(entries in proptest::collection::vec(any_entry(), 0..6)) {
            let bytes = encode(&entries, 0);
            prop_assert!(bytes.len() <= bytes.capacity());
            prop_assert_eq!(decode(&bytes), Some(entries));
        }

        #[test]
        fn a_list_is_written_without_being_moved(
            entries in proptest::collection::vec(any_entry(), 0..6),
        ) {
            let room: usize = entries.iter().map(VaultEntry::length).sum();
            let bytes = encode(&entries, 16);
            prop_assert!(bytes.len() <= room);
            prop_assert_eq!(bytes.capacity(), room + 16);
        }

        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(entries) = decode(&bytes) {
                prop_assert_eq!(&encode(&entries, 0)[..], &bytes[..]);
            }
        }
    }
}
