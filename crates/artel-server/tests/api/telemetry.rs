//! Numbers for Prometheus, and traces for a collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use artel_journal::EventBatch;
use artel_types::{
    Actor, EventDraft, Fact, ModelReplied, RunFinished, RunId, RunStarted, StreamName,
    ToolFinished, TraceId,
};
use serde_json::{Value, json};

use crate::house::House;

#[test]
fn numbers_tell_what_happened() {
    let house = House::new();
    house.portal("shop");
    let before = house.get("developer", "/metrics").expect(200).text;
    assert!(before.contains("artel_runs_started_total 0\n"), "{before}");
    let body = json!({ "task": "Say hello" });
    let begun = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = format!("/api/v1/runs/{}", begun.json()["run"].as_str().unwrap());
    house.until(&run, |it| it["state"] == "complete");
    house.get("user", "/api/v1/requests/00000000").expect(404);
    house.get("user", "/metrics").expect(403);
    let after = house.get("developer", "/metrics").expect(200);
    assert!(
        after
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
    for wanted in [
        "artel_runs_started_total 1\n",
        "artel_event_readers 0\n",
        "artel_queue{state=\"waiting\"} 0\n",
        "artel_http_requests_total{route=\"/api/v1/requests/{id}\",method=\"GET\",status=\"404\"} 1\n",
        "artel_http_requests_total{route=\"/metrics\",method=\"GET\",status=\"403\"} 1\n",
    ] {
        assert!(after.text.contains(wanted), "{wanted}{}", after.text);
    }
    for line in after.text.lines().filter(|it| !it.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

/// Puts a run on record that was paid for, and reached its goal another way after a failure.
fn paid_run(house: &House) {
    let run = RunId::from_random([7; 16]);
    let trace = TraceId::from_random([7; 16]);
    let started = json!({ "id": run, "title": "Paid", "skill": null, "task": "x",
        "folder": "/shop", "parent": null, "call": null, "chain": [], "depth": 0 });
    let replied = json!({ "call": "m-1", "attempt": 1, "provider": "anthropic", "model": "haiku",
        "account": {}, "stop": "end", "usage": { "input": 1200, "cache_read": 800,
        "cache_write": 0, "output": 90, "thinking": 12 }, "charged": { "tokens": 1290,
        "money": 1_250_000 }, "cost": 1_250_000, "first_ms": 410, "total_ms": 2200,
        "reply": "{\"parts\":[],\"stop\":\"end\"}" });
    let called = |call: &str| {
        let fact = json!({ "call": call, "tool": "bash", "observation": "12 passed",
            "trouble": null, "changed": [], "millis": 4200, "sandbox": "full", "redacted": 0 });
        serde_json::from_value::<ToolFinished>(fact).unwrap().into()
    };
    let finished = json!({ "id": run, "summary": "done", "state": "complete", "answer": "done",
        "why": null, "objectives": [], "changed": [], "snapshot": null, "metrics": { "turns": 1,
        "recoveries": { "unfit": 2, "missing": 1 } } });
    let facts: [Fact; 6] = [
        serde_json::from_value::<RunStarted>(started)
            .unwrap()
            .into(),
        serde_json::from_value::<ModelReplied>(replied)
            .unwrap()
            .into(),
        called("1.1"),
        called("1.2"),
        called("2.1"),
        serde_json::from_value::<RunFinished>(finished)
            .unwrap()
            .into(),
    ];
    let drafts = facts.map(|fact| {
        let actor = Actor::agent("engineer");
        EventDraft::new(StreamName::run(run), trace, actor, fact).in_run(run)
    });
    let journal = house.workshop.open().unwrap().journal;
    journal.append(EventBatch::of(drafts)).wait().unwrap();
}

#[test]
fn numbers_tell_turns_recoveries_tokens_cost_and_latencies() {
    let house = House::new();
    house.portal("shop");
    paid_run(&house);
    let body = json!({ "task": "Say hello" });
    let begun = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = format!("/api/v1/runs/{}", begun.json()["run"].as_str().unwrap());
    house.until(&run, |it| it["state"] == "complete");
    let text = house.get("developer", "/metrics").expect(200).text;
    let of = "{provider=\"anthropic\",model=\"haiku\"";
    for wanted in [
        "artel_turns_total 2".to_owned(),
        "artel_runs_ended_total{state=\"complete\"} 2".to_owned(),
        "artel_recoveries_total{kind=\"unfit\"} 2".to_owned(),
        "artel_recoveries_total{kind=\"missing\"} 1".to_owned(),
        format!("artel_model_tokens_total{of},kind=\"input\"}} 1200"),
        format!("artel_model_tokens_total{of},kind=\"output\"}} 90"),
        format!("artel_model_cached_tokens_total{of}}} 800"),
        format!("artel_model_cost_usd_total{of}}} 1.250000"),
        format!("artel_model_first_seconds_bucket{of},le=\"0.25\"}} 0"),
        format!("artel_model_first_seconds_bucket{of},le=\"0.5\"}} 1"),
        format!("artel_model_first_seconds_sum{of}}} 0.41"),
        format!("artel_model_seconds_sum{of}}} 2.2"),
        format!("artel_model_seconds_count{of}}} 1"),
        "artel_tool_seconds_sum{tool=\"bash\"} 12.6".to_owned(),
        "artel_tool_seconds_count{tool=\"bash\"} 3".to_owned(),
    ] {
        assert!(text.lines().any(|line| line == wanted), "{wanted}\n{text}");
    }
    // What the real run read and wrote, whatever its model is called.
    let of_rehearsal = |kind: &str| {
        let mut lines = text.lines().filter(|line| {
            line.starts_with("artel_model_tokens_total{provider=\"rehearsal\"")
                && line.contains(&format!("kind=\"{kind}\""))
        });
        lines.next().unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(
        (of_rehearsal("input"), of_rehearsal("output")),
        ("900".into(), "100".into())
    );
}

/// Takes what is sent as a collector does. The first is refused.
fn collector() -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let (sends, comes) = mpsc::channel();
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().enumerate() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut length, mut head) = (0, String::new());
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some((name, value)) = line.trim_end().split_once(": ") {
                    if name.eq_ignore_ascii_case("content-length") {
                        length = value.parse().unwrap();
                    }
                } else if line.trim_end().is_empty() {
                    break;
                }
                head += &line;
            }
            assert!(head.starts_with("POST /v1/traces "), "{head}");
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let status = if count == 0 { "503 Busy" } else { "200 OK" };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            if count > 0 && sends.send(serde_json::from_slice(&body).unwrap()).is_err() {
                break;
            }
        }
    });
    (place, comes)
}

