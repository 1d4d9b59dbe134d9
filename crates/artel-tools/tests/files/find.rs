//! Finding: by name, by content, by looking.

use std::fs;
use std::os::unix::fs::symlink;

use artel_tools::ToolErrorKind::{BadInput, NotFound, Refused, Unfit};
use serde_json::json;

use crate::{Shop, contains};

fn tree() -> Shop {
    let shop = Shop::new(&[
        (".gitignore", "/target\n*.log\n"),
        (".hidden/x.rs", "needle\n"),
        ("src/lib.rs", "//! needle\nfn Needle() {}\nlast\n"),
        ("src/deep/mod.rs", "one\ntwo needle\nthree\nfour\nneedle\n"),
        ("src/secret_key", "needle only here\n"),
        ("notes.md", "a needle\n"),
        ("top_secret.md", "needle\n"),
        ("target/out.rs", "needle\n"),
        ("run.log", "needle\n"),
    ]);
    fs::write(shop.at("data.bin"), b"needle\0needle").unwrap();
    symlink("/etc", shop.at("etc")).unwrap();
    symlink("lib.rs", shop.at("src/link.rs")).unwrap();
    shop
}

#[test]
fn names_are_found_by_pattern() {
    let shop = tree();
    let table = [
        (
            json!({"pattern": "*.rs"}),
            "src/deep/mod.rs\nsrc/lib.rs\nsrc/link.rs",
        ),
        (
            json!({"pattern": "**/*.rs"}),
            "src/deep/mod.rs\nsrc/lib.rs\nsrc/link.rs",
        ),
        (json!({"pattern": "src/*.rs"}), "src/lib.rs\nsrc/link.rs"),
        (
            json!({"pattern": "*.rs", "path": "src/deep"}),
            "src/deep/mod.rs",
        ),
        (
            json!({"pattern": "deep/*.rs", "path": "src"}),
            "src/deep/mod.rs",
        ),
        (json!({"pattern": "*.{md,toml}"}), "notes.md\ntop_secret.md"),
        (json!({"pattern": ".hidden/*"}), ".hidden/x.rs"),
        (json!({"pattern": ".*"}), ".gitignore"),
        (json!({"pattern": "d*/"}), "src/deep"),
        (json!({"pattern": "target/*.rs"}), "target/out.rs"),
        (json!({"pattern": "./src/**/mod.rs"}), "src/deep/mod.rs"),
        (json!({"pattern": "etc/*"}), ""),
        (
            json!({"pattern": "none/*"}),
            "no file matches `none/*` in the tree",
        ),
    ];
    for (input, expected) in table {
        if expected.is_empty() {
            shop.fails("glob", input, Refused);
        } else {
            assert_eq!(shop.does("glob", input.clone()), expected, "{input}");
        }
    }
    contains(
        &shop.fails("glob", json!({"pattern": "[a"}), BadInput),
        "cannot be read",
    );
    contains(
        &shop.fails("glob", json!({"pattern": "*", "path": "scr"}), NotFound),
        "similar paths: `src",
    );
    shop.fails("glob", json!({"pattern": "../*"}), Refused);
}

#[test]
fn many_names_are_cut_in_order() {
    let shop = Shop::new(&[]);
    for number in 0..1200 {
        fs::write(shop.at(&format!("{number:04}.txt")), "").unwrap();
    }
    let found = shop.run("glob", json!({"pattern": "*.txt"})).unwrap();
    assert!(found.is_partial);
    let lines: Vec<_> = found.text.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[499]),
        (501, "0000.txt", "0499.txt")
    );
    contains(lines[500], "the first 500 of 1200");
}

