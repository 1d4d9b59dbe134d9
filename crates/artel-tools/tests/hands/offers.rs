//! What a yes may reach, and what the journal says of it.

use std::sync::Arc;

use artel_policy::rules::PolicyRule;
use artel_policy::{CommandApproval, Grant, GrantScope, Policy};
use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use artel_types::EventOutcome::{Allowed, Denied, Done};
use artel_types::ForeignSource;
use serde_json::{Value, json};

use crate::support::{Run, Script, yes};

fn engineer() -> Policy {
    Policy {
        role: "engineer".to_owned(),
        commands: CommandApproval::Ask,
        ..Policy::default()
    }
}

/// Puts one call to a person who says no, and returns what was asked.
fn asked(policy: Policy, tool: &str, input: Value) -> ToolApprovalQuestion {
    let script = Script::of(vec![]);
    let mut run = Run::with(policy);
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn ToolCallApprover>);
    for file in [".env", "a[1]/.env", "notes.txt"] {
        run.file(file, "A=1\n");
    }
    assert!(run.call(tool, input).result.is_err());
    script.asked.lock().unwrap().remove(0)
}

#[test]
fn offers_are_narrow_and_would_spare_the_next_question() {
    let all = [GrantScope::Run, GrantScope::Always];
    let cases: [(&str, Value, &[&str], &[GrantScope]); 6] = [
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
        // No rule can say it; the very call can be allowed all the same.
        (
            "bash",
            json!({"command": "ls; ls"}),
            &[],
            &[GrantScope::Run],
        ),
        ("read", json!({"path": ".env"}), &["Read(.env)"], &all),
        (
            "read",
            json!({"path": "a[1]/.env"}),
            &[r"Read(a\[1\]/.env)"],
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
        let (once, _) = AttributedToolApproval::from(ToolApprovalAnswer::once()).fact(&question);
        assert_eq!((once.answer.as_str(), once.granted), ("once", None));
        let (run, _) =
            AttributedToolApproval::from(question.yes(GrantScope::Run, "why")).fact(&question);
        let granted = run.granted.unwrap();
        assert_eq!(granted.rules, rules, "{input}");
        assert_eq!(granted.exactly.is_some(), rules.is_empty(), "{input}");
        assert_eq!((run.answer.as_str(), run.reason.as_str()), ("run", "why"));
    }
}

/// What no rule can say is allowed as it is, in this run, and nothing that is like it.
#[test]
fn the_very_call_can_be_allowed_for_the_run() {
    let take = Box::new(|question: &ToolApprovalQuestion| Some(question.yes(GrantScope::Run, "")));
    let script = Script::of(vec![take]);
    let mut run = Run::with(Policy {
        ask: vec![PolicyRule::parse("Read(notes.txt)").unwrap()],
        ..engineer()
    });
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn ToolCallApprover>);
    run.file("notes.txt", "one\n");
    for _ in 0..2 {
        assert!(
            run.call("read", json!({"path": "notes.txt"}))
                .result
                .is_ok()
        );
    }
    assert_eq!(script.asked.lock().unwrap().len(), 1);
    let other = run.call("read", json!({"path": "notes.txt", "limit": 1}));
    assert!(other.result.is_err(), "it is another call");
}

/// What was read elsewhere, a secret and a way out: each time is another one.
#[test]
fn what_is_asked_about_every_time_offers_nothing() {
    let script = Script::of(vec![]);
    let mut run = Run::with(Policy {
        grants: vec![Grant {
            rule: PolicyRule::parse("Fetch(docs.rs)").unwrap(),
            scope: GrantScope::Always,
            reason: String::new(),
        }],
        ..engineer()
    });
    drop(run.hands.marks.read([ForeignSource::host("example.org")]));
    run.hands.marks.handed_out("github");
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn ToolCallApprover>);
    drop(run.call("fetch", json!({"url": "https://docs.rs/x"})));
    let asked = script.asked.lock().unwrap().remove(0);
    assert_eq!((asked.scopes(), asked.offer()), (Vec::new(), None));
    let (fact, _) = AttributedToolApproval::from(asked.yes(GrantScope::Run, "")).fact(&asked);
    assert_eq!((fact.answer.as_str(), fact.granted), ("once", None));
}

#[test]
fn an_offer_that_was_taken_spares_the_next_question_and_no_other() {
    let take = Box::new(|question: &ToolApprovalQuestion| Some(question.yes(GrantScope::Run, "")));
    let script = Script::of(vec![take]);
    let mut run = Run::with(engineer());
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn ToolCallApprover>);
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

/// Where a rule says to ask, no rule helps; a person who was asked may allow the very call.
#[test]
fn what_a_rule_asks_about_can_be_allowed_as_it_is() {
    let policy = Policy {
        ask: vec![PolicyRule::parse("Bash(cargo build:*)").unwrap()],
        ..engineer()
    };
    let question = asked(policy, "bash", json!({"command": "cargo build"}));
    assert!(question.offers.is_empty());
    assert_eq!(question.scopes(), [GrantScope::Run]);
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
                ("tool.finished", artel_types::EventOutcome::Failed),
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
        run.hands.approver = Some(Script::of(answers) as Arc<dyn ToolCallApprover>);
        run.file(".env", "A=1\n");
        run.file("notes.txt", "one\n");
        drop(run.call(tool, input.clone()));
        assert_eq!(run.journal.outcomes(), expected, "{tool} {input}");
    }
}
