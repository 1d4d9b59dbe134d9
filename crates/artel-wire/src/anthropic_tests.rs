//! Tests of Anthropic requests and replies.

use artel_types::model::{
    MessagePart, ModelFault, ModelFaultKind, ModelMessage, ModelRequest, PromptCacheLifetime,
    ProviderSignature, ReplyChunk, ReplyStopReason, ThinkingStyle, TokenUsage, ToolChoice,
};
use serde_json::{Value, json};

use crate::samples::{call, result, rich, seal, thought, tool};
use crate::wire::{WireFormat, WireTarget};

fn target() -> WireTarget<'static> {
    WireTarget {
        model: "claude-x",
        max_output: Some(64_000),
        context: Some(200_000),
        thinking: ThinkingStyle::Effort,
    }
}

fn body(target: &WireTarget<'_>, request: &ModelRequest) -> Value {
    let outgoing = WireFormat::Anthropic.encode(target, request);
    assert_eq!(outgoing.path, "/v1/messages");
    serde_json::from_slice(&outgoing.body).unwrap()
}

/// Thoughts, two of which can be sent back.
fn thoughts() -> [MessagePart; 4] {
    [
        thought("let me see", seal("anthropic", "signature:c2ln")),
        thought("", seal("anthropic", "redacted:cmVk")),
        thought("of another", seal("openai", "signature:no")),
        thought("of nobody", None),
    ]
}

#[test]
fn a_rich_request_is_written_whole() {
    let mark = json!({ "type": "ephemeral", "ttl": "1h" });
    let picture = json!({
        "type": "image",
        "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" },
    });
    let mut marked = picture.clone();
    marked["cache_control"] = mark.clone();
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let expected = json!({
        "model": "claude-x",
        "max_tokens": 2_000,
        "stream": true,
        "system": [{ "type": "text", "text": "Be kind.", "cache_control": mark }],
        "tools": [
            { "name": "read", "description": "does read", "input_schema": schema },
            {
                "name": "search",
                "description": "does search",
                "input_schema": schema,
                "cache_control": mark,
            },
        ],
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "look at this" }, marked] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "let me see", "signature": "c2ln" },
                { "type": "redacted_thinking", "data": "cmVk" },
                { "type": "text", "text": "I will look." },
                { "type": "tool_use", "id": "toolu_1", "name": "read", "input": { "path": "a" } },
                { "type": "tool_use", "id": "toolu_2", "name": "search", "input": {} },
            ] },
            { "role": "user", "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{ "type": "text", "text": "a file" }, picture],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{ "type": "text", "text": "it failed and did not say why" }],
                    "is_error": true,
                },
                { "type": "text", "text": "go on", "cache_control": mark },
            ] },
        ],
        "stop_sequences": ["STOP"],
        "thinking": { "type": "adaptive" },
        "output_config": {
            "effort": "high",
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": { "n": { "type": "integer" } },
                    "required": ["n"],
                    "additionalProperties": false,
                },
            },
        },
    });
    assert_eq!(body(&target(), &rich(&thoughts())), expected);
}

#[test]
fn a_plain_request_says_nothing_that_nobody_asked_for() {
    let request = ModelRequest {
        messages: vec![ModelMessage::user("hello"), ModelMessage::assistant(vec![])],
        tool_choice: ToolChoice::Any,
        ..ModelRequest::default()
    };
    let target = WireTarget {
        max_output: None,
        ..target()
    };
    let expected = json!({
        "model": "claude-x",
        "max_tokens": 8_192,
        "stream": true,
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": "hello" }] }],
    });
    assert_eq!(body(&target, &request), expected);
}

#[test]
fn the_answer_is_never_longer_than_the_model_allows() {
    let check = |wanted: Option<u64>, known: Option<u64>, expected: u64| {
        let request = ModelRequest {
            max_output: wanted,
            ..ModelRequest::default()
        };
        let target = WireTarget {
            max_output: known,
            ..target()
        };
        assert_eq!(body(&target, &request)["max_tokens"], expected);
    };
    check(None, None, 8_192);
    check(None, Some(4_096), 4_096);
    check(Some(100), Some(4_096), 100);
    check(Some(9_000), Some(4_096), 4_096);
    check(Some(9_000), None, 9_000);
    check(Some(0), None, 1);
}

