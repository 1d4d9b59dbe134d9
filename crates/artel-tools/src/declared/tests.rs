//! Tests which input declared tools accept and which command they would execute.

use serde_json::json;

use super::DeclaredTool;

const COUNT: &str = r#"
description = "Counts lines, words or bytes of a file"
command = ["wc", "{what}", "{loud}", "--files={list}", "--", "{path}"]
blocked = ["secret"]

[parameters.what]
type = "choice"
description = "What to count"
choices = ["-l", "-w"]

[parameters.loud]
type = "flag"
description = "Say more"
word = "--debug"

[parameters.list]
type = "text"
description = "A list"
pattern = "[a-z]+"
optional = true

[parameters.path]
type = "path"
description = "The file"
"#;

fn words(input: serde_json::Value) -> Result<Vec<String>, String> {
    let tool = DeclaredTool::parse("count", COUNT).unwrap();
    let assembled = tool.assemble(&input);
    assembled.map(|it| it.words).map_err(|trouble| trouble.what)
}

#[test]
fn gaps_are_filled_word_by_word() {
    let full = json!({"what": "-l", "loud": true, "list": "abc", "path": "a b; rm x"});
    assert_eq!(
        words(full).unwrap(),
        ["wc", "-l", "--debug", "--files=abc", "--", "a b; rm x"]
    );
    let short = json!({"what": "-w", "path": "$(x)"});
    assert_eq!(words(short).unwrap(), ["wc", "-w", "--", "$(x)"]);
}

/// A model's value in one placeholder cannot create another, nor hide a dash behind an
/// empty one.
#[test]
fn a_value_with_a_gap_in_it_stays_a_value() {
    let text = r#"
description = "Joins"
command = ["echo", "{a}{b}"]

[parameters.a]
type = "text"
description = "One"
pattern = ".*"

[parameters.b]
type = "text"
description = "Another"
pattern = ".*"
"#;
    let tool = DeclaredTool::parse("joins", text).unwrap();
    let words = |a: &str, b: &str| tool.assemble(&json!({"a": a, "b": b})).map(|it| it.words);
    assert_eq!(words("{b}", "x").unwrap(), ["echo", "{b}x"]);
    assert_eq!(words("{b", "}").unwrap(), ["echo", "{b}"]);
    assert!(words("", "-rf").is_err());
    assert!(words("-", "rf").is_err());
}

#[test]
fn what_does_not_fit_is_refused_with_the_rule_named() {
    let cases = [
        (
            json!({"what": "-c", "path": "a"}),
            "`what` is none of: -l, -w",
        ),
        (json!({"what": "-l"}), "`path` is missing"),
        (
            json!({"what": "-l", "path": 3}),
            "`path` is not of type path",
        ),
        (
            json!({"what": "-l", "path": "-rf"}),
            "`path` begins with `-` and would be read as an option",
        ),
        (json!({"what": "-l", "path": "a\0b"}), "`path` holds a NUL"),
        (
            json!({"what": "-l", "path": "a", "list": "abc1"}),
            "`list` does not match its pattern `^(?:[a-z]+)$`",
        ),
        (
            json!({"what": "-l", "path": "a", "list": "abc\n"}),
            "`list` does not match its pattern `^(?:[a-z]+)$`",
        ),
        (
            json!({"what": "-l", "path": "my-secret"}),
            "the command matches the blocked pattern `secret`",
        ),
        (
            json!({"what": "-l", "path": "a", "x": 1}),
            "there is no parameter `x`",
        ),
        (json!([1]), "the input is not an object"),
    ];
    for (input, expected) in cases {
        assert_eq!(words(input).unwrap_err(), expected);
    }
}

#[test]
fn a_broken_declaration_says_where_and_what() {
    let with = |from: &str, to: &str| {
        let text = COUNT.replacen(from, to, 1);
        DeclaredTool::parse("count", &text).unwrap_err().to_string()
    };
    assert_eq!(
        with("pattern = \"[a-z]+\"\n", ""),
        "`parameters.list.pattern` is missing; say what the text may be, such as \"[a-z0-9-]{1,40}\""
    );
    assert_eq!(
        with("\"{path}\"]", "\"{paths}\"]"),
        "`command` has the gap `{paths}`, which is no parameter"
    );
    assert_eq!(
        with("\"--\", \"{path}\"]", "]"),
        "`parameters.path` stands nowhere in the command"
    );
    assert_eq!(
        with("[\"wc\", ", "["),
        "`command` begins with a gap; the program is fixed"
    );
    assert!(
        with("[a-z]+", "[a-z").starts_with("`parameters.list.pattern` is not a regular expression")
    );
    assert!(with("type = \"flag\"", "type = \"flagg\"").contains("unknown variant"));
    assert!(with("blocked = ", "blockd = ").starts_with("`4:1` unknown field"));
    assert!(
        with("[parameters.list]", "[parameters.api_token]")
            .starts_with("`parameters.api_token` looks like")
    );
    assert!(DeclaredTool::parse("Count it", COUNT).is_err());
}
