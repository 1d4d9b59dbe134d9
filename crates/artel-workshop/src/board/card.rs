//! One run in the index: the fields of its row in a list and, until the run is over, the
//! facts that its status is derived from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use artel_rules::tally::RunMetricsBuilder;
use artel_types::{
    Event, Fact, Money, RunAsked, RunFinished, RunId, RunStarted, SpendAmount, Timestamp,
    ToolAsked, TraceId,
};

use super::skills::skill_tokens;
use super::{DriverProcesses, NameInterner};
use crate::runs::{RunRow, RunStatus, grouped};

#[derive(Debug, Clone)]
pub(super) struct RunSummary {
    pub(super) run: RunId,
    pub(super) trace: TraceId,
    /// The sequence number of its start, or 0 while only other events name it.
    pub(super) seq: u64,
    at: Timestamp,
    pub(super) title: Box<str>,
    pub(super) skill: Option<Arc<str>>,
    pub(super) role: Option<Arc<str>>,
    pub(super) parent: Option<RunId>,
    /// The number of tokens in its first request that came from its skill; `None` until it is
    /// prepared.
    pub(super) first_tokens: Option<u64>,
    /// Whether it took over the work of its parent.
    pub(super) takes_over: bool,
    /// The index of the run that took over its work.
    pub(super) heir: Option<usize>,
    is_of_plan: bool,
    pub(super) is_applied: bool,
    /// Its final status, or `None` while it is open.
    pub(super) end: Option<RunStatus>,
    taken: RunUsageSummary,
    files: u64,
    /// The sequence number and time of its last event.
    pub(super) last: (u64, Timestamp),
    /// Its unanswered questions, oldest first.
    pub(super) questions: Vec<RunPendingQuestion>,
    /// The state that is tracked only until it is over.
    going: Option<Box<OpenRunState>>,
}

/// Turns, tokens and cost that a run used.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunUsageSummary {
    pub(super) turns: u64,
    /// Tokens that models read and wrote.
    pub(super) tokens: u64,
    /// `None` if a price is unknown.
    pub(super) cost: Option<Money>,
}

/// The state from which the status of an open run is derived.
#[derive(Debug, Clone, Default)]
struct OpenRunState {
    began: Option<Timestamp>,
    /// The last event before the run was resumed.
    after: Option<u64>,
    steered: Option<Timestamp>,
    is_paused: bool,
    /// The calls that wait for approval.
    asking: BTreeSet<String>,
    /// The waiting calls that anybody can approve.
    calls: BTreeMap<String, RunPendingApproval>,
    tally: RunMetricsBuilder,
}

/// A call that anybody can approve.
#[derive(Debug, Clone)]
pub(super) struct RunPendingApproval {
    pub(super) seq: u64,
    pub(super) since: Timestamp,
    pub(super) asked: ToolAsked,
}

/// An unanswered question.
#[derive(Debug, Clone)]
pub(super) struct RunPendingQuestion {
    pub(super) seq: u64,
    pub(super) since: Timestamp,
    pub(super) asked: RunAsked,
}

impl RunSummary {
    pub(super) fn new(run: RunId, trace: TraceId) -> Self {
        let never = Timestamp::from_micros(0);
        Self {
            run,
            trace,
            seq: 0,
            at: never,
            title: Box::default(),
            skill: None,
            role: None,
            parent: None,
            first_tokens: None,
            takes_over: false,
            heir: None,
            is_of_plan: false,
            is_applied: false,
            end: None,
            taken: RunUsageSummary {
                turns: 0,
                tokens: 0,
                cost: Some(Money(0)),
            },
            files: 0,
            last: (0, never),
            questions: Vec::new(),
            going: Some(Box::default()),
        }
    }

    pub(super) fn begin(&mut self, event: &Event, started: &RunStarted, names: &mut NameInterner) {
        self.seq = event.seq;
        self.at = event.at;
        self.trace = event.trace;
        self.title = started.title.as_str().into();
        self.skill = started.skill.as_deref().map(|name| names.keep(name));
        self.parent = started.parent;
        self.takes_over = started.takes_over();
        self.is_of_plan = started.plan.is_some();
    }

    pub(super) fn fold(&mut self, event: &Event, names: &mut NameInterner) {
        match &event.fact {
            Fact::RunPrepared(prepared) => {
                self.role = Some(names.keep(&prepared.role));
                self.first_tokens = Some(skill_tokens(prepared));
            }
            Fact::RunAsked(asked) => {
                self.answered(&asked.question);
                self.questions.push(RunPendingQuestion {
                    seq: event.seq,
                    since: event.at,
                    asked: asked.clone(),
                });
            }
            Fact::RunAnswered(answered) => self.answered(&answered.question),
            _ => {}
        }
        match &mut self.going {
            Some(going) => going.fold(event),
            None => self.charged_late(&event.fact),
        }
        if let (Fact::RunFinished(finished), None) = (&event.fact, self.end) {
            self.finish(finished);
        }
    }

    fn answered(&mut self, question: &str) {
        self.questions.retain(|it| it.asked.question != question);
    }

    fn finish(&mut self, finished: &RunFinished) {
        self.end = Some(RunStatus::of_ending(finished.state.as_deref()));
        self.files = finished.changed.as_ref().map_or(0, |it| it.len() as u64);
        if let Some(going) = self.going.take() {
            self.taken = going.taken();
        }
    }

