//! Numbers for Prometheus, and traces for a collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::house::House;

#[test]
fn numbers_tell_what_happened() {
    let house = House::new();
    house.portal("shop");
    let before = house.get("developer", "/metrics").expect(200).text;
    assert!(before.contains("artel_runs_started_total 0\n"), "{before}");
    let body = json!({ "task": "Say hello" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
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
