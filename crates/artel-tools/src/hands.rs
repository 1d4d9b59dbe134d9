//! Runs one tool call from end to end: policy, the person if needed, the journal,
//! execution, redaction.
//!
//! Everything that a model writes passes through here before it reaches a file, a process
//! or a socket. The order is always the same. The tool states what the call would do, and
//! that is resolved. Policy decides. An approval is bound to the hash of the record that
//! the person saw. The intent is recorded before execution, and the result before anyone
//! sees it.

mod fit;
mod granted;
mod judge;
mod marks;
mod openings;
mod question;
mod record;
mod written;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_policy::redact::find_in_json;
use artel_policy::{
    BackgroundConnection, ConsentRecord, Policy, PolicyAction, PolicyAnswer, PolicyContext,
    PolicyRuling, openings,
};
use artel_types::{Actor, BlobRef, Clock, EventOutcome, Fact, REDACTED, SecretRedactor};
use serde_json::Value;

use granted::ALLOWED_BEFORE;
pub use granted::{GrantedPolicy, RunGrant, ToolCallIntent, exact_call};
pub use marks::ContentMarks;
pub use openings::{RecordedOpenings, TreeWallOpenings};
pub use question::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalOffer, ToolApprovalQuestion,
};

use crate::{
    HintVisibility, Tool, ToolCallConsent, ToolContext, ToolError, ToolErrorKind, ToolObservation,
    ToolRegistry,
};

/// Number of times a question is put while the thing that it asks about keeps changing.
const MOST_QUESTIONS: usize = 3;

/// Runs the tool calls of one run.
pub struct ToolRunner {
    /// The tools that can be called.
    pub registry: ToolRegistry,
    /// The context in which calls work.
    pub bench: ToolContext,
    /// The policy, without the rules that a person granted meanwhile.
    policy: Policy,
    /// The same policy with the grants of a person for the run's tree, as of the last look at
    /// the journal.
    granted: Mutex<Arc<GrantedPolicy>>,
    /// Facts about the run that policy asks for.
    pub situation: PolicyContext,
    /// The openings made in the walls of the run, shared by all runs that work on the same
    /// files.
    pub openings: Arc<TreeWallOpenings>,
    /// The content that this run and its related runs have read, and the secrets that they
    /// were given.
    pub marks: ContentMarks,
    /// Records every call.
    pub log: Arc<dyn ToolCallRecorder>,
    /// Answers whether a call may run.
    pub approver: Option<Arc<dyn ToolCallApprover>>,
    /// Redacts secrets in everything that is stored or sent.
    pub redactor: SecretRedactor,
    pub clock: Clock,
    /// Whether the caller sees hints.
    pub hints: HintVisibility,
}

/// Records the facts of calls. If an append fails, the call ends before anything else is
/// done.
pub trait ToolCallRecorder: Send + Sync {
    /// Appends a fact and returns once it is durable. Without `by`, the run's agent is the
    /// actor.
    fn append_by(&self, by: Option<Actor>, fact: Fact, outcome: EventOutcome)
    -> Result<(), String>;

    /// Appends a fact whose actor is the run's agent.
    fn append(&self, fact: Fact, outcome: EventOutcome) -> Result<(), String> {
        self.append_by(None, fact, outcome)
    }

    /// Returns everything that a person has granted so far for all runs of the tree. An
    /// unreadable grant grants nothing.
    fn granted(&self) -> Vec<RunGrant> {
        Vec::new()
    }

    /// Stores bytes where an event can refer to them. Returns `None` without such a store.
    fn keep(&self, _bytes: &[u8]) -> Option<BlobRef> {
        None
    }
}

/// A person, or a surface that reaches one.
pub trait ToolCallApprover: Send + Sync {
    /// Asks the question. Returns `None` if nobody answers.
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval>;

    /// Reports that an open question was answered elsewhere.
    fn settled(&self, _question: &ToolApprovalQuestion, _why: &str) {}
}

/// The outcome of a call, as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallOutcome {
    /// The decision about the call.
    pub decision: PolicyRuling,
    pub result: Result<ToolObservation, ToolError>,
}

/// Why a call has no result, not even an error for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfinishedToolCallError {
    /// The call could not be recorded.
    #[error("the journal did not take the call: {0}")]
    NotRecorded(String),
    /// The person who was asked left without an answer.
    #[error("the question about the call was left open")]
    Left,
}

/// A call that is being carried out.
struct ActiveToolCall<'c> {
    id: &'c str,
    tool: &'c dyn Tool,
    input: &'c Value,
}

impl ActiveToolCall<'_> {
    fn exactly(&self, actions: &[PolicyAction]) -> String {
        exact_call(&self.tool.card().name, self.input, actions)
    }
}

