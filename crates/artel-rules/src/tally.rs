//! The metrics of a run, folded from its events and from nothing else.
//!
//! The input is the events that name the run, in their order, and the `run.started` of the
//! runs that it called. The same events give the same numbers at any time, so a report can
//! be verified.

mod recovery;
mod spans;
mod stats;
mod tries;

use std::collections::{BTreeMap, BTreeSet};

use artel_types::{
    Event, EventOutcome, Fact, ModelFailed, ModelReplied, Money, RecordedText, RunFinished, RunId,
    RunMetrics, RunOutcome, RunPrepared, RunStarted, Timestamp, ToolFinished, ToolRequested,
};
use serde_json::Value;

use crate::tokens;
use recovery::RecoveryTracker;
use spans::{PersonWaitTimes, TimeSpanUnion, millis};
use tries::ToolRetryCounter;

pub use recovery::kind_of_failure;
pub use stats::SkillStats;

/// The tool that ends a run; a reply that only calls it is not a turn.
const FINISH: &str = "finish";

/// Adds up the events of one run as they pass.
#[derive(Debug, Clone, Default)]
pub struct RunMetricsBuilder {
    metrics: RunMetrics,
    run: Option<RunId>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The replies whose calls were seen.
    turns: BTreeSet<String>,
    /// The tools and inputs of requested calls, by the name of the call.
    inputs: BTreeMap<String, (String, Value)>,
    /// When attempts at a reply began.
    asked: BTreeMap<(String, u32), Timestamp>,
    tools: TimeSpanUnion,
    people: PersonWaitTimes,
    tries: ToolRetryCounter,
    recoveries: RecoveryTracker,
    /// Whether a charge has an unknown price.
    is_unpriced: bool,
    cost: Money,
    skill_folder: Option<String>,
    loaded: BTreeSet<String>,
    state: Option<RunOutcome>,
    /// Whether the turns are over: the closing call is not a turn.
    is_closing: bool,
}

/// Computes the metrics of a run from its events.
pub fn of_run<'e>(events: impl IntoIterator<Item = &'e Event>) -> RunMetrics {
    let mut tally = RunMetricsBuilder::default();
    for event in events {
        tally.fold(event);
    }
    tally.metrics(None)
}

/// Returns the share of tokens, in percent, that loading on demand saved. All files of the
/// skill together have `all` tokens.
pub fn saved_percent(metrics: &RunMetrics, all: u64) -> Option<u64> {
    let taken = metrics.tokens_initial.saturating_add(metrics.tokens_loaded);
    let saved = all.saturating_sub(taken).saturating_mul(100);
    saved.checked_div(all)
}

impl RunMetricsBuilder {
    /// Folds an event.
    pub fn fold(&mut self, event: &Event) {
        if let Fact::RunStarted(started) = &event.fact
            && self.is_of_child(started)
        {
            self.metrics.children += 1;
            return;
        }
        self.first.get_or_insert(event.at);
        self.last = Some(event.at);
        match &event.fact {
            Fact::RunStarted(started) => self.run = Some(started.id),
            Fact::RunPrepared(prepared) => self.prepared(prepared),
            Fact::ModelRequested(asked) => {
                let key = (asked.call.clone(), asked.attempt);
                self.asked.insert(key, event.at);
            }
            Fact::ModelReplied(replied) => self.replied(replied),
            Fact::ModelFailed(failed) => self.failed(event, failed),
            Fact::ToolRequested(requested) => self.requested(event, requested),
            Fact::ToolAnswered(answered) => self.people.end(&answered.call, event.at),
            Fact::ToolFinished(finished) => self.finished(event, finished),
            Fact::RunSaid(said) => self.is_closing |= said.why == "closing",
            Fact::RunAsked(asked) => self.people.begin(&asked.question, event.at),
            Fact::RunAnswered(answered) => self.people.end(&answered.question, event.at),
            Fact::RunSteered(steered) => self.steered(event, &steered.act),
            Fact::TreeMade(made) => self.snapped(made.millis),
            Fact::TreeSnapped(snapped) => self.snapped(snapped.millis),
            Fact::ContextCompacted(_) => self.metrics.compactions += 1,
            Fact::RunFinished(finished) => self.ended(finished),
            _ => {}
        }
    }

    /// Returns the metrics so far. `ending` is how the run is about to end, if that is not
    /// recorded yet.
    pub fn metrics(&self, ending: Option<RunOutcome>) -> RunMetrics {
        let state = self.state.or(ending);
        let total = self.first.zip(self.last);
        RunMetrics {
            turns: self.turns.len() as u64,
            retries: self.tries.again(),
            recoveries: self.recoveries.by_kind(state),
            cost: (!self.is_unpriced).then_some(self.cost),
            files_loaded: self.loaded.len() as u64,
            tool_ms: self.tools.millis(),
            person_ms: self.people.millis(),
            total_ms: total.map_or(0, |(first, last)| millis(last.since(first))),
            ..self.metrics.clone()
        }
    }

    fn is_of_child(&self, started: &RunStarted) -> bool {
        started.parent.is_some() && started.parent == self.run
    }

    fn prepared(&mut self, prepared: &RunPrepared) {
        let standing = prepared.parts.iter();
        let standing = standing.filter(|part| matches!(&*part.name, "skill" | "standing"));
        self.metrics.tokens_initial = standing.map(|part| part.tokens).sum();
        self.skill_folder.clone_from(&prepared.skill_folder);
    }

