//! Records the tool calls of a run.
//!
//! The intent of a call that changes something is durable before the call begins. The
//! intent of a call that changes nothing is part of the reply that made it, so its entries
//! are buffered. Results are always buffered; they are appended together, before they are
//! used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_tools::{RunGrant, ToolCallRecorder};
use artel_types::{Actor, BlobRef, EventOutcome, Fact, RecordedText, ToolFinished};

use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::granted::RunFamilyGrants;

/// The run's journal, as its tools see it.
pub struct CallLog {
    chronicle: RunJournal,
    calls: Mutex<HashMap<String, CallLogBuffer>>,
}

/// The entries that one call has written so far.
#[derive(Default)]
struct CallLogBuffer {
    /// Whether the entries wait to be appended together.
    gathers: bool,
    entries: Vec<RunJournalEntry>,
    finished: Option<ToolFinished>,
}

/// The entries and the result that a finished call leaves to append.
pub(crate) struct PendingCallEntries {
    pub(crate) entries: Vec<RunJournalEntry>,
    pub(crate) finished: Option<ToolFinished>,
}

impl CallLog {
    pub fn new(chronicle: RunJournal) -> Self {
        Self {
            chronicle,
            calls: Mutex::default(),
        }
    }

    /// Begins a call. A call that changes nothing buffers all its entries.
    pub(crate) fn begin(&self, call: &str, gathers: CallLogBuffering) {
        let bucket = CallLogBuffer {
            gathers: gathers == CallLogBuffering::Yes,
            ..CallLogBuffer::default()
        };
        self.lock().insert(call.to_owned(), bucket);
    }

    /// Ends a call and returns what is still to be appended.
    pub(crate) fn end(&self, call: &str) -> PendingCallEntries {
        let bucket = self.lock().remove(call).unwrap_or_default();
        PendingCallEntries {
            entries: bucket.entries,
            finished: bucket.finished,
        }
    }

    /// Appends the entries buffered so far, because a person is about to be asked.
    pub(crate) fn flush(&self) -> Result<(), String> {
        let mut entries = Vec::new();
        for bucket in self.lock().values_mut() {
            entries.append(&mut bucket.entries);
        }
        if entries.is_empty() {
            return Ok(());
        }
        let appended = self.chronicle.append_blocking(entries);
        appended.map_err(|failure| failure.to_string())
    }

    pub(crate) fn chronicle(&self) -> &RunJournal {
        &self.chronicle
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CallLogBuffer>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves large results, and inputs too large for any event, to storage beside the
    /// journal.
    fn stored(&self, mut fact: Fact) -> Result<Fact, String> {
        let text = match &mut fact {
            Fact::ToolFinished(finished) => &mut finished.observation,
            Fact::ToolRequested(asked) if is_huge(&asked.input) => &mut asked.input,
            _ => return Ok(fact),
        };
        if let RecordedText::Inline(inline) = text {
            let kept = self.chronicle.keep(std::mem::take(inline));
            *text = kept.map_err(|failure| failure.to_string())?;
        }
        Ok(fact)
    }
}

/// Returns whether an input is too large for an event; smaller ones stay in it.
fn is_huge(text: &RecordedText) -> bool {
    const MOST: usize = 256 * 1024;
    matches!(text, RecordedText::Inline(text) if text.len() > MOST)
}

/// Whether a call buffers its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallLogBuffering {
    Yes,
    No,
}

impl ToolCallRecorder for CallLog {
    fn append_by(
        &self,
        by: Option<Actor>,
        fact: Fact,
        outcome: EventOutcome,
    ) -> Result<(), String> {
        let fact = self.stored(fact)?;
        let call = call_of(&fact).map(str::to_owned);
        let finished = match &fact {
            Fact::ToolFinished(finished) => Some(finished.clone()),
            _ => None,
        };
        let is_result = finished.is_some();
        let mut entry = RunJournalEntry::quiet(fact).ending(outcome);
        entry.actor = by;
        {
            let mut calls = self.lock();
            if let Some(bucket) = call.and_then(|call| calls.get_mut(&call)) {
                bucket.finished = finished.or(bucket.finished.take());
                if bucket.gathers || is_result {
                    bucket.entries.push(entry);
                    return Ok(());
                }
            }
        }
        let appended = self.chronicle.append_blocking(vec![entry]);
        appended.map_err(|failure| failure.to_string())
    }

    fn granted(&self) -> Vec<RunGrant> {
        let chronicle = &self.chronicle;
        let granted = RunFamilyGrants::read(chronicle.journal().reader(), [chronicle.trace()]);
        // Unreadable grants allow nothing: the person is asked.
        granted.map_or_else(|_| Vec::new(), |all| all.of(chronicle.run(), u64::MAX))
    }

    fn keep(&self, bytes: &[u8]) -> Option<BlobRef> {
        self.chronicle.journal().blobs().put(bytes).ok()
    }
}

fn call_of(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::ToolRequested(fact) => Some(&fact.call),
        Fact::ToolAnswered(fact) => Some(&fact.call),
        Fact::ToolFinished(fact) => Some(&fact.call),
        Fact::SecretUsed(fact) => Some(&fact.call),
        Fact::PortalRefused(fact) => fact.call.as_deref(),
        Fact::ForeignRead(fact) => fact.call.as_deref(),
        _ => None,
    }
}
