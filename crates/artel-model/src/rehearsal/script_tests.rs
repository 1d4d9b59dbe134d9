//! Scripts: which request fits, and what the reply is.

use std::time::Duration;

use artel_types::model::{
    MessagePart, ModelFaultKind, ModelRequest, ReplyChunk, ReplyStopReason, TokenUsage,
};
use proptest::prelude::*;

use super::tests::{answer, ask, offering, refusal, result, script, user};

#[test]
fn a_large_script_within_the_limit_is_read() {
    let text = format!("lines: [{{ say: {} }}]", "x".repeat(1_000_000));
    assert_eq!(answer(&script(&text), &user("?")).text().len(), 1_000_000);
    let lines: String = "- say: x\n".repeat(20_000);
    assert_eq!(script(&format!("lines:\n{lines}")).unused(), 20_000);
}

fn instructed() -> ModelRequest {
    ModelRequest {
        system: "You keep the csv-report.".into(),
        ..user("hello")
    }
}

#[test]
fn a_request_that_meets_expectations_is_answered() {
    let system = instructed();
    let met: [(&str, &ModelRequest); 8] = [
        ("{}", &ModelRequest::default()),
        ("says: process sales", &user("please process sales.csv")),
        ("says: '12'", &result("read", "rows: 12")),
        ("matches: 'rows: \\d+$'", &result("read", "rows: 12")),
        ("system: csv-report", &system),
        (
            "tools: [bash, read]",
            &offering("x", &["read", "write", "bash"]),
        ),
        ("result_of: read", &result("read", "")),
        ("{ says: x, tools: [read] }", &offering("x", &["read"])),
    ];
    for (expect, request) in met {
        let expect = if expect.starts_with('{') {
            expect
        } else {
            &format!("{{ {expect} }}")
        };
        let model = script(&format!("lines: [{{ say: yes, expect: {expect} }}]"));
        assert_eq!(answer(&model, request).text(), "yes", "{expect}");
    }
}

#[test]
fn a_request_that_does_not_is_shown_the_difference() {
    let system = instructed();
    for (expect, request, shown) in [
        (
            "says: sales",
            user("process prices"),
            r#"says: expected "sales", got "process prices""#,
        ),
        (
            "says: x",
            ModelRequest::default(),
            r#"says: expected "x", got """#,
        ),
        (
            "matches: 'a+'",
            user("b"),
            r#"matches: expected `a+`, got "b""#,
        ),
        (
            "system: plan",
            system,
            r#"system: expected "plan", got "You keep the csv-rep"#,
        ),
        (
            "tools: [read, bash]",
            offering("x", &["read"]),
            "tools: expected `bash`, got `read`",
        ),
        (
            "tools: [bash]",
            user("x"),
            "tools: expected `bash`, got none",
        ),
        (
            "result_of: read",
            result("bash", ""),
            "result_of: expected `read`, got `bash`",
        ),
        (
            "result_of: read",
            user("x"),
            "result_of: expected `read`, got none",
        ),
    ] {
        let model = script(&format!("lines:\n- expect: {{ {expect} }}\n  say: yes"));
        let message = refusal(&model, &request);
        assert_eq!(
            message.lines().next(),
            Some("s.yaml:2 expects another request")
        );
        assert!(message.contains(shown), "{message}");
        assert_eq!(
            model.unused(),
            1,
            "the line waits for the request it expects"
        );
    }
}

