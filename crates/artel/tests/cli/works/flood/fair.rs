//! Very much that is ready at once: what takes all it can get keeps one place, and whoever asks at
//! the console is not behind the others.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Flooded, PLANNER};

/// How many are ready at once.
const READY: usize = 100;

/// The same model, which never answers what is asked of it as everything.
fn script() -> String {
    let hog = "rules:\n  - expect: { matches: \"(?s)Plan this request.*everything\" }\n    \
               say: It will take a while.\n    then: silent\n";
    PLANNER.trim_start().replacen("rules:\n", hog, 1)
}

impl Flooded {
    /// Asks as somebody does who sits before the server, and returns the trace.
    fn ask(&self, words: &str) -> String {
        let make = ["token", "create", "--role", "user", "--json"];
        let made = self.town.artel(make).run().expect(0).json();
        let status = ["daemon", "status", "--json"];
        let status = self.town.artel(status).run().expect(0).json();
        let listen = status["running"]["listen"].as_str().unwrap();
        let body = json!({ "words": words, "planning": "always" }).to_string();
        let mut stream = TcpStream::connect(listen).unwrap();
        let text = format!(
            "POST /api/v1/requests HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            made["token"].as_str().unwrap(),
            body.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 201"), "{answer}");
        let made: Value = serde_json::from_str(body).unwrap();
        made["trace_id"].as_str().unwrap().to_owned()
    }

    fn drop_hog(&self, number: usize) {
        let text =
            format!("---\npriority: critical\n---\nWrite down everything, {number} times.\n");
        self.drop_in(&format!("hog{number}.md"), &text);
    }

    /// Waits until so many model calls have no answer.
    fn until_stuck(&self, count: usize) {
        Self::until_there("silent calls", count, || {
            self.records("model.requested").len() - self.records("model.replied").len()
        });
    }
}

#[test]
fn what_takes_everything_keeps_one_place_and_whoever_waits_is_not_behind_the_rest() {
    let flooded = Flooded::saying(&script());
    flooded.town.artel(["daemon", "pause"]).run().expect(0);
    flooded.start();
    flooded.drop_hog(1);
    for number in 0..READY {
        let text = format!("Write down number {number:03}.\n");
        flooded.drop_in(&format!("r{number:03}.md"), &text);
    }
    flooded.until("request.created", READY + 1);
    flooded.town.artel(["daemon", "resume"]).run().expect(0);
    flooded.until("plan.drafted", READY);
    assert_eq!(flooded.payloads("plan.drafted").len(), READY);
    let titles = flooded.payloads("request.created").into_iter();
    let words: Vec<(String, String)> = titles
        .map(|(trace, it)| (trace, it["words"].as_str().unwrap().to_owned()))
        .collect();
    let planned = flooded.payloads("plan.drafted");
    let hog = words.iter().find(|it| it.1.contains("everything")).unwrap();
    assert!(planned.iter().all(|it| it.0 != hog.0), "it is still at it");

    // Now all places are taken, and files wait.
    (2..=4).for_each(|number| flooded.drop_hog(number));
    flooded.until_stuck(4);
    let waits = ["Write down what waits.", "Write down what waits, too."];
    for (number, words) in waits.iter().enumerate() {
        flooded.drop_in(&format!("waits{number}.md"), words);
    }
    flooded.until("request.created", READY + 4 + waits.len());
    let asked = flooded.ask("Write down that somebody asked for it.");
    flooded.until("plan.drafted", READY + 1);
    let planned = flooded.payloads("plan.drafted");
    assert_eq!(planned.len(), READY + 1, "files wait for a place");
    assert_eq!(planned[READY].0, asked, "whoever asked does not");
    let inbox = flooded.town.house.workshop.join("Inbox/Requests");
    assert!(fs::exists(inbox.join("waits0.md")).unwrap());
}
