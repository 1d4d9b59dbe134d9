//! Tests of the convention as a table: exit codes, output, and what each means for which
//! event.

use serde_json::json;

use super::*;

fn ended(exit: i32, stdout: &str, stderr: &str) -> HookCommandOutcome {
    HookCommandOutcome {
        exit: Some(exit),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        trouble: None,
    }
}

fn specific(event: HookEvent, field: &str, value: Value) -> String {
    let mut output = json!({"hookEventName": event.name()});
    output[field] = value;
    json!({"hookSpecificOutput": output}).to_string()
}

#[test]
fn exit_codes_mean_what_the_convention_says() {
    let pre = HookEvent::PreToolUse;
    let deny = |why: &str| HookVerdict::Deny(why.to_owned());
    assert_eq!(ended(0, "", "noise").answer(pre), Ok(HookAnswer::default()));
    assert_eq!(
        ended(0, "plain words", "").answer(pre),
        Ok(HookAnswer::default())
    );
    let blocked = ended(2, "{\"ignored\": true}", " not here\n")
        .answer(pre)
        .unwrap();
    assert_eq!(blocked.verdict, deny("not here"));
    assert_eq!(
        ended(2, "", "").answer(pre).unwrap().verdict,
        deny("it gave no reason")
    );
    let stopped = ended(2, "", "tests fail").answer(HookEvent::Stop).unwrap();
    assert_eq!(stopped.block.as_deref(), Some("tests fail"));
    assert_eq!(stopped.verdict, HookVerdict::Pass);
    for event in [HookEvent::SessionStart, HookEvent::SessionEnd] {
        let told = ended(2, "", "odd").answer(event).unwrap();
        assert_eq!((told.notice.as_deref(), told.block), (Some("odd"), None));
    }
    for (code, expected) in [
        (1, "exit code 1: oops"),
        (127, "exit code 127, a command is missing: oops"),
        (126, "exit code 126: oops"),
        (255, "exit code 255: oops"),
    ] {
        assert_eq!(
            ended(code, "", "oops").answer(pre),
            Err(expected.to_owned())
        );
    }
    assert!(HookCommandOutcome::default().answer(pre).is_err());
    let late = HookCommandOutcome {
        trouble: Some("30s are over".to_owned()),
        ..HookCommandOutcome::default()
    };
    assert_eq!(late.answer(pre), Err("30s are over".to_owned()));
}

#[test]
fn decisions_are_read_in_every_form() {
    let why = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "looks odd",
    }});
    let ask = ended(0, &why.to_string(), "")
        .answer(HookEvent::PreToolUse)
        .unwrap();
    assert_eq!(ask.verdict, HookVerdict::Ask("looks odd".to_owned()));
    for (event, text, word) in [
        (
            HookEvent::PreToolUse,
            r#"{"decision": "block", "reason": "no"}"#,
            "deny",
        ),
        (HookEvent::PreToolUse, r#"{"decision": "approve"}"#, "allow"),
        (
            HookEvent::PostToolUse,
            r#"{"decision": "block", "reason": "no"}"#,
            "block",
        ),
        (
            HookEvent::Stop,
            r#"{"decision": "block", "reason": "go on"}"#,
            "block",
        ),
        (
            HookEvent::Stop,
            r#"{"continue": false, "stopReason": "enough"}"#,
            "block",
        ),
        (HookEvent::Stop, "{}", "none"),
        (HookEvent::SessionStart, "the branch is main", "context"),
        (HookEvent::UserPromptSubmit, "today is Sunday", "context"),
        (
            HookEvent::PermissionRequest,
            r#"{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no"}}}"#,
            "deny",
        ),
    ] {
        let answer = ended(0, text, "").answer(event).unwrap();
        assert_eq!(answer.word(), word, "{text}");
    }
    for word in ["allow", "ask", "defer", "deny"] {
        let text = specific(HookEvent::PreToolUse, "permissionDecision", json!(word));
        let answer = ended(0, &text, "").answer(HookEvent::PreToolUse).unwrap();
        assert_eq!(answer.word(), word);
    }
}

#[test]
fn what_is_not_the_json_of_a_hook_is_a_failure() {
    for text in [
        "{",
        "{\"decision\": \"maybe\"}",
        "{\"continue\": \"no\"}",
        "{\"hookSpecificOutput\": []}",
        &specific(HookEvent::Stop, "permissionDecision", json!("deny")),
        &specific(HookEvent::PreToolUse, "updatedInput", json!("text")),
        &specific(
            HookEvent::PreToolUse,
            "permissionDecision",
            json!("perhaps"),
        ),
    ] {
        assert!(
            ended(0, text, "").answer(HookEvent::PreToolUse).is_err(),
            "{text}"
        );
    }
    let ask = specific(HookEvent::PostToolUse, "permissionDecision", json!("ask"));
    assert!(ended(0, &ask, "").answer(HookEvent::PostToolUse).is_err());
}

#[test]
fn words_are_bounded_and_told_apart() {
    let text = json!({
        "systemMessage": "for the person",
        "continue": false,
        "hookSpecificOutput": {
            "additionalContext": "x".repeat(20_000),
            "updatedInput": {"command": "true"},
        },
    });
    let answer = ended(0, &text.to_string(), "")
        .answer(HookEvent::PreToolUse)
        .unwrap();
    let context = answer.context.unwrap();
    assert!(
        context.ends_with("[cut: 10000 more bytes]"),
        "{}",
        context.len()
    );
    assert_eq!(answer.notice.as_deref(), Some("for the person"));
    assert_eq!(answer.stop.as_deref(), Some("it gave no reason"));
    assert_eq!(answer.input, Some(json!({"command": "true"})));
}

#[test]
fn the_strictest_verdict_stands_whatever_the_order() {
    let word = |text: &str| text.to_owned();
    let all = [
        HookVerdict::Pass,
        HookVerdict::Allow,
        HookVerdict::Ask(word("a")),
        HookVerdict::Defer(word("b")),
        HookVerdict::Deny(word("c")),
    ];
    for (low, one) in all.iter().enumerate() {
        for other in &all[low..] {
            assert_eq!(one.clone().or_stricter(other.clone()), *other);
            assert_eq!(other.clone().or_stricter(one.clone()), *other);
        }
    }
    let first = HookVerdict::Deny(word("first"));
    assert_eq!(
        first.clone().or_stricter(HookVerdict::Deny(word("second"))),
        first
    );
}
