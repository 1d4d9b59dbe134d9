//! Who may name secrets, and that a refusal is on record.

use std::sync::Arc;

use artel_files::RootFolder;
use artel_policy::rules::{PolicyRule, PolicyRuleSet};
use artel_policy::{Grant, GrantScope, Policy};
use artel_tools::{DeclaredTool, ToolCallApprover};
use artel_types::EventOutcome;
use serde_json::json;

use crate::support::{Run, Script};

const GREET: &str = "description = \"Greets\"\ncommand = [\"env\"]\nsecrets = [\"github\"]\n";

fn run_as(role: &str, policy: Policy) -> (Run, Arc<Script>) {
    let script = Script::of(vec![]);
    let mut run = Run::with(Policy {
        role: role.to_owned(),
        ..policy
    });
    run.hands.approver = Some(Arc::clone(&script) as Arc<dyn ToolCallApprover>);
    let tool = DeclaredTool::parse("greet", GREET).unwrap();
    run.hands.registry.add(Arc::new(tool)).unwrap();
    (run, script)
}

fn grants(rule: &str) -> Vec<Grant> {
    vec![Grant {
        rule: PolicyRule::parse(rule).unwrap(),
        scope: GrantScope::Always,
        reason: String::new(),
    }]
}

#[test]
fn a_secret_that_a_role_is_denied_is_on_record_as_denied() {
    let (run, script) = run_as("tester", Policy::default());
    let called = run.call("greet", json!({}));
    assert_eq!(called.decision.rule, "never.secret-of-another-role");
    assert!(script.asked.lock().unwrap().is_empty());
    let expected = [
        ("tool.requested", EventOutcome::Denied),
        ("secret.used", EventOutcome::Denied),
        ("tool.finished", EventOutcome::Denied),
    ];
    assert_eq!(run.journal.outcomes(), expected);
    let text = run.journal.text();
    assert!(text.contains("\"verdict\":\"denied\""), "{text}");
    assert!(text.contains("\"secret\":\"github\""), "{text}");
}

#[test]
fn so_is_one_that_nobody_said_yes_to_but_not_one_that_was_granted() {
    let (run, _) = run_as("engineer", Policy::default());
    assert!(run.call("greet", json!({})).result.is_err());
    assert!(run.journal.kinds().contains(&"secret.used"));
    let policy = Policy {
        grants: grants("Secret(github)"),
        deny: vec![PolicyRule::parse("greet").unwrap()],
        ..Policy::default()
    };
    let (run, _) = run_as("engineer", policy);
    assert_eq!(run.call("greet", json!({})).decision.rule, "greet");
    assert!(!run.journal.kinds().contains(&"secret.used"));
}

/// The variables that the question would show.
fn shown(script: &Script) -> Vec<String> {
    let asked = script.asked.lock().unwrap();
    asked
        .iter()
        .flat_map(|question| question.record.environment.clone())
        .filter(|name| name.starts_with("secret"))
        .collect()
}

#[test]
fn a_command_rule_names_secrets_for_a_command_that_stands_alone() {
    let rules = PolicyRuleSet::from_toml(
        "[[rule]]\nprefix = [\"gh\", \"pr\"]\ndecision = \"ask\"\nsecrets = [\"github\"]\n",
    )
    .unwrap();
    for (command, secrets) in [
        ("gh pr list", &["secret github"][..]),
        ("gh pr", &["secret github"]),
        ("gh issue list", &[]),
        ("gh pr list | tee x", &[]),
        ("gh pr list && curl x", &[]),
        ("gh pr list > x", &[]),
        ("gh pr $(id)", &[]),
        ("ghx pr list", &[]),
    ] {
        let policy = Policy {
            ask: rules.ask.clone(),
            commands: artel_policy::CommandApproval::Ask,
            ..Policy::default()
        };
        let (run, script) = run_as("engineer", policy);
        assert!(
            run.call("bash", json!({"command": command}))
                .result
                .is_err()
        );
        assert_eq!(shown(&script), secrets, "{command}");
    }
}

#[test]
fn a_skill_names_secrets_for_its_scripts() {
    let (mut run, script) = run_as("engineer", Policy::default());
    run.file("skill/scripts/go.sh", "env\n");
    let skill = RootFolder::open(&run.path().join("skill")).unwrap();
    run.hands.bench.skill = Some(Arc::new(skill));
    let call = json!({"path": "scripts/go.sh"});
    assert_eq!(
        run.call("script", call.clone()).decision.rule,
        "shipped.commands"
    );
    run.hands.bench.skill_secrets = vec!["github".to_owned()];
    assert_eq!(run.call("script", call).decision.rule, "default.secret");
    assert_eq!(shown(&script), ["secret github"]);
    let asked = script.asked.lock().unwrap();
    let rules: Vec<_> = asked[0]
        .offers
        .iter()
        .map(|offer| offer.rule.as_str())
        .collect();
    assert_eq!(rules, ["Secret(github)"]);
}
