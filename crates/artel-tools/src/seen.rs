//! The files that the run has read: the state of each as the model last knew it, and the
//! parts that were sent.
//!
//! It avoids sending the same lines twice, and it keeps a model from overwriting content
//! that it has never seen or that has changed since. It is a memory, not a lock: every
//! write compares with the bytes that are there at that time.

use std::collections::HashMap;

use artel_policy::FileTarget;
use serde::{Deserialize, Serialize};

/// The files that the model knows, by location.
#[derive(Debug, Default)]
pub struct ModelKnownFiles {
    files: HashMap<FileTarget, ModelKnownFile>,
    /// Files whose state has changed since the last record.
    news: Vec<FileTarget>,
}

/// Comparison of a file's current bytes with those that the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFileFreshness {
    /// The model never read or wrote this file in the run.
    Unread,
    /// The file is as the model knows it.
    Same,
    /// Something else has changed the file since.
    Changed,
}

/// A part of a file: the first line, and the number of lines requested.
pub type Part = (usize, usize);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ModelKnownFile {
    #[serde(with = "hex")]
    hash: blake3::Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<Part>,
}

/// The new state of one file, or `None` if the file was forgotten.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ModelKnownFileUpdate {
    file: FileTarget,
    known: Option<ModelKnownFile>,
}

mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(hash: &blake3::Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hash.to_hex())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<blake3::Hash, D::Error> {
        let text = String::deserialize(from)?;
        blake3::Hash::from_hex(text).map_err(D::Error::custom)
    }
}

impl ModelKnownFiles {
    /// Compares these bytes with those that the model knows of the file.
    pub fn standing(&self, file: &FileTarget, bytes: &[u8]) -> ModelFileFreshness {
        match self.files.get(file) {
            None => ModelFileFreshness::Unread,
            Some(known) if known.hash == blake3::hash(bytes) => ModelFileFreshness::Same,
            Some(_) => ModelFileFreshness::Changed,
        }
    }

    /// Records that a part of a file was sent, and in which encoding it was read if the caller
    /// named one. Returns whether the same part of the same bytes had been sent before.
    ///
    /// A repeated request removes the record of the part: a model that asks once more really
    /// lacks it, because its context may have been shortened meanwhile.
    pub fn send(
        &mut self,
        file: &FileTarget,
        bytes: &[u8],
        part: Part,
        encoding: Option<&str>,
    ) -> bool {
        let hash = blake3::hash(bytes);
        let encoding = encoding.map(str::to_owned);
        self.note(file);
        let known = self
            .files
            .entry(file.clone())
            .or_insert_with(|| ModelKnownFile {
                hash,
                encoding: None,
                sent: Vec::new(),
            });
        if known.hash != hash || known.encoding != encoding {
            known.sent.clear();
        }
        known.hash = hash;
        known.encoding = encoding;
        if let Some(at) = known.sent.iter().position(|sent| *sent == part) {
            known.sent.swap_remove(at);
            return true;
        }
        known.sent.push(part);
        false
    }

    /// Records that the model itself wrote the whole file and so knows these bytes.
    pub fn wrote(&mut self, file: &FileTarget, bytes: &[u8]) {
        let known = ModelKnownFile {
            hash: blake3::hash(bytes),
            encoding: None,
            sent: Vec::new(),
        };
        self.note(file);
        self.files.insert(file.clone(), known);
    }

    /// Records that the model changed a part of a file. A file that it has not read stays
    /// unread: an edit that matched says nothing about the rest.
    pub fn edited(&mut self, file: &FileTarget, after: &[u8]) {
        if let Some(known) = self.files.get_mut(file) {
            known.hash = blake3::hash(after);
            known.sent.clear();
            self.note(file);
        }
    }

    /// Returns the encoding that the caller named when the file was last read.
    pub fn encoding(&self, file: &FileTarget) -> Option<&str> {
        self.files.get(file)?.encoding.as_deref()
    }

    /// Forgets a file that no longer exists.
    pub fn forget(&mut self, file: &FileTarget) {
        self.files.remove(file);
        self.note(file);
    }

    /// Forgets the sent parts but not the known states. Called after the model's context was
    /// shortened.
    pub fn forget_sent(&mut self) {
        for known in self.files.values_mut() {
            known.sent.clear();
        }
    }

    fn note(&mut self, file: &FileTarget) {
        if !self.news.contains(file) {
            self.news.push(file.clone());
        }
    }

    /// Returns the changes since the last call.
    pub(crate) fn news(&mut self) -> Vec<ModelKnownFileUpdate> {
        let files = std::mem::take(&mut self.news);
        let news = files.into_iter().map(|file| {
            let known = self.files.get(&file).cloned();
            ModelKnownFileUpdate { file, known }
        });
        news.collect()
    }

    /// Restores changes that were recorded before.
    pub(crate) fn learn(&mut self, news: Vec<ModelKnownFileUpdate>) {
        for ModelKnownFileUpdate { file, known } in news {
            match known {
                Some(known) => drop(self.files.insert(file, known)),
                None => drop(self.files.remove(&file)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use artel_policy::TargetTree;

    use super::*;

    fn file(path: &str) -> FileTarget {
        let path = path.to_owned();
        let place = TargetTree::Worktree;
        FileTarget { place, path }
    }

    #[test]
    fn a_part_is_sent_once_and_again_when_asked_once_more() {
        let mut seen = ModelKnownFiles::default();
        let a = file("a");
        assert!(!seen.send(&a, b"one", (1, 10), None));
        assert!(!seen.send(&a, b"one", (11, 10), None));
        assert!(seen.send(&a, b"one", (1, 10), None));
        assert!(!seen.send(&a, b"one", (1, 10), None));
        assert!(!seen.send(&file("b"), b"one", (1, 10), None));
    }

    #[test]
    fn other_bytes_another_encoding_and_a_shortened_context_send_again() {
        let mut seen = ModelKnownFiles::default();
        let a = file("a");
        assert!(!seen.send(&a, b"one", (1, 10), None));
        assert!(!seen.send(&a, b"two", (1, 10), None));
        assert!(!seen.send(&a, b"two", (1, 10), Some("latin1")));
        assert_eq!(seen.encoding(&a), Some("latin1"));
        seen.forget_sent();
        assert!(!seen.send(&a, b"two", (1, 10), Some("latin1")));
        assert_eq!(seen.standing(&a, b"two"), ModelFileFreshness::Same);
    }

    #[test]
    fn only_what_the_model_knows_can_have_changed() {
        let mut seen = ModelKnownFiles::default();
        let a = file("a");
        seen.edited(&a, b"edited");
        assert_eq!(seen.standing(&a, b"edited"), ModelFileFreshness::Unread);
        seen.wrote(&a, b"one");
        assert_eq!(seen.standing(&a, b"one"), ModelFileFreshness::Same);
        assert_eq!(seen.standing(&a, b"two"), ModelFileFreshness::Changed);
        seen.edited(&a, b"two");
        assert_eq!(seen.standing(&a, b"two"), ModelFileFreshness::Same);
        seen.forget(&a);
        assert_eq!(seen.standing(&a, b"two"), ModelFileFreshness::Unread);
    }
}
