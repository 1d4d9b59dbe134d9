//! What a yes may reach, and what the journal says of it.

use std::sync::Arc;

use artel_policy::rules::Rule;
use artel_policy::{Commands, Policy, Scope};
use artel_tools::{Approver, Question, Reply};
use artel_types::Outcome::{Allowed, Denied, Done};
use serde_json::{Value, json};

use crate::support::{Run, Script, yes};

fn engineer() -> Policy {
    Policy {
        role: "engineer".to_owned(),
        commands: Commands::Ask,
        ..Policy::default()
    }
}

/// Puts one call to a person who says no, and returns what was asked.
fn asked(policy: Policy, tool: &str, input: Value) -> Question {
    let script = Script::of(vec![]);
    let mut run = Run::with(policy);
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn Approver>);
    for file in [".env", "a[1]/.env", "notes.txt"] {
        run.file(file, "A=1\n");
    }
    assert!(run.call(tool, input).result.is_err());
    script.asked.lock().unwrap().remove(0)
}

#[test]
fn offers_are_narrow_and_would_spare_the_next_question() {
    let all = [Scope::Run, Scope::Session, Scope::Always];
    let cases: [(&str, Value, &[&str], &[Scope]); 6] = [
        (
            "bash",
            json!({"command": "cargo build --release"}),
            &["Bash(cargo build:*)"],
            &all,
        ),
        (
            "bash",
            json!({"command": "python3 x.py"}),
            &["Bash(python3 x.py:*)"],
            &all,
        ),
        ("bash", json!({"command": "ls; ls"}), &[], &[]),
        ("read", json!({"path": ".env"}), &["Read(.env)"], &all),
        (
            "read",
            json!({"path": "a[1]/.env"}),
            &["Read(a[[]1[]]/.env)"],
            &all,
        ),
        (
            "fetch",
            json!({"url": "https://docs.rs/x"}),
            &["Fetch(docs.rs)"],
            &all,
        ),
    ];
    for (tool, input, rules, scopes) in cases {
        let question = asked(engineer(), tool, input.clone());
        let offered: Vec<_> = question.offers.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(offered, rules, "{input}");
        assert_eq!(question.scopes(), scopes, "{input}");
        let Reply::Yes { grants } = question.yes(Scope::Session, "why") else {
            panic!("a yes");
        };
        assert_eq!(grants.len(), rules.len());
        assert!(
            grants
                .iter()
                .all(|it| it.scope == Scope::Session && it.reason == "why")
        );
        let once = question.yes(Scope::Once, "");
        assert!(matches!(once, Reply::Yes { grants } if grants.is_empty()));
    }
}

#[test]
fn an_offer_that_was_taken_spares_the_next_question_and_no_other() {
    let take = Box::new(|question: &Question| Some(question.yes(Scope::Run, "")));
    let script = Script::of(vec![take]);
    let mut run = Run::with(engineer());
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn Approver>);
    for file in ["a[1]/.env", "a1/.env"] {
        run.file(file, "A=1\n");
    }
    for _ in 0..2 {
        assert!(
            run.call("read", json!({"path": "a[1]/.env"}))
                .result
                .is_ok()
        );
    }
    assert_eq!(script.asked.lock().unwrap().len(), 1);
    assert!(run.call("read", json!({"path": "a1/.env"})).result.is_err());
}

/// Where a rule says to ask, no grant helps, so none is offered.
#[test]
fn what_is_always_asked_about_offers_nothing() {
    let policy = Policy {
        ask: vec![Rule::parse("Bash(cargo build:*)").unwrap()],
        ..engineer()
    };
    let question = asked(policy, "bash", json!({"command": "cargo build"}));
    assert!(question.offers.is_empty() && question.scopes().is_empty());
}

#[test]
fn every_event_of_a_call_has_its_true_outcome() {
    let no: fn() -> Vec<_> = Vec::new;
    let cases = [
        (
            "read",
            json!({"path": "notes.txt"}),
            no(),
            vec![("tool.requested", Allowed), ("tool.finished", Done)],
        ),
        (
            "write",
            json!({"path": ".git/hooks/x", "content": "x"}),
            no(),
            vec![("tool.requested", Denied), ("tool.finished", Denied)],
        ),
        (
            "read",
            json!({"path": 1}),
            no(),
            vec![
                ("tool.requested", Denied),
                ("tool.finished", artel_types::Outcome::Failed),
            ],
        ),
        (
            "read",
            json!({"path": ".env"}),
            no(),
            vec![
                ("tool.requested", Done),
                ("tool.answered", Denied),
                ("tool.finished", Denied),
            ],
        ),
        (
            "read",
            json!({"path": ".env"}),
            vec![yes()],
            vec![
                ("tool.requested", Done),
                ("tool.answered", Allowed),
                ("tool.finished", Done),
            ],
        ),
    ];
    for (tool, input, answers, expected) in cases {
        let mut run = Run::with(engineer());
        run.hands.approver = Some(Script::of(answers) as Arc<dyn Approver>);
        run.file(".env", "A=1\n");
        run.file("notes.txt", "one\n");
        drop(run.call(tool, input.clone()));
        assert_eq!(run.journal.outcomes(), expected, "{tool} {input}");
    }
}
