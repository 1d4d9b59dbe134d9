//! Ollama: its own requests, and what is odd about its answers.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod answers;

use artel_types::model::{
    ModelFaultKind, ModelMessage, ModelRequest, ThinkingEffort, ThinkingStyle, ToolChoice,
};
use artel_wire::{WireFormat, WireTarget};
use serde_json::{Value, json};

use answers::{TARGET, body, rich};

fn check(answer: &str, expected: &str) {
    answers::check(WireFormat::Ollama, answer, expected);
}

#[test]
fn a_request_with_everything() {
    answers::check_rich(WireFormat::Ollama, "ollama");
    assert_eq!(
        WireFormat::Ollama.encode(&TARGET, &rich()).path,
        "/api/chat"
    );
}

#[test]
fn the_window_is_always_told() {
    let window = |context: Option<u64>| {
        let target = WireTarget { context, ..TARGET };
        let request = ModelRequest {
            messages: vec![ModelMessage::user("hello")],
            ..ModelRequest::default()
        };
        body(WireFormat::Ollama, &target, &request)
    };
    let expected = json!({
        "model": "some-model",
        "messages": [{ "role": "user", "content": "hello" }],
        "stream": true,
        "truncate": false,
        "options": { "num_ctx": 32768 },
    });
    assert_eq!(window(None), expected);
    assert_eq!(window(Some(8_192))["options"]["num_ctx"], 8_192);
    assert_eq!(window(Some(1_000_000))["options"]["num_ctx"], 131_072);
}

#[test]
fn thinking_is_a_level_or_yes_or_no() {
    let told = |thinking: Option<ThinkingEffort>, style: ThinkingStyle| {
        let target = WireTarget {
            thinking: style,
            ..TARGET
        };
        let request = ModelRequest {
            thinking,
            ..ModelRequest::default()
        };
        body(WireFormat::Ollama, &target, &request)["think"].clone()
    };
    assert_eq!(told(None, ThinkingStyle::Effort), Value::Null);
    assert_eq!(
        told(Some(ThinkingEffort::Low), ThinkingStyle::Effort),
        "low"
    );
    assert_eq!(
        told(Some(ThinkingEffort::Medium), ThinkingStyle::Effort),
        "medium"
    );
    assert_eq!(
        told(Some(ThinkingEffort::High), ThinkingStyle::Budget),
        true
    );
    assert_eq!(
        told(Some(ThinkingEffort::High), ThinkingStyle::None),
        Value::Null
    );
    assert_eq!(
        told(Some(ThinkingEffort::Off), ThinkingStyle::Effort),
        false
    );
    assert_eq!(told(Some(ThinkingEffort::Off), ThinkingStyle::None), false);
}