/// Columns: thinking style, effort, output limit and tool choice; then what the request
/// asks for: thinking, effort and temperature.
const THINKING: &str = r#"
    effort -      9000  auto [null, null, 1.0]
    effort low    9000  auto [{"type": "adaptive"}, "low", null]
    effort medium 9000  auto [{"type": "adaptive"}, "medium", null]
    effort off    9000  auto [{"type": "disabled"}, null, 1.0]
    effort high   9000  any  [null, "high", 1.0]
    budget low    9000  auto [{"type": "enabled", "budget_tokens": 4096}, null, null]
    budget medium 64000 auto [{"type": "enabled", "budget_tokens": 12288}, null, null]
    budget high   64000 auto [{"type": "enabled", "budget_tokens": 32768}, null, null]
    budget high   9000  auto [{"type": "enabled", "budget_tokens": 6750}, null, null]
    budget low    1100  auto [{"type": "enabled", "budget_tokens": 1024}, null, null]
    budget low    1024  auto [null, null, 1.0]
    budget low    9000  any  [null, null, 1.0]
    budget off    9000  auto [{"type": "disabled"}, null, 1.0]
    budget -      9000  auto [null, null, 1.0]
    none   high   9000  auto [null, null, 1.0]
"#;

#[test]
fn thinking_is_asked_for_in_the_model_s_own_way() {
    for line in THINKING.lines().filter(|line| !line.is_empty()) {
        let (words, expected) = line.split_once('[').unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let effort = json!(words[1]);
        let request = ModelRequest {
            thinking: serde_json::from_value(effort).ok(),
            temperature: Some(1.5),
            max_output: words[2].parse().ok(),
            tools: vec![tool("read").into()],
            tool_choice: serde_json::from_value(json!(words[3])).unwrap(),
            ..ModelRequest::default()
        };
        let target = WireTarget {
            thinking: serde_json::from_value(json!(words[0])).unwrap(),
            ..target()
        };
        let body = body(&target, &request);
        let effort = &body["output_config"]["effort"];
        let found = json!([body["thinking"], effort, body["temperature"]]);
        let expected: Value = serde_json::from_str(&format!("[{expected}")).unwrap();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_choice_of_tools_is_passed_on() {
    let check = |choice, expected: Value| {
        let request = ModelRequest {
            tools: vec![tool("read").into()],
            tool_choice: choice,
            ..ModelRequest::default()
        };
        assert_eq!(body(&target(), &request)["tool_choice"], expected);
    };
    check(ToolChoice::Auto, Value::Null);
    check(ToolChoice::None, json!({ "type": "none" }));
    check(ToolChoice::Any, json!({ "type": "any" }));
    check(
        ToolChoice::Named("read".into()),
        json!({ "type": "tool", "name": "read" }),
    );
}

#[test]
fn at_most_four_places_are_marked_for_the_cache() {
    let turn = |number: u32| {
        let said = ModelMessage::assistant(vec![MessagePart::text("yes")]);
        [ModelMessage::user(format!("question {number}")), said]
    };
    let request = ModelRequest {
        messages: (0..10).flat_map(turn).collect(),
        cache: PromptCacheLifetime::Short,
        ..rich(&thoughts())
    };
    let written = body(&target(), &request).to_string();
    let mark = r#""cache_control":{"ttl":"5m","type":"ephemeral"}"#;
    let other = r#""cache_control":{"type":"ephemeral","ttl":"5m"}"#;
    let marks = written.matches(mark).count() + written.matches(other).count();
    assert_eq!(marks, 4, "{written}");
    let unset = ModelRequest {
        cache: PromptCacheLifetime::Unset,
        ..request
    };
    assert!(
        !body(&target(), &unset)
            .to_string()
            .contains("cache_control")
    );
}

#[test]
fn ids_of_others_are_made_to_fit() {
    let round = |id: &str| {
        let asked = ModelMessage::assistant(vec![call(id, "read", "{}")]);
        [asked, ModelMessage::results([result(id, "read", "ok")])]
    };
    let request = ModelRequest {
        messages: ["call_0", "call_0", "a b/c", ""]
            .iter()
            .flat_map(|id| round(id))
            .collect(),
        ..ModelRequest::default()
    };
    let body = body(&target(), &request);
    let ids: Vec<(String, String)> = body["messages"]
        .as_array()
        .unwrap()
        .chunks(2)
        .map(|pair| {
            let word = |value: &Value| value.as_str().unwrap().to_owned();
            (
                word(&pair[0]["content"][0]["id"]),
                word(&pair[1]["content"][0]["tool_use_id"]),
            )
        })
        .collect();
    for (call, result) in &ids {
        assert_eq!(call, result);
    }
    let ids: Vec<&str> = ids.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_0-1", "a_b_c", "call"]);
}

#[test]
fn a_form_is_held_to_what_the_api_takes() {
    let deep = (0..200).fold(
        json!({ "type": "object" }),
        |inner, _| json!({ "type": "array", "items": inner, "maxItems": 3 }),
    );
    super::schema::strict(&deep);
    let schema = json!({
        "type": "object",
        "additionalProperties": true,
        "$defs": { "word": { "type": "string", "maxLength": 3 } },
        "properties": {
            "minimum": { "$ref": "#/$defs/word" },
            "list": { "type": "array", "minItems": 2, "items": { "type": ["object", "null"] } },
            "some": { "type": "array", "minItems": 1, "items": true },
            "one": { "oneOf": [{ "type": "integer", "multipleOf": 2 }, { "type": "null" }] },
        },
    });
    let expected = json!({
        "type": "object",
        "additionalProperties": false,
        "$defs": { "word": { "type": "string" } },
        "properties": {
            "minimum": { "$ref": "#/$defs/word" },
            "list": {
                "type": "array",
                "items": { "type": ["object", "null"], "additionalProperties": false },
            },
            "some": { "type": "array", "minItems": 1, "items": true },
            "one": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
        },
    });
    assert_eq!(super::schema::strict(&schema), expected);
}

/// Reads events, each `(name, the rest of its object)`.
fn read(events: &[(&str, Value)]) -> (Vec<ReplyChunk>, Option<ModelFault>) {
    let mut decoder = WireFormat::Anthropic.decoder();
    let mut chunks = Vec::new();
    let mut fault = None;
    for (name, data) in events {
        let mut data = data.clone();
        data["type"] = (*name).into();
        let frame = format!("event: {name}\ndata: {data}\n\n");
        fault = fault.or(decoder.push(frame.as_bytes(), &mut chunks).err());
    }
    fault = fault.or(decoder.finish(&mut chunks).err());
    (chunks, fault)
}

fn start() -> (&'static str, Value) {
    let usage = json!({
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 30,
        "output_tokens": 1,
    });
    let message = json!({ "id": "msg_1", "model": "claude-x-1", "usage": usage });
    ("message_start", json!({ "message": message }))
}

fn open(index: u64, block: Value) -> (&'static str, Value) {
    let event = json!({ "index": index, "content_block": block });
    ("content_block_start", event)
}

fn open_call(index: u64) -> (&'static str, Value) {
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "read", "input": {} });
    open(index, block)
}

