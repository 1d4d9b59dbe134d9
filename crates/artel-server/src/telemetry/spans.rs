//! Converts events to OpenTelemetry spans, following its conventions for generative AI: a
//! run, its turns, and within those the calls of models and tools. Spans contain only names
//! and numbers, never anything that a person, model or tool said or wrote.
//!
//! The conversion is a fold: the same events give the same spans with the same ids,
//! whichever process converts them. An id is derived from the run and the call's name
//! within it. The run is needed because calls are numbered per run and several runs share a
//! trace; counters of the process are not used, because they are lost when it ends.

use std::collections::HashMap;

use artel_types::model::{Provider, ReplyStopReason};
use artel_types::{
    Event, Fact, ModelFailed, ModelReplied, ModelRequested, RunFinished, RunId, RunStarted,
    Timestamp, ToolFinished, TraceId,
};
use serde_json::{Value, json};

/// Maximum number of runs that are followed at once. Runs beyond that have no spans for
/// themselves or their turns.
const MOST_RUNS: usize = 10_000;

/// Span kinds of OTLP: an operation within Artel, and a request to another machine.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

/// An operation with a start and an end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TelemetrySpan {
    trace: TraceId,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    begin: Timestamp,
    end: Timestamp,
    attributes: Vec<(&'static str, Value)>,
    /// The kind of failure.
    error: Option<String>,
}

/// The runs in progress, as far as their events were seen.
#[derive(Debug, Default)]
pub(super) struct TelemetrySpanFold {
    runs: HashMap<RunId, TelemetryRunState>,
}

#[derive(Debug)]
struct TelemetryRunState {
    begin: Timestamp,
    parent: Option<RunId>,
    skill: Option<String>,
    role: String,
    /// Number of turns seen.
    turns: u64,
    /// Whether the start of the run was seen; if not, the number of earlier turns is
    /// unknown.
    is_whole: bool,
    turn: Option<(String, Timestamp)>,
    /// Start times of attempts that have not ended.
    asked: HashMap<(String, u32), Timestamp>,
}

impl TelemetrySpanFold {
    /// Processes an event, and returns the spans that it completes.
    pub(super) fn take(&mut self, event: &Event) -> Vec<TelemetrySpan> {
        match &event.fact {
            Fact::RunStarted(it) => self.started(event, it),
            Fact::ModelRequested(it) => return self.requested(event, it),
            Fact::ModelReplied(it) => return vec![self.replied(event, it)],
            Fact::ModelFailed(it) => return vec![self.failed(event, it)],
            Fact::ToolFinished(it) => return vec![self.tool(event, it)],
            Fact::RunFinished(it) => return self.finished(event, it),
            _ => {}
        }
        Vec::new()
    }

    fn started(&mut self, event: &Event, started: &RunStarted) {
        let known = self.run(event, started.id);
        if let Some(run) = known {
            run.is_whole = true;
            run.parent = started.parent;
            run.skill.clone_from(&started.skill);
        }
    }

    /// The first attempt of a call to the model ends the previous turn and starts the next.
    fn requested(&mut self, event: &Event, asked: &ModelRequested) -> Vec<TelemetrySpan> {
        let (Some(id), at) = (event.run, event.at) else {
            return Vec::new();
        };
        let Some(run) = self.run(event, id) else {
            return Vec::new();
        };
        if let Some(role) = &asked.account.role {
            run.role.clone_from(role);
        }
        run.asked.insert((asked.call.clone(), asked.attempt), at);
        if asked.attempt > 1 {
            return Vec::new();
        }
        let ended = run.turn_ended(event, id);
        run.turns += 1;
        run.turn = Some((span_id(&["turn", &id.to_string(), &asked.call]), at));
        ended.into_iter().collect()
    }

    fn replied(&mut self, event: &Event, replied: &ModelReplied) -> TelemetrySpan {
        self.forget(event, &replied.call, replied.attempt);
        let begin = event.at.before(millis(replied.total_ms));
        let mut span = self.chat(event, begin, (&replied.call, replied.attempt));
        span.name = format!("chat {}", replied.model);
        span.attributes
            .extend(model(replied.provider, &replied.model));
        span.attributes
            .push(("gen_ai.response.model", json!(replied.model)));
        let reason = finish_reason(&replied.stop);
        span.attributes
            .push(("gen_ai.response.finish_reasons", json!([reason])));
        if let Some(usage) = &replied.usage {
            span.attributes.extend([
                ("gen_ai.usage.input_tokens", json!(usage.input)),
                ("gen_ai.usage.output_tokens", json!(usage.output)),
            ]);
            let cached = [
                ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
                (
                    "gen_ai.usage.cache_creation.input_tokens",
                    usage.cache_write,
                ),
            ];
            // A provider without a cache reports 0, which must not appear as a cache read
            // of 0 tokens.
            let cached = cached.into_iter().filter(|(_, count)| *count > 0);
            span.attributes
                .extend(cached.map(|(key, count)| (key, json!(count))));
        }
        let first = replied.first_ms as f64 / 1_000.0;
        span.attributes
            .push(("gen_ai.response.time_to_first_chunk", json!(first)));
        span
    }

