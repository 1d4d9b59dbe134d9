//! Who sees which tools, and what finding them later saves.

use artel_tools::{ToolRegistry, ToolViewer, built_in};
use serde_json::json;

use crate::support::Run;

fn viewer(role: &str) -> ToolViewer {
    ToolViewer {
        role: role.to_owned(),
        tools: None,
    }
}

#[test]
fn few_tools_are_sent_until_others_are_found() {
    let run = Run::new();
    let sent = |run: &Run| -> Vec<String> {
        let found = run.hands.bench.notes().found.clone();
        let viewer = viewer("engineer");
        let cards = run.hands.registry.sent(&viewer, &found);
        cards.into_iter().map(|card| card.name.clone()).collect()
    };
    let always = [
        "bash",
        "edit",
        "find_tools",
        "finish",
        "glob",
        "grep",
        "read",
        "write",
    ];
    assert_eq!(sent(&run), always);
    run.call("find_tools", json!({"names": ["git_diff", "todo"]}))
        .result
        .unwrap();
    assert_eq!(sent(&run)[always.len()..], ["git_diff", "todo"]);
    let eleven: Vec<_> = (0..11).map(|n| format!("t{n}")).collect();
    let many = run
        .call("find_tools", json!({"names": eleven}))
        .result
        .unwrap_err();
    assert_eq!(many.what, "too many tools requested: 11 (max 10)");
    let both = run.call("find_tools", json!({"names": ["todo"], "bundle": "git"}));
    assert!(both.result.is_err());
    let about = run
        .call("find_tools", json!({"about": "undo a commit"}))
        .result
        .unwrap();
    assert!(
        about.text.contains("git_revert") || about.text.contains("git_commit"),
        "{}",
        about.text
    );
    let bundle = run
        .call("find_tools", json!({"bundle": "nothing"}))
        .result
        .unwrap_err();
    assert!(bundle.to_string().contains("bundles: "), "{bundle}");
}

#[test]
fn a_role_does_not_see_what_it_may_not_use() {
    let registry = ToolRegistry::of(built_in());
    let names = |role: &str| -> Vec<String> {
        registry
            .visible(&viewer(role))
            .map(|card| card.name.clone())
            .collect()
    };
    assert!(names("engineer").contains(&"git_commit".to_owned()));
    assert!(!names("inspector").contains(&"git_commit".to_owned()));
    assert!(names("inspector").contains(&"git_blame".to_owned()));
    assert!(!names("engineer").contains(&"git_fetch".to_owned()));
    let run = Run::with(artel_policy::Policy {
        role: "inspector".to_owned(),
        ..Default::default()
    });
    let hidden = run
        .call("find_tools", json!({"names": ["git_commit"]}))
        .result
        .unwrap_err();
    assert_eq!(hidden.what, "unknown tool: git_commit");
}

/// Tokens of definitions over twenty turns, with four characters to a token: all schemas each time
/// against the manifest, the schemas in every request, and five that are found on the way.
#[test]
fn finding_tools_later_halves_what_definitions_cost() {
    let registry = ToolRegistry::of(built_in());
    let all: Vec<_> = registry.cards().collect();
    assert!(all.len() >= 30, "{}", all.len());
    let size = |card: &artel_tools::ToolDescriptor| {
        card.name.len() + card.description.len() + card.input.to_string().len()
    };
    let eager: usize = all.iter().map(|card| size(card)).sum::<usize>() * 20;
    let mut found: Vec<String> = Vec::new();
    let mut lazy = 0;
    for turn in 0..20 {
        if turn % 4 == 0 {
            let next = registry
                .manifest(&viewer("engineer"), &found)
                .first()
                .map(|line| line.name.clone());
            found.extend(next);
        }
        let engineer = viewer("engineer");
        let sent = registry.sent(&engineer, &found);
        lazy += sent.iter().map(|card| size(card)).sum::<usize>();
        let manifest = registry.manifest(&engineer, &found);
        lazy += manifest
            .iter()
            .map(|line| line.name.len() + line.line.len() + 3)
            .sum::<usize>();
    }
    assert!(lazy * 2 <= eager, "{lazy} of {eager}");
}
