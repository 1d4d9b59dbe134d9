//! The checks from end to end: real programs in the real sandbox. This program is its own starter,
//! as Artel's is, so it has a `main` instead of the usual harness.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "it lists its tests like any harness")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test program reads the clock and the environment itself"
)]

mod shell;
mod shop;

use std::fs;

use artel_policy::PolicyAction;
use artel_tools::ToolErrorKind;
use serde_json::json;

use crate::shop::{Shop, has, tool};

const TESTS: &[(&str, fn())] = &[
    (
        "a_failing_test_has_its_name_message_and_line",
        a_failing_test_has_its_name_message_and_line,
    ),
    (
        "nothing_runs_without_a_framework",
        nothing_runs_without_a_framework,
    ),
    (
        "formatters_change_the_named_file_alone",
        formatters_change_the_named_file_alone,
    ),
    (
        "checkers_say_file_line_and_severity",
        checkers_say_file_line_and_severity,
    ),
    (
        "checks_that_are_too_many_are_counted",
        checks_that_are_too_many_are_counted,
    ),
    (
        "a_job_with_a_host_keeps_a_connection",
        shell::a_job_with_a_host_keeps_a_connection,
    ),
    (
        "a_connection_that_the_caller_keeps_counts_for_whoever_it_calls",
        shell::a_connection_that_the_caller_keeps_counts_for_whoever_it_calls,
    ),
    (
        "a_connection_that_is_kept_ends_containment_by_itself",
        shell::a_connection_that_is_kept_ends_containment_by_itself,
    ),
    (
        "whoever_waits_is_told_for_what",
        shell::whoever_waits_is_told_for_what,
    ),
    (
        "secrets_reach_one_child_and_no_text",
        shell::secrets_reach_one_child_and_no_text,
    ),
    (
        "a_program_that_is_missing_has_others_named",
        shell::a_program_that_is_missing_has_others_named,
    ),
    (
        "without_network_a_command_says_what_has_it",
        shell::without_network_a_command_says_what_has_it,
    ),
    (
        "with_hosts_a_command_reaches_those_alone",
        shell::with_hosts_a_command_reaches_those_alone,
    ),
];

fn main() {
    artel_sandbox::enter_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        if !has("--ignored") {
            TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        }
        return;
    }
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, test) in TESTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
}

fn a_failing_test_has_its_name_message_and_line() {
    let shop = Shop::new(&[
        ("py/setup.py", ""),
        (
            "py/tests/test_sums.py",
            "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_good(self):\n        \
             self.assertEqual(2, 2)\n\n    def test_bad(self):\n        self.assertEqual(2, 3, 'broken')\n",
        ),
    ]);
    let Some(shop) = shop else { return };
    let tool = tool("run_tests");
    let words = tool.intends(&json!({}), &shop.bench).unwrap();
    let expected = ["python3", "-m", "unittest", "discover", "-v", "-s", "tests"];
    let expected = expected.map(str::to_owned);
    assert_eq!(words, [PolicyAction::Words(expected.into())]);
    let seen = tool.run(&json!({}), &shop.bench).unwrap();
    assert!(
        seen.text.starts_with("1 passed, 1 failed, 0 skipped"),
        "{}",
        seen.text
    );
    let failure = &seen.data["runs"][0]["failures"][0];
    assert_eq!(failure["name"], "test_sums.Sums.test_bad");
    assert_eq!(failure["file"], "py/tests/test_sums.py");
    assert_eq!(failure["line"], 9);
    assert_eq!(failure["message"], "AssertionError: 2 != 3 : broken");
    let one = json!({"file": "py/tests/test_sums.py", "test": "Sums.test_good"});
    let seen = tool.run(&one, &shop.bench).unwrap();
    assert_eq!(
        (&seen.data["passed"], &seen.data["failed"]),
        (&json!(1), &json!(0)),
        "{}",
        seen.text
    );
}