    /// Charges a call that was under way when the run ended: it still has to be paid for.
    fn charged_late(&mut self, fact: &Fact) {
        let (charged, cost, usage) = match fact {
            Fact::ModelReplied(it) => (it.charged, it.paid(), it.usage),
            Fact::ModelFailed(it) => (it.charged, it.paid(), None),
            _ => return,
        };
        let tokens = usage.map_or(charged.tokens.0, |it| it.input.saturating_add(it.output));
        self.taken.tokens = self.taken.tokens.saturating_add(tokens);
        self.taken.cost = add_cost(self.taken.cost, charged, cost);
    }

    pub(super) fn taken(&self) -> RunUsageSummary {
        match &self.going {
            Some(going) => going.taken(),
            None => self.taken,
        }
    }

    /// Returns whether a person paused the run and it is not over.
    pub(super) fn is_resting(&self) -> bool {
        self.end.is_none() && self.going.as_ref().is_some_and(|going| going.is_paused)
    }

    /// Returns the calls that anybody can approve.
    pub(super) fn calls(&self) -> impl Iterator<Item = &RunPendingApproval> {
        self.going.iter().flat_map(|going| going.calls.values())
    }

    pub(super) fn standing(&self, drivers: &DriverProcesses) -> RunStatus {
        if let Some(end) = self.end {
            return end;
        }
        let is_driven = drivers.run(self.run).is_some();
        let going = self.going.as_deref();
        let is_asking = going.is_some_and(|going| !going.asking.is_empty());
        if !self.questions.is_empty() || (is_driven && is_asking) {
            return RunStatus::Waiting;
        }
        match (is_driven, going.is_some_and(|going| going.is_paused)) {
            (_, true) => RunStatus::Paused,
            (true, false) => RunStatus::Running,
            (false, false) => RunStatus::Left,
        }
    }

    pub(super) fn row(&self, drivers: &DriverProcesses) -> RunRow {
        let taken = self.taken();
        // The result of a plan run waits as a changeset, not as files, and so do the results of
        // its steps. The files of a child run are applied together with those of its parent.
        let is_called = self.parent.is_some() && !self.takes_over;
        let has_files = !self.is_of_plan && !self.is_applied && !is_called;
        let named = |name: &Option<Arc<str>>| name.as_deref().map(str::to_owned);
        RunRow {
            run: self.run,
            trace: self.trace,
            state: self.standing(drivers),
            title: self.title.to_string(),
            skill: named(&self.skill),
            role: named(&self.role),
            turns: taken.turns,
            tokens: taken.tokens,
            cost: taken.cost,
            at: self.at,
            since: self.since(drivers),
            note: self.note(drivers),
            parent: self.parent,
            files: if has_files { self.files } else { 0 },
        }
    }

    /// Returns when the run got its current status.
    fn since(&self, drivers: &DriverProcesses) -> Timestamp {
        let going = self.going.as_deref();
        let at = match self.standing(drivers) {
            RunStatus::Running => going.and_then(|going| going.began),
            RunStatus::Paused => going.and_then(|going| going.steered),
            _ => None,
        };
        at.unwrap_or(self.last.1)
    }

    fn note(&self, drivers: &DriverProcesses) -> Option<String> {
        if let Some(RunPendingQuestion { asked, .. }) = self.questions.first() {
            return Some(asked.text.clone());
        }
        if self.end.is_some() {
            return None;
        }
        let after = self.going.as_deref().and_then(|going| going.after);
        match (drivers.run(self.run), after) {
            (Some(_), Some(after)) => Some(format!(
                "picked up after the process ended at event {}",
                grouped(after)
            )),
            (Some(_), None) => None,
            (None, _) if self.standing(drivers) == RunStatus::Paused => {
                Some(format!("paused at event {}", grouped(self.last.0)))
            }
            (None, _) => Some(format!(
                "the process ended at event {}",
                grouped(self.last.0)
            )),
        }
    }
}

impl OpenRunState {
    fn fold(&mut self, event: &Event) {
        self.tally.fold(event);
        match &event.fact {
            Fact::RunStarted(_) => self.began = Some(event.at),
            Fact::RunContinued(continued) => {
                self.began = Some(event.at);
                self.after = Some(continued.after);
                // The process that resumes the run asks again.
                self.calls.clear();
            }
            Fact::RunSteered(steered) => {
                self.steered = Some(event.at);
                if steered.act != "hint" {
                    self.is_paused = steered.act == "pause";
                }
            }
            Fact::ToolRequested(asked) if asked.decision == "ask" => {
                self.asking.insert(asked.call.clone());
            }
            Fact::ToolAsked(asked) => {
                let open = RunPendingApproval {
                    seq: event.seq,
                    since: event.at,
                    asked: asked.clone(),
                };
                self.calls.insert(asked.call.clone(), open);
            }
            Fact::ToolAnswered(answered) => self.settled(&answered.call),
            Fact::ToolFinished(finished) => self.settled(&finished.call),
            _ => {}
        }
    }

    fn settled(&mut self, call: &str) {
        self.asking.remove(call);
        self.calls.remove(call);
    }

    fn taken(&self) -> RunUsageSummary {
        let metrics = self.tally.metrics(None);
        RunUsageSummary {
            turns: metrics.turns,
            tokens: metrics.tokens_input.saturating_add(metrics.tokens_output),
            cost: metrics.cost,
        }
    }
}

/// Adds a charge to a sum. An unknown price makes the sum unknown.
pub(super) fn add_cost(
    sum: Option<Money>,
    charged: SpendAmount,
    cost: Option<Money>,
) -> Option<Money> {
    match (sum, cost) {
        (Some(sum), Some(cost)) => Some(sum + cost),
        (Some(sum), None) if charged.tokens.0 == 0 => Some(sum),
        _ => None,
    }
}