    fn failed(&mut self, event: &Event, failed: &ModelFailed) -> TelemetrySpan {
        let begin = self.forget(event, &failed.call, failed.attempt);
        let call = (failed.call.as_str(), failed.attempt);
        let mut span = self.chat(event, begin.unwrap_or(event.at), call);
        span.name = format!("chat {}", failed.model);
        span.attributes
            .extend(model(failed.provider, &failed.model));
        let fault = failed.fault.map_or("cancelled", |fault| fault.as_str());
        span.error = Some(fault.to_owned());
        span
    }

    fn tool(&mut self, event: &Event, finished: &ToolFinished) -> TelemetrySpan {
        let begin = event.at.before(millis(finished.millis));
        TelemetrySpan {
            trace: event.trace,
            id: span_id(&["tool", &of_run(event), &finished.call]),
            parent: self.above(event),
            name: format!("execute_tool {}", finished.tool),
            kind: INTERNAL,
            begin,
            end: event.at,
            attributes: vec![
                ("gen_ai.operation.name", json!("execute_tool")),
                ("gen_ai.tool.name", json!(finished.tool)),
                ("gen_ai.tool.call.id", json!(finished.call)),
            ],
            error: finished.trouble.clone(),
        }
    }

    fn finished(&mut self, event: &Event, finished: &RunFinished) -> Vec<TelemetrySpan> {
        let Some(mut run) = self.runs.remove(&finished.id) else {
            return Vec::new();
        };
        let mut ended: Vec<TelemetrySpan> =
            run.turn_ended(event, finished.id).into_iter().collect();
        let state = finished.state.clone().unwrap_or("complete".to_owned());
        let mut attributes = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(run.role)),
            ("gen_ai.conversation.id", json!(finished.id.to_string())),
            ("artel.run.state", json!(state)),
        ];
        if run.is_whole {
            attributes.push(("artel.run.turns", json!(run.turns)));
        }
        if let Some(skill) = &run.skill {
            attributes.push(("artel.skill", json!(skill)));
        }
        let is_bad = matches!(state.as_str(), "failed" | "cancelled");
        ended.push(TelemetrySpan {
            trace: event.trace,
            id: run_id(finished.id),
            parent: run.parent.map(run_id),
            name: format!("invoke_agent {}", run.role),
            kind: INTERNAL,
            begin: run.begin,
            end: event.at,
            attributes,
            error: is_bad.then_some(state),
        });
        ended
    }

    fn chat(&self, event: &Event, begin: Timestamp, (call, attempt): (&str, u32)) -> TelemetrySpan {
        let mut attributes = vec![("gen_ai.operation.name", json!("chat"))];
        if let Some(run) = event.run {
            attributes.push(("gen_ai.conversation.id", json!(run.to_string())));
        }
        let role = event.run.and_then(|run| self.runs.get(&run));
        if let Some(run) = role {
            attributes.push(("gen_ai.agent.name", json!(run.role)));
        }
        TelemetrySpan {
            trace: event.trace,
            id: span_id(&["call", &of_run(event), call, &attempt.to_string()]),
            parent: self.above(event),
            name: String::new(),
            kind: CLIENT,
            begin,
            end: event.at,
            attributes,
            error: None,
        }
    }

    /// Returns the parent span of a call: the turn, or else the run.
    fn above(&self, event: &Event) -> Option<String> {
        let run = event.run?;
        let known = self.runs.get(&run);
        let turn = known.and_then(|it| it.turn.as_ref());
        Some(turn.map_or_else(|| run_id(run), |(id, _)| id.clone()))
    }

    fn forget(&mut self, event: &Event, call: &str, attempt: u32) -> Option<Timestamp> {
        let run = self.runs.get_mut(&event.run?)?;
        run.asked.remove(&(call.to_owned(), attempt))
    }

    /// Returns a run's state, or `None` if too many runs are followed. A run whose start
    /// was not seen begins with its first event that was seen.
    fn run(&mut self, event: &Event, id: RunId) -> Option<&mut TelemetryRunState> {
        if !self.runs.contains_key(&id) && self.runs.len() >= MOST_RUNS {
            return None;
        }
        Some(self.runs.entry(id).or_insert_with(|| TelemetryRunState {
            begin: event.at,
            parent: None,
            skill: None,
            role: "default".to_owned(),
            turns: 0,
            is_whole: false,
            turn: None,
            asked: HashMap::new(),
        }))
    }
}

