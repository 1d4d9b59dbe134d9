//! What is allowed is done and written down; what is not is not.

use artel_policy::rules::PolicyRule;
use artel_policy::{Policy, PolicyAnswer};
use artel_tools::ToolErrorKind;
use artel_types::EventOutcome;
use serde_json::json;

use crate::support::Run;

#[test]
fn an_allowed_call_is_on_record_before_and_after() {
    let run = Run::new();
    let called = run.call("write", json!({"path": "a/b.txt", "content": "hello\n"}));
    assert_eq!(called.decision.answer, PolicyAnswer::Allow);
    assert_eq!(called.result.unwrap().changed, ["a/b.txt"]);
    assert_eq!(run.text("a/b.txt"), "hello\n");
    assert_eq!(run.journal.kinds(), ["tool.requested", "tool.finished"]);
    assert_eq!(run.journal.last_outcome(), EventOutcome::Done);
}

#[test]
fn what_cannot_be_written_down_is_not_done() {
    let run = Run::new();
    run.journal.fill_at(0);
    let refused = run
        .hands
        .call("c-1", "write", &json!({"path": "a", "content": "x"}));
    assert!(refused.is_err());
    assert!(!run.path().join("a").exists());
}

#[test]
fn never_is_never() {
    let run = Run::new();
    for path in [
        ".git/hooks/pre-commit",
        "sub/.Git/config",
        ".artel/x",
        "Policy/grants.toml",
        "artel.toml",
    ] {
        let called = run.call("write", json!({"path": path, "content": "x"}));
        assert_eq!(called.decision.answer, PolicyAnswer::Deny, "{path}");
        assert_eq!(called.result.unwrap_err().kind, ToolErrorKind::Refused);
        assert!(!run.path().join(path).exists());
    }
    assert_eq!(run.journal.last_outcome(), EventOutcome::Denied);
}

/// A link turns a harmless name into a protected one: the resolved name is judged.
#[test]
fn links_are_judged_by_where_they_lead() {
    let run = Run::new();
    std::fs::create_dir_all(run.path().join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", run.path().join("docs")).unwrap();
    let called = run.call("write", json!({"path": "docs/pre-commit", "content": "x"}));
    assert_eq!(called.decision.rule, "never.git-metadata");
    assert!(!run.path().join(".git/hooks/pre-commit").exists());
    std::os::unix::fs::symlink("/etc", run.path().join("etc")).unwrap();
    let called = run.call("read", json!({"path": "etc/passwd"}));
    assert_eq!(called.decision.rule, "never.outside");
}

#[test]
fn a_rule_on_files_holds_for_every_tool_that_reads_them() {
    let run = Run::with(Policy {
        role: "engineer".to_owned(),
        deny: vec![PolicyRule::parse("Read(private/**)").unwrap()],
        ..Policy::default()
    });
    run.file("private/a.txt", "needle\n");
    run.file("open.txt", "needle\n");
    assert!(
        run.call("read", json!({"path": "private/a.txt"}))
            .result
            .is_err()
    );
    let found = run
        .call("grep", json!({"pattern": "needle"}))
        .result
        .unwrap();
    assert!(
        found.text.contains("open.txt") && !found.text.contains("private"),
        "{}",
        found.text
    );
}

#[test]
fn a_key_in_an_argument_stops_the_call_and_is_not_repeated() {
    let run = Run::new();
    let key = ["sk-ant", "api03", &"a1B2c3D4".repeat(10)].join("-");
    let called = run.call(
        "write",
        json!({"path": "a", "content": format!("k = \"{key}\"")}),
    );
    assert_eq!(called.decision.rule, "never.secret-in-argument");
    let shown = called.result.unwrap_err().to_string();
    assert!(
        !shown.contains(&key) && !run.journal.text().contains(&key),
        "{shown}"
    );
    assert!(!run.path().join("a").exists());
}

#[test]
fn secrets_of_files_do_not_reach_model_or_journal() {
    let run = Run::new();
    let token = format!("ghp_{}", "Zz9".repeat(12));
    run.file(
        "notes.txt",
        &format!("token: {token}\nknown: very-known-value-1\n"),
    );
    let seen = run
        .call("read", json!({"path": "notes.txt"}))
        .result
        .unwrap()
        .text;
    for secret in [token.as_str(), "very-known-value-1"] {
        assert!(!seen.contains(secret), "{seen}");
        assert!(!run.journal.text().contains(secret));
    }
    assert!(seen.contains("token: [REDACTED]"), "{seen}");
}

#[test]
fn sensitive_files_are_not_read_when_nobody_is_there() {
    let run = Run::new();
    run.file(".env", "A=1\n");
    let called = run.call("read", json!({"path": ".env"}));
    assert_eq!(called.decision.answer, PolicyAnswer::Ask);
    assert!(
        called
            .result
            .unwrap_err()
            .to_string()
            .contains("nobody can be asked")
    );
    assert_eq!(
        run.journal.kinds(),
        ["tool.requested", "tool.answered", "tool.finished"]
    );
}

#[test]
fn an_unknown_tool_and_a_misspelt_field_say_what_there_is() {
    let run = Run::new();
    let called = run.call("raed", json!({}));
    assert_eq!(
        called.result.unwrap_err().to_string(),
        "unknown tool: raed\n- did you mean `read`?"
    );
    let called = run.call("read", json!({"file": "a"}));
    let trouble = called.result.unwrap_err();
    assert_eq!(trouble.kind, ToolErrorKind::BadInput);
    assert!(trouble.what.contains("unknown field `file`"), "{trouble}");
}