    fn replied(&mut self, fact: &ModelReplied) {
        self.asked.remove(&(fact.call.clone(), fact.attempt));
        let metrics = &mut self.metrics;
        metrics.model_calls += 1;
        add(&mut metrics.model_ms, fact.total_ms);
        match fact.usage {
            Some(usage) => {
                add(&mut metrics.tokens_input, usage.input);
                add(&mut metrics.tokens_cached, usage.cache_read);
                add(&mut metrics.tokens_output, usage.output);
            }
            None => {
                let charged = fact.charged.tokens.0;
                let output = tokens::of_bytes(length(&fact.reply)).min(charged);
                add(&mut metrics.tokens_output, output);
                add(&mut metrics.tokens_input, charged - output);
            }
        }
        let model = format!("{}:{}", fact.provider, fact.model);
        self.charge(model, fact.charged.tokens.0, fact.paid());
    }

    /// Folds a failed attempt. A refused or cancelled attempt is not a failure, but its
    /// usage counts all the same.
    fn failed(&mut self, event: &Event, fact: &ModelFailed) {
        let asked = self.asked.remove(&(fact.call.clone(), fact.attempt));
        let is_failure = !matches!(
            event.outcome,
            Some(EventOutcome::Cancelled | EventOutcome::Denied)
        );
        self.metrics.model_failures += u64::from(is_failure);
        let took = asked.map_or(0, |asked| millis(event.at.since(asked)));
        add(&mut self.metrics.model_ms, took);
        add(&mut self.metrics.tokens_input, fact.charged.tokens.0);
        let model = format!("{}:{}", fact.provider, fact.model);
        self.charge(model, fact.charged.tokens.0, fact.paid());
    }

    fn charge(&mut self, model: String, tokens: u64, cost: Option<Money>) {
        match cost {
            Some(cost) => {
                self.cost += cost;
                *self.metrics.cost_by_model.entry(model).or_default() += cost;
            }
            None => self.is_unpriced |= tokens > 0,
        }
    }

    fn requested(&mut self, event: &Event, fact: &ToolRequested) {
        if fact.decision == "ask" {
            self.people.begin(&fact.call, event.at);
        }
        let input = match &fact.input {
            RecordedText::Inline(text) => serde_json::from_str(text).unwrap_or_default(),
            // Two inputs with the same stored text are the same.
            RecordedText::Kept(kept) => Value::from(kept.blob.to_string()),
        };
        self.tries.begin(&fact.call, &fact.tool, &input);
        self.recoveries.begin(&fact.call);
        self.inputs
            .insert(fact.call.clone(), (fact.tool.clone(), input));
    }

    fn finished(&mut self, event: &Event, fact: &ToolFinished) {
        // A question that nobody answered is not time that a person took.
        self.people.forget(&fact.call);
        let (_, input) = self.inputs.remove(&fact.call).unwrap_or_default();
        let failure = kind_of_failure(fact);
        self.metrics.tool_calls += 1;
        self.metrics.tool_failures += u64::from(failure.is_some());
        self.tools.add(event.at, fact.millis);
        if fact.tool != FINISH && !self.is_closing {
            self.turns.insert(turn_of(&fact.call).to_owned());
        }
        self.tries.end(&fact.call, failure);
        self.recoveries.end(fact, &input, failure);
        if failure.is_none() {
            self.loaded(fact, &input);
        }
    }

    /// Counts a file of the skill that was read by its path, or another skill that was
    /// loaded by its tool.
    fn loaded(&mut self, fact: &ToolFinished, input: &Value) {
        let name = match &*fact.tool {
            "read" => {
                let path = input["path"].as_str().unwrap_or_default();
                let folder = self.skill_folder.as_deref().filter(|it| !it.is_empty());
                folder
                    .and_then(|folder| inside(path, folder))
                    .map(str::to_owned)
            }
            "skill" => Some(format!("skill {input}")),
            _ => None,
        };
        if let Some(name) = name {
            self.loaded.insert(name);
            let size = tokens::of_bytes(length(&fact.observation));
            add(&mut self.metrics.tokens_loaded, size);
        }
    }

    /// Counts a pause as time spent waiting for a person.
    fn steered(&mut self, event: &Event, act: &str) {
        match act {
            "pause" => self.people.begin("pause", event.at),
            "resume" | "cancel" => self.people.end("pause", event.at),
            _ => {}
        }
    }

    fn snapped(&mut self, millis: u64) {
        self.metrics.snapshots += 1;
        add(&mut self.metrics.snapshot_ms, millis);
    }

    /// Takes what events cannot show later: it depended on the files on disk at the end.
    fn ended(&mut self, fact: &RunFinished) {
        self.state = fact.state.as_deref().and_then(|word| word.parse().ok());
        let metrics = fact.metrics.as_ref();
        self.metrics.saved_percent = metrics.and_then(|metrics| metrics.saved_percent);
    }
}

/// Adds a recorded number, which can be any number.
fn add(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}

/// Returns the reply that a call belongs to: call names consist of the reply's number and
/// their own.
fn turn_of(call: &str) -> &str {
    call.split_once('.').map_or(call, |(reply, _)| reply)
}

/// Returns a path relative to the skill's folder, if it is given in full or begins with
/// `@skill`.
fn inside<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let written_out = path.strip_prefix(folder.trim_end_matches('/'));
    written_out
        .or_else(|| path.strip_prefix("@skill"))?
        .strip_prefix('/')
}

fn length(text: &RecordedText) -> u64 {
    match text {
        RecordedText::Inline(text) => text.len() as u64,
        RecordedText::Kept(kept) => kept.bytes,
    }
}

#[cfg(test)]
mod tests;