#[test]
fn traces_reach_a_collector_also_after_it_was_busy() {
    let (place, comes) = collector();
    let house = House::with(&format!("[telemetry]\notlp = [\"{place}\"]\n"));
    house.portal("shop");
    let body = json!({ "task": "Say what is secret here" });
    let began = house
        .post("developer", "/api/v1/runs", &body)
        .expect(201)
        .json();
    let trace = began["trace"].as_str().unwrap().replace('-', "");
    let mut names: Vec<String> = Vec::new();
    while !names.iter().any(|name| name.starts_with("invoke_agent")) {
        let sent = comes.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(!sent.to_string().contains("secret"), "{sent}");
        let resource = &sent["resourceSpans"][0];
        assert_eq!(
            resource["resource"]["attributes"][0]["value"]["stringValue"],
            "artel"
        );
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            assert_eq!(span["traceId"], trace.as_str());
            names.push(span["name"].as_str().unwrap().to_owned());
        }
    }
    let chats = names
        .iter()
        .filter(|name| name.starts_with("chat "))
        .count();
    assert!(chats > 0, "{names:?}");
    assert!(names.contains(&"turn 1".to_owned()), "{names:?}");
}

/// Waits for spans, and returns the traces that they belong to.
fn next_traces(comes: &mpsc::Receiver<Value>) -> Vec<String> {
    let sent = comes.recv_timeout(Duration::from_secs(60)).unwrap();
    let spans = sent["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
    let spans = spans.as_array().unwrap().iter();
    let trace = |span: &Value| span["traceId"].as_str().unwrap().to_owned();
    spans.map(trace).collect()
}

#[test]
fn a_collector_that_is_named_while_the_daemon_runs_is_told_of_what_comes() {
    let ((first, to_first), (second, to_second)) = (collector(), collector());
    let house = House::new();
    house.portal("shop");
    let name = |places: &[&String]| {
        let text = format!("[telemetry]\notlp = {places:?}\n");
        std::fs::write(house.workshop.root().join("artel.toml"), text).unwrap();
        let told = house.post("admin", "/api/v1/daemon/reload", &json!({}));
        told.expect(200);
    };
    let run = || {
        let body = json!({ "task": "Say hello" });
        let began = house.post("developer", "/api/v1/runs", &body).expect(201);
        began.json()["trace"].as_str().unwrap().replace('-', "")
    };
    name(&[&first]);
    let one = run();
    while !next_traces(&to_first).contains(&one) {}
    // Both at once, and then the second alone.
    name(&[&first, &second]);
    let two = run();
    for comes in [&to_first, &to_second] {
        while !next_traces(comes).contains(&two) {}
    }
    name(&[&second]);
    let three = run();
    while !next_traces(&to_second).contains(&three) {}
    let rest: Vec<Value> = to_first.try_iter().collect();
    assert!(!format!("{rest:?}").contains(&three), "{rest:?}");
}
