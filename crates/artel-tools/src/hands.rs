//! One call from end to end: policy, the person where needed, the journal, the deed, redaction.
//!
//! Nothing a model wrote reaches a file, a process or a socket but through here. The order is
//! always the same: what the call would do is said and resolved; policy decides; a yes is bound to
//! the hash of the record that was shown; the intent is on record before the deed, the result
//! before anyone sees it.

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
use artel_policy::{Action, Answer, Decision, OpenConnection, Policy, Record, Situation, openings};
use artel_types::{Actor, BlobRef, Clock, Fact, Outcome, REDACTED, Redactor};
use serde_json::Value;

use granted::ALLOWED_BEFORE;
pub use granted::{CallIntent, GrantedPolicy, RunGrant, exact_call};
pub use marks::ContentMarks;
pub use openings::{Openings, RecordedOpenings};
pub use question::{Offer, Question, Reply, Said};

use crate::{Bench, Consent, Hints, Observation, Registry, Tool, Trouble, TroubleKind};

/// How often a question is put again because what it was about changed meanwhile.
const MOST_QUESTIONS: usize = 3;

/// The hands of one run.
pub struct Hands {
    /// What can be called.
    pub registry: Registry,
    /// Where calls work.
    pub bench: Bench,
    /// What decides, without what a person allowed meanwhile.
    policy: Policy,
    /// The same with what a person allowed for the run's tree, as far as the journal was looked at.
    granted: Mutex<Arc<GrantedPolicy>>,
    /// Facts about the run that policy asks for.
    pub situation: Situation,
    /// What was let through the walls of the run; all runs that work on the same files share it.
    pub openings: Arc<Openings>,
    /// What the run and those that it belongs with have read and been given.
    pub marks: ContentMarks,
    /// Where everything is written down.
    pub log: Arc<dyn Log>,
    /// Who can say yes.
    pub approver: Option<Arc<dyn Approver>>,
    /// What takes secrets out of whatever is stored or sent.
    pub redactor: Redactor,
    /// The clock.
    pub clock: Clock,
    /// Whether the caller sees what to try instead.
    pub hints: Hints,
}

/// Where a call is written down. An append that failed ends the call before anything is done.
pub trait Log: Send + Sync {
    /// Appends a fact and returns once it is durable. Without `by` it is the run's agent who did it.
    fn append_by(&self, by: Option<Actor>, fact: Fact, outcome: Outcome) -> Result<(), String>;

    /// Appends what the run's agent did.
    fn append(&self, fact: Fact, outcome: Outcome) -> Result<(), String> {
        self.append_by(None, fact, outcome)
    }

    /// Returns what a person allowed so far for all runs of the tree. What cannot be read allows
    /// nothing.
    fn granted(&self) -> Vec<RunGrant> {
        Vec::new()
    }

    /// Keeps bytes where an event can name them; nothing where there is no such place.
    fn keep(&self, _bytes: &[u8]) -> Option<BlobRef> {
        None
    }
}

/// A person, or a surface that reaches one.
pub trait Approver: Send + Sync {
    /// Puts a question; nothing if nobody answers.
    fn approve(&self, question: &Question) -> Option<Said>;

    /// Says that a question which is being put was answered elsewhere: it is none any more.
    fn settled(&self, _question: &Question, _why: &str) {}
}

/// How a call ended, as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// What was decided about it.
    pub decision: Decision,
    /// What came of it.
    pub result: Result<Observation, Trouble>,
}

/// Why a call has no result, not even a bad one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It could not be written down.
    #[error("the journal did not take the call: {0}")]
    NotRecorded(String),
    /// Whoever was asked about it left without an answer.
    #[error("the question about the call was left open")]
    Left,
}

/// A call on its way.
struct Call<'c> {
    id: &'c str,
    tool: &'c dyn Tool,
    input: &'c Value,
}

impl Call<'_> {
    fn exactly(&self, actions: &[Action]) -> String {
        exact_call(&self.tool.card().name, self.input, actions)
    }
}

impl Hands {
    /// Puts the hands of a run together.
    pub fn new(
        registry: Registry,
        mut bench: Bench,
        policy: Policy,
        log: Arc<dyn Log>,
        redactor: Redactor,
        clock: Clock,
    ) -> Self {
        bench.secret_rules = policy.secret_rules().cloned().collect();
        bench.path_walls = policy.path_walls().into();
        Self {
            registry,
            bench,
            granted: Mutex::new(Arc::new(GrantedPolicy::new(&policy, Vec::new()))),
            policy,
            situation: Situation::default(),
            openings: Arc::default(),
            marks: ContentMarks::default(),
            log,
            approver: None,
            redactor,
            clock,
            hints: Hints::default(),
        }
    }

