//! Chat Completions: what the many servers that speak it make of it.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod answers;

use artel_types::model::{
    MessagePart, ModelFaultKind, ModelMessage, ModelRequest, ReplyChunk, ThinkingEffort,
    ThinkingStyle, ToolChoice, ToolSpec,
};
use artel_wire::{WireFormat, WireTarget};
use serde_json::{Value, json};

use answers::{TARGET, body, rich};

const DONE: &str = "data: [DONE]\n\n";

fn check(answer: &str, expected: &str) {
    answers::check(WireFormat::Chat, answer, expected);
}

/// Writes chunks with these deltas; the last one has the reason why the answer ended.
fn chunks(deltas: &[Value], reason: &str) -> String {
    let chunk = |delta: &Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!(
            "data: {}\n\n",
            json!({ "id": "c1", "model": "m", "choices": [choice] })
        )
    };
    let pieces = deltas.iter().map(|delta| chunk(delta, Value::Null));
    let mut all: String = pieces.collect();
    all.push_str(&chunk(&json!({}), json!(reason)));
    all
}

#[test]
fn a_request_with_everything() {
    answers::check_rich(WireFormat::Chat, "chat");
    assert_eq!(
        WireFormat::Chat.encode(&TARGET, &rich()).path,
        "/chat/completions"
    );
}

