//! Reading.

use std::fs;
use std::os::unix::fs::symlink;

use artel_tools::ToolErrorKind::{BadInput, NotFound, Refused, Unfit};
use serde_json::json;

use crate::{Shop, contains};

#[test]
fn lines_have_numbers_and_long_files_come_in_parts() {
    let long: String = (1..=2500).map(|n| format!("line {n}\n")).collect();
    let shop = Shop::new(&[("a", "one\r\ntwo\r\n"), ("long", &long), ("empty", "")]);
    insta::assert_snapshot!(shop.does("read", json!({"path": "a"})), @r"
         1	one
         2	two
    [lines end with CRLF; `edit` keeps that]
    ");
    insta::assert_snapshot!(shop.does("read", json!({"path": "empty"})), @"[the file is empty]");
    let first = shop.run("read", json!({"path": "long"})).unwrap();
    assert!(first.is_partial);
    assert!(
        first
            .text
            .ends_with("  2000\tline 2000\n[lines 1-2000 of 2500]")
    );
    let rest = shop.does("read", json!({"path": "long", "offset": 2499}));
    insta::assert_snapshot!(rest, @r"
      2499	line 2499
      2500	line 2500
    [lines 2499-2500, the end of the file]
    ");
    contains(
        &shop.fails("read", json!({"path": "long", "offset": 9999}), BadInput),
        "it has 2500 lines",
    );
    shop.fails("read", json!({"path": "long", "limit": 0}), BadInput);
    shop.fails("read", json!({"path": "long", "offset": -1}), BadInput);
}

#[test]
fn what_was_sent_is_not_sent_again_until_it_changes_or_is_asked_for() {
    let shop = Shop::new(&[("a", "one\n"), ("b/c", "")]);
    let read = |path: &str| shop.does("read", json!({"path": path}));
    contains(&read("a"), "one");
    contains(
        &read("b/../a"),
        "lines 1-1 of `a` are unchanged since you read them",
    );
    contains(&read("a"), "one");
    contains(&read("./a"), "unchanged");
    fs::write(shop.at("a"), "two\n").unwrap();
    contains(&read("a"), "two");
    contains(&shop.does("read", json!({"path": "a", "limit": 1})), "two");
}

#[test]
fn encodings_are_detected_and_said() {
    let shop = Shop::new(&[]);
    fs::write(shop.at("latin"), b"Gr\xfc\xdfe\n").unwrap();
    fs::write(shop.at("wide"), b"\xff\xfeh\0i\0").unwrap();
    fs::write(shop.at("japanese"), b"\x93\xfa\x96\x7b").unwrap();
    let latin = shop.does("read", json!({"path": "latin"}));
    contains(&latin, "Grüße");
    contains(&latin, "windows-1252, a guess");
    contains(
        &shop.does("read", json!({"path": "wide"})),
        "hi\n[encoding: UTF-16LE with a byte order mark]",
    );
    contains(
        &shop.does("read", json!({"path": "japanese", "encoding": "shift_jis"})),
        "日本",
    );
    contains(
        &shop.fails("read", json!({"path": "latin", "encoding": "utf-8"}), Unfit),
        "write `encoding` as",
    );
    contains(
        &shop.fails(
            "read",
            json!({"path": "latin", "encoding": "morse"}),
            BadInput,
        ),
        "there is no encoding `morse`",
    );
}

#[test]
fn pictures_documents_and_notebooks() {
    let shop = Shop::new(&[
        (
            "n.ipynb",
            r#"{"cells": [{"cell_type": "code", "source": ["1+1"], "outputs": []}]}"#,
        ),
        ("broken.ipynb", "{"),
        (
            "d.pdf",
            "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Kids[3 0 R]>> endobj \
            3 0 obj <</Type/Page/Contents 4 0 R>> endobj 4 0 obj <</Length 17>>\nstream\nBT (words) Tj ET \nendstream endobj",
        ),
        ("scan.pdf", "%PDF-1.4\n3 0 obj <</Type/Page>> endobj"),
    ]);
    fs::write(shop.at("p.png"), b"\x89PNG\r\n\x1a\n0000").unwrap();
    let mut large = b"\xff\xd8\xff".to_vec();
    large.resize(5_000_001, 0);
    fs::write(shop.at("large.jpg"), large).unwrap();
    let picture = shop.run("read", json!({"path": "p.png"})).unwrap();
    assert_eq!(
        (picture.images.len(), picture.images[0].media_type.as_str()),
        (1, "image/png")
    );
    assert_eq!(picture.images[0].bytes, shop.bytes("p.png"));
    assert!(
        shop.run("read", json!({"path": "p.png"}))
            .unwrap()
            .images
            .is_empty()
    );
    contains(
        &shop.fails("read", json!({"path": "large.jpg"}), Unfit),
        "at most 5.0 MB can be sent",
    );
    contains(
        &shop.does("read", json!({"path": "n.ipynb"})),
        "--- cell 1: code ---\n     2\t1+1",
    );
    contains(
        &shop.does("read", json!({"path": "broken.ipynb"})),
        "not a notebook that can be read",
    );
    contains(&shop.does("read", json!({"path": "d.pdf"})), "words");
    contains(
        &shop.fails("read", json!({"path": "scan.pdf"}), Unfit),
        "may be scanned",
    );
}

#[test]
fn what_cannot_be_read_is_said_with_what_can() {
    let shop = Shop::new(&[
        ("src/config.rs", ""),
        ("secret", "x"),
        ("dir/secret.txt", "x"),
    ]);
    fs::write(shop.at("program"), b"\x7fELF\x02\x01\x01\0\0\0").unwrap();
    symlink("/etc/passwd", shop.at("out")).unwrap();
    symlink("secret", shop.at("alias")).unwrap();
    let table = [
        ("src/confg.rs", NotFound, "similar paths: `src/config.rs"),
        ("lib/config.rs", NotFound, "similar paths: `src/config.rs"),
        (
            "src",
            Unfit,
            "`list {\"path\":\"src\"}` shows what is in it",
        ),
        ("program", Unfit, "an ELF program or library, 10 B"),
        ("secret", Refused, "the test says so"),
        ("alias", Refused, "the test says so"),
        ("../x", Refused, "leads outside"),
        ("/etc/passwd", Refused, "leads outside"),
        ("out", Refused, "leads outside"),
        ("@Nope/x", NotFound, "there is no portal `Nope`"),
        ("", BadInput, "empty"),
    ];
    for (path, kind, said) in table {
        contains(&shop.fails("read", json!({"path": path}), kind), said);
    }
}

#[test]
fn a_portal_is_read_under_its_name() {
    let (shop, _other) = Shop::new(&[]).with_portal("Docs", "page.md", "words\n");
    contains(
        &shop.does("read", json!({"path": "@Docs/page.md"})),
        "words",
    );
    contains(&shop.does("list", json!({"path": "@Docs"})), "page.md");
    contains(
        &shop.does("glob", json!({"pattern": "*.md", "path": "@Docs"})),
        "@Docs/page.md",
    );
    contains(
        &shop.fails("read", json!({"path": "@Docs/pge.md"}), NotFound),
        "@Docs/page.md",
    );
    shop.fails("read", json!({"path": "@Docs/../x"}), Refused);
}

#[test]
fn names_with_backslashes_are_names() {
    let shop = Shop::new(&[("dir\\file.txt", "inside\n")]);
    contains(&shop.does("list", json!({})), "dir\\file.txt");
    assert_eq!(
        shop.does("glob", json!({"pattern": "*.txt"})),
        "dir\\file.txt"
    );
    contains(
        &shop.does("read", json!({"path": "dir\\file.txt"})),
        "inside",
    );
    shop.does(
        "write",
        json!({"path": "dir\\file.txt", "content": "new\n"}),
    );
    shop.does(
        "write",
        json!({"path": "other\\copy.txt", "content": "new\n"}),
    );
    assert_eq!(
        shop.content("dir\\file.txt"),
        shop.content("other\\copy.txt")
    );
    contains(
        &shop.does("grep", json!({"pattern": "new"})),
        "dir\\file.txt\n1:new\n",
    );
}