fn delta(index: u64, delta: Value) -> (&'static str, Value) {
    let event = json!({ "index": index, "delta": delta });
    ("content_block_delta", event)
}

fn close(index: u64) -> (&'static str, Value) {
    ("content_block_stop", json!({ "index": index }))
}

fn stop(word: &str, usage: Value) -> (&'static str, Value) {
    let event = json!({ "delta": { "stop_reason": word }, "usage": usage });
    ("message_delta", event)
}

fn end() -> (&'static str, Value) {
    ("message_stop", json!({}))
}

#[test]
fn tokens_are_counted_as_everybody_counts_them() {
    let check = |usage: Value, expected: Option<TokenUsage>| {
        let (chunks, fault) = read(&[start(), stop("end_turn", usage.clone()), end()]);
        assert_eq!(fault, None);
        match chunks.last() {
            Some(ReplyChunk::End { usage, .. }) => assert_eq!(*usage, expected),
            other => panic!("{usage}: {other:?}"),
        }
    };
    let whole = TokenUsage {
        input: 60,
        cache_read: 30,
        cache_write: 20,
        output: 50,
        thinking: 0,
    };
    check(json!({ "output_tokens": 50 }), Some(whole));
    check(
        json!({ "output_tokens": 50, "output_tokens_details": { "thinking_tokens": 40 } }),
        Some(TokenUsage {
            thinking: 40,
            ..whole
        }),
    );
    // A smaller count than before is a mistake, not a refund.
    let output = 1;
    check(
        json!({ "output_tokens": 0, "input_tokens": 3 }),
        Some(TokenUsage { output, ..whole }),
    );
    check(
        json!({ "output_tokens": -5 }),
        Some(TokenUsage { output, ..whole }),
    );
    check(json!("much"), Some(TokenUsage { output, ..whole }));
    check(json!({ "output_tokens": 1_000_000_000_000_u64 }), None);
    check(json!({ "input_tokens": 1e30 }), None);
}

