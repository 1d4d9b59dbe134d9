//! Tests that events become connected spans without any content.

use artel_types::{Actor, Event, EventVisibility, Fact, RunId, StreamName, Timestamp, TraceId};
use serde_json::{Value, json};

use super::{TelemetrySpanFold, envelope};

/// Text that must never leave the machine.
const SECRET: &str = "the words of somebody";

fn run(number: u8) -> RunId {
    RunId::from_random([number; 16])
}

fn event(seq: u64, run: RunId, kind: &str, payload: &Value) -> Event {
    let fact = Fact::decode(kind, 1, &payload.to_string()).unwrap();
    Event {
        seq,
        stream: StreamName::run(run),
        stream_seq: seq,
        at: Timestamp::from_micros(1_000_000 * i64::try_from(seq).unwrap()),
        trace: TraceId::from_random([7; 16]),
        session: None,
        run: Some(run),
        cause: None,
        actor: Actor::agent("engineer"),
        target: None,
        outcome: None,
        visibility: EventVisibility::Full,
        fact,
    }
}

fn asked(call: &str, attempt: u32) -> Value {
    json!({ "call": call, "attempt": attempt, "wanted": "haiku", "resolved": "as named",
        "provider": "anthropic", "model": "claude-haiku", "priority": "execution", "privacy": "any",
        "account": { "role": "engineer" }, "estimate": { "tokens": 1, "money": 1 },
        "request": SECRET, "fingerprint": "ab" })
}

fn replied(call: &str, attempt: u32) -> Value {
    json!({ "call": call, "attempt": attempt, "provider": "anthropic", "model": "claude-haiku",
        "account": {}, "stop": "tool_use", "usage": { "input": 1200, "cache_read": 800, "output": 90 },
        "charged": { "tokens": 1290, "money": 900 }, "cost": 900, "first_ms": 410, "total_ms": 500,
        "reply": SECRET })
}

fn failed(call: &str, attempt: u32) -> Value {
    json!({ "call": call, "attempt": attempt, "provider": "google", "model": "gemini", "account": {},
        "fault": "rate-limit", "class": "rate-limit", "status": 429, "message": SECRET,
        "request_id": null, "charged": { "tokens": 0, "money": 0 }, "cost": null, "retry_at": null,
        "partial": SECRET })
}

fn tool(call: &str, trouble: Option<&str>) -> Value {
    json!({ "call": call, "tool": "bash", "observation": SECRET, "trouble": trouble, "changed": [SECRET],
        "millis": 250, "sandbox": "full", "redacted": 0 })
}

/// Returns all spans of a series of events.
fn told(events: &[Event]) -> Vec<Value> {
    let mut spans = TelemetrySpanFold::default();
    let all: Vec<_> = events.iter().flat_map(|event| spans.take(event)).collect();
    let value = envelope(&all);
    assert!(!value.to_string().contains(SECRET));
    let spans = &value["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans.as_array().unwrap().clone()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == key);
    found.map_or(&Value::Null, |it| &it["value"])
}

fn story() -> Vec<Event> {
    let one = run(1);
    let started = json!({ "id": one, "title": SECRET });
    let finished = json!({ "id": one, "summary": SECRET });
    vec![
        event(1, one, "run.started", &started),
        event(2, one, "model.requested", &asked("c1", 1)),
        event(4, one, "model.failed", &failed("c1", 1)),
        event(5, one, "model.requested", &asked("c1", 2)),
        event(6, one, "model.replied", &replied("c1", 2)),
        event(7, one, "tool.finished", &tool("t1", None)),
        event(8, one, "tool.finished", &tool("t2", Some("denied"))),
        event(9, one, "model.requested", &asked("c2", 1)),
        event(10, one, "model.replied", &replied("c2", 1)),
        event(11, one, "run.finished", &finished),
    ]
}

#[test]
fn a_run_has_turns_and_turns_have_calls() {
    let spans = told(&story());
    let names: Vec<_> = spans
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "chat gemini",
            "chat claude-haiku",
            "execute_tool bash",
            "execute_tool bash",
            "turn 1",
            "chat claude-haiku",
            "turn 2",
            "invoke_agent engineer",
        ]
    );
    let id = |at: usize| spans[at]["spanId"].as_str().unwrap();
    let parent = |at: usize| spans[at]["parentSpanId"].as_str();
    for at in 0..4 {
        assert_eq!(parent(at), Some(id(4)));
    }
    assert_eq!(parent(5), Some(id(6)));
    assert_eq!((parent(4), parent(6)), (Some(id(7)), Some(id(7))));
    assert_eq!(parent(7), None);
    let mut ids: Vec<_> = (0..spans.len()).map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len());
    for span in &spans {
        assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
    }
}

