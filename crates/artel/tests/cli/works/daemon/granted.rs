//! What a person allows beyond once: for every run of the tree, on every surface, after a kill.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::super::stage::{Asked, Calls, Stage, Who, adds, end, mend, plan, tests_add};
use super::{Served, get, post, until};

/// A file that may hold secrets, and a command that a rule of the person's asks about.
fn wants_both() -> Calls {
    vec![
        ("read", json!({ "path": ".env" })),
        ("bash", json!({ "command": "uname -m" })),
    ]
}

/// Worker and verifier want the same each time; the first verdict is that it does not pass.
fn mind() -> impl Fn(&Asked) -> Calls + Send + Sync + 'static {
    let verdicts = AtomicUsize::new(0);
    move |asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({}))])),
        (Who::Worker | Who::Evaluator, 0) => wants_both(),
        (Who::Worker, _) if asked.attempt == 1 => vec![adds(), tests_add(), end("mended")],
        (Who::Worker, _) => vec![("read", json!({ "path": "calc.py" })), end("looked again")],
        (Who::Evaluator, 1) => vec![("run_tests", json!({}))],
        // Once the verdict is in, there is nothing more to say.
        (Who::Evaluator, 3..) => vec![end("judged")],
        (Who::Evaluator, _) => {
            let is_first = verdicts.fetch_add(1, Ordering::Relaxed) == 0;
            let verdict = if is_first { "fail" } else { "pass" };
            let verdict = json!({
                "verdict": verdict, "evidence": ["calc.py was read; run_tests passes"],
                "feedback": "look again", "outputs": {},
            });
            vec![("verdict", verdict), end("judged")]
        }
        _ => vec![end("nothing to do")],
    }
}

fn served(stage: Stage) -> (Served, artel_testkit::standin::StandIn) {
    let Stage { town, model } = stage;
    let served = Served(town);
    let rules = served.0.house.workshop.join("Policy/rules.toml");
    fs::create_dir_all(rules.parent().unwrap()).unwrap();
    let rule = "[[rule]]\nprefix = [\"uname\", \"-m\"]\ndecision = \"ask\"\n\
                match = [\"uname -m\"]\n";
    fs::write(rules, rule).unwrap();
    served.start();
    (served, model)
}

fn waiting(served: &Served) -> Vec<Value> {
    let seen = served.0.artel(["waiting", "--json"]).run().expect(0).json();
    let waits = seen.as_array().unwrap().iter();
    waits.filter(|it| it["kind"] == "call").cloned().collect()
}

/// Answers the next question about this tool.
fn allow(served: &Served, tool: &str, answer: &str) -> String {
    let mut found = None;
    until(&format!("a question about {tool}"), || {
        let wants = format!("wants to run {tool}:");
        let waits = waiting(served).into_iter();
        found = waits
            .filter(|it| it["text"].as_str().unwrap().starts_with(&wants))
            .find_map(|it| it["id"].as_str().map(str::to_owned));
        found.is_some()
    });
    let id = found.unwrap();
    let seen = served.0.artel(["answer", &id, answer]).run().expect(0);
    format!("{}{}", seen.out, seen.err)
}

#[test]
fn a_yes_for_the_run_holds_in_its_whole_tree_after_a_kill_and_in_replay() {
    // The verifier of the first attempt is kept waiting: there the daemon is killed.
    let stage = Stage::holding(mind(), |asked| {
        asked.who == Who::Evaluator && asked.turn == 0
    });
    let (served, model) = served(stage);
    let id = served.0.asked();
    let listen = served.status()["running"]["listen"].clone();
    served.approve_over_http(listen.as_str().unwrap(), &id);
    let said = allow(&served, "read", "run");
    assert!(!said.contains("no sessions"), "{said}");
    // What was offered for a session holds for the run, and that is said.
    let said = allow(&served, "bash", "session");
    assert!(said.contains("there are no sessions yet"), "{said}");
    until("the verifier is asked", || model.held() == 1);

    let pid = served.status()["running"]["pid"].to_string();
    assert!(
        Command::new("kill")
            .args(["-9", &pid])
            .status()
            .unwrap()
            .success()
    );
    until("it is gone", || served.status()["running"].is_null());
    served.start();
    until("the end", || {
        model.release();
        served.0.count("changeset.created") == 1
    });

    // Each was asked once; after that, worker, verifier and the second attempt go on by it.
    assert_eq!(served.0.count("tool.asked"), 2);
    let answers = served.payloads("tool.answered");
    let reaches: Vec<_> = answers.iter().map(|it| &it["answer"]).collect();
    assert_eq!(reaches, ["run", "run"]);
    assert_eq!(answers[0]["granted"]["rules"], json!(["Read(.env)"]));
    assert_eq!(answers[1]["granted"]["rules"], json!([]));
    let requested = served.payloads("tool.requested");
    let wanted = |tool: &str, input: &str| -> Vec<(String, String)> {
        let is_it = |it: &&Value| {
            let text = it["input"].as_str().unwrap_or_default();
            it["tool"] == tool && text.contains(input)
        };
        let word = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
        let found = requested.iter().filter(is_it);
        found
            .map(|it| (word(it, "decision"), word(it, "rule")))
            .collect()
    };
    for (tool, input, rule) in [
        ("read", ".env", "Read(.env)"),
        ("bash", "uname -m", "answer.run"),
    ] {
        let decided = wanted(tool, input);
        assert!(decided.len() >= 4, "{tool}: {decided:?}");
        assert_eq!(decided[0].0, "ask", "{tool}: {decided:?}");
        let by_grant = ("allow".to_owned(), rule.to_owned());
        assert!(
            decided[1..].iter().all(|it| *it == by_grant),
            "{tool}: {decided:?}"
        );
    }

    // Played again, policy decides every call as it did.
    let started = served.payloads("run.started");
    let of_step = started.iter().find(|it| !it["step"].is_null()).unwrap();
    let plan_run = of_step["parent"].as_str().unwrap();
    let replay = served
        .0
        .artel(["replay", plan_run, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(replay["differences"], json!([]), "{replay}");
    assert!(replay["decided"].as_u64().unwrap() >= 8, "{replay}");
}

/// The same answers over HTTP; a grant for good is an admin's.
#[test]
fn an_answer_over_http_reaches_as_far_as_at_the_terminal() {
    let (served, _model) = served(Stage::new(mind()));
    let id = served.0.asked();
    let listen = served.status()["running"]["listen"].clone();
    let listen = listen.as_str().unwrap();
    served.approve_over_http(listen, &id);
    let token = served.token("developer");
    let mut answered = 0;
    until("both are answered", || {
        let calls = get(listen, &token, "/api/v1/waiting")["calls"].clone();
        for call in calls.as_array().unwrap() {
            let (call, hash) = (call["id"].as_str().unwrap(), call["hash"].as_str().unwrap());
            let path = format!("/api/v1/waiting/calls/{call}");
            let body = format!(r#"{{"hash":"{hash}","answer":"run"}}"#);
            post(listen, &token, &path, &body);
            answered += 1;
        }
        answered == 2
    });
    until("the end", || served.0.count("changeset.created") == 1);
    assert_eq!(served.0.count("tool.asked"), 2);
}
