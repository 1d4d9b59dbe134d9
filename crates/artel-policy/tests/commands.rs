//! The judge of commands against attacks, bans and everyday lines, through its batch form.
//!
//! In the files of `tests/commands` a line with an object sets the family and the rules; each line
//! after it that is a string is a command under them.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its cases fails"
)]

use artel_policy::command::judge_line;
use serde_json::{Value, json};

struct Case {
    family: String,
    line: String,
    command: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut rules = json!({});
    let mut cases = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line).unwrap() {
            Value::String(command) => {
                let mut case = rules.clone();
                case["command"] = json!(command);
                cases.push(Case {
                    family: rules["family"].as_str().unwrap().to_owned(),
                    line: case.to_string(),
                    command,
                });
            }
            group => rules = group,
        }
    }
    cases
}

fn decide(case: &Case) -> (String, String) {
    let decision: Value = serde_json::from_str(&judge_line(&case.line)).unwrap();
    let text = |field: &str| decision[field].as_str().unwrap().to_owned();
    assert!(
        !text("reason").is_empty() && !text("rule").is_empty(),
        "{}",
        case.line
    );
    (
        text("decision"),
        format!("{}: {}", text("rule"), text("reason")),
    )
}

/// Returns the cases whose decision is not as wanted, for the message.
fn misjudged(cases: &[Case], is_right: impl Fn(&str) -> bool) -> Vec<String> {
    let judged = cases.iter().filter_map(|case| {
        let (decision, why) = decide(case);
        let shown: String = case.command.chars().take(100).collect();
        (!is_right(&decision)).then(|| format!("{} {decision} {shown:?} {why}", case.family))
    });
    judged.collect()
}

#[test]
fn no_attack_is_allowed() {
    let cases = cases(include_str!("commands/attacks.jsonl"));
    assert!(cases.len() >= 300, "{}", cases.len());
    let wrong = misjudged(&cases, |decision| decision != "allow");
    assert!(
        wrong.is_empty(),
        "{} allowed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_is_banned_is_denied_in_every_spelling() {
    let cases = cases(include_str!("commands/denied.jsonl"));
    assert!(cases.len() >= 40, "{}", cases.len());
    let wrong = misjudged(&cases, |decision| decision == "deny");
    assert!(
        wrong.is_empty(),
        "{} not denied:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn everyday_commands_run_without_a_question() {
    let cases = cases(include_str!("commands/benign.jsonl"));
    assert!(cases.len() >= 120, "{}", cases.len());
    let wrong = misjudged(&cases, |decision| decision == "allow");
    let most = cases.len() * 3 / 100;
    assert!(
        wrong.len() <= most,
        "{} asked:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
