//! Writing and editing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use artel_tools::ToolErrorKind::{BadInput, Mismatch, NotFound, Refused, Unfit};
use proptest::prelude::*;
use serde_json::json;

use crate::{Shop, contains};

#[test]
fn files_are_made_with_their_folders_and_replaced_when_known() {
    let shop = Shop::new(&[("old", "one\ntwo\n")]);
    let write =
        |path: &str, content: &str| shop.does("write", json!({"path": path, "content": content}));
    assert_eq!(write("a/b/c.txt", "x\n"), "created `a/b/c.txt` (1 line)");
    assert_eq!(
        write("a/b/c.txt", "y\nz\n"),
        "changed `a/b/c.txt` (1 → 2 lines)"
    );
    assert_eq!(
        write("a/b/c.txt", "y\nz\n"),
        "`a/b/c.txt` is unchanged: it had this content already"
    );
    let lost = shop.fails("write", json!({"path": "old", "content": "x"}), Mismatch);
    contains(&lost, "was not read in this run");
    contains(&lost, "`read` it first");
    shop.does("read", json!({"path": "old"}));
    fs::write(shop.at("old"), "three\n").unwrap();
    contains(
        &shop.fails("write", json!({"path": "old", "content": "x"}), Mismatch),
        "changed by something else",
    );
    assert_eq!(shop.content("old"), "three\n");
    shop.does("read", json!({"path": "old"}));
    fs::set_permissions(shop.at("old"), Permissions::from_mode(0o750)).unwrap();
    let done = shop
        .run("write", json!({"path": "old", "content": "four\n"}))
        .unwrap();
    assert_eq!(done.changed, ["old"]);
    assert_eq!(
        shop.at("old").metadata().unwrap().permissions().mode() & 0o777,
        0o750
    );
}

#[test]
fn a_megabyte_arrives_byte_for_byte() {
    let shop = Shop::new(&[]);
    let piece = "quotes \" ' ` \\ \\n $(x) %s\r\n\ttab \u{1f980} ä 日本 \u{0} end\n";
    let content = piece.repeat(1_000_000 / piece.len() + 1);
    shop.does("write", json!({"path": "big", "content": content}));
    assert_eq!(shop.bytes("big"), content.as_bytes());
}

