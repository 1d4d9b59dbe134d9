//! The story over HTTP, by a daemon and whoever calls it: asked, looked at, approved, done, merged.

mod secret_words;
mod steps;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bench::git;
use super::town::Town;

/// A town with a daemon, and tokens for those who call it.
struct Served {
    town: Town,
    listen: String,
    pid: String,
    tokens: [String; 2],
}

impl Served {
    fn new() -> Self {
        Self::of(Town::new())
    }

    fn of(town: Town) -> Self {
        let token = |role: &str| {
            let words = ["token", "create", "--role", role, "--name", role, "--json"];
            let made = town.artel(words).run().expect(0).json();
            made["token"].as_str().unwrap().to_owned()
        };
        let tokens = [token("user"), token("developer")];
        let project = town.project.display().to_string();
        let add = ["portal", "add", &project, "--name", "calc"];
        town.artel(add).run().expect(0);
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let started = town.artel(start).run().expect(0).json();
        let listen = started["listen"].as_str().unwrap().to_owned();
        let pid = started["pid"].to_string();
        Self {
            town,
            listen,
            pid,
            tokens,
        }
    }

    fn send(&self, token: &str, head: &str, body: &str) -> (u16, Value) {
        let listen = &self.listen;
        let mut stream = TcpStream::connect(listen).unwrap();
        let length = body.len();
        let text = format!(
            "{head} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(&self.tokens[0], &format!("GET /api/v1/{path}"), "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn post(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        let head = format!("POST /api/v1/{path}");
        self.send(token, &head, &body.to_string())
    }

    /// Waits for something; a daemon takes moments, a hang is no answer.
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(90), "never: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-9", &self.pid]).status());
    }
}

#[test]
fn a_request_becomes_a_merged_changeset_over_http() {
    let served = Served::new();
    let [user, developer] = &served.tokens;
    let ask = json!({ "words": "Mend add in calc.py. It must add.", "planning": "always" });
    let (status, made) = served.post(user, "requests", &ask);
    assert_eq!(status, 201, "{made}");
    let id = made["trace_id"].as_str().unwrap();
    let plan = || served.get(&format!("requests/{id}"))["plan_state"].clone();
    served.until("there is a plan", || plan() == "review");
    let waiting = served.get("waiting");
    assert_eq!(waiting["rows"][0]["kind"], "plan", "{waiting}");
    assert_eq!(served.town.count("step.started"), 0);

    let shown = served.get(&format!("plans/{id}"));
    assert_eq!(shown["plan"]["steps"].as_array().unwrap().len(), 2);
    assert_eq!(shown["estimates"].as_array().unwrap().len(), 2);
    let approve = format!("plans/{id}/approve");
    let other = json!({ "hash": "0".repeat(64) });
    assert_eq!(served.post(user, &approve, &other).0, 409);
    let seen = json!({ "hash": shown["hash"] });
    let (status, decided) = served.post(user, &approve, &seen);
    assert_eq!(status, 200, "{decided}");
    served.until("the plan is done", || plan() == "done");
    let run = decided["run"].as_str().unwrap();
    let story = served.get(&format!("runs/{run}/story"));
    assert!(!story["lines"].as_array().unwrap().is_empty());

    let changeset = served.get(&format!("changesets/{id}"));
    assert_eq!(changeset["state"], "open");
    let merge = json!({ "head": changeset["head"] });
    let path = format!("changesets/{id}/approve");
    assert_eq!(
        served.post(user, &path, &merge).0,
        403,
        "a user merges nothing"
    );
    let (status, refused) = served.post(developer, &path, &json!({}));
    assert_eq!(status, 400, "what is not named was not seen: {refused}");
    assert_eq!(served.town.count("changeset.ordered"), 0);
    let (status, merged) = served.post(developer, &path, &merge);
    assert_eq!(status, 200, "{merged}");
    assert_eq!(merged["act"], "approve");
    assert_eq!(served.town.left().files["NOTES.md"], b"add adds\n");
    let messages = git(&served.town.project, &["log", "--format=%B", "main"]);
    assert_eq!(messages.matches(&format!("Trace-Id: {id}")).count(), 3);
    let report = served.get(&format!("reports/{id}"));
    assert!(report["text"].as_str().unwrap().contains("Files changed"));
    let again = json!({ "id": id, "decision": "undo" });
    assert_eq!(served.post(developer, "changesets", &again).0, 200);
    let by = served.town.events();
    let approved = by.iter().find(|it| it["kind"] == "plan.approved").unwrap();
    assert_eq!(approved["actor"]["via"], "api");
    assert_eq!(approved["actor"]["id"], "user");
}

/// Somebody adds to the branch after another one looked at it.
#[test]
fn what_was_added_since_is_told_and_not_merged() {
    let served = Served::new();
    let [user, developer] = &served.tokens;
    let ask = json!({ "words": "Mend add in calc.py. It must add.", "planning": "always" });
    let made = served.post(user, "requests", &ask).1;
    let id = made["trace_id"].as_str().unwrap();
    let plan = || served.get(&format!("requests/{id}"))["plan_state"].clone();
    served.until("there is a plan", || plan() == "review");
    let seen = json!({ "hash": served.get(&format!("plans/{id}"))["hash"] });
    served.post(user, &format!("plans/{id}/approve"), &seen);
    served.until("the plan is done", || plan() == "done");
    let look = || served.get(&format!("changesets/{id}"));
    let before = look();
    let branch = before["branch"].as_str().unwrap().to_owned();
    let project = &served.town.project;
    git(project, &["checkout", "-q", &branch]);
    std::fs::write(project.join("late.py"), "late = True\n").unwrap();
    git(project, &["add", "late.py"]);
    git(project, &["commit", "-qm", "Something late"]);
    git(project, &["checkout", "-q", "main"]);
    let path = format!("changesets/{id}/approve");
    let merge = |head: &Value, reason: &str| {
        let body = json!({ "head": head, "reason": reason });
        served.post(developer, &path, &body)
    };
    let (status, refused) = merge(&before["head"], "it is fine");
    assert_eq!(status, 409, "{refused}");
    let why = refused["error"]["why"].as_str().unwrap();
    assert!(
        why.contains("Something late") && why.contains("late.py"),
        "{why}"
    );
    let now = look();
    assert_ne!(now["head"], before["head"]);
    assert_eq!(now["proven"], false, "nobody proved what came late");
    let (status, refused) = merge(&now["head"], "");
    assert_eq!(status, 409, "it takes a waiver: {refused}");
    let (status, merged) = merge(&now["head"], "I wrote the rest myself");
    assert_eq!(status, 200, "{merged}");
    assert_eq!(served.town.left().files["late.py"], b"late = True\n");
}
