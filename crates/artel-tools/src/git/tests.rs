//! Tests the words of the git tools, and that no value becomes an option.

use serde_json::{Value, json};

use super::{arguments, cards, operation_of};
use artel_policy::GitOperation;

fn words(tool: &str, input: Value) -> Result<String, String> {
    let call = arguments::of(tool, &input).map_err(|trouble| trouble.what)?;
    Ok(call.words.join(" "))
}

#[test]
fn inputs_become_words() {
    let cases = [
        (
            "git_diff",
            json!({"staged": true, "path": "-x"}),
            "diff --no-ext-diff --no-textconv --ignore-submodules=none --cached -- -x",
        ),
        (
            "git_show",
            json!({}),
            "show --no-show-signature --no-ext-diff --no-textconv --ignore-submodules=none HEAD^{commit} --",
        ),
        (
            "git_blame",
            json!({"path": "a", "lines": "1,2"}),
            "blame --date=short --no-textconv -L 1,2 -- a",
        ),
        (
            "git_add",
            json!({"paths": ["a", "-b"]}),
            "add --pathspec-from-file=- --pathspec-file-nul",
        ),
        ("git_add", json!({"all": true}), "add --update"),
        (
            "git_branch_create",
            json!({"name": "fix/x"}),
            "branch fix/x HEAD",
        ),
        (
            "git_switch",
            json!({"branch": "main"}),
            "switch --quiet --no-recurse-submodules main",
        ),
        (
            "git_switch",
            json!({"branch": "new", "create": true}),
            "switch --quiet --no-recurse-submodules --create new",
        ),
        (
            "git_checkout",
            json!({"target": "v1"}),
            "switch --quiet --no-recurse-submodules --detach v1",
        ),
        ("git_reset_soft", json!({}), "reset --soft HEAD~1"),
        (
            "git_pull",
            json!({}),
            "pull --ff-only --no-recurse-submodules -- origin",
        ),
        (
            "git_stash_pop",
            json!({"index": 2}),
            "stash pop --quiet stash@{2}",
        ),
    ];
    for (tool, input, expected) in cases {
        assert_eq!(words(tool, input), Ok(expected.to_owned()), "{tool}");
    }
}

#[test]
fn values_never_become_options() {
    for (tool, input) in [
        ("git_show", json!({"commit": "--output=/tmp/x"})),
        ("git_diff_between", json!({"from": "-O/tmp/x"})),
        ("git_diff_between", json!({})),
        ("git_log", json!({"commit": "--all --exec"})),
        ("git_checkout", json!({"target": "--force"})),
        ("git_switch", json!({"branch": "-f"})),
        ("git_branch_create", json!({"name": "--force"})),
        ("git_branch_create", json!({"name": "a b"})),
        ("git_fetch", json!({"remote": "--upload-pack=x"})),
        ("git_fetch", json!({"remote": "ext::sh -c x"})),
        (
            "git_pull",
            json!({"remote": "origin", "branch": "--rebase"}),
        ),
        ("git_revert", json!({"commit": "--strategy=x"})),
        ("git_cherry_pick", json!({"commits": ["a", "--exec=x"]})),
        (
            "git_blame",
            json!({"path": "a", "lines": "1,2 --contents=/etc/passwd"}),
        ),
        ("git_commit", json!({"message": "short"})),
        ("git_add", json!({})),
        ("git_show", json!({"commit": "HEAD", "exec": "x"})),
        ("git_push", json!({})),
    ] {
        assert!(words(tool, input.clone()).is_err(), "{tool} {input}");
    }
}

#[test]
fn a_name_that_nobody_knows_counts_as_never() {
    assert_eq!(operation_of("git_x"), Some(GitOperation::Rewrite));
    assert_eq!(operation_of("git_push"), Some(GitOperation::Push));
    assert_eq!(operation_of("git_merge"), Some(GitOperation::Merge));
    assert_eq!(operation_of("gitx"), None);
}

/// A schema field that the reader does not know would fail only when a model uses it.
#[test]
fn every_field_of_a_schema_is_read() {
    for (card, _) in cards::all() {
        let properties = card.input["properties"].as_object().unwrap();
        for (name, property) in properties {
            let value = match property["type"].as_str() {
                Some("boolean") => json!(true),
                Some("integer") => json!(1),
                Some("array") => json!(["abc"]),
                _ => json!("abcdefghijkl"),
            };
            let mut input = json!({ name: value });
            for required in card.input["required"].as_array().unwrap() {
                let required = required.as_str().unwrap();
                if required != name {
                    let is_list = properties[required]["type"] == "array";
                    input[required] = if is_list {
                        json!(["abc"])
                    } else {
                        json!("abcdefghijkl")
                    };
                }
            }
            let result = words(&card.name, input.clone());
            let unread = result
                .as_ref()
                .is_err_and(|what| what.contains("unknown field"));
            assert!(!unread, "{} {input}: {result:?}", card.name);
        }
        assert!(card.line.chars().count() < 100, "{}", card.name);
    }
}
