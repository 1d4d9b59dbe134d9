//! The interface called from its own description: whatever is sent, nothing breaks, answers are as
//! described, and a stranger learns nothing.

use std::process::Command;

use serde_json::Value;

use crate::scripts::talkative;
use crate::stage::{Stage, schemathesis};
use crate::wire::{get, send};

/// What a stranger may know: that the server is there, and how to come in.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// What cannot be asked of this interface. That a text fits the description does not make it an
/// id, a state or a rule that there is: it is refused with 400. What is not JSON is turned away at
/// the door, before anybody looks which methods an address takes. And many wrong tokens are
/// answered with 429 after a while, for which there is a test of its own below.
const NOT_CHECKED: &str = "positive_data_acceptance,unsupported_method,ignored_auth";

/// It would find its own token in the list, revoke it, and be a stranger from then on.
const NOT_CALLED: &str = "/api/v1/tokens/{id}/revoke";

#[test]
fn answers_are_as_described() {
    let stage = Stage::new(&talkative());
    let bearer = format!("Authorization: Bearer {}", stage.token("admin"));
    stage.town.asked();
    let place = tempfile::tempdir().unwrap();
    let done = Command::new("python3")
        .arg("-c")
        .arg("from schemathesis.cli import schemathesis; schemathesis()")
        .arg("run")
        .arg(format!("http://{}/api/v1/openapi.json", stage.listen))
        .args(["--header", &bearer, "--checks", "all"])
        .args(["--exclude-checks", NOT_CHECKED])
        .args(["--exclude-path", NOT_CALLED])
        .args(["--phases", "examples,coverage,fuzzing,stateful"])
        .args(["--max-examples", "20", "--seed", "7717"])
        .args(["--request-timeout", "30", "--continue-on-failure"])
        .env("PYTHONPATH", schemathesis())
        .env("NO_COLOR", "1")
        .current_dir(place.path())
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&done.stdout));
    println!("{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "what was found is told above");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(!said.contains("Authentication failed"), "it was let in");
    assert!(!said.contains("Rate limited"), "and answered");
}

/// Sends a request without a token, or with what is none.
fn knock(stage: &Stage, method: &str, path: &str, more: &str) -> Option<u16> {
    let head = format!(
        "{} {path} HTTP/1.1\r\nHost: {}\r\n{more}Content-Type: application/json\r\n\
         Content-Length: 2\r\nConnection: close\r\n\r\n{{}}",
        method.to_uppercase(),
        stage.listen
    );
    let answer = send(&stage.listen, &[head.as_bytes()]);
    assert!(
        !answer.text.contains("calc"),
        "{method} {path} tells something"
    );
    answer.status
}

#[test]
fn a_stranger_is_told_nothing() {
    let stage = Stage::new(&talkative());
    let token = stage.token("admin");
    stage.town.asked();
    let answer = get(&stage.listen, &token, "/api/v1/openapi.json");
    let (_, body) = answer.text.split_once("\r\n\r\n").unwrap();
    let described: Value = serde_json::from_str(body).unwrap();
    let routes = described["paths"].as_object().unwrap().iter();
    let routes: Vec<(&String, &String)> = routes
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .keys()
                .map(move |it| (path, it))
        })
        .filter(|(path, _)| !OPEN.contains(&path.as_str()))
        .collect();
    assert!(routes.len() > 60, "{}", routes.len());
    for (path, method) in &routes {
        let path = path.replace(['{', '}'], "");
        for more in ["", "Cookie: artel=00\r\n"] {
            let status = knock(&stage, method, &path, more);
            assert_eq!(status, Some(401), "{method} {path}");
        }
    }
    let wrong = "Authorization: Bearer artel_0000\r\n";
    for (path, method) in &routes {
        assert_eq!(
            knock(&stage, method, path, wrong),
            Some(401),
            "{method} {path}"
        );
    }
    let mut tries = 0..2_000;
    let has_to_wait = tries.any(|_| knock(&stage, "get", "/api/v1/runs", wrong) == Some(429));
    assert!(has_to_wait, "nobody can try many");
    let known = get(&stage.listen, &token, "/api/v1/runs");
    assert_eq!(known.status, Some(200), "those who are known do not wait");
}