fn nothing_runs_without_a_framework() {
    let Some(shop) = Shop::new(&[("notes.txt", "hello")]) else {
        return;
    };
    for name in ["run_tests", "diagnostics"] {
        let trouble = tool(name).run(&json!({}), &shop.bench).unwrap_err();
        assert_eq!(trouble.kind, ToolErrorKind::NotFound);
    }
    let trouble = tool("run_tests").run(&json!({}), &shop.bench).unwrap_err();
    assert_eq!(trouble.what, "no test framework detected");
    let seen = tool("format")
        .run(&json!({"paths": ["notes.txt"]}), &shop.bench)
        .unwrap();
    assert!(
        seen.text.contains("no formatter available"),
        "{}",
        seen.text
    );
    assert!(
        fs::read_dir(&shop.spool).unwrap().next().is_none(),
        "something was started"
    );
}

fn formatters_change_the_named_file_alone() {
    let ugly = "pub  fn  f( )->u8{1}\n";
    let Some(shop) = Shop::new(&[
        ("go.mod", "module x\n\ngo 1.19\n"),
        ("a.go", "package   x\nfunc  F( )  int {\nreturn 1}\n"),
        ("bad.go", "package x\nfunc {\n"),
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "mod  other;\npub  fn  f( )->u8{1}\n"),
        ("src/other.rs", ugly),
    ]) else {
        return;
    };
    let format = |path: &str| {
        tool("format")
            .run(&json!({"paths": [path]}), &shop.bench)
            .unwrap()
    };
    let text = |path: &str| fs::read_to_string(shop.bench.tree.path().join(path)).unwrap();
    if has("gofmt") {
        let seen = format("a.go");
        assert_eq!(seen.changed, ["a.go"], "{}", seen.text);
        assert_eq!(text("a.go"), "package x\n\nfunc F() int {\n\treturn 1\n}\n");
        assert!(format("a.go").changed.is_empty(), "it is formatted already");
        let seen = format("bad.go");
        assert!(seen.text.contains("gofmt failed"), "{}", seen.text);
        assert_eq!(text("bad.go"), "package x\nfunc {\n");
    }
    if has("rustfmt") {
        let seen = format("src/lib.rs");
        assert_eq!(seen.changed, ["src/lib.rs"], "{}", seen.text);
        assert_eq!(
            text("src/lib.rs"),
            "mod other;\npub fn f() -> u8 {\n    1\n}\n"
        );
        assert_eq!(text("src/other.rs"), ugly, "a module was not named");
    }
}

const MANIFEST: &str = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn checkers_say_file_line_and_severity() {
    let Some(shop) = Shop::new(&[
        ("go/go.mod", "module x\n\ngo 1.19\n"),
        (
            "go/a.go",
            "package x\n\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Printf(\"%d\", \"x\")\n}\n",
        ),
        ("rust/Cargo.toml", MANIFEST),
        ("rust/src/lib.rs", "pub fn f() -> u8 {\n    \"x\"\n}\n"),
    ]) else {
        return;
    };
    for (program, path, file, line) in [
        ("go", "go", "go/a.go", 6),
        ("cargo", "rust", "rust/src/lib.rs", 2),
    ] {
        if !has(program) {
            continue;
        }
        let seen = tool("diagnostics")
            .run(&json!({"paths": [path]}), &shop.bench)
            .unwrap();
        let found = &seen.data["findings"][0];
        assert_eq!(found["file"], file, "{}", seen.text);
        assert_eq!(found["line"], line, "{}", seen.text);
        assert!(
            seen.text.contains(&format!("{file}:{line}")),
            "{}",
            seen.text
        );
    }
}

fn checks_that_are_too_many_are_counted() {
    let modules: Vec<String> = (1..=11)
        .map(|number| format!("m{number:02}/go.mod"))
        .collect();
    let files: Vec<_> = modules
        .iter()
        .map(|path| (path.as_str(), "module x\n"))
        .collect();
    let Some(shop) = Shop::new(&files) else {
        return;
    };
    let seen = tool("diagnostics").run(&json!({}), &shop.bench).unwrap();
    let last = seen.text.lines().last().unwrap();
    assert_eq!(
        last,
        "3 of 11 checks were left out (go-vet in `m09`, go-vet in `m10`, go-vet in `m11`): run \
         them with `paths`"
    );
    assert_eq!(
        seen.data["left_out"][0],
        json!({"tool": "go-vet", "folder": "m09"})
    );
    assert!(seen.is_partial);
}