#[test]
fn what_is_not_asked_for_is_not_written() {
    let request = ModelRequest {
        messages: vec![ModelMessage::user("hello")],
        ..ModelRequest::default()
    };
    let expected = json!({
        "model": "some-model",
        "messages": [{ "role": "user", "content": "hello" }],
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    assert_eq!(body(WireFormat::Chat, &TARGET, &request), expected);
    let odd = ModelRequest {
        temperature: Some(f64::NAN),
        ..request
    };
    assert_eq!(body(WireFormat::Chat, &TARGET, &odd), expected);
}

#[test]
fn tools_can_be_chosen() {
    let chosen = |tool_choice: ToolChoice, has_tools: usize| {
        let tool = ToolSpec {
            name: "read".into(),
            description: String::new(),
            schema: Value::Null,
        };
        let request = ModelRequest {
            tools: vec![tool.into(); has_tools],
            tool_choice,
            ..ModelRequest::default()
        };
        body(WireFormat::Chat, &TARGET, &request)["tool_choice"].clone()
    };
    assert_eq!(chosen(ToolChoice::Auto, 1), "auto");
    assert_eq!(chosen(ToolChoice::None, 1), "none");
    assert_eq!(chosen(ToolChoice::Any, 1), "required");
    let named = json!({ "type": "function", "function": { "name": "read" } });
    assert_eq!(chosen(ToolChoice::Named("read".into()), 1), named);
    assert_eq!(chosen(ToolChoice::Any, 0), Value::Null);
}

#[test]
fn an_effort_is_told_to_models_that_know_the_word() {
    let told = |thinking: Option<ThinkingEffort>, style: ThinkingStyle| {
        let target = WireTarget {
            thinking: style,
            ..TARGET
        };
        let request = ModelRequest {
            thinking,
            ..ModelRequest::default()
        };
        body(WireFormat::Chat, &target, &request)["reasoning_effort"].clone()
    };
    assert_eq!(
        told(Some(ThinkingEffort::Off), ThinkingStyle::Effort),
        "none"
    );
    assert_eq!(
        told(Some(ThinkingEffort::Low), ThinkingStyle::Effort),
        "low"
    );
    assert_eq!(
        told(Some(ThinkingEffort::Medium), ThinkingStyle::Effort),
        "medium"
    );
    assert_eq!(told(None, ThinkingStyle::Effort), Value::Null);
    assert_eq!(
        told(Some(ThinkingEffort::High), ThinkingStyle::Budget),
        Value::Null
    );
    assert_eq!(
        told(Some(ThinkingEffort::High), ThinkingStyle::None),
        Value::Null
    );
}

#[test]
fn an_assistant_that_only_called_or_only_thought() {
    let call = rich().messages[1].parts[4].clone();
    let thought = MessagePart::Thinking {
        text: "Hm.".into(),
        seal: None,
    };
    let request = ModelRequest {
        messages: vec![
            ModelMessage::assistant(vec![thought.clone()]),
            ModelMessage::user("hello"),
            ModelMessage::assistant(vec![thought, call]),
        ],
        ..ModelRequest::default()
    };
    let messages = &body(WireFormat::Chat, &TARGET, &request)["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(messages[0]["role"], "user");
    assert_eq!(messages[1]["content"], Value::Null);
    assert_eq!(messages[1]["tool_calls"][0]["id"], "call_a");
}

#[test]
fn a_schema_is_strict_only_where_it_can_be() {
    let open = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
    let closed = |more: Value| {
        let mut schema = open.clone();
        schema["additionalProperties"] = json!(false);
        for (key, value) in more.as_object().unwrap() {
            schema[key] = value.clone();
        }
        schema
    };
    let inner = |inner: Value| closed(json!({ "properties": { "a": inner } }));
    let table = [
        (closed(json!({})), true),
        (open.clone(), false),
        (json!({ "type": "string" }), false),
        (json!(true), false),
        (closed(json!({ "required": [] })), false),
        (closed(json!({ "minProperties": 1 })), false),
        (
            inner(json!({ "type": "array", "items": { "type": "string" } })),
            true,
        ),
        (
            inner(json!({ "anyOf": [{ "type": "null" }, closed(json!({}))] })),
            true,
        ),
        (inner(json!({ "anyOf": [{ "type": "null" }, open] })), false),
        (
            inner(json!({ "type": ["object", "null"], "properties": {} })),
            false,
        ),
    ];
    for (schema, expected) in table {
        let mut request = rich();
        request.format.as_mut().unwrap().schema = schema.clone();
        let body = body(WireFormat::Chat, &TARGET, &request);
        let strict = &body["response_format"]["json_schema"]["strict"];
        assert_eq!(strict, &json!(expected), "{schema}");
    }
}

#[test]
fn usage_is_told_in_full() {
    let recorded = include_str!("streams/chat/thinking.txt");
    let (chunks, _) = answers::read(WireFormat::Chat, [recorded.as_bytes()]);
    let Some(ReplyChunk::End {
        usage: Some(usage), ..
    }) = chunks.last()
    else {
        panic!("{chunks:?}");
    };
    assert_eq!((usage.input, usage.cache_read), (20, 8));
    assert_eq!((usage.output, usage.thinking), (15, 9));
}

#[test]
fn a_server_may_stop_without_done_and_without_usage() {
    let answer = chunks(&[json!({ "content": "Hi" })], "stop");
    let expected = "start c1 m
        text Hi
        end End";
    check(&answer, expected);
    check(&format!("{answer}{DONE}"), expected);
    check(&format!("{answer}{DONE}data: rubbish\n\n"), expected);
}

#[test]
fn bytes_that_end_without_a_reason_were_cut_off() {
    let answer = chunks(&[json!({ "content": "Hi" })], "");
    let (chunks, fault) = answers::read(WireFormat::Chat, [answer.as_bytes()]);
    assert_eq!(chunks.len(), 2);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Cut);
    // But a server that says that it is done, and never why, is believed.
    check(&format!("{answer}{DONE}"), "start c1 m\ntext Hi\nend End");
    check(DONE, "start - -\nend End");
}

#[test]
fn usage_may_come_with_the_last_words() {
    let answer = r#"data:{"id":"c1","model":"m","choices":[{"delta":{"role":"assistant","content":null,"tool_calls":null}}],"usage":null}

: OPENROUTER PROCESSING

data:{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}

data:[DONE]

"#;
    let expected = "start c1 m
        text Hi
        end End 7(0 0) 2(0)";
    check(answer, expected);
    check(&answer.replace('\n', "\r\n"), expected);
}

#[test]
fn counts_that_cannot_be_true_are_not_believed() {
    let counted = |usage: Value| {
        let answer = chunks(&[], "stop");
        let last = json!({ "choices": [], "usage": usage });
        let answer = format!("{answer}data: {last}\n\n{DONE}");
        let (chunks, _) = answers::read(WireFormat::Chat, [answer.as_bytes()]);
        match chunks.last() {
            Some(ReplyChunk::End { usage, .. }) => usage.map(|usage| (usage.input, usage.output)),
            other => panic!("{other:?}"),
        }
    };
    let count = |input: Value, output: Value| {
        counted(json!({ "prompt_tokens": input, "completion_tokens": output }))
    };
    assert_eq!(count(json!(1), json!(0)), Some((1, 0)));
    assert_eq!(count(json!(100_000_000), json!(1)), Some((100_000_000, 1)));
    assert_eq!(count(json!(100_000_001), json!(1)), None);
    assert_eq!(count(json!(1_000_000_000_000_u64), json!(1)), None);
    assert_eq!(count(json!(-1), json!(1)), None);
    assert_eq!(count(json!(1), json!(-1)), None);
    assert_eq!(count(json!("1"), json!(1)), None);
    assert_eq!(count(Value::Null, json!(1)), None);
    assert_eq!(counted(json!({})), None);
    let details = json!({ "cached_tokens": -4 });
    let odd =
        json!({ "prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": details });
    assert_eq!(counted(odd), None);
}

#[test]
fn thoughts_have_two_names() {
    let deltas = [
        json!({ "reasoning": "One" }),
        json!({ "reasoning_content": " two", "reasoning": " two" }),
        json!({ "reasoning_content": null, "reasoning": " three", "content": "Four" }),
    ];
    check(
        &chunks(&deltas, "stop"),
        "start c1 m
         thought One
         thought  two
         thought  three
         text Four
         end End",
    );
}

#[test]
fn reasons_to_stop() {
    let table = [
        ("stop", "End"),
        ("length", "MaxTokens"),
        ("content_filter", "Refusal"),
        ("tool_calls", "End"),
        ("eos", "End"),
        (
            "insufficient_system_resource",
            r#"Other("insufficient_system_resource")"#,
        ),
    ];
    for (reason, stop) in table {
        check(&chunks(&[], reason), &format!("start c1 m\nend {stop}"));
    }
    let failed = "start c1 m
        fault server the server ended the answer with an error and gave no reason";
    check(&chunks(&[], "error"), failed);
}

/// Writes one piece of a call; what is null is left out.
fn piece(index: Value, id: Value, name: Value, arguments: &str) -> Value {
    let mut call = json!({ "function": { "arguments": arguments } });
    for (key, value) in [("index", index), ("id", id)] {
        if !value.is_null() {
            call[key] = value;
        }
    }
    if !name.is_null() {
        call["function"]["name"] = name;
    }
    json!({ "tool_calls": [call] })
}

#[test]
fn calls_are_told_apart_whatever_a_server_leaves_out() {
    let none = || Value::Null;
    let whole = "start c1 m
        call 0 a read
        more 0 {\"p\":1}
        call 1 b list
        more 1 {\"d\":2}
        done 0
        done 1
        end ToolUse";
    let without_ids = whole.replace(" a ", " call_0 ").replace(" b ", " call_1 ");
    let pieces = [
        // All with the place 0.
        (json!(0), json!("a"), json!(0), json!("b"), whole),
        // Without places.
        (none(), json!("a"), none(), json!("b"), whole),
        // Without ids, as old versions of llama.cpp do.
        (json!(0), none(), json!(1), none(), &without_ids),
        (json!(0), json!(""), json!(1), json!(""), &without_ids),
        // Without anything.
        (none(), none(), none(), none(), &without_ids),
        (json!(0), none(), json!(0), none(), &without_ids),
    ];
    for (place, id, second_place, second_id, expected) in pieces {
        let deltas = [
            piece(place, id, json!("read"), r#"{"p":1}"#),
            piece(second_place, second_id, json!("list"), r#"{"d":2}"#),
        ];
        check(&chunks(&deltas, "tool_calls"), expected);
        check(&chunks(&deltas, "stop"), expected);
        let together = [&deltas[0], &deltas[1]].map(|delta| delta["tool_calls"][0].clone());
        check(
            &chunks(&[json!({ "tool_calls": together })], "stop"),
            expected,
        );
    }
}

#[test]
fn pieces_are_joined_whatever_a_server_repeats() {
    let none = || Value::Null;
    let (a, read) = (json!("a"), json!("read"));
    let seconds = [
        piece(json!(0), none(), none(), ":1}"),
        piece(json!(0), a.clone(), none(), ":1}"),
        piece(json!(0), a.clone(), read.clone(), ":1}"),
        piece(json!(0), none(), read.clone(), ":1}"),
        piece(json!(0), json!(""), json!(""), ":1}"),
        // A new id with every piece, as some versions of vLLM do.
        piece(json!(0), json!("other"), none(), ":1}"),
        piece(none(), a.clone(), none(), ":1}"),
        piece(none(), a.clone(), read.clone(), ":1}"),
        piece(none(), none(), none(), ":1}"),
        piece(none(), json!("other"), none(), ":1}"),
    ];
    for second in seconds {
        let deltas = [piece(json!(0), a.clone(), read.clone(), r#"{"p""#), second];
        check(
            &chunks(&deltas, "tool_calls"),
            "start c1 m
             call 0 a read
             more 0 {\"p\"
             more 0 :1}
             done 0
             end ToolUse",
        );
    }
}

#[test]
fn ids_are_made_unique() {
    let deltas = [
        piece(json!(0), json!("same"), json!("read"), "{}"),
        piece(json!(1), json!("same"), json!("read"), "{}"),
        piece(json!(7), json!(null), json!("read"), ""),
    ];
    check(
        &chunks(&deltas, "tool_calls"),
        "start c1 m
         call 0 same read
         more 0 {}
         call 1 same_1 read
         more 1 {}
         call 2 call_2 read
         done 0
         done 1
         done 2
         end ToolUse",
    );
}

#[test]
fn calls_of_before_and_arguments_that_are_no_text() {
    let deltas = [
        json!({ "function_call": { "name": "read", "arguments": "{\"p\"" } }),
        json!({ "function_call": { "arguments": ":1}" } }),
    ];
    check(
        &chunks(&deltas, "function_call"),
        "start c1 m
         call 0 call_0 read
         more 0 {\"p\"
         more 0 :1}
         done 0
         end ToolUse",
    );
    let call = json!({ "function": { "name": "read", "arguments": { "p": 1 } } });
    check(
        &chunks(&[json!({ "tool_calls": [call] })], "stop"),
        "start c1 m
         call 0 call_0 read
         more 0 {\"p\":1}
         done 0
         end ToolUse",
    );
}

#[test]
fn a_call_at_the_limit_cannot_be_carried_out() {
    let deltas = [
        piece(json!(0), json!("a"), json!("read"), "{\"p\":"),
        piece(json!(1), json!("b"), json!("list"), ""),
    ];
    for (reason, stop) in [("length", "MaxTokens"), ("content_filter", "Refusal")] {
        check(
            &chunks(&deltas, reason),
            &format!(
                "start c1 m
                 call 0 a read
                 more 0 {{\"p\":
                 call 1 b list
                 done 0
                 more 1 {{
                 done 1
                 end {stop}"
            ),
        );
    }
}

#[test]
fn errors_in_the_middle() {
    let after = |event: &str| format!("{}{event}\n\n", chunks(&[json!({ "content": "Half" })], ""));
    let table = [
        (
            r#"data: {"error":{"message":"m","type":"server_error","code":null}}"#,
            ModelFaultKind::Server,
        ),
        (
            r#"data: {"error":{"message":"m","code":"server_is_overloaded"}}"#,
            ModelFaultKind::Overloaded,
        ),
        (
            r#"data: {"error":{"message":"m","code":"rate_limit_exceeded"}}"#,
            ModelFaultKind::RateLimit,
        ),
        (
            r#"data: {"error":{"message":"m","type":"insufficient_quota"}}"#,
            ModelFaultKind::Quota,
        ),
        (
            r#"data: {"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ModelFaultKind::ContextOverflow,
        ),
        (
            r#"data: {"error":{"message":"m","type":"BadRequestError","code":400}}"#,
            ModelFaultKind::BadRequest,
        ),
        (
            r#"data: {"error":{"message":"Provider returned error","code":502},"choices":[{"delta":{},"finish_reason":"error"}]}"#,
            ModelFaultKind::Server,
        ),
        (
            r#"data: {"error":{"message":"m","code":429}}"#,
            ModelFaultKind::RateLimit,
        ),
        (
            r#"data: {"error":{"message":"m","code":"401"}}"#,
            ModelFaultKind::Key,
        ),
        (
            r#"data: {"error":{"message":"m","code":7}}"#,
            ModelFaultKind::Server,
        ),
        (
            r#"data: {"error":"the request exceeds the available context size"}"#,
            ModelFaultKind::ContextOverflow,
        ),
        (r#"data: {"error":"something"}"#, ModelFaultKind::Server),
        (
            r#"data: {"object":"error","message":"m","code":500}"#,
            ModelFaultKind::Server,
        ),
        (
            "event: error\ndata: {\"message\":\"m\"}",
            ModelFaultKind::Server,
        ),
        ("event: error\ndata: rubbish", ModelFaultKind::Garbled),
        ("data: {\"choices\":", ModelFaultKind::Garbled),
    ];
    for (event, kind) in table {
        let (chunks, fault) = answers::read(WireFormat::Chat, [after(event).as_bytes()]);
        assert_eq!(chunks.len(), 2, "{event}");
        assert_eq!(fault.unwrap().kind, kind, "{event}");
    }
    let slow =
        r#"data: {"error":{"message":"Please try again in 1.5s.","code":"rate_limit_exceeded"}}"#;
    let (_, fault) = answers::read(WireFormat::Chat, [after(slow).as_bytes()]);
    assert_eq!(fault.unwrap().retry_after.unwrap().as_millis(), 1_500);
}

#[test]
fn what_is_not_known_is_passed_over() {
    let odd = concat!(
        "event: ping\ndata: rubbish\n\n",
        "data: {\"id\":\"\",\"model\":\"\",\"choices\":[],\"prompt_filter_results\":[]}\n\n",
        "data: {\"choices\":null}\n\n",
        "data: {\"choices\":[{\"delta\":\"text\",\"finish_reason\":7}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":[1],\"tool_calls\":{\"a\":1}}}]}\n\n",
        "data: []\n\ndata: 7\n\ndata: null\n\n",
    );
    let answer = format!(
        "{odd}{}{DONE}",
        chunks(&[json!({ "content": "Hi" })], "stop")
    );
    check(&answer, "start c1 m\ntext Hi\nend End");
}

#[test]
fn more_calls_than_any_answer_has() {
    let call = |n: usize| piece(json!(n), json!(format!("c{n}")), json!("read"), "{}");
    let most: Vec<Value> = (0..1_000).map(call).collect();
    let (chunks_found, fault) = answers::read(WireFormat::Chat, [chunks(&most, "stop").as_bytes()]);
    assert_eq!(fault, None);
    assert_eq!(chunks_found.len(), 3_002);
    let more: Vec<Value> = (0..1_001).map(call).collect();
    let (_, fault) = answers::read(WireFormat::Chat, [chunks(&more, "stop").as_bytes()]);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Garbled);
}
