//! Tests of run timelines as people see them.

use super::*;

#[test]
fn patterns_of_tools_mean_what_they_look_like() {
    for (pattern, name, is_meant) in [
        ("bash", "bash", true),
        ("bash", "bash2", false),
        ("mcp__db__*", "mcp__db__query", true),
        ("mcp__db__*", "mcp__dbx", false),
        ("*query", "MCP__db__Query", true),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "acb", false),
        ("*", "anything", true),
        ("", "bash", false),
    ] {
        assert_eq!(fits(pattern, name), is_meant, "{pattern} {name}");
    }
}

#[test]
fn long_texts_are_cut_and_secrets_left_out_of_arguments() {
    let input = serde_json::json!({
        "path": "a.txt",
        "content": "x".repeat(245),
        "headers": {"api_key": "sk-1", "max_tokens": 5, "Auth-Token": "t"},
    });
    let shown = tools::arguments(&input);
    assert!(shown.contains("… [245 bytes]"), "{shown}");
    assert!(
        !shown.contains("sk-1") && !shown.contains("\"t\""),
        "{shown}"
    );
    assert!(shown.contains("\"max_tokens\":5"), "{shown}");
}

#[test]
fn numbers_are_written_for_people() {
    assert_eq!(line::tokens(3_940), "3.9k");
    assert_eq!(line::grouped(1_847), "1,847");
    assert_eq!(line::grouped(12), "12");
    assert_eq!(line::span(2_140), "2.1 s");
    assert_eq!(line::first_line("\n one\n two", 10), "one…");
}
