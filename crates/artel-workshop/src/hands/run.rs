//! The journal of tool calls.

use std::sync::Mutex;

use artel_journal::{Batch, Journal};
use artel_tools::Log;
use artel_types::{Draft, Fact, Outcome};

/// Writes the calls of a run into the journal.
pub(crate) struct JournalLog {
    journal: Journal,
    /// What every event of the run has in common.
    template: Draft,
}

/// Keeps the calls of a trial that has no workshop: nothing outside the scratch copy is touched.
#[derive(Default)]
pub(crate) struct TrialLog {
    facts: Mutex<Vec<Fact>>,
}

impl JournalLog {
    pub(crate) fn new(journal: Journal, template: Draft) -> Self {
        Self { journal, template }
    }
}

impl Log for JournalLog {
    fn append(&self, fact: Fact, outcome: Outcome) -> Result<(), String> {
        let draft = Draft {
            fact,
            outcome: Some(outcome),
            ..self.template.clone()
        };
        let appended = self.journal.append(Batch::of(vec![draft])).wait();
        appended.map(drop).map_err(|error| error.to_string())
    }
}

impl Log for TrialLog {
    fn append(&self, fact: Fact, _: Outcome) -> Result<(), String> {
        let mut facts = self.facts.lock().map_err(|_| "a call failed before".to_owned())?;
        facts.push(fact);
        Ok(())
    }
}