#[test]
fn content_is_found_and_what_may_not_be_read_is_not() {
    let shop = tree();
    insta::assert_snapshot!(shop.does("grep", json!({"pattern": "needle"})), @"
    notes.md
    1:a needle
    src/deep/mod.rs
    2:two needle
    5:needle
    src/lib.rs
    1://! needle
    [4 matches in 3 files]
    ");
    insta::assert_snapshot!(shop.does("grep", json!({"pattern": "needle", "path": "src/deep", "before": 1, "after": 1})), @"
    src/deep/mod.rs
    1-one
    2:two needle
    3-three
    4-four
    5:needle
    [2 matches in 1 files]
    ");
    let files =
        json!({"pattern": "needle", "output": "files", "glob": "*.rs", "ignore_case": true});
    assert_eq!(
        shop.does("grep", files),
        "src/deep/mod.rs\nsrc/lib.rs\n[2 files]"
    );
    let count =
        json!({"pattern": "needle", "output": "count", "type": "rust", "ignore_case": true});
    assert_eq!(
        shop.does("grep", count),
        "src/deep/mod.rs: 2\nsrc/lib.rs: 2\n[2 files, 4 matching lines]"
    );
}

#[test]
fn explicit_files_are_searched_though_ignored() {
    let shop = tree();
    contains(
        &shop.does("grep", json!({"pattern": "needle", "path": "run.log"})),
        "run.log\n1:needle",
    );
    contains(
        &shop.does("grep", json!({"pattern": "needle", "path": "target"})),
        "target/out.rs",
    );
    shop.fails(
        "grep",
        json!({"pattern": "x", "path": "top_secret.md"}),
        Refused,
    );
    shop.fails(
        "grep",
        json!({"pattern": "root", "path": "etc/passwd"}),
        Refused,
    );
    contains(
        &shop.does("grep", json!({"pattern": "no such thing"})),
        "nothing matches `no such thing`",
    );
}

#[test]
fn matches_can_go_over_lines() {
    let shop = Shop::new(&[("a", "begin\nmiddle\nend\n")]);
    contains(
        &shop.does("grep", json!({"pattern": "begin.*end", "multiline": true})),
        "1:begin\n2:middle\n3:end\n",
    );
    contains(
        &shop.fails("grep", json!({"pattern": "begin\\nmiddle"}), BadInput),
        "write `multiline` as `true`",
    );
    contains(
        &shop.fails("grep", json!({"pattern": "fn main("}), BadInput),
        "write `pattern` as `fn main\\(`",
    );
    contains(
        &shop.fails("grep", json!({"pattern": "x", "type": "rusty"}), BadInput),
        "similar types: `rust",
    );
}

#[test]
fn results_are_bounded_and_counted() {
    let many = "match\n".repeat(5000);
    let wide = format!("{}needle{}\n", "x".repeat(100_000), "y".repeat(100_000));
    let shop = Shop::new(&[("b", &many), ("a", &many), ("wide", &wide)]);
    let found = shop
        .run("grep", json!({"pattern": "match", "limit": 10}))
        .unwrap();
    assert!(found.is_partial);
    assert_eq!(found.data["matches"], 10_000);
    assert!(found.text.starts_with("a\n1:match\n2:match\n"));
    contains(&found.text, "10:match\n[10 of 10000 matches, in 2 files");
    let wide = shop.does("grep", json!({"pattern": "needle"}));
    contains(&wide, "needle");
    assert!(wide.len() < 600, "{}", wide.len());
}

#[test]
fn a_tree_is_shown_with_sizes() {
    let shop = tree();
    insta::assert_snapshot!(shop.does("list", json!({})), @"
    .gitignore  14 B
    .hidden/
      x.rs  7 B
    data.bin  13 B
    etc -> /etc
    notes.md  9 B
    src/
      deep/
      lib.rs  31 B
      link.rs -> lib.rs
      secret_key  17 B
    top_secret.md  7 B
    [9 files, 3 folders, 2 levels deep]
    ");
    contains(
        &shop.does("list", json!({"path": "src", "depth": 1})),
        "deep/\nlib.rs",
    );
    contains(
        &shop.fails("list", json!({"path": "notes.md"}), Unfit),
        "is a file, not a folder",
    );
    shop.fails("list", json!({"path": "etc"}), Refused);
    shop.fails("list", json!({"depth": 0}), BadInput);
}

#[test]
fn names_with_line_ends_stay_on_one_line() {
    let shop = Shop::new(&[("a\nb", "x\n")]);
    assert_eq!(shop.does("glob", json!({"pattern": "*"})), "\"a\\nb\"");
    contains(&shop.does("list", json!({})), "\"a\\nb\"");
    contains(&shop.does("read", json!({"path": "a\nb"})), "x");
}