impl ToolRunner {
    /// Creates the tool runner of a run.
    pub fn new(
        registry: ToolRegistry,
        mut bench: ToolContext,
        policy: Policy,
        log: Arc<dyn ToolCallRecorder>,
        redactor: SecretRedactor,
        clock: Clock,
    ) -> Self {
        bench.secret_rules = policy.secret_rules().cloned().collect();
        bench.path_walls = policy.path_walls().into();
        Self {
            registry,
            bench,
            granted: Mutex::new(Arc::new(GrantedPolicy::new(&policy, Vec::new()))),
            policy,
            situation: PolicyContext::default(),
            openings: Arc::default(),
            marks: ContentMarks::default(),
            log,
            approver: None,
            redactor,
            clock,
            hints: HintVisibility::default(),
        }
    }

    /// Creates a tool runner for another place, with the same tools and grants but other
    /// files.
    #[must_use]
    pub fn moved(
        &self,
        bench: ToolContext,
        change: impl FnOnce(&mut Policy, &mut PolicyContext),
    ) -> Self {
        let mut policy = self.policy.clone();
        let mut situation = self.situation.clone();
        change(&mut policy, &mut situation);
        Self {
            registry: self.registry.clone(),
            bench,
            granted: Mutex::new(Arc::new(GrantedPolicy::new(&policy, Vec::new()))),
            policy,
            situation,
            openings: Arc::clone(&self.openings),
            marks: self.marks.clone(),
            log: Arc::clone(&self.log),
            approver: self.approver.clone(),
            redactor: self.redactor.clone(),
            clock: self.clock.clone(),
            hints: self.hints,
        }
    }

    /// Carries out one call. `id` is its name in the journal.
    pub fn call(
        &self,
        id: &str,
        name: &str,
        input: &Value,
    ) -> Result<ToolCallOutcome, UnfinishedToolCallError> {
        let tool = match self.registry.get(name) {
            Ok(tool) => Arc::clone(tool),
            Err(trouble) => {
                let trouble = self.hints.kept(trouble);
                return Ok(ToolCallOutcome::refused("default.unknown-tool", trouble));
            }
        };
        let call = ActiveToolCall {
            id,
            tool: tool.as_ref(),
            input,
        };
        if let Some(trouble) = secret_in(input) {
            let decision = PolicyRuling::new(
                PolicyAnswer::Deny,
                "never.secret-in-argument",
                &trouble.what,
            );
            self.requested(&call, &[], &decision, "")?;
            return self.not_done(&call, decision, trouble);
        }
        let intended = self.intended(&call);
        let (actions, decision) = match intended {
            Ok(actions) => {
                let decision = self.decide(&call, &actions);
                (actions, decision)
            }
            Err((decision, trouble)) => {
                self.requested(&call, &[], &decision, "")?;
                return self.not_done(&call, decision, trouble);
            }
        };
        self.carry_out(&call, actions, decision)
    }

    fn carry_out(
        &self,
        call: &ActiveToolCall<'_>,
        mut actions: Vec<PolicyAction>,
        mut decision: PolicyRuling,
    ) -> Result<ToolCallOutcome, UnfinishedToolCallError> {
        let mut record = self.record(call, &actions);
        for _ in 0..MOST_QUESTIONS {
            let hash = record.hash();
            self.requested(call, &actions, &decision, hash.as_str())?;
            match decision.answer {
                PolicyAnswer::Allow => return self.perform(call, &actions, decision),
                PolicyAnswer::Deny => {
                    let hints = self.ways_out(&decision);
                    return self.refuse(call, &actions, decision, hints);
                }
                PolicyAnswer::Ask => {}
            }
            let question = self.question(call, &decision, &record, &actions);
            let said = self.approver.as_ref().and_then(|it| it.approve(&question));
            if said
                .as_ref()
                .is_some_and(|it| matches!(it.reply, ToolApprovalAnswer::Left))
            {
                return Err(UnfinishedToolCallError::Left);
            }
            self.answered(&question, said.as_ref())?;
            let reply = said.map_or(ToolApprovalAnswer::Nobody, |said| said.reply);
            if matches!(reply, ToolApprovalAnswer::Nobody) {
                let hint = "nobody can be asked now; go on without it, or finish and say what is \
                            missing";
                return self.refuse(call, &actions, decision, &[hint]);
            }
            if let ToolApprovalAnswer::No { reason } = &reply {
                let hint = format!("the person said no: {reason}");
                return self.refuse(call, &actions, decision, &[&hint]);
            }
            // The call must still do what the person was shown.
            let now = match self.intended(call) {
                Ok(now) => now,
                Err((decision, trouble)) => return self.not_done(call, decision, trouble),
            };
            record = self.record(call, &now);
            if record.hash() == hash {
                return self.perform(call, &now, decision);
            }
            actions = now;
            decision = self.decide(call, &actions);
        }
        let hint = "what it would touch changes while the question is open";
        self.refuse(call, &actions, decision, &[hint])
    }

