//! Tests paths on a real tree. A case may change only the file that it names, inside or
//! outside the root. After a change the next case gets a fresh tree.

mod cases;
mod world;

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::check_line;
use cases::{ALIASES, DELETES, DENIALS, READS, WRITES};
use world::World;

/// Checks the expected result of a case, a word in the tables: `=text` is the text read,
/// `[a,b` are the names listed, `+path` was written, `-path` was removed, `!words` was
/// refused with that reason.
fn check(world: &mut World, op: &str, path: &str, expected: &str, extra: &Value) {
    let before = world.snapshot();
    let asked = world.spell(path);
    let mut line = json!({"root": world.root(), "path": asked, "op": op, "content": "new"});
    for (key, value) in extra.as_object().into_iter().flatten() {
        line[key] = serde_json::from_str(&world.spell(&value.to_string())).unwrap();
    }
    let answer: Value = serde_json::from_str(&check_line(&line.to_string())).unwrap();
    let said = format!("{op} {path:?} -> {answer}");
    let after = world.snapshot();
    let (kind, rest) = expected.split_at(1);
    let decision = if kind == "!" { "deny" } else { "allow" };
    assert_eq!(answer["decision"], decision, "{said}");
    match kind {
        "=" => assert_eq!(answer["text"], rest, "{said}"),
        "[" => assert_eq!(
            answer["entries"],
            json!(rest.split(',').collect::<Vec<_>>()),
            "{said}"
        ),
        "!" => assert!(answer["reason"].as_str().unwrap().contains(rest), "{said}"),
        "+" => assert_eq!(
            after.get(Path::new(rest)).map(String::as_str),
            Some("new"),
            "{said}"
        ),
        "-" => assert!(before.contains_key(Path::new(rest)), "{said}"),
        _ => panic!("{expected} is no expectation"),
    }
    let may_change = match kind {
        "+" | "-" => Some(Path::new(rest)),
        _ => None,
    };
    world::assert_only(&before, &after, may_change, &said);
    if may_change.is_some() {
        *world = World::new();
    }
}

fn check_all(op: &str, table: &[(&str, &str)]) {
    let mut world = World::new();
    for (path, expected) in table {
        check(&mut world, op, path, expected, &Value::Null);
    }
}

#[test]
fn the_tables_are_long_enough() {
    let cases = READS.len() + WRITES.len() + DELETES.len() + ALIASES.len() + DENIALS.len();
    assert!(cases >= 180, "{cases}");
}

#[test]
fn reads() {
    check_all("read", READS);
}

#[test]
fn writes() {
    check_all("write", WRITES);
}

#[test]
fn deletes() {
    check_all("delete", DELETES);
}

#[test]
fn aliases() {
    let aliases = json!({"aliases": {
        "Lib": "{B}/lib", "Gone": "{B}/gone", "Rel": "src", "Here": ".", "Empty": "",
        "Whole": "{P}", "Inside": "{P}/src", "Link": "in-dir", "Up": "..", "OutLink": "out-dir",
        "Parent": "{B}", "Slash": "/", "Git": ".git", "LibGit": "{B}/lib/.git", "Env": ".env",
        "Missing": "missing",
    }});
    let mut world = World::new();
    for (op, path, expected) in ALIASES {
        check(&mut world, op, path, expected, &aliases);
    }
}

#[test]
fn rules_that_deny_hold_for_the_resolved_path() {
    let mut world = World::new();
    for (op, rule, path, expected) in DENIALS {
        check(&mut world, op, path, expected, &json!({"deny": [rule]}));
    }
}

#[test]
fn rules_that_deny_hold_for_paths_with_a_name() {
    let mut world = World::new();
    let aliases = json!({"Rel": "src", "Link": "in-dir", "Lib": "{B}/lib"});
    for (rule, path, expected) in [
        ("Read(src/**)", "@Rel/main.rs", "!Read(src/**)"),
        ("Read(@Rel/**)", "@Rel/main.rs", "!Read(@Rel/**)"),
        ("Read(@Rel/deep/**)", "@Rel/main.rs", "=main"),
        ("Read(src/main.rs)", "@Link/main.rs", "!Read(src/main.rs)"),
        ("Read(@Link/**)", "@Link/main.rs", "!Read(@Link/**)"),
        (
            "Read(@Lib/private/**)",
            "@Lib/private/x",
            "!Read(@Lib/private/**)",
        ),
        ("Read(private/**)", "@Lib/private/x", "!Read(private/**)"),
    ] {
        let extra = json!({"deny": [rule], "aliases": aliases});
        check(&mut world, "read", path, expected, &extra);
    }
}