#[test]
fn a_mismatch_shows_the_interesting_place() {
    let model = script(
        "lines:\n- say: x\n- expect:\n    says: the sum of all rows is 340 in total\n    \
         tools: [read, bash]\n    result_of: read\n  say: yes",
    );
    answer(&model, &user("?"));
    let long = format!(
        "{} the sum of all rows is 341 {}",
        "before ".repeat(80),
        "after ".repeat(80)
    );
    let request = ModelRequest {
        tools: offering("", &["read", "write"]).tools,
        ..result("bash", &long)
    };
    insta::assert_snapshot!(refusal(&model, &request), @r#"
    s.yaml:3 expects another request
      says: expected "… all rows is 340 in total", got "… all rows is 341 after after after after after…"
      tools: expected `bash`, got `read`, `write`
      result_of: expected `read`, got `bash`
    "#);
}

#[test]
fn a_script_that_is_used_up_says_so() {
    let model = script("lines: [{ say: a }, { say: b }]");
    answer(&model, &user("?"));
    answer(&model, &user("?"));
    assert_eq!(
        refusal(&model, &user("?")),
        "the script has no line left (it had 2)"
    );
    let model = script("lines: [{ say: a, times: 2 }]\notherwise: { say: that is all }");
    let said: Vec<_> = (0..4).map(|_| answer(&model, &user("?")).text()).collect();
    assert_eq!(said, ["a", "a", "that is all", "that is all"]);
    assert_eq!(model.unused(), 0);
}

#[test]
fn rules_answer_in_any_order() {
    let model = script(
        "rules:\n- { expect: { says: plan }, say: a plan, times: 2 }\n- { expect: { says: an }, \
         say: an answer }\nlines: [{ say: a line }]",
    );
    assert_eq!(model.unused(), 4);
    let said = |text: &str| answer(&model, &user(text)).text();
    assert_eq!(said("plan"), "a plan");
    assert_eq!(said("and?"), "an answer");
    assert_eq!(said("hello"), "a line");
    assert_eq!(said("plan"), "a plan");
    assert_eq!(model.unused(), 0);
    assert_eq!(answer(&model, &user("plan")).text(), "an answer");
    let message = refusal(&model, &user("hello"));
    let head = "no rule of s.yaml fits; the nearest one is in line 3\n  says: expected \"an\"";
    assert!(message.starts_with(head), "{message}");
}

#[test]
fn an_answer_says_what_the_line_says() {
    let model = script(
        "lines:\n- think: Let me look.\n  say: I will.\n  call:\n  - read: { path: a, n: 1 }\n  \
         - bash:\n  - odd: '{bad'\n- say: Done.\n  stop: refusal\n  usage: none\n- say: x\n  \
         stop: { other: bored }\n  usage: { input: 900, cache_read: 7 }",
    );
    let mut request = result("read", "");
    // Shortening a conversation may drop calls, but no id may be used twice.
    if let MessagePart::ToolCall(call) = &mut request.messages[1].parts[0] {
        call.id = "call-7".into();
    }
    let reply = answer(&model, &request);
    let calls: Vec<_> = reply
        .tool_calls()
        .map(|call| {
            (
                call.id.as_str(),
                call.name.as_str(),
                call.arguments.as_str(),
            )
        })
        .collect();
    let expected = [
        ("call-8", "read", r#"{"n":1,"path":"a"}"#),
        ("call-9", "bash", "{}"),
        ("call-10", "odd", "{bad"),
    ];
    assert_eq!(calls, expected);
    assert_eq!(
        (reply.text().as_str(), reply.stop),
        ("I will.", ReplyStopReason::ToolUse)
    );
    assert!(
        matches!(&reply.parts[0], MessagePart::Thinking { text, .. } if text == "Let me look.")
    );

    let request = user("?");
    let reply = answer(&model, &request);
    assert_eq!((reply.stop, reply.usage), (ReplyStopReason::Refusal, None));
    let reply = answer(&model, &request);
    let usage = TokenUsage {
        input: 900,
        output: 1,
        cache_read: 7,
        ..TokenUsage::default()
    };
    assert_eq!(
        (reply.stop, reply.usage),
        (ReplyStopReason::Other("bored".into()), Some(usage))
    );
}

#[test]
fn usage_is_estimated_from_bytes() {
    let model = script("otherwise: { think: 12345678, say: '123' }");
    let request = user("hello");
    let bytes = serde_json::to_string(&request).unwrap().len() as u64;
    let usage = answer(&model, &request).usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.thinking),
        (bytes.div_ceil(4), 3, 2)
    );
    assert_eq!(answer(&model, &request).usage, Some(usage));
}

#[test]
fn every_fault_there_is_can_be_scripted() {
    for kind in ModelFaultKind::ALL {
        let word = kind.as_str();
        let model = script(&format!(
            "lines: [{{ fault: {word} }}, {{ fault: {{ kind: {word}, status: 429, message: slow \
             down, retry_after: 2s, request_id: r1 }} }}, {{ say: so fa, fault: {word} }}]"
        ));
        let (chunks, fault) = ask(&model, &user("?"));
        assert_eq!((chunks, fault.unwrap().kind), (Vec::new(), *kind));
        let fault = ask(&model, &user("?")).1.unwrap();
        let status = (fault.kind, fault.status, fault.retry_after);
        assert_eq!(status, (*kind, Some(429), Some(Duration::from_secs(2))));
        assert_eq!(
            (fault.message.as_str(), fault.request_id.as_deref()),
            ("slow down", Some("r1"))
        );
        let (chunks, fault) = ask(&model, &user("?"));
        assert!(
            matches!(&chunks[..], [ReplyChunk::Start { .. }, ReplyChunk::Text { text }] if text == "so fa")
        );
        assert_eq!(fault.unwrap().kind, *kind);
    }
}

#[test]
fn an_answer_breaks_off_after_what_was_said() {
    for (then, kind) in [
        ("cut", ModelFaultKind::Cut),
        ("garbage", ModelFaultKind::Garbled),
    ] {
        let model = script(&format!(
            "lines: [{{ say: half of, then: {then} }}, {{ call: {{ read: {{}} }}, then: {then} }}, \
             {{ then: {then} }}]"
        ));
        let (chunks, fault) = ask(&model, &user("?"));
        assert!(
            matches!(&chunks[..], [ReplyChunk::Start { .. }, ReplyChunk::Text { text }] if text == "half of")
        );
        assert_eq!(fault.unwrap().kind, kind);
        // An incomplete call must not be run.
        let (chunks, fault) = ask(&model, &user("?"));
        assert!(
            chunks
                .iter()
                .any(|chunk| matches!(chunk, ReplyChunk::ToolDelta { .. }))
        );
        assert!(
            !chunks
                .iter()
                .any(|chunk| matches!(chunk, ReplyChunk::ToolEnd { .. }))
        );
        assert_eq!(fault.unwrap().kind, kind);
        let (chunks, fault) = ask(&model, &user("?"));
        assert!(matches!(&chunks[..], [ReplyChunk::Start { .. }]));
        assert_eq!(fault.unwrap().kind, kind);
    }
}

proptest! {
    #[test]
    fn pieces_add_up_to_the_words(text in "\\PC{0,80}", size in 1_usize..9) {
        let say = serde_json::to_string(&text).unwrap();
        let model = script(&format!("lines: [{{ say: {say}, pieces: {size} }}]"));
        let (chunks, _) = ask(&model, &user("?"));
        let pieces: Vec<_> = chunks
            .iter()
            .filter_map(|chunk| match chunk {
                ReplyChunk::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        prop_assert_eq!(pieces.concat(), text);
        prop_assert!(pieces.iter().rev().skip(1).all(|piece| piece.chars().count() == size));
    }
}