#[test]
fn an_answer_that_counts_nothing_is_not_free() {
    let none = json!({ "input_tokens": 0, "output_tokens": 0 });
    for usage in [Value::Null, none] {
        let (chunks, _) = read(&[stop("end_turn", usage), end()]);
        let stop = ReplyStopReason::End;
        assert_eq!(chunks.last(), Some(&ReplyChunk::End { stop, usage: None }));
    }
}

#[test]
fn every_reason_to_stop_has_its_word() {
    let check = |word: &str, expected: ReplyStopReason| {
        let (chunks, _) = read(&[start(), stop(word, Value::Null), end()]);
        match chunks.last() {
            Some(ReplyChunk::End { stop, .. }) => assert_eq!(*stop, expected),
            other => panic!("{word}: {other:?}"),
        }
    };
    check("end_turn", ReplyStopReason::End);
    check("tool_use", ReplyStopReason::ToolUse);
    check("max_tokens", ReplyStopReason::MaxTokens);
    check("stop_sequence", ReplyStopReason::StopSequence);
    check("refusal", ReplyStopReason::Refusal);
    check("pause_turn", ReplyStopReason::Paused);
    check(
        "model_context_window_exceeded",
        ReplyStopReason::ContextFull,
    );
    check("tired", ReplyStopReason::Other("tired".into()));
}

#[test]
fn an_error_in_the_middle_has_its_sort() {
    let check = |word: &str, message: &str, expected: ModelFaultKind| {
        let error = json!({ "error": { "type": word, "message": message }, "request_id": "req_1" });
        let (_, fault) = read(&[start(), ("error", error), end()]);
        let fault = fault.unwrap();
        assert_eq!(fault.kind, expected, "{word}");
        assert_eq!(fault.message, message);
        assert_eq!(fault.request_id.as_deref(), Some("req_1"));
        assert_eq!(fault.status, None);
    };
    check("overloaded_error", "Overloaded", ModelFaultKind::Overloaded);
    check("rate_limit_error", "slow", ModelFaultKind::RateLimit);
    check("api_error", "sorry", ModelFaultKind::Server);
    check("timeout_error", "late", ModelFaultKind::Server);
    check("invalid_request_error", "what?", ModelFaultKind::BadRequest);
    check(
        "invalid_request_error",
        "prompt is too long: 9 > 8",
        ModelFaultKind::ContextOverflow,
    );
    check("authentication_error", "who?", ModelFaultKind::Key);
    check("permission_error", "no", ModelFaultKind::Key);
    check("billing_error", "pay", ModelFaultKind::Quota);
    check("not_found_error", "where?", ModelFaultKind::NoSuchModel);
    check("request_too_large", "big", ModelFaultKind::TooLarge);
    check("new_error", "hm", ModelFaultKind::Server);
}