#[test]
fn devices_are_never_opened() {
    let world = World::new();
    // Only root can create devices; otherwise the links to devices must suffice.
    if !world.add_devices() {
        return;
    }
    for path in ["null", "tty", "disk"] {
        for op in ["read", "write", "delete"] {
            let line = json!({"root": world.root(), "path": path, "op": op});
            let answer = check_line(&line.to_string());
            assert!(answer.contains("a pipe, a socket or a device"), "{answer}");
        }
    }
}

#[test]
fn a_long_way_down_is_still_inside() {
    let world = World::new();
    let deep = "d/".repeat(300) + "file";
    for (op, decision) in [("write", "allow"), ("read", "allow"), ("delete", "allow")] {
        let line = json!({"root": world.root(), "path": deep, "op": op});
        assert!(check_line(&line.to_string()).contains(decision));
    }
    let deeper = "e/".repeat(600) + "file";
    let line = json!({"root": world.root(), "path": deeper, "op": "write"});
    assert!(check_line(&line.to_string()).contains("deeper than"));
    let most = "f/".repeat(2048) + "file";
    let line = json!({"root": world.root(), "path": most, "op": "write"});
    assert!(check_line(&line.to_string()).contains("too long"));
    assert!(!world.root().join("e").exists() && !world.root().join("f").exists());
}

#[test]
fn long_texts_are_cut_and_long_folders_too() {
    let world = World::new();
    let big = std::fs::File::create(world.root().join("big")).unwrap();
    big.set_len(40 << 30).unwrap();
    let line = json!({"root": world.root(), "path": "big", "op": "read"});
    let answer: Value = serde_json::from_str(&check_line(&line.to_string())).unwrap();
    assert_eq!(answer["text"].as_str().unwrap().len(), 1 << 20);
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("the first 1048576 of")
    );
}

#[test]
fn garbage_is_refused_with_a_reason() {
    let world = World::new();
    let root = world.root();
    let lines = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{".into(),
        "{}".into(),
        "x\0y".into(),
        json!({"root": root, "path": "a", "op": "chmod"}).to_string(),
        json!({"root": root, "path": 7, "op": "read"}).to_string(),
        json!({"root": root, "path": "README.md", "op": "write", "content": 7}).to_string(),
        json!({"root": root, "path": "README.md", "op": "read", "deny": "Read"}).to_string(),
        json!({"root": root, "path": "README.md", "op": "read", "deny": ["Read(a"]}).to_string(),
        json!({"root": root, "path": "README.md", "op": "read", "deny": ["Read(../x)"]})
            .to_string(),
        json!({"root": "", "path": "README.md", "op": "read"}).to_string(),
        json!({"root": "proj", "path": "README.md", "op": "read"}).to_string(),
        json!({"root": root.join("README.md"), "path": "x", "op": "write"}).to_string(),
        json!({"root": root.join("missing"), "path": "x", "op": "write"}).to_string(),
    ];
    for line in lines {
        let answer = check_line(&line);
        assert!(!answer.contains('\n'), "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["decision"], "deny", "{line}");
        assert!(!answer["reason"].as_str().unwrap().is_empty(), "{line}");
    }
}

#[test]
fn a_repository_is_not_built_piece_by_piece() {
    let world = World::new();
    let write = |path: &str| {
        let line = json!({"root": world.root(), "path": path, "op": "write"});
        check_line(&line.to_string())
    };
    assert!(write("trap/config").contains("allow"));
    assert!(write("trap/objects/pack/x").contains("allow"));
    assert!(write("trap/refs/heads/main").contains("allow"));
    assert!(write("trap/HEAD").contains("never.git-metadata"));
    assert!(!world.root().join("trap/HEAD").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_line_has_one_answer(line in any::<String>()) {
        let answer = check_line(&line);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        prop_assert_eq!(&answer["decision"], "deny");
    }

    #[test]
    fn no_spelling_reaches_the_outside(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "..", ".", "", "src", "up", "out-dir", "root-link", "abs-root", "in-dir", "secret.txt",
                "outside", "proj-evil", "proj", "proc-root", "chain", "~", "\u{2025}", "..\\", "%2e%2e",
            ]),
            1..7,
        ),
        op in prop::sample::select(vec!["read", "write", "delete"]),
        lead in prop::sample::select(vec!["", "/", "{P}/", "{B}/", "./", "//"]),
    ) {
        let world = World::new();
        let before = world.outside();
        let path = world.spell(&format!("{lead}{}", parts.join("/")));
        let answer = check_line(&json!({"root": world.root(), "path": path, "op": op}).to_string());
        prop_assert!(!answer.contains("OUTSIDE"), "{path}: {answer}");
        prop_assert_eq!(before, world.outside(), "{}", path);
    }
}
