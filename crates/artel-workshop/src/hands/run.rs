//! Records tool calls in the journal, with the secrets they use and the hosts they reach.

use std::sync::{Arc, Mutex};

use artel_journal::{EventBatch, Journal};
use artel_sandbox::proxy::{ProxyAccess, ProxyAccessOutcome};
use artel_sandbox::run::LiveCommandEvent;
use artel_tools::{ToolCallRecorder, ToolProcessObserver, ToolSecretLookup};
use artel_types::{Actor, EventDraft, EventOutcome, Fact, SandboxPassage, Secret, SecretUsed};

use crate::caller::CommandContext;

/// Writes a run's tool calls to the journal.
pub(crate) struct JournalCallLog {
    journal: Journal,
    /// The fields that all events of the run share.
    template: EventDraft,
}

/// Keeps the calls of a trial outside of any workshop in memory. Nothing outside the
/// scratch copy is touched.
#[derive(Default)]
pub(crate) struct ToolTrialCallLog {
    facts: Mutex<Vec<Fact>>,
}

impl JournalCallLog {
    pub(crate) fn new(journal: Journal, template: EventDraft) -> Self {
        Self { journal, template }
    }
}

impl ToolCallRecorder for JournalCallLog {
    fn append_by(
        &self,
        by: Option<Actor>,
        fact: Fact,
        outcome: EventOutcome,
    ) -> Result<(), String> {
        let mut draft = EventDraft {
            fact,
            outcome: Some(outcome),
            ..self.template.clone()
        };
        draft.actor = by.unwrap_or(draft.actor);
        let appended = self.journal.append(EventBatch::of(vec![draft])).wait();
        appended.map(drop).map_err(|error| error.to_string())
    }
}

impl ToolCallRecorder for ToolTrialCallLog {
    fn append_by(&self, _: Option<Actor>, fact: Fact, _: EventOutcome) -> Result<(), String> {
        let mut facts = self
            .facts
            .lock()
            .map_err(|_| "a call failed before".to_owned())?;
        facts.push(fact);
        Ok(())
    }
}

/// The person's key store, as seen by one call. Every use is recorded before the value is
/// returned.
pub(crate) struct CallSecretStore {
    pub(crate) caller: CommandContext,
    pub(crate) log: Arc<dyn ToolCallRecorder>,
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) role: String,
}

impl ToolSecretLookup for CallSecretStore {
    fn secret(&self, name: &str) -> Option<Secret> {
        let secret = self.caller.tool_secret(name);
        let (verdict, outcome) = match secret {
            Some(_) => ("granted", EventOutcome::Done),
            None => ("missing", EventOutcome::Failed),
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

/// Receives a message about what a call is waiting for.
pub(crate) type Told = Arc<dyn Fn(&str) + Send + Sync>;

/// Observes a trial. Nobody watches its output, but the hosts it wanted to reach are
/// recorded, and the person hears what it is waiting for.
pub(crate) struct NetworkPassageRecorder {
    pub(crate) log: Arc<dyn ToolCallRecorder>,
    pub(crate) told: Told,
}

impl ToolProcessObserver for NetworkPassageRecorder {
    fn output(&self, _: &LiveCommandEvent<'_>) {}

    fn passage(&self, passage: &ProxyAccess) {
        let (allowed, detail) = match &passage.verdict {
            ProxyAccessOutcome::Allowed { address } => (true, address.to_string()),
            ProxyAccessOutcome::Refused { why } => (false, why.to_string()),
            ProxyAccessOutcome::Unreachable { why } => (false, why.to_string()),
        };
        let fact = SandboxPassage {
            host: format!("{}:{}", passage.host, passage.port),
            allowed,
            detail,
            sent: passage.bytes_up,
            received: passage.bytes_down,
        };
        let outcome = if allowed {
            EventOutcome::Done
        } else {
            EventOutcome::Denied
        };
        // The traffic is already over. If the journal fails, recording the result will stop the
        // call.
        drop(self.log.append(fact.into(), outcome));
    }

    fn waiting(&self, what: &str) {
        (self.told)(what);
    }
}