    /// Puts hands together for another place: the same tools and grants, other files.
    #[must_use]
    pub fn moved(&self, bench: Bench, change: impl FnOnce(&mut Policy, &mut Situation)) -> Self {
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

    /// Carries out one call, or says why not. `id` names it in the journal.
    pub fn call(&self, id: &str, name: &str, input: &Value) -> Result<Called, Unfinished> {
        let tool = match self.registry.get(name) {
            Ok(tool) => Arc::clone(tool),
            Err(trouble) => {
                let trouble = self.hints.kept(trouble);
                return Ok(Called::refused("default.unknown-tool", trouble));
            }
        };
        let call = Call {
            id,
            tool: tool.as_ref(),
            input,
        };
        if let Some(trouble) = secret_in(input) {
            let decision = Decision::new(Answer::Deny, "never.secret-in-argument", &trouble.what);
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
        call: &Call<'_>,
        mut actions: Vec<Action>,
        mut decision: Decision,
    ) -> Result<Called, Unfinished> {
        let mut record = self.record(call, &actions);
        for _ in 0..MOST_QUESTIONS {
            let hash = record.hash();
            self.requested(call, &actions, &decision, hash.as_str())?;
            match decision.answer {
                Answer::Allow => return self.perform(call, &actions, decision),
                Answer::Deny => {
                    let hints = self.ways_out(&decision);
                    return self.refuse(call, &actions, decision, hints);
                }
                Answer::Ask => {}
            }
            let question = self.question(call, &decision, &record, &actions);
            let said = self.approver.as_ref().and_then(|it| it.approve(&question));
            if said
                .as_ref()
                .is_some_and(|it| matches!(it.reply, Reply::Left))
            {
                return Err(Unfinished::Left);
            }
            self.answered(&question, said.as_ref())?;
            let reply = said.map_or(Reply::Nobody, |said| said.reply);
            if matches!(reply, Reply::Nobody) {
                let hint = "nobody can be asked now; go on without it, or finish and say what is \
                            missing";
                return self.refuse(call, &actions, decision, &[hint]);
            }
            if let Reply::No { reason } = &reply {
                let hint = format!("the person said no: {reason}");
                return self.refuse(call, &actions, decision, &[&hint]);
            }
            // What was shown must still be what would be done.
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
        call: &Call<'_>,
        actions: &[Action],
        decision: Decision,
    ) -> Result<Called, Unfinished> {
        let mut bench = self.bench.clone();
        call.id.clone_into(&mut bench.call);
        bench.consent = match decision.answer {
            Answer::Ask => Consent::To(decision.rule.clone()),
            // The person was asked about this very call before, and allowed it for the run.
            Answer::Allow if decision.rule == ALLOWED_BEFORE => {
                let (policy, situation) = (self.granted(), self.situation_now());
                Consent::To(policy.asked_rule(&call.tool.card().name, actions, &situation))
            }
            Answer::Allow | Answer::Deny => Consent::None,
        };
        bench.guard = Arc::new(judge::CallJudge::new(
            self.granted(),
            Arc::clone(&bench.tree),
            call.tool,
            actions,
        ));
        // Before the deed: what it lets through is open while it works.
        self.openings.extend(openings(actions));
        self.openings.watch(&self.bench.jobs);
        // A process may keep what it was given before its call comes back.
        for action in actions {
            if let Action::Secret(name) = action {
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
        Ok(Called { decision, result })
    }

    /// Says what to do about a denial. What the plan of a step does not have is proposed to the
    /// person, by whoever has the tool for it.
    fn ways_out(&self, decision: &Decision) -> &'static [&'static str] {
        let is_of_plan = decision.rule.starts_with("bound.step ");
        match is_of_plan && self.registry.get("propose_change").is_ok() {
            true => &["where the step cannot be done without it, `propose_change` asks the person"],
            false => &[],
        }
    }

    fn refuse(
        &self,
        call: &Call<'_>,
        actions: &[Action],
        decision: Decision,
        hints: &[&str],
    ) -> Result<Called, Unfinished> {
        let what = format!("not allowed by `{}`: {}", decision.rule, decision.reason);
        let trouble = hints
            .iter()
            .fold(Trouble::new(TroubleKind::Refused, what), |trouble, hint| {
                trouble.hint(*hint)
            });
        self.secrets_denied(call, actions)?;
        self.not_done(call, decision, trouble)
    }

    /// Ends a call before anything was done.
    fn not_done(
        &self,
        call: &Call<'_>,
        decision: Decision,
        trouble: Trouble,
    ) -> Result<Called, Unfinished> {
        let trouble = self.advised(call, trouble);
        self.finished(call, &Err(trouble.clone()), 0)?;
        Ok(Called {
            decision,
            result: Err(trouble),
        })
    }

    /// Adds what the schema says about input that does not fit it, if hints are wanted at all.
    fn advised(&self, call: &Call<'_>, mut trouble: Trouble) -> Trouble {
        if trouble.kind == TroubleKind::BadInput {
            let card = call.tool.card();
            trouble.hints.extend(fit::hints(&card.input, call.input));
        }
        self.hints.kept(trouble)
    }

    /// Decides about a call. Only what would be asked depends on what a person allowed meanwhile,
    /// here or from elsewhere, for this run or another of its tree; so that is looked up then.
    fn decide(&self, call: &Call<'_>, actions: &[Action]) -> Decision {
        let decision = self.decide_by(&self.granted(), call, actions);
        if decision.answer != Answer::Ask {
            return decision;
        }
        let granted = Arc::new(GrantedPolicy::new(&self.policy, self.log.granted()));
        let decision = self.decide_by(&granted, call, actions);
        *self.lock() = granted;
        decision
    }

    /// Returns the facts of the run as they are now: what was let through its walls meanwhile counts,
    /// and what was read.
    fn situation_now(&self) -> Situation {
        let mut situation = self.marks.in_situation(&self.situation);
        if let Some(walls) = &mut situation.walls {
            walls.openings.extend(self.openings.all());
            // What one run of this piece of work keeps open, a command of another can write to.
            if self.bench.jobs.keeps_connection() || self.openings.keeps_connection() {
                walls.connection = OpenConnection::Held;
            }
        }
        situation
    }

    fn decide_by(&self, by: &GrantedPolicy, call: &Call<'_>, actions: &[Action]) -> Decision {
        let intent = CallIntent {
            tool: &call.tool.card().name,
            actions,
            exactly: &call.exactly(actions),
        };
        by.decide(intent, &self.situation_now())
    }

    /// Returns the policy with what was granted as far as the journal was looked at.
    fn granted(&self) -> Arc<GrantedPolicy> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<GrantedPolicy>> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the question. A rule is offered only if it would spare the next question; where none
    /// would, the very call can be allowed for the run. Some are put every time, whatever was
    /// granted.
    fn question(
        &self,
        call: &Call<'_>,
        decision: &Decision,
        record: &Record,
        actions: &[Action],
    ) -> Question {
        let name = &call.tool.card().name;
        let granted = self.granted();
        let (policy, situation) = (granted.policy(), self.situation_now());
        let is_open = |action: &&Action| {
            let one = std::slice::from_ref(*action);
            policy.decide(name, one, &situation).answer == Answer::Ask
        };
        let open = actions.iter().filter(is_open);
        let mut question = Question::about((call.id, name), decision, record, open);
        let mut wider = policy.clone();
        wider.grants.extend(question.grants());
        if wider.decide(name, actions, &situation).answer != Answer::Allow {
            question.offers.clear();
        }
        if !Policy::asks_every_time(actions, &situation) {
            question.exactly = Some(call.exactly(actions));
        }
        question
    }

    /// Takes secrets out of what a model gets to see.
    fn redacted(&self, result: Result<Observation, Trouble>) -> Result<Observation, Trouble> {
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

impl Called {
    fn refused(rule: &str, trouble: Trouble) -> Self {
        Self {
            decision: Decision::new(Answer::Deny, rule, &trouble.what),
            result: Err(trouble),
        }
    }
}

/// Tells whether a secret was taken out of it: what is left would be wrong wherever it is put.
fn holds_gap(input: &Value) -> bool {
    match input {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(items) => items.iter().any(holds_gap),
        Value::Object(fields) => fields.values().any(holds_gap),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns a field within a field that a secret was taken out of: unlike a field of the call itself,
/// or an item of a list, it can be left out.
fn inner_gap(input: &Value) -> Option<String> {
    input.as_object()?.iter().find_map(|(outer, value)| {
        let mut inner = value.as_object()?.iter();
        let (name, _) = inner.find(|(_, value)| holds_gap(value))?;
        Some(format!("{outer}/{name}"))
    })
}

/// A key in an argument would be sent, stored and shown; tools take theirs from the key store.
fn secret_in(input: &Value) -> Option<Trouble> {
    if holds_gap(input) {
        let what = "the input holds what looks like a secret; it was taken out";
        let mut trouble = Trouble::new(TroubleKind::Refused, what);
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
            // A field of its own can be left out, the only one of a call cannot.
            inner if inner.contains('/') => {
                Trouble::new(TroubleKind::Refused, what).hint(format!("leave out `{inner}`"))
            }
            _ => Trouble::new(TroubleKind::Refused, what),
        }
        .hint("tools that need a key name it in `secrets` and get it by themselves"),
    )
}
