//! The index of request files: which file of `Inbox/Requests` is which request, and the
//! last refusal of files that are not requests. It is folded from the journal, each event
//! once in the life of the process, so a scan of a few files costs the same among ten
//! requests and among ten thousand.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_types::{Fact, Failure, RequestRefused, TraceId};

use crate::own_folders::OwnFolders;
use crate::placed::PlacedFiles;

#[derive(Debug, Default)]
pub(crate) struct RequestFileIndex {
    /// Sequence number of the last event that was folded.
    seq: u64,
    traces: HashMap<String, TraceId>,
    files: HashMap<TraceId, String>,
    /// For each refused file, the hash of the refusal.
    refused: HashMap<String, blake3::Hash>,
    /// For each file, the hash of the text that this process completed it to, so that its own
    /// writing needs no look at the journal.
    ours: HashMap<String, blake3::Hash>,
    /// Files that runs put into the workshop.
    placed: PlacedFiles,
}

impl RequestFileIndex {
    /// Folds the events recorded since the last call.
    pub(super) fn follow(&mut self, reader: &JournalReader) -> Result<(), Failure> {
        let filter = EventFilter {
            kind: Some("request.".to_owned()),
            ..EventFilter::default()
        };
        let query = match self.seq {
            0 => EventQuery::of(filter).few(),
            seq => EventQuery::of(filter).after(seq),
        };
        // The head is read first. Events that arrive in between are read again by the next scan,
        // which does no harm.
        let head = reader.head()?;
        reader.visit_events(&query, |event| {
            self.fold(event.trace, event.fact);
            ControlFlow::Continue(())
        })?;
        self.seq = self.seq.max(head);
        Ok(())
    }

    /// Returns whether a run put this file in its place. Such a file does not carry a person's
    /// authority.
    pub(super) fn is_placed(
        &mut self,
        file: &Path,
        reader: &JournalReader,
        own: &OwnFolders,
    ) -> Result<bool, Failure> {
        self.placed.follow(reader, own)?;
        Ok(self.placed.has(file))
    }

    /// Records that a file is a request.
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

    /// Records a refusal and returns whether it is new.
    pub(super) fn note_refused(&mut self, refused: &RequestRefused) -> bool {
        let hash = hash_of(refused);
        self.refused.insert(refused.file.clone(), hash) != Some(hash)
    }

    /// Records the text that a file was completed to.
    pub(super) fn note_ours(&mut self, file: &str, text: &str) {
        let hash = blake3::hash(text.as_bytes());
        self.ours.insert(file.to_owned(), hash);
    }

    /// Returns whether a file still has the text that it was completed to.
    pub(super) fn is_ours(&self, file: &str, text: &str) -> bool {
        self.ours.get(file) == Some(&blake3::hash(text.as_bytes()))
    }

    /// Returns the trace of a request's file.
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