#[test]
fn thoughts_come_back_as_they_came() {
    let events = [
        start(),
        open(
            0,
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
        ),
        delta(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2" })),
        delta(0, json!({ "type": "signature_delta", "signature": "ln" })),
        close(0),
        open(1, json!({ "type": "redacted_thinking", "data": "cmVk" })),
        close(1),
        stop("end_turn", Value::Null),
        end(),
    ];
    let (chunks, fault) = read(&events);
    assert_eq!(fault, None);
    let seals: Vec<ProviderSignature> = chunks
        .into_iter()
        .filter_map(|chunk| match chunk {
            ReplyChunk::ThinkingSealed { seal } => Some(seal),
            _ => None,
        })
        .collect();
    let request = ModelRequest {
        messages: vec![ModelMessage::assistant(vec![
            thought("hm", Some(seals[0].clone())),
            thought("", Some(seals[1].clone())),
        ])],
        ..ModelRequest::default()
    };
    let expected = json!([
        { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
        { "type": "redacted_thinking", "data": "cmVk" },
    ]);
    assert_eq!(
        body(&target(), &request)["messages"][0]["content"],
        expected
    );
}

/// Returns the arguments of calls that ended.
fn arguments(chunks: &[ReplyChunk]) -> Vec<String> {
    let mut calls: Vec<(String, bool)> = Vec::new();
    for chunk in chunks {
        match chunk {
            ReplyChunk::ToolStart { .. } => calls.push((String::new(), false)),
            ReplyChunk::ToolDelta { index, arguments } => {
                calls[*index as usize].0.push_str(arguments);
            }
            ReplyChunk::ToolEnd { index, .. } => calls[*index as usize].1 = true,
            _ => {}
        }
    }
    calls.retain(|(_, is_ended)| *is_ended);
    calls.into_iter().map(|(arguments, _)| arguments).collect()
}

#[test]
fn a_call_without_arguments_is_one_only_if_the_model_meant_it() {
    let check = |word: &str, expected: &str| {
        let events = [
            start(),
            open_call(0),
            close(0),
            stop(word, Value::Null),
            end(),
        ];
        let (chunks, fault) = read(&events);
        assert_eq!(fault, None);
        assert_eq!(arguments(&chunks), [expected], "{word}");
    };
    check("tool_use", "{}");
    check("max_tokens", "{");
    check("refusal", "{");
    let (chunks, _) = read(&[start(), open_call(0), close(0), open_call(1)]);
    assert_eq!(arguments(&chunks), ["{}"], "the next block settles it");
    let (chunks, fault) = read(&[start(), open_call(0), close(0)]);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Cut);
    assert!(arguments(&chunks).is_empty());
}

#[test]
fn arguments_may_come_with_the_beginning() {
    let block = json!({ "type": "tool_use", "id": "1", "name": "read", "input": { "path": "a" } });
    let events = [
        start(),
        open(0, block),
        close(0),
        stop("tool_use", Value::Null),
        end(),
    ];
    assert_eq!(arguments(&read(&events).0), [r#"{"path":"a"}"#]);
}

#[test]
fn an_answer_cannot_end_inside_a_call() {
    let piece = delta(
        0,
        json!({ "type": "input_json_delta", "partial_json": "{}" }),
    );
    for rest in [vec![end()], vec![open_call(0), close(0), end()]] {
        let mut events = vec![start(), open_call(0), piece.clone()];
        events.extend(rest);
        let (chunks, fault) = read(&events);
        assert_eq!(fault.unwrap().kind, ModelFaultKind::Garbled);
        assert!(arguments(&chunks).is_empty());
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    let events = [
        ("ping", json!({})),
        start(),
        start(),
        ("vibe_check", json!({ "mood": "good" })),
        open(
            0,
            json!({ "type": "server_tool_use", "id": "srv", "name": "web", "input": {} }),
        ),
        delta(
            0,
            json!({ "type": "input_json_delta", "partial_json": "{}" }),
        ),
        close(0),
        delta(7, json!({ "type": "text_delta", "text": "of no block" })),
        close(7),
        open(1, json!({ "type": "text", "text": "a" })),
        delta(1, json!({ "type": "citations_delta", "citation": {} })),
        delta(1, json!({ "type": "text_delta", "text": "b" })),
        delta(1, json!({ "type": "text_delta", "text": 3 })),
        delta(1, json!(null)),
        close(1),
        stop("end_turn", Value::Null),
        end(),
        open_call(2),
    ];
    let (chunks, fault) = read(&events);
    assert_eq!(fault, None);
    let text: Vec<&str> = chunks
        .iter()
        .filter_map(|chunk| match chunk {
            ReplyChunk::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, ["a", "b"]);
    assert_eq!(chunks.len(), 4, "{chunks:?}");
}

#[test]
fn a_frame_that_is_not_json_is_garbled() {
    let mut decoder = WireFormat::Anthropic.decoder();
    let mut chunks = Vec::new();
    let unknown = b"event: note\ndata: hello\n\n";
    assert_eq!(decoder.push(unknown, &mut chunks), Ok(()));
    let bad = b"event: message_start\ndata: {\"type\":\n\n";
    let fault = decoder.push(bad, &mut chunks).unwrap_err();
    assert_eq!(fault.kind, ModelFaultKind::Garbled);
    assert!(fault.message.len() < 120, "{fault}");
    assert_eq!(decoder.push(b"data: {}\n\n", &mut chunks), Ok(()));
    assert!(chunks.is_empty() && decoder.is_done());
}