#[test]
fn edits_are_exact_and_unique() {
    let shop = Shop::new(&[("a.rs", "fn a() {\n    one();\n}\nfn b() {\n    one();\n}\n")]);
    let edit = |old: &str, new: &str| json!({"path": "a.rs", "old": old, "new": new});
    let before = shop.content("a.rs");
    insta::assert_snapshot!(shop.fails("edit", edit("one();", "x"), Mismatch), @"
    `old` is in `a.rs` 2 times, at lines 2, 5; nothing was changed
    - give more of the lines around the one you mean
    - write `all` as `true` to change all 2
    ");
    insta::assert_snapshot!(shop.fails("edit", edit("fn b() {\n  one();", "x"), Mismatch), @"
    `old` is not in `a.rs`; nothing was changed
    - lines 4-5 differ from `old` only in the indentation; the file has:
         4	fn b() {
         5	    one();
    ");
    shop.fails("edit", edit("", "x"), BadInput);
    shop.fails("edit", edit("one", "one"), BadInput);
    contains(
        &shop.fails(
            "edit",
            json!({"path": "b.rs", "old": "a", "new": "b"}),
            NotFound,
        ),
        "a.rs",
    );
    assert_eq!(shop.content("a.rs"), before);
    assert_eq!(
        shop.does("edit", edit("fn b() {\n    one();", "fn b() {\n    two();")),
        "edited `a.rs`: replaced at line 4"
    );
    contains(
        &shop.does(
            "edit",
            json!({"path": "a.rs", "old": "fn", "new": "pub fn", "all": true}),
        ),
        "2 times, at lines 1, 4",
    );
    assert_eq!(
        shop.content("a.rs"),
        "pub fn a() {\n    one();\n}\npub fn b() {\n    two();\n}\n"
    );
}

#[test]
fn edits_keep_what_they_do_not_change() {
    let shop = Shop::new(&[("crlf", "a\r\nb\r\n")]);
    fs::write(shop.at("wide"), b"\xff\xfea\0b\0").unwrap();
    fs::write(shop.at("latin"), b"\xfc b\n").unwrap();
    let edit =
        |path: &str, new: &str| shop.run("edit", json!({"path": path, "old": "b", "new": new}));
    edit("crlf", "c\nd").unwrap();
    assert_eq!(shop.content("crlf"), "a\r\nc\r\nd\r\n");
    edit("wide", "ü").unwrap();
    assert_eq!(shop.bytes("wide"), b"\xff\xfea\0\xfc\0");
    edit("latin", "ß").unwrap();
    assert_eq!(shop.bytes("latin"), b"\xfc \xdf\n");
    let no_place = shop.fails(
        "edit",
        json!({"path": "latin", "old": "ß", "new": "→"}),
        Unfit,
    );
    contains(&no_place, "`→` has no place in windows-1252");
    fs::write(shop.at("jp"), b"\x93\xfa b").unwrap();
    shop.does("read", json!({"path": "jp", "encoding": "shift_jis"}));
    edit("jp", "本").unwrap();
    assert_eq!(shop.bytes("jp"), b"\x93\xfa \x96\x7b");
    fs::write(shop.at("bin"), b"\0\x01b").unwrap();
    shop.fails(
        "edit",
        json!({"path": "bin", "old": "b", "new": "c"}),
        Unfit,
    );
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_edited() {
    let shop = Shop::new(&[("a", "one two\n")]);
    let edit = json!({"path": "a", "old": "one", "new": "1"});
    shop.does("read", json!({"path": "a"}));
    fs::write(shop.at("a"), "one three\n").unwrap();
    contains(
        &shop.fails("edit", edit.clone(), Mismatch),
        "changed by something else since you read it",
    );
    shop.does("read", json!({"path": "a"}));
    shop.does("edit", edit);
    shop.does("edit", json!({"path": "a", "old": "three", "new": "3"}));
    assert_eq!(shop.content("a"), "1 3\n");
}

#[test]
fn several_edits_work_on_one_another_and_can_be_previewed() {
    let shop = Shop::new(&[("a", "one\ntwo\n")]);
    let edits = json!([{"old": "one", "new": "1 x"}, {"old": "x", "new": "y"}]);
    insta::assert_snapshot!(shop.does("multi_edit", json!({"path": "a", "edits": edits, "dry_run": true})), @"
    nothing was changed; this is what would be:
    --- a/a
    +++ b/a
    @@ -1,2 +1,2 @@
    -one
    +1 y
     two
    ");
    assert_eq!(shop.content("a"), "one\ntwo\n");
    shop.does("multi_edit", json!({"path": "a", "edits": edits}));
    assert_eq!(shop.content("a"), "1 y\ntwo\n");
    let wrong = json!([{"old": "two", "new": "2"}, {"old": "tow", "new": "2"}]);
    contains(
        &shop.fails("multi_edit", json!({"path": "a", "edits": wrong}), Mismatch),
        "edit 2 of 2: `old` is not in",
    );
    shop.fails("multi_edit", json!({"path": "a", "edits": []}), BadInput);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn one_edit_that_does_not_fit_changes_nothing(
        words in prop::collection::vec("[a-z]{3,6}", 2..8),
        at in 0_usize..8,
    ) {
        let content: String = words.iter().enumerate().map(|(n, word)| format!("{n}:{word}\r\n")).collect();
        let shop = Shop::new(&[("a", &content)]);
        let mut edits: Vec<_> = words.iter().enumerate()
            .map(|(n, word)| json!({"old": format!("{n}:{word}"), "new": format!("{n}:x\n")}))
            .collect();
        let all = json!({"path": "a", "edits": edits});
        edits.insert(at.min(edits.len()), json!({"old": "NOT THERE", "new": ""}));
        let before = shop.everything();
        let wrong = shop.run("multi_edit", json!({"path": "a", "edits": edits}));
        prop_assert!(wrong.is_err());
        prop_assert_eq!(shop.everything(), before);
        prop_assert!(shop.run("multi_edit", all).is_ok());
    }

    #[test]
    fn whatever_is_written_is_there(content: String, name in "[a-z\\\\ ]{1,8}x") {
        let shop = Shop::new(&[]);
        shop.run("write", json!({"path": name, "content": content})).unwrap();
        prop_assert_eq!(shop.content(&name), content);
    }
}

#[test]
fn a_batch_is_written_whole_or_not_at_all() {
    let shop = Shop::new(&[("known", "old\n"), ("file", ""), ("unread", "x\n")]);
    shop.does("read", json!({"path": "known"}));
    symlink("/tmp", shop.at("out")).unwrap();
    let before = shop.everything();
    for (bad, kind) in [
        ("file/below", Unfit),
        ("fixed/x", Refused),
        ("../outside", Refused),
        ("out/artel-test-outside", Refused),
        ("unread", Mismatch),
        ("new/deep/a", BadInput),
    ] {
        let files = json!([
            {"path": "new/deep/a", "content": "a"},
            {"path": "known", "content": "new\n"},
            {"path": bad, "content": "bad"},
        ]);
        shop.fails("batch_write", json!({"files": files}), kind);
        assert_eq!(shop.everything(), before, "{bad}");
    }
    let files =
        json!([{"path": "new/deep/a", "content": "a"}, {"path": "known", "content": "new\n"}]);
    let done = shop.run("batch_write", json!({"files": files})).unwrap();
    assert_eq!(
        done.text,
        "created `new/deep/a` (1 line)\nchanged `known` (1 → 1 line)"
    );
    assert_eq!(done.changed, ["new/deep/a", "known"]);
}

#[test]
fn a_link_inside_is_followed_and_stays_a_link() {
    let shop = Shop::new(&[("real", "old\n")]);
    symlink("real", shop.at("link")).unwrap();
    shop.does("read", json!({"path": "link"}));
    shop.does("write", json!({"path": "link", "content": "new\n"}));
    assert_eq!(shop.content("real"), "new\n");
    assert!(shop.at("link").symlink_metadata().unwrap().is_symlink());
    contains(&shop.does("read", json!({"path": "real"})), "new");
}
