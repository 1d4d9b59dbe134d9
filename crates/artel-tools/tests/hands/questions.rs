//! What a person saw is what runs.

use std::sync::Arc;

use artel_policy::rules::PolicyRule;
use artel_policy::{GrantScope, Policy};
use artel_tools::{ToolApprovalAnswer, ToolCallApprover, UnfinishedToolCallError};
use artel_types::{Actor, ActorSurface};
use serde_json::json;

use crate::support::{Run, Script, yes};

fn asking() -> Policy {
    Policy {
        role: "engineer".to_owned(),
        ask: vec![
            PolicyRule::parse("Edit(ask/**)").unwrap(),
            PolicyRule::parse("Read(ask/**)").unwrap(),
        ],
        ..Policy::default()
    }
}

fn with_person(policy: Policy, script: &Arc<Script>) -> Run {
    let mut run = Run::with(policy);
    run.hands.approver = Some(Arc::clone(script) as Arc<dyn ToolCallApprover>);
    run
}

#[test]
fn a_yes_is_for_this_call_only() {
    let script = Script::of(vec![yes()]);
    let run = with_person(asking(), &script);
    let input = json!({"path": "ask/a.txt", "content": "x"});
    assert!(run.call("write", input.clone()).result.is_ok());
    assert!(
        run.call("write", json!({"path": "ask/b.txt", "content": "x"}))
            .result
            .is_err()
    );
    assert!(!run.path().join("ask/b.txt").exists());
    assert_eq!(script.asked.lock().unwrap().len(), 2);
    let ada = Actor::human("ada", ActorSurface::Web);
    assert_eq!(
        run.journal.others(),
        [("tool.answered", ada)],
        "the yes is hers, the rest is the agent's"
    );
}

#[test]
fn a_no_is_told_with_its_reason() {
    let script = Script::of(vec![Box::new(|_| {
        Some(ToolApprovalAnswer::No {
            reason: "not today".to_owned(),
        })
    })]);
    let run = with_person(asking(), &script);
    let called = run.call("write", json!({"path": "ask/a.txt", "content": "x"}));
    assert!(
        called
            .result
            .unwrap_err()
            .to_string()
            .contains("the person said no: not today")
    );
    assert!(run.journal.text().contains("not today"));
}

#[test]
fn a_question_that_is_left_stays_open() {
    let script = Script::of(vec![Box::new(|_| Some(ToolApprovalAnswer::Left))]);
    let run = with_person(asking(), &script);
    let input = json!({"path": "ask/a.txt", "content": "x"});
    let called = run.hands.call("call-1", "write", &input);
    assert_eq!(called, Err(UnfinishedToolCallError::Left));
    assert!(!run.path().join("ask/a.txt").exists());
    let kinds = run.journal.kinds();
    assert_eq!(kinds, ["tool.requested"], "it is neither answered nor over");
}

#[test]
fn a_grant_for_the_run_spares_the_next_question() {
    let script = Script::of(vec![Box::new(|question| {
        Some(question.yes(GrantScope::Run, "needed"))
    })]);
    let run = with_person(
        Policy {
            role: "engineer".to_owned(),
            ..Policy::default()
        },
        &script,
    );
    run.file(".env", "A=1\n");
    run.file("deploy/.env", "A=1\n");
    assert!(run.call("read", json!({"path": ".env"})).result.is_ok());
    assert!(
        run.call("read", json!({"path": ".env", "limit": 1}))
            .result
            .is_ok()
    );
    assert_eq!(script.asked.lock().unwrap().len(), 1);
    assert!(
        run.call("read", json!({"path": "deploy/.env"}))
            .result
            .is_err()
    );
}

/// The question shows where a path leads. If that changes before the answer, it is put again.
#[test]
fn a_link_that_turns_meanwhile_is_asked_about_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let link = folder.path().join("ask/link");
    let turn = {
        let link = link.clone();
        Box::new(move |_: &artel_tools::ToolApprovalQuestion| {
            std::fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("second.txt", &link).unwrap();
            Some(ToolApprovalAnswer::once())
        })
    };
    let no = Box::new(|_: &artel_tools::ToolApprovalQuestion| {
        Some(ToolApprovalAnswer::No {
            reason: String::new(),
        })
    });
    let script = Script::of(vec![turn, no]);
    let mut run = with_person(asking(), &script);
    // The tree of this run is the folder that the script knows.
    run.hands.bench.tree = Arc::new(artel_files::RootFolder::open(folder.path()).unwrap());
    std::fs::create_dir(folder.path().join("ask")).unwrap();
    for name in ["first.txt", "second.txt"] {
        std::fs::write(folder.path().join("ask").join(name), "old\n").unwrap();
    }
    std::os::unix::fs::symlink("first.txt", &link).unwrap();
    let called = run.call(
        "edit",
        json!({"path": "ask/link", "old": "old", "new": "new"}),
    );
    assert!(called.result.is_err());
    let asked = script.asked.lock().unwrap();
    let shown: Vec<_> = asked
        .iter()
        .map(|it| it.record.targets.last().unwrap().path.clone())
        .collect();
    assert_eq!(shown, ["ask/first.txt", "ask/second.txt"]);
    for name in ["first.txt", "second.txt"] {
        let text = std::fs::read_to_string(folder.path().join("ask").join(name)).unwrap();
        assert_eq!(text, "old\n");
    }
}
