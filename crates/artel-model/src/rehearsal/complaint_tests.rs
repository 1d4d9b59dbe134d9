//! A file that is not a script is refused, with the place and what is expected there.

use artel_types::FailureCode;
use proptest::prelude::*;

use super::RehearsalModel;

#[track_caller]
fn check_refused(text: &str, place: &str, why: &str) {
    let failure = RehearsalModel::load(text, "s.yaml").expect_err(text);
    assert_eq!(failure.code, FailureCode::M011);
    let shown = failure.to_string();
    assert!(shown.contains(&format!("`s.yaml{place}")), "{shown}");
    assert!(shown.contains(why), "{shown}");
    assert!(shown.chars().count() < 600, "{shown}");
}

#[test]
fn what_is_no_script_is_refused_with_its_place() {
    for (text, place, why) in [
        ("", "", "expected `lines`, `rules` or `otherwise`"),
        ("lines: []", "", "it is empty"),
        ("hello", ":1:1", "expected a mapping"),
        ("- say: x", ":1:1", "expected a mapping"),
        ("lines: 3", ":1:8", "expected a list"),
        ("lines: [\n", ":1:8", "unclosed"),
        ("lines:\n\t- say: x", ":2:2", "tabs"),
        (
            "lime: []",
            ":1:1",
            "`lime`, expected one of lines, rules, otherwise",
        ),
        ("lines:\n- sya: x", ":2:3", "`sya`, expected one of expect"),
        ("lines:\n- say: [1]", ":2:8", "expected a string"),
        (
            "lines:\n- say: x\n  say: y",
            ":3:3",
            "`say` stands here twice",
        ),
        ("lines:\n- {}", ":2", "it answers nothing"),
        ("lines:\n-", ":2", "it answers nothing"),
        (
            "lines: [{ say: x }]\n---\nlines: []",
            ":3:1",
            "second document",
        ),
        ("lines: [{ say: !include /etc/passwd }]", ":1:25", "tag"),
    ] {
        check_refused(text, place, why);
    }
}

#[test]
fn wrong_fields_are_refused_with_what_is_expected() {
    for (line, why) in [
        (
            "then: explode",
            "`explode`, expected one of cut, garbage, silent, slow",
        ),
        ("then: cut\n  fault: key", "keep one"),
        ("then: cut\n  stop: end", "neither `stop` nor `usage`"),
        ("fault: server\n  usage: none", "neither `stop` nor `usage`"),
        ("fault: 429", "a sort of fault such as `rate-limit`"),
        ("fault: bang", "`bang`, expected one of key, quota"),
        (
            "fault: { kind: bang }",
            "`bang`, expected one of key, quota",
        ),
        ("fault: { status: 429 }", "`kind`"),
        ("fault: { kind: key, status: 99999 }", "fits `u16`"),
        (
            "fault: { kind: key, retry_after: soon }",
            "`soon` is no length of time",
        ),
        ("pace: 20", "`20` is no length of time; expected `20ms`"),
        ("pieces: 0", "nonzero"),
        ("pieces: -1", "0 or more"),
        ("times: 0", "nonzero"),
        ("usage: some", "`none`, or numbers"),
        ("usage: { in: 3 }", "`in`, expected one of input"),
        ("usage: { input: -3 }", "0 or more"),
        ("stop: never", "`never`, expected one of end"),
        ("call: read", "such as `read: { path: a.txt }`"),
        ("call: [read]", "such as `read: { path: a.txt }`"),
        ("call: {}", "expected one tool"),
        ("call: { a: {}, b: {} }", "several are a list"),
        ("call: { a: [1] }", "expected a mapping"),
        ("call: { a: { x: .nan } }", "non-finite"),
        ("expect: hello", "expected a mapping"),
        (
            "expect: { sais: y }",
            "`sais`, expected one of says, matches",
        ),
        ("expect: { matches: '(' }", "unclosed group"),
        ("expect: { matches: '(a{1000}){1000}' }", "size limit"),
        ("<<: { say: y }", "no `<<`"),
    ] {
        let text = format!("lines:\n- say: x\n  {line}");
        let failure = RehearsalModel::load(&text, "s.yaml").expect_err(&text);
        let shown = failure.to_string();
        assert!(shown.contains(why), "{line}\n{shown}");
        assert!(
            shown.contains("`s.yaml:2") || shown.contains("`s.yaml:3:"),
            "{shown}"
        );
    }
    check_refused("rules: [{ say: x }]", ":1", "a rule needs `expect`");
    check_refused("otherwise: { say: x, times: 2 }", ":1", "for ever");
    check_refused(
        "otherwise: { say: x, expect: { says: y } }",
        ":1",
        "for ever",
    );
}

#[test]
fn hostile_scripts_are_refused_before_they_grow() {
    let anchored = "lines:\n- say: &a xxxxxxxxxxxxxxxxxxxxxxxx\n- say: *a\n";
    check_refused(anchored, ":2:11", "no anchors");
    let bomb = (1..30).fold(
        "lines:\n- call:\n    a0: &a0 [x, x]\n".to_owned(),
        |text, at| {
            let before = at - 1;
            text + &format!("    a{at}: &a{at} [*a{before}, *a{before}]\n")
        },
    );
    check_refused(&bomb, ":3:13", "no anchors");
    check_refused("lines: *nobody", ":1:8", "unknown anchor");
    let flow = "{ a: ".repeat(50_000);
    check_refused(&format!("lines:\n- call: {flow}"), ":2:", "32 deep");
    let block = "- ".repeat(100_000);
    check_refused(
        &format!("lines:\n- call:\n    a:\n    {block}"),
        ":4:",
        "32 deep",
    );
    let list = "[".repeat(500_000);
    check_refused(
        &format!("lines:\n- call: {{ a: {list}"),
        ":2:",
        "recursion limit",
    );
    check_refused(
        &format!("lines: [{{ say: {} }}]", "x".repeat(1 << 20)),
        "",
        "1 MiB",
    );
    let name = "n".repeat(10_000);
    let failure = RehearsalModel::load("", &name).unwrap_err();
    assert!(failure.what.chars().count() < 150, "{failure}");
    let shown = RehearsalModel::load(&"k".repeat(900), "s.yaml")
        .unwrap_err()
        .to_string();
    assert!(shown.len() < 500, "{shown}");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        words in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    "lines:", "\n- ", "\n  ", "say: ", "call: ", "{", "}", "[", "]", ",", "expect: ",
                    "matches: ", "says: ", "fault: ", "rate-limit", "'", "\"", "|", ">", "&a ", "*a",
                    "!!str ", "? ", ": ", "---\n", "\t", "#", "null", "~", "usage: ", "1", "then: cut",
                ]).prop_map(str::to_owned),
                ".{0,5}",
            ],
            0..40,
        ),
    ) {
        let text = words.concat();
        if let Err(failure) = RehearsalModel::load(&text, "s.yaml") {
            prop_assert_eq!(failure.code, FailureCode::M011);
        }
    }
}
