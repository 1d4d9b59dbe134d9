//! Notes: what people record in their own words.

use artel_journal::EventBatch;
use artel_types::{EventDraft, Failure, FailureCode, NoteAdded, StreamName};

use crate::workshop::{OutcomeWithNotes, Workshop};

/// Maximum length of a note.
const LONGEST: usize = 10_000;

impl Workshop {
    /// Records a note, optionally about the piece of work whose id starts with the given
    /// prefix. Returns the event and its trace.
    pub fn add_note(
        &self,
        text: &str,
        about: Option<&str>,
    ) -> Result<OutcomeWithNotes<(u64, String)>, Failure> {
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 || length > LONGEST {
            return Err(
                Failure::new(FailureCode::C004, "such a note cannot be kept")
                    .because(format!(
                        "a note has 1 to {LONGEST} characters, this one {length}"
                    ))
                    .advise("say it in fewer words, or put it into a file"),
            );
        }
        self.refuse_secret_in(text)?;
        let trace = match about {
            Some(id) => {
                let trace = self.resolve(id)?;
                let broken =
                    |_| Failure::new(FailureCode::X001, "a trace on record cannot be read");
                trace.parse().map_err(broken)?
            }
            None => self.trace_id(),
        };
        let note = NoteAdded { text: text.into() };
        let opened = self.open()?;
        let draft = EventDraft::new(StreamName::workshop(), trace, self.caller.actor(), note);
        let receipt = opened.journal.append(EventBatch::of([draft])).wait()?;
        Ok(OutcomeWithNotes {
            done: (*receipt.seqs.end(), trace.to_string()),
            notes: opened.notes,
        })
    }
}