    fn perform(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
        decision: PolicyRuling,
    ) -> Result<ToolCallOutcome, UnfinishedToolCallError> {
        let mut bench = self.bench.clone();
        call.id.clone_into(&mut bench.call);
        bench.consent = match decision.answer {
            PolicyAnswer::Ask => ToolCallConsent::To(decision.rule.clone()),
            // The person was asked about exactly this call before, and allowed it for the run.
            PolicyAnswer::Allow if decision.rule == ALLOWED_BEFORE => {
                let (policy, situation) = (self.granted(), self.situation_now());
                ToolCallConsent::To(policy.asked_rule(&call.tool.card().name, actions, &situation))
            }
            PolicyAnswer::Allow | PolicyAnswer::Deny => ToolCallConsent::None,
        };
        bench.guard = Arc::new(judge::ToolCallGuardProvider::new(
            self.granted(),
            Arc::clone(&bench.tree),
            call.tool,
            actions,
        ));
        // Recorded before execution, since the openings exist while the call works.
        self.openings.extend(openings(actions));
        self.openings.watch(&self.bench.jobs);
        // A process can keep a secret before its call returns.
        for action in actions {
            if let PolicyAction::Secret(name) = action {
                self.marks.handed_out(name);
            }
        }
        let began = self.clock.uptime();
        let result = match call.tool.run(call.input, &bench) {
            Ok(observation) => Ok(self.hints.told(observation)),
            Err(trouble) => Err(self.advised(call, trouble)),
        };
        let millis = self.clock.uptime().saturating_sub(began).as_millis();
        let result = self.redacted(result);
        self.foreign_read(call, actions)?;
        self.finished(call, &result, u64::try_from(millis).unwrap_or(u64::MAX))?;
        Ok(ToolCallOutcome { decision, result })
    }

    /// Returns hints about a denial. If the plan does not allow something that the step needs,
    /// an agent that has the tool for proposals can ask the person.
    fn ways_out(&self, decision: &PolicyRuling) -> &'static [&'static str] {
        let is_of_plan = decision.rule.starts_with("bound.step ");
        if is_of_plan && self.registry.get("propose_change").is_ok() {
            &["where the step cannot be done without it, `propose_change` asks the person"]
        } else {
            &[]
        }
    }

    fn refuse(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
        decision: PolicyRuling,
        hints: &[&str],
    ) -> Result<ToolCallOutcome, UnfinishedToolCallError> {
        let what = format!("not allowed by `{}`: {}", decision.rule, decision.reason);
        let trouble = hints.iter().fold(
            ToolError::new(ToolErrorKind::Refused, what),
            |trouble, hint| trouble.hint(*hint),
        );
        self.secrets_denied(call, actions)?;
        self.not_done(call, decision, trouble)
    }

    /// Ends a call before anything was executed.
    fn not_done(
        &self,
        call: &ActiveToolCall<'_>,
        decision: PolicyRuling,
        trouble: ToolError,
    ) -> Result<ToolCallOutcome, UnfinishedToolCallError> {
        let trouble = self.advised(call, trouble);
        self.finished(call, &Err(trouble.clone()), 0)?;
        Ok(ToolCallOutcome {
            decision,
            result: Err(trouble),
        })
    }

    /// Adds hints from the schema if the input does not fit it, unless hints are off.
    fn advised(&self, call: &ActiveToolCall<'_>, mut trouble: ToolError) -> ToolError {
        if trouble.kind == ToolErrorKind::BadInput {
            let card = call.tool.card();
            trouble.hints.extend(fit::hints(&card.input, call.input));
        }
        self.hints.kept(trouble)
    }

    /// Decides about a call. Only a question can depend on what a person has granted
    /// meanwhile, here or elsewhere, for this run or another of its tree. So the journal is
    /// read only then.
    fn decide(&self, call: &ActiveToolCall<'_>, actions: &[PolicyAction]) -> PolicyRuling {
        let decision = self.decide_by(&self.granted(), call, actions);
        if decision.answer != PolicyAnswer::Ask {
            return decision;
        }
        let granted = Arc::new(GrantedPolicy::new(&self.policy, self.log.granted()));
        let decision = self.decide_by(&granted, call, actions);
        *self.lock() = granted;
        decision
    }

    /// Returns the current facts of the run, with the openings made in its walls meanwhile and
    /// the content that it has read.
    fn situation_now(&self) -> PolicyContext {
        let mut situation = self.marks.in_situation(&self.situation);
        if let Some(walls) = &mut situation.walls {
            walls.openings.extend(self.openings.all());
            // A connection that one run of this work keeps open is open to another run's commands
            // too.
            if self.bench.jobs.keeps_connection() || self.openings.keeps_connection() {
                walls.connection = BackgroundConnection::Held;
            }
        }
        situation
    }

    fn decide_by(
        &self,
        by: &GrantedPolicy,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
    ) -> PolicyRuling {
        let intent = ToolCallIntent {
            tool: &call.tool.card().name,
            actions,
            exactly: &call.exactly(actions),
        };
        by.decide(intent, &self.situation_now())
    }

    /// Returns the policy with the grants found at the last look at the journal.
    fn granted(&self) -> Arc<GrantedPolicy> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<GrantedPolicy>> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds the question. Rules are offered only if together they would make the next
    /// question unnecessary. If they would not, exactly this call can be allowed for the run.
    /// Some questions are put every time, whatever was granted.
    fn question(
        &self,
        call: &ActiveToolCall<'_>,
        decision: &PolicyRuling,
        record: &ConsentRecord,
        actions: &[PolicyAction],
    ) -> ToolApprovalQuestion {
        let name = &call.tool.card().name;
        let granted = self.granted();
        let (policy, situation) = (granted.policy(), self.situation_now());
        let is_open = |action: &&PolicyAction| {
            let one = std::slice::from_ref(*action);
            policy.decide(name, one, &situation).answer == PolicyAnswer::Ask
        };
        let open = actions.iter().filter(is_open);
        let mut question = ToolApprovalQuestion::about((call.id, name), decision, record, open);
        let mut wider = policy.clone();
        wider.grants.extend(question.grants());
        if wider.decide(name, actions, &situation).answer != PolicyAnswer::Allow {
            question.offers.clear();
        }
        if !Policy::asks_every_time(actions, &situation) {
            question.exactly = Some(call.exactly(actions));
        }
        question
    }

    /// Redacts secrets in a result before the model sees it.
    fn redacted(
        &self,
        result: Result<ToolObservation, ToolError>,
    ) -> Result<ToolObservation, ToolError> {
        let clean = |text: &str| self.redactor.redact(text).into_owned();
        match result {
            Ok(mut observation) => {
                observation.text = clean(&observation.text);
                let data = observation.data.to_string();
                if let std::borrow::Cow::Owned(data) = self.redactor.redact_json(&data) {
                    observation.data = serde_json::from_str(&data).unwrap_or(Value::Null);
                }
                Ok(observation)
            }
            Err(mut trouble) => {
                trouble.what = clean(&trouble.what);
                trouble
                    .hints
                    .iter_mut()
                    .for_each(|hint| *hint = clean(hint));
                Err(trouble)
            }
        }
    }
}