#[test]
fn a_tool_that_must_not_be_called_is_not_offered() {
    let offered = |tool_choice: ToolChoice| {
        let mut request = rich();
        request.tool_choice = tool_choice;
        let body = body(WireFormat::Ollama, &TARGET, &request);
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let names = tools
            .iter()
            .map(|tool| tool["function"]["name"].to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(offered(ToolChoice::Auto), r#""read" "list""#);
    assert_eq!(offered(ToolChoice::Any), r#""read" "list""#);
    assert_eq!(offered(ToolChoice::Named("list".into())), r#""list""#);
    assert_eq!(offered(ToolChoice::None), "");
}

#[test]
fn the_last_line_says_why_it_ended() {
    let table = [
        (r#""done_reason":"stop""#, "End"),
        (r#""done_reason":"length""#, "MaxTokens"),
        (r#""done_reason":"""#, "End"),
        (r#""done_reason":null"#, "End"),
        (r#""done_reason":"load""#, r#"Other("load")"#),
        (r#""done_reason":"unload""#, r#"Other("unload")"#),
        (r#""other":1"#, "End"),
    ];
    for (reason, stop) in table {
        let line = format!(r#"{{"model":"m","message":{{"content":""}},"done":true,{reason}}}"#);
        check(&line, &format!("start - m\nend {stop}"));
    }
    check(r#"{"model":"m","done":true}"#, "start - m\nend End");
}

#[test]
fn the_last_line_may_say_something_itself() {
    check(
        r#"{"model":"m","message":{"role":"assistant","thinking":"Hm.","content":"Hi","images":null,"tool_calls":[{"function":{"name":"read","arguments":{"p":1}}}]},"done_reason":"stop","done":true,"prompt_eval_count":5,"eval_count":3}"#,
        "start - m
         thought Hm.
         text Hi
         call 0 call_0 read
         more 0 {\"p\":1}
         done 0
         end ToolUse 5(0 0) 3(0)",
    );
}

#[test]
fn arguments_in_every_shape() {
    let answer = r#"{"model":"m","message":{"tool_calls":[
        {"id":"a","function":{"name":"none"}},
        {"id":"a","function":{"name":"null","arguments":null}},
        {"function":{"name":"empty","arguments":{}}},
        {"function":{"name":"text","arguments":"{\"p\":1}"}},
        {"function":{"name":"list","arguments":[1]}},
        {"nothing":true}]},"done":false}"#
        .replace('\n', " ");
    check(
        &format!("{answer}\n{{\"done\":true}}\n"),
        "start - m
         call 0 a none
         done 0
         call 1 a_1 null
         done 1
         call 2 call_2 empty
         more 2 {}
         done 2
         call 3 call_3 text
         more 3 {\"p\":1}
         done 3
         call 4 call_4 list
         more 4 [1]
         done 4
         call 5 call_5
         done 5
         end ToolUse",
    );
}

#[test]
fn errors_in_the_middle() {
    let table = [
        (r#"{"error":"unexpected EOF"}"#, ModelFaultKind::Server),
        (
            r#"{"error":"the input length exceeds the context length"}"#,
            ModelFaultKind::ContextOverflow,
        ),
        (
            r#"{"error":"model is overloaded"}"#,
            ModelFaultKind::Overloaded,
        ),
        (r#"{"error":{"message":"odd"}}"#, ModelFaultKind::Server),
        (r#"{"error":true}"#, ModelFaultKind::Server),
        (r#"{"message":"#, ModelFaultKind::Garbled),
        ("<html>", ModelFaultKind::Garbled),
    ];
    for (line, kind) in table {
        let answer = format!("{{\"message\":{{\"content\":\"Half\"}}}}\n{line}\n");
        let (chunks, fault) = answers::read(WireFormat::Ollama, [answer.as_bytes()]);
        assert_eq!(chunks.len(), 2, "{line}");
        assert_eq!(fault.unwrap().kind, kind, "{line}");
    }
    check(r#"{"error":"no"}"#, "fault server no");
}

#[test]
fn a_prompt_that_was_not_read_again_has_no_count() {
    let counted = |counts: &str, expected: &str| {
        let line = format!(r#"{{"model":"m","done":true{counts}}}"#);
        check(&line, &format!("start - m\nend End{expected}"));
    };
    counted(r#","prompt_eval_count":5,"eval_count":3"#, " 5(0 0) 3(0)");
    counted(r#","prompt_eval_count":5"#, " 5(0 0) 0(0)");
    counted(r#","eval_count":3"#, "");
    counted(r#","prompt_eval_count":-5,"eval_count":3"#, "");
    counted(r#","prompt_eval_count":5,"eval_count":1000000000000"#, "");
}

#[test]
fn more_calls_than_any_answer_has() {
    let call = r#"{"function":{"name":"read","arguments":{}}}"#;
    let calls = |count: usize| {
        let calls = vec![call; count].join(",");
        format!("{{\"message\":{{\"tool_calls\":[{calls}]}},\"done\":true}}\n")
    };
    let (_, fault) = answers::read(WireFormat::Ollama, [calls(1_000).as_bytes()]);
    assert_eq!(fault, None);
    let (_, fault) = answers::read(WireFormat::Ollama, [calls(1_001).as_bytes()]);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Garbled);
}