#[test]
fn calls_say_what_the_conventions_ask_for() {
    let spans = told(&story());
    let (bad, chat, fine, denied) = (&spans[0], &spans[1], &spans[2], &spans[3]);
    for (span, key, value) in [
        (
            chat,
            "gen_ai.operation.name",
            json!({ "stringValue": "chat" }),
        ),
        (
            chat,
            "gen_ai.provider.name",
            json!({ "stringValue": "anthropic" }),
        ),
        (
            chat,
            "gen_ai.request.model",
            json!({ "stringValue": "claude-haiku" }),
        ),
        (
            chat,
            "gen_ai.response.model",
            json!({ "stringValue": "claude-haiku" }),
        ),
        (
            chat,
            "gen_ai.usage.input_tokens",
            json!({ "intValue": "1200" }),
        ),
        (
            chat,
            "gen_ai.usage.output_tokens",
            json!({ "intValue": "90" }),
        ),
        (
            chat,
            "gen_ai.agent.name",
            json!({ "stringValue": "engineer" }),
        ),
        (
            chat,
            "gen_ai.conversation.id",
            json!({ "stringValue": run(1).to_string() }),
        ),
        (
            chat,
            "gen_ai.response.finish_reasons",
            json!({ "arrayValue": { "values": [{ "stringValue": "tool_call" }] } }),
        ),
        (
            chat,
            "gen_ai.usage.cache_read.input_tokens",
            json!({ "intValue": "800" }),
        ),
        (
            chat,
            "gen_ai.usage.cache_creation.input_tokens",
            Value::Null,
        ),
        (chat, "error.type", Value::Null),
        (bad, "error.type", json!({ "stringValue": "rate-limit" })),
        (
            bad,
            "gen_ai.provider.name",
            json!({ "stringValue": "gcp.gemini" }),
        ),
        (fine, "gen_ai.tool.name", json!({ "stringValue": "bash" })),
        (fine, "error.type", Value::Null),
        (denied, "error.type", json!({ "stringValue": "denied" })),
    ] {
        assert_eq!(*attribute(span, key), value, "{key} {span}");
    }
    assert_eq!(
        (&bad["status"]["code"], &chat["status"]["code"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(chat["startTimeUnixNano"], "5500000000");
    assert_eq!(chat["endTimeUnixNano"], "6000000000");
    assert_eq!(bad["startTimeUnixNano"], "2000000000");
    assert_eq!(fine["startTimeUnixNano"], "6750000000");
}

#[test]
fn runs_below_hang_on_the_run_that_called_them() {
    let (one, two) = (run(1), run(2));
    let spans = told(&[
        event(1, one, "run.started", &json!({ "id": one, "title": "x" })),
        event(
            2,
            two,
            "run.started",
            &json!({ "id": two, "title": "x", "parent": one }),
        ),
        event(
            3,
            two,
            "run.finished",
            &json!({ "id": two, "summary": "x" }),
        ),
        event(
            4,
            one,
            "run.finished",
            &json!({ "id": one, "summary": "x" }),
        ),
    ]);
    assert_eq!(spans[0]["parentSpanId"], spans[1]["spanId"]);
}

#[test]
fn the_same_events_give_the_same_spans() {
    assert_eq!(told(&story()), told(&story()));
}

/// Returns the ids of the spans, and checks that they are unique.
fn ids(spans: &[Value]) -> Vec<String> {
    let id = |span: &Value| span["spanId"].as_str().unwrap().to_owned();
    let all: Vec<String> = spans.iter().map(id).collect();
    let once: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(once.len(), all.len(), "{spans:?}");
    all
}

/// The calls of each run are numbered from one, and a plan has many runs.
#[test]
fn runs_of_one_trace_share_no_ids() {
    let of = |run: RunId, first: u64| {
        [
            event(
                first,
                run,
                "run.started",
                &json!({ "id": run, "title": "x" }),
            ),
            event(first + 1, run, "model.requested", &asked("1", 1)),
            event(first + 2, run, "model.replied", &replied("1", 1)),
            event(first + 3, run, "tool.finished", &tool("1.1", None)),
            event(
                first + 4,
                run,
                "run.finished",
                &json!({ "id": run, "summary": "x" }),
            ),
        ]
    };
    let (one, two) = (of(run(1), 1), of(run(2), 10));
    let spans = told(&[one, two].concat());
    assert_eq!(ids(&spans).len(), 8);
    for (span, calls) in [(1, 0), (5, 4)] {
        assert_eq!(spans[span]["name"], "execute_tool bash");
        assert_eq!(spans[span]["parentSpanId"], spans[calls]["parentSpanId"]);
    }
}

/// An exporter that starts in the middle gives every span the same id as one that saw
/// everything.
#[test]
fn a_daemon_that_was_restarted_goes_on_with_the_same_ids_and_counts_no_turns_anew() {
    let story = story();
    let whole = told(&story);
    let mut before = told(&story[..7]);
    let after = told(&story[7..]);
    let turn = after.iter().find(|it| it["name"] == "turn").unwrap();
    assert_eq!(*attribute(turn, "artel.turn"), Value::Null);
    before.extend(after);
    let (whole, parts) = (ids(&whole), ids(&before));
    assert!(parts.iter().all(|id| whole.contains(id)));
}