impl TelemetryRunState {
    fn turn_ended(&mut self, event: &Event, run: RunId) -> Option<TelemetrySpan> {
        let (id, begin) = self.turn.take()?;
        let mut attributes = vec![("gen_ai.conversation.id", json!(run.to_string()))];
        if self.is_whole {
            attributes.push(("artel.turn", json!(self.turns)));
        }
        Some(TelemetrySpan {
            trace: event.trace,
            id,
            parent: Some(run_id(run)),
            name: if self.is_whole {
                format!("turn {}", self.turns)
            } else {
                "turn".to_owned()
            },
            kind: INTERNAL,
            begin,
            end: event.at,
            attributes,
            error: None,
        })
    }
}

impl TelemetrySpan {
    /// Returns the span as OTLP JSON.
    pub(super) fn otlp(&self) -> Value {
        let mut attributes: Vec<Value> = self.attributes.iter().map(attribute).collect();
        if let Some(error) = &self.error {
            attributes.push(attribute(&("error.type", json!(error))));
        }
        let mut value = json!({
            "traceId": self.trace.to_string().replace('-', ""),
            "spanId": self.id,
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": nanos(self.begin),
            "endTimeUnixNano": nanos(self.end.max(self.begin)),
            "attributes": attributes,
            "status": { "code": if self.error.is_some() { 2 } else { 0 } },
        });
        if let Some(parent) = &self.parent {
            value["parentSpanId"] = json!(parent);
        }
        value
    }
}

/// Wraps spans in the request body for a collector.
pub(super) fn envelope(spans: &[TelemetrySpan]) -> Value {
    let spans: Vec<Value> = spans.iter().map(TelemetrySpan::otlp).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            attribute(&("service.name", json!("artel"))),
            attribute(&("service.version", json!(env!("CARGO_PKG_VERSION")))),
        ] },
        "scopeSpans": [{ "scope": { "name": "artel" }, "spans": spans }],
    }] })
}

fn attribute((key, value): &(&'static str, Value)) -> Value {
    json!({ "key": key, "value": any_value(value) })
}

fn any_value(value: &Value) -> Value {
    match value {
        Value::Array(all) => {
            let values: Vec<Value> = all.iter().map(any_value).collect();
            json!({ "arrayValue": { "values": values } })
        }
        // OTLP JSON encodes integers as strings, so that none is rounded.
        Value::Number(it) if it.is_u64() => json!({ "intValue": it.to_string() }),
        Value::Number(it) => json!({ "doubleValue": it }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Returns why a reply ended, using the words of the conventions if they have one.
fn finish_reason(stop: &ReplyStopReason) -> String {
    let word = match stop {
        ReplyStopReason::End | ReplyStopReason::StopSequence => "stop",
        ReplyStopReason::ToolUse => "tool_call",
        ReplyStopReason::MaxTokens | ReplyStopReason::ContextFull => "length",
        ReplyStopReason::Refusal => "content_filter",
        ReplyStopReason::Paused => "pause",
        ReplyStopReason::Other(word) => return word.chars().take(40).collect(),
    };
    word.to_owned()
}

fn model(provider: Provider, model: &str) -> [(&'static str, Value); 2] {
    let name = match provider {
        Provider::Anthropic => "anthropic",
        Provider::OpenAi | Provider::OpenAiChat => "openai",
        Provider::Google => "gcp.gemini",
        Provider::Ollama => "ollama",
        Provider::Rehearsal => "rehearsal",
    };
    [
        ("gen_ai.provider.name", json!(name)),
        ("gen_ai.request.model", json!(model)),
    ]
}

fn of_run(event: &Event) -> String {
    event.run.map(|run| run.to_string()).unwrap_or_default()
}

fn run_id(run: RunId) -> String {
    span_id(&["run", &run.to_string()])
}

/// Derives a span id of eight bytes from the names that identify the span.
fn span_id(names: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in names {
        hasher.update(name.as_bytes());
        hasher.update(b"\0");
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}

fn nanos(at: Timestamp) -> String {
    (i128::from(at.as_micros()) * 1_000).max(0).to_string()
}

fn millis(count: u64) -> std::time::Duration {
    // Longer durations than a year are not credible.
    std::time::Duration::from_millis(count.min(31_536_000_000))
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