impl ToolCallOutcome {
    fn refused(rule: &str, trouble: ToolError) -> Self {
        Self {
            decision: PolicyRuling::new(PolicyAnswer::Deny, rule, &trouble.what),
            result: Err(trouble),
        }
    }
}

/// Returns whether a secret was redacted in the input: the rest of it would be wrong
/// wherever it is used.
fn holds_gap(input: &Value) -> bool {
    match input {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(items) => items.iter().any(holds_gap),
        Value::Object(fields) => fields.values().any(holds_gap),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns a nested field in which a secret was redacted. Unlike a field of the call
/// itself or an item of a list, it can be left out.
fn inner_gap(input: &Value) -> Option<String> {
    input.as_object()?.iter().find_map(|(outer, value)| {
        let mut inner = value.as_object()?.iter();
        let (name, _) = inner.find(|(_, value)| holds_gap(value))?;
        Some(format!("{outer}/{name}"))
    })
}

/// Refuses secrets in arguments: they would be sent, stored and shown. Tools take theirs
/// from the key store.
fn secret_in(input: &Value) -> Option<ToolError> {
    if holds_gap(input) {
        let what = "the input holds what looks like a secret; it was taken out";
        let mut trouble = ToolError::new(ToolErrorKind::Refused, what);
        if let Some(inner) = inner_gap(input) {
            trouble = trouble.hint(format!("leave out `{inner}`"));
        }
        return Some(trouble.hint(
            "tools that need a key name it in `secrets` and get it by themselves; leave lines with \
             a key in them as they are",
        ));
    }
    let found = find_in_json(input);
    let (place, sort) = found.first()?;
    let what = format!("`{place}` of the input holds what looks like a secret ({sort})");
    Some(
        match place.trim_start_matches('/') {
            // A nested field can be left out, a field of the call itself cannot.
            inner if inner.contains('/') => {
                ToolError::new(ToolErrorKind::Refused, what).hint(format!("leave out `{inner}`"))
            }
            _ => ToolError::new(ToolErrorKind::Refused, what),
        }
        .hint("tools that need a key name it in `secrets` and get it by themselves"),
    )
}
