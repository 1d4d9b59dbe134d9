//! Which file of `Inbox/Requests` is which request, and what was said last about files that are
//! none. It is folded from the journal, each event once for as long as the process lives, so that
//! a look at a few files costs the same among ten requests and among ten thousand.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use artel_journal::{Filter, Query, Reader};
use artel_types::{Fact, Failure, RequestRefused, TraceId};

use crate::own_folders::OwnFolders;
use crate::placed::PlacedFiles;

/// What is known of the files of requests.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The last event that is in it.
    seq: u64,
    traces: HashMap<String, TraceId>,
    files: HashMap<TraceId, String>,
    /// By file, the hash of what is wrong with it.
    refused: HashMap<String, blake3::Hash>,
    /// By file, the hash of what this process completed it to: its own writing costs no look at
    /// the journal.
    ours: HashMap<String, blake3::Hash>,
    /// Files that runs put into the workshop.
    placed: PlacedFiles,
}

impl Index {
    /// Takes in what was recorded since the last look.
    pub(super) fn follow(&mut self, reader: &Reader) -> Result<(), Failure> {
        let filter = Filter {
            kind: Some("request.".to_owned()),
            ..Filter::default()
        };
        let query = match self.seq {
            0 => Query::of(filter).few(),
            seq => Query::of(filter).after(seq),
        };
        // Read first: what comes in between is read again by the next look, which does no harm.
        let head = reader.head()?;
        reader.visit_events(&query, |event| {
            self.fold(event.trace, event.fact);
            ControlFlow::Continue(())
        })?;
        self.seq = self.seq.max(head);
        Ok(())
    }

    /// Tells whether a run put this file where it is: then it is nobody's word.
    pub(super) fn is_placed(
        &mut self,
        file: &Path,
        reader: &Reader,
        own: &OwnFolders,
    ) -> Result<bool, Failure> {
        self.placed.follow(reader, own)?;
        Ok(self.placed.has(file))
    }

    /// Notes that a file is a request.
    pub(super) fn note(&mut self, file: &str, trace: TraceId) {
        if let Some(before) = self.files.insert(trace, file.to_owned())
            && before != file
            && self.traces.get(&before) == Some(&trace)
        {
            self.traces.remove(&before);
        }
        self.traces.insert(file.to_owned(), trace);
        self.refused.remove(file);
    }

    /// Notes what is wrong with a file; tells whether that is new.
    pub(super) fn note_refused(&mut self, refused: &RequestRefused) -> bool {
        let hash = hash_of(refused);
        self.refused.insert(refused.file.clone(), hash) != Some(hash)
    }

    /// Notes what a file was completed to.
    pub(super) fn note_ours(&mut self, file: &str, text: &str) {
        let hash = blake3::hash(text.as_bytes());
        self.ours.insert(file.to_owned(), hash);
    }

    /// Tells whether a file is as it was completed.
    pub(super) fn is_ours(&self, file: &str, text: &str) -> bool {
        self.ours.get(file) == Some(&blake3::hash(text.as_bytes()))
    }

    /// Returns the request that a file is.
    pub(super) fn trace_of(&self, file: &str) -> Option<TraceId> {
        self.traces.get(file).copied()
    }

    /// Returns the file of a request.
    pub(super) fn file_of(&self, trace: TraceId) -> Option<&str> {
        self.files.get(&trace).map(String::as_str)
    }

    fn fold(&mut self, trace: TraceId, fact: Fact) {
        match fact {
            Fact::RequestCreated(it) => self.note(&it.file, trace),
            Fact::RequestMoved(it) => self.note(&it.file, trace),
            Fact::RequestRefused(it) => {
                self.note_refused(&it);
            }
            _ => {}
        }
    }
}

fn hash_of(refused: &RequestRefused) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(refused.field.as_bytes());
    hasher.update(&[0]);
    hasher.update(refused.message.as_bytes());
    hasher.finalize()
}
