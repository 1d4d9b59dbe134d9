//! What the cards promise: schemas that agree with what is accepted, intents that name every file.

use artel_policy::{FileTarget, PolicyAction, TargetTree};
use artel_tools::{ToolErrorKind, ToolSchemaDelivery, file_tools};
use serde_json::{Value, json};

use crate::{Shop, tool_named};

/// A whole input for each tool: every property of its schema.
fn inputs() -> Vec<(&'static str, Value)> {
    vec![
        (
            "read",
            json!({"path": "a", "offset": 1, "limit": 1, "encoding": "utf-8"}),
        ),
        ("write", json!({"path": "b", "content": ""})),
        (
            "edit",
            json!({"path": "a", "old": "x", "new": "y", "all": true}),
        ),
        ("glob", json!({"pattern": "*", "path": "."})),
        (
            "grep",
            json!({"pattern": "x", "path": ".", "glob": "*", "type": "rust", "output": "count",
            "before": 0, "after": 0, "ignore_case": true, "multiline": false, "limit": 1}),
        ),
        ("list", json!({"path": ".", "depth": 1})),
        (
            "multi_edit",
            json!({"path": "a", "edits": [{"old": "x", "new": "y", "all": false}], "dry_run": true}),
        ),
        (
            "batch_write",
            json!({"files": [{"path": "b", "content": ""}]}),
        ),
        (
            "apply_patch",
            json!({"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", "reverse": false}),
        ),
    ]
}

fn keys(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn schemas_agree_with_what_is_accepted() {
    let inputs = inputs();
    let names: Vec<_> = file_tools()
        .iter()
        .map(|tool| tool.card().name.clone())
        .collect();
    assert_eq!(
        names,
        inputs.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    for (name, input) in inputs {
        let shop = Shop::new(&[("a", "x\n")]);
        let tool = tool_named(name);
        let schema = &tool.card().input;
        assert_eq!(keys(&schema["properties"]), keys(&input), "{name}");
        assert!(tool.intends(&input, &shop.bench).is_ok(), "{name}");
        for (key, property) in schema["properties"].as_object().unwrap() {
            // It is explained where it stands, or in what is said of the tool.
            let is_named = tool.card().description.contains(&format!("`{key}`"));
            let is_explained = property["description"].is_string() || is_named;
            assert!(is_explained, "{name}.{key}");
            let mut without = input.clone();
            without.as_object_mut().unwrap().remove(key);
            let required = schema["required"]
                .as_array()
                .is_some_and(|all| all.contains(&json!(key)));
            let said = tool.intends(&without, &shop.bench);
            assert_eq!(said.is_err(), required, "{name} without {key}");
        }
        let mut more = input.clone();
        more["surprise"] = json!(1);
        let said = tool.intends(&more, &shop.bench).unwrap_err();
        assert_eq!(said.kind, ToolErrorKind::BadInput);
        assert!(said.what.contains("surprise"), "{}", said.what);
        tool.run(&input, &shop.bench).unwrap();
    }
}

#[test]
fn cards_are_short_and_five_tools_are_always_there() {
    let tools = file_tools();
    for tool in &tools {
        assert!(tool.card().line.len() <= 100, "{}", tool.card().name);
        assert!(!tool.card().effects.is_empty());
    }
    let always = tools
        .iter()
        .filter(|tool| tool.card().reach == ToolSchemaDelivery::Always);
    let always: Vec<_> = always.map(|tool| tool.card().name.as_str()).collect();
    assert_eq!(always, ["read", "write", "edit", "glob", "grep"]);
}

fn here(path: &str) -> FileTarget {
    let path = path.to_owned();
    let place = TargetTree::Worktree;
    FileTarget { place, path }
}

#[test]
fn intents_name_every_file() {
    let (shop, _other) = Shop::new(&[("a", "")]).with_portal("Docs", "x", "");
    let intends = |tool: &str, input| tool_named(tool).intends(&input, &shop.bench).unwrap();
    assert_eq!(
        intends("read", json!({"path": "../x"})),
        [PolicyAction::Read(here("../x"))]
    );
    assert_eq!(
        intends("grep", json!({"pattern": "x"})),
        [PolicyAction::Read(here("."))]
    );
    let absolute = shop.at("a").canonicalize().unwrap();
    assert_eq!(
        intends("read", json!({"path": absolute})),
        [PolicyAction::Read(here("a"))]
    );
    let docs = FileTarget {
        place: TargetTree::Portal("Docs".to_owned()),
        path: "x".to_owned(),
    };
    assert_eq!(
        intends("edit", json!({"path": "@Docs/x", "old": "a", "new": "b"})),
        [PolicyAction::Read(docs.clone()), PolicyAction::Write(docs)]
    );
    let patch = "*** Begin Patch\n*** Add File: n\n+x\n*** Delete File: d\n*** Update File: u\n\
        *** Move to: v\n-x\n+y\n*** Update File: w\n-x\n+y\n*** End Patch\n";
    assert_eq!(
        intends("apply_patch", json!({"patch": patch})),
        [
            PolicyAction::Write(here("n")),
            PolicyAction::Read(here("d")),
            PolicyAction::Delete(here("d")),
            PolicyAction::Read(here("u")),
            PolicyAction::Delete(here("u")),
            PolicyAction::Write(here("v")),
            PolicyAction::Read(here("w")),
            PolicyAction::Write(here("w")),
        ]
    );
    let unknown = tool_named("read")
        .intends(&json!({"path": "@Nope/x"}), &shop.bench)
        .unwrap_err();
    assert_eq!(unknown.kind, ToolErrorKind::NotFound);
}
