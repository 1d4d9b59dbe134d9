//! The journal of tool calls: the calls, the secrets they use, the hosts they reach.

use std::sync::{Arc, Mutex};

use artel_journal::{Batch, Journal};
use artel_sandbox::proxy::{Passage, Verdict};
use artel_sandbox::run::Live;
use artel_tools::{Audience, Keys, Log};
use artel_types::{Actor, Draft, Fact, Outcome, SandboxPassage, Secret, SecretUsed};

use crate::caller::Caller;

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
    fn append_by(&self, by: Option<Actor>, fact: Fact, outcome: Outcome) -> Result<(), String> {
        let mut draft = Draft {
            fact,
            outcome: Some(outcome),
            ..self.template.clone()
        };
        draft.actor = by.unwrap_or(draft.actor);
        let appended = self.journal.append(Batch::of(vec![draft])).wait();
        appended.map(drop).map_err(|error| error.to_string())
    }
}

impl Log for TrialLog {
    fn append_by(&self, _: Option<Actor>, fact: Fact, _: Outcome) -> Result<(), String> {
        let mut facts = self
            .facts
            .lock()
            .map_err(|_| "a call failed before".to_owned())?;
        facts.push(fact);
        Ok(())
    }
}

/// The person's key store for one call. A use is on record before the value is handed out.
pub(crate) struct CallKeys {
    pub(crate) caller: Caller,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) role: String,
}

impl Keys for CallKeys {
    fn secret(&self, name: &str) -> Option<Secret> {
        let secret = self.caller.tool_secret(name);
        let (verdict, outcome) = match secret {
            Some(_) => ("granted", Outcome::Done),
            None => ("missing", Outcome::Failed),
        };
        let used = SecretUsed {
            call: self.call.clone(),
            secret: name.to_owned(),
            role: self.role.clone(),
            tool: self.tool.clone(),
            verdict: verdict.to_owned(),
        };
        self.log.append(used.into(), outcome).ok()?;
        secret
    }
}

/// Whoever is told what a call waits for.
pub(crate) type Told = Arc<dyn Fn(&str) + Send + Sync>;

/// Nobody watches the output of a trial; the hosts that it wanted to reach are on record all the
/// same, and the person is told what it waits for.
pub(crate) struct Recorder {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) told: Told,
}

impl Audience for Recorder {
    fn output(&self, _: &Live<'_>) {}

    fn passage(&self, passage: &Passage) {
        let (allowed, detail) = match &passage.verdict {
            Verdict::Allowed { address } => (true, address.to_string()),
            Verdict::Refused { why } => (false, why.to_string()),
            Verdict::Unreachable { why } => (false, why.to_string()),
        };
        let fact = SandboxPassage {
            host: format!("{}:{}", passage.host, passage.port),
            allowed,
            detail,
            sent: passage.bytes_up,
            received: passage.bytes_down,
        };
        let outcome = if allowed {
            Outcome::Done
        } else {
            Outcome::Denied
        };
        // The traffic is over; a journal that fails stops the call where its result is recorded.
        drop(self.log.append(fact.into(), outcome));
    }

    fn waiting(&self, what: &str) {
        (self.told)(what);
    }
}
