use super::*;

/// A change that touches every line of a file.
fn all_of(file: &str, text: &str) -> ChangedLines {
    let count = text.lines().count();
    let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
    ChangedLines::of(&format!(
        "diff --git a/{file} b/{file}\n+++ b/{file}\n@@ -0,0 +1,{count} @@\n{added}"
    ))
}

fn found(file: &str, text: &str) -> Vec<String> {
    let found = unwieldy(file, text, &all_of(file, text));
    let found = found.into_iter();
    found
        .map(|it| {
            assert_eq!(it.severity, FindingSeverity::Warning);
            let first: Vec<_> = it
                .why
                .split(" blocks")
                .next()
                .unwrap()
                .split(" lines")
                .collect();
            format!("{} {}", it.line.unwrap(), first[0])
        })
        .collect()
}

#[test]
fn a_long_function_is_told_with_its_name_and_place() {
    let body = "    total += 1\n".repeat(119);
    let text = format!("import os\n\n\ndef sums(\n    a,\n):\n{body}\n\ndef short():\n    pass\n");
    assert_eq!(found("a.py", &text), ["4 `sums` has 122"]);
    let body = "    total += 1;\n".repeat(119);
    for (file, head) in [
        ("a.rs", "pub fn sums<'a>(b: &'a str) -> u8"),
        ("a.go", "func sums(b string) int"),
        ("a.js", "export const sums = (b) =>"),
        ("A.java", "public int sums(String b)"),
    ] {
        let text = format!("// {{\n{head} {{\n{body}}}\nfn short() {{ let c = '{{'; }}\n");
        assert_eq!(found(file, &text), ["2 `sums` has 121"], "{file}");
    }
    let hundred = format!("def sums():\n{}", "    a()\n".repeat(99));
    assert_eq!(
        found("a.py", &hundred),
        [""; 0],
        "a hundred are not too many"
    );
}

#[test]
fn five_blocks_inside_of_each_other_are_told_and_four_are_not() {
    let deep = |blocks: usize| {
        let lines = (0..blocks).map(|at| format!("{}if a:\n", "    ".repeat(at + 1)));
        let lines: String = lines.collect();
        format!(
            "def walk():\n{lines}{}b()\n    for c in d:\n        e()\n",
            "    ".repeat(blocks + 1)
        )
    };
    assert_eq!(found("a.py", &deep(5)), ["1 `walk` nests 5"]);
    assert_eq!(found("a.py", &deep(4)), [""; 0]);
    let deep = |blocks: usize| {
        let (open, close) = ("for (;;) {\n".repeat(blocks), "}\n".repeat(blocks));
        format!("void walk(int a)\n{{\n{open}{{ b(\"{{\"); }}\n{close}if (c) {{ }}\n}}\n")
    };
    assert_eq!(found("a.c", &deep(5)), ["1 `walk` nests 5"]);
    assert_eq!(found("a.c", &deep(4)), [""; 0]);
    let rust = "impl Walk for Other {\n    fn walk(&self) {\n        for a in b { match a { \
        Some(c) => { if c { while d { loop { } } } } _ => {} } }\n    }\n}\n";
    assert_eq!(found("a.rs", rust), ["2 `walk` nests 5"]);
}

#[test]
fn what_the_change_did_not_touch_or_is_written_otherwise_is_left_alone() {
    let text = format!("def sums():\n{}", "    a()\n".repeat(120));
    let below = ChangedLines::of("diff --git a/a.py b/a.py\n+++ b/a.py\n@@ -130,0 +131 @@\n+x\n");
    assert_eq!(unwieldy("a.py", &text, &below), []);
    let inside = ChangedLines::of("diff --git a/a.py b/a.py\n+++ b/a.py\n@@ -60,0 +61 @@\n+x\n");
    assert_eq!(unwieldy("a.py", &text, &inside).len(), 1);
    for file in ["tests/test_a.py", "notes.md", "a.sql"] {
        assert_eq!(found(file, &text), [""; 0], "{file}");
    }
}

#[test]
fn texts_and_notes_are_no_code() {
    let kept = |text: &str, style| -> Vec<String> {
        let lines = clean(text, style).into_iter();
        lines.map(|line| line.trim_end().to_owned()).collect()
    };
    let python = "a = \"\"\"\nif b:\n\"\"\" + c\nd = 'if' # if\ne = \"\\\"if\"\n";
    assert_eq!(
        kept(python, LanguageSyntax::Python),
        ["a =", "", "  + c", "d =", "e ="].map(|it| it.to_owned()),
    );
    let rust = "f::<'a>('{', '\\'', \"{\") /* {\n{ */ g // {\n";
    let lines = kept(rust, LanguageSyntax::Rust);
    assert!(
        lines[0].starts_with("f::<'a>(") && lines[1].ends_with('g'),
        "{lines:?}"
    );
    assert!(!lines.concat().contains('{'), "{lines:?}");
}
