//! Tests of Google requests and replies.

use artel_types::model::{
    MessagePart, ModelFault, ModelFaultKind, ModelMessage, ModelRequest, ProviderSignature,
    ReplyChunk, ReplyStopReason, ThinkingEffort, ThinkingStyle, TokenUsage, ToolCall, ToolChoice,
    ToolSpec,
};
use serde_json::{Value, json};

use crate::samples::{call, result, rich, seal, thought, tool};
use crate::wire::{WireFormat, WireTarget};

fn target() -> WireTarget<'static> {
    WireTarget {
        model: "gemini-x",
        max_output: Some(64_000),
        context: Some(1_000_000),
        thinking: ThinkingStyle::Budget,
    }
}

fn body(target: &WireTarget<'_>, request: &ModelRequest) -> Value {
    serde_json::from_slice(&WireFormat::Google.encode(target, request).body).unwrap()
}

#[test]
fn a_rich_request_is_written_whole() {
    let picture = json!({ "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } });
    let parameters = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let thoughts = [
        thought("let me see", seal("google", "c2ln")),
        thought("of another", seal("anthropic", "signature:no")),
        thought("of nobody", None),
        MessagePart::Text {
            text: String::new(),
            seal: seal("google", "dGV4dA=="),
        },
    ];
    let expected = json!({
        "systemInstruction": { "parts": [{ "text": "Be kind." }] },
        "contents": [
            { "role": "user", "parts": [{ "text": "look at this" }, picture] },
            { "role": "model", "parts": [
                { "text": "let me see", "thought": true, "thoughtSignature": "c2ln" },
                { "text": "", "thoughtSignature": "dGV4dA==" },
                { "text": "I will look." },
                { "functionCall": { "id": "toolu_1", "name": "read", "args": { "path": "a" } } },
                { "functionCall": { "id": "toolu_2", "name": "search", "args": {} } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": {
                    "id": "toolu_1", "name": "read", "response": { "output": "a file" },
                } },
                { "functionResponse": {
                    "id": "toolu_2", "name": "search", "response": { "error": "" },
                } },
                picture,
                { "text": "go on" },
            ] },
        ],
        "tools": [{ "functionDeclarations": [
            { "name": "read", "description": "does read", "parameters": parameters },
            { "name": "search", "description": "does search", "parameters": parameters },
        ] }],
        "generationConfig": {
            "maxOutputTokens": 2_000,
            "temperature": 0.5,
            "stopSequences": ["STOP"],
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "object",
                "properties": { "n": { "type": "integer", "minimum": 1 } },
                "required": ["n"],
            },
            "thinkingConfig": { "thinkingBudget": 24_576, "includeThoughts": true },
        },
    });
    assert_eq!(body(&target(), &rich(&thoughts)), expected);
}

#[test]
fn a_plain_request_says_nothing_that_nobody_asked_for() {
    let request = ModelRequest {
        messages: vec![ModelMessage::user("hello"), ModelMessage::assistant(vec![])],
        tool_choice: ToolChoice::Any,
        ..ModelRequest::default()
    };
    let expected = json!({ "contents": [{ "role": "user", "parts": [{ "text": "hello" }] }] });
    assert_eq!(body(&target(), &request), expected);
}

#[test]
fn the_model_is_one_segment_of_the_path() {
    let check = |model: &str, expected: &str| {
        let target = WireTarget { model, ..target() };
        let path = WireFormat::Google
            .encode(&target, &ModelRequest::default())
            .path;
        let expected = format!("/v1beta/models/{expected}:streamGenerateContent?alt=sse");
        assert_eq!(path, expected);
    };
    check("gemini-2.5-pro", "gemini-2.5-pro");
    check("models/gemini-2.5-pro", "gemini-2.5-pro");
    check("../x?key=a#b c", "..%2Fx%3Fkey%3Da%23b%20c");
    check("é", "%C3%A9");
}

#[test]
fn thinking_is_asked_for_in_the_model_s_own_way() {
    let check = |style, effort, expected: Value| {
        let request = ModelRequest {
            thinking: effort,
            ..ModelRequest::default()
        };
        let target = WireTarget {
            thinking: style,
            ..target()
        };
        let body = body(&target, &request);
        assert_eq!(body["generationConfig"]["thinkingConfig"], expected);
    };
    use ThinkingEffort::{High, Low, Medium, Off};
    use ThinkingStyle as Style;
    let level =
        |word: &str, shown: bool| json!({ "thinkingLevel": word, "includeThoughts": shown });
    let budget =
        |tokens: u64, shown: bool| json!({ "thinkingBudget": tokens, "includeThoughts": shown });
    check(Style::Effort, None, Value::Null);
    check(Style::Effort, Some(Off), level("low", false));
    check(Style::Effort, Some(Low), level("low", true));
    check(Style::Effort, Some(Medium), level("medium", true));
    check(Style::Effort, Some(High), level("high", true));
    check(Style::Budget, Some(Off), budget(0, false));
    check(Style::Budget, Some(Medium), budget(8_192, true));
    check(Style::None, Some(High), Value::Null);
}

#[test]
fn a_choice_of_tools_is_passed_on() {
    let check = |choice, expected: Value| {
        let request = ModelRequest {
            tools: vec![tool("read").into()],
            tool_choice: choice,
            ..ModelRequest::default()
        };
        assert_eq!(
            body(&target(), &request)["toolConfig"]["functionCallingConfig"],
            expected
        );
    };
    check(ToolChoice::Auto, Value::Null);
    check(ToolChoice::None, json!({ "mode": "NONE" }));
    check(ToolChoice::Any, json!({ "mode": "ANY" }));
    check(
        ToolChoice::Named("read".into()),
        json!({ "mode": "ANY", "allowedFunctionNames": ["read"] }),
    );
}

#[test]
fn calls_go_back_with_their_signatures_and_without_made_ids() {
    let sealed = MessagePart::ToolCall(ToolCall {
        id: "call_0".into(),
        name: "read".into(),
        arguments: "{}".into(),
        seal: seal("google", "c2ln"),
    });
    let parts = |style, calls: Vec<MessagePart>| {
        let request = ModelRequest {
            messages: vec![
                ModelMessage::assistant(calls),
                ModelMessage::results([result("call_0", "read", "ok")]),
            ],
            ..ModelRequest::default()
        };
        let target = WireTarget {
            thinking: style,
            ..target()
        };
        body(&target, &request)["contents"].clone()
    };
    let bare = json!({ "functionCall": { "name": "read", "args": {} } });
    let with = |signature: &str| {
        let mut part = bare.clone();
        part["thoughtSignature"] = signature.into();
        part
    };
    let two = vec![sealed, call("call_1", "read", "{}")];
    let found = parts(ThinkingStyle::Effort, two);
    assert_eq!(found[0]["parts"], json!([with("c2ln"), bare]));
    let response = json!({ "name": "read", "response": { "output": "ok" } });
    assert_eq!(found[1]["parts"], json!([{ "functionResponse": response }]));
    // A newer model must be told that it did not make the call; an older one does not ask.
    let foreign = vec![call("call_0", "read", "{}"), call("call_1", "read", "{}")];
    let found = parts(ThinkingStyle::Effort, foreign.clone());
    let told = with("skip_thought_signature_validator");
    assert_eq!(found[0]["parts"], json!([told, bare]));
    let found = parts(ThinkingStyle::Budget, foreign);
    assert_eq!(found[0]["parts"], json!([bare, bare]));
}

fn reduced(schema: &Value) -> Value {
    let request = ModelRequest {
        tools: vec![
            ToolSpec {
                name: "t".into(),
                description: String::new(),
                schema: schema.clone(),
            }
            .into(),
        ],
        ..ModelRequest::default()
    };
    let body = body(&target(), &request);
    body["tools"][0]["functionDeclarations"][0]["parameters"].clone()
}

/// Property schemas, and what is left of each.
const SCHEMAS: &str = r##"
    {"type":"string","minLength":1,"contentEncoding":"x"} => {"type":"string","minLength":1}
    {"type":"string","format":"uri"} => {"type":"string"}
    {"type":"string","format":"date-time"} => {"type":"string","format":"date-time"}
    {"type":"string","enum":["a","b",null]} => {"type":"string","enum":["a","b"],"nullable":true}
    {"enum":["a",1]} => {"type":"string","enum":["a","1"]}
    {"type":"integer","enum":[1,2],"description":"How."} => {"type":"integer","description":"How. One of: 1, 2."}
    {"const":"a"} => {"type":"string","enum":["a"]}
    {"type":["string","null"]} => {"type":"string","nullable":true}
    {"type":["string","integer"]} => {"anyOf":[{"type":"string"},{"type":"integer"}]}
    {"anyOf":[{"type":"integer"},{"type":"null"}],"description":"d"} => {"type":"integer","nullable":true,"description":"d"}
    {"oneOf":[{"type":"integer"},{"type":"string"}],"default":1} => {"anyOf":[{"type":"integer"},{"type":"string"}]}
    {"anyOf":[]} => {"type":"string"}
    {"$ref":"#/$defs/word"} => {"type":"string","description":"a word"}
    {"$ref":"#/$defs/word","description":"mine"} => {"type":"string","description":"mine"}
    {"$ref":"#/$defs/tree"} => {"type":"object","properties":{"left":{"type":"object"},"n":{"type":"integer"}}}
    {"$ref":"#/$defs/self"} => {"type":"object"}
    {"$ref":"http://elsewhere/x"} => {"type":"string"}
    {"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]} => {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}
    {"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}]} => {"type":"object","properties":{"a":{"type":"string"}}}
    {"type":"object"} => {"type":"object"}
    {"type":"array"} => {"type":"array","items":{"type":"string"}}
    {"type":"array","items":[{"type":"integer"}],"maxItems":2} => {"type":"array","maxItems":2,"items":{"type":"integer"}}
    {"prefixItems":[{"type":"boolean"}]} => {"type":"array","items":{"type":"boolean"}}
    {"type":"file"} => {"type":"string"}
    {"description":7,"minimum":"low"} => {"type":"string"}
    true => {"type":"string"}
"##;

#[test]
fn schemas_say_only_what_is_understood() {
    for line in SCHEMAS.lines().filter(|line| !line.is_empty()) {
        let (property, expected) = line.split_once(" => ").unwrap();
        let property: Value = serde_json::from_str(property).unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        let left = json!({ "$ref": "#/$defs/tree" });
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "$defs": {
                "word": { "type": "string", "description": "a word" },
                "tree": { "properties": { "left": left, "n": { "type": "integer" } } },
                "self": { "$ref": "#/$defs/self" },
            },
            "required": ["p", "missing"],
            "properties": { "p": property },
        });
        let found = reduced(&schema);
        assert_eq!(found["properties"]["p"], expected, "{line}");
        assert_eq!(found["required"], json!(["p"]));
        assert_eq!(found.as_object().unwrap().len(), 3, "{found}");
    }
}

#[test]
fn a_tool_without_arguments_has_no_parameters() {
    for schema in [
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object" }),
        json!(null),
        json!([]),
    ] {
        assert_eq!(reduced(&schema), Value::Null, "{schema}");
    }
}

#[test]
fn no_schema_grows_without_end() {
    // Each definition refers to the next one twice: expanded, that is 2^40 nodes.
    let defs: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            let node = json!({ "type": "object", "properties": { "a": next, "b": next } });
            (format!("d{n}"), node)
        })
        .collect();
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
    assert!(reduced(&schema).to_string().len() < 200_000);
    let circle = json!({
        "properties": { "a": { "allOf": [{ "$ref": "#/properties/a" }, { "$ref": "#" }] } },
    });
    assert!(reduced(&circle).to_string().len() < 200_000);
}

/// Reads the pieces of a reply.
fn read(pieces: &[Value]) -> (Vec<ReplyChunk>, Option<ModelFault>) {
    let mut decoder = WireFormat::Google.decoder();
    let mut chunks = Vec::new();
    let mut fault = None;
    for piece in pieces {
        let frame = format!("data: {piece}\r\n\r\n");
        fault = fault.or(decoder.push(frame.as_bytes(), &mut chunks).err());
    }
    fault = fault.or(decoder.finish(&mut chunks).err());
    (chunks, fault)
}

fn candidate(parts: Value, reason: Value) -> Value {
    json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": reason }] })
}

#[test]
fn every_reason_to_stop_has_its_word() {
    let said = json!([{ "text": "a" }]);
    let called = json!([{ "functionCall": { "name": "read" } }]);
    let check = |parts: &Value, word: &str, expected: ReplyStopReason| {
        let (chunks, fault) = read(&[candidate(parts.clone(), json!(word))]);
        assert_eq!(fault, None);
        match chunks.last() {
            Some(ReplyChunk::End { stop, .. }) => assert_eq!(*stop, expected, "{word}"),
            other => panic!("{word}: {other:?}"),
        }
    };
    check(&said, "STOP", ReplyStopReason::End);
    check(&called, "STOP", ReplyStopReason::ToolUse);
    check(&said, "MAX_TOKENS", ReplyStopReason::MaxTokens);
    check(&called, "MAX_TOKENS", ReplyStopReason::MaxTokens);
    for word in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ] {
        check(&json!(null), word, ReplyStopReason::Refusal);
    }
    let malformed = "MALFORMED_FUNCTION_CALL";
    check(&said, malformed, ReplyStopReason::Other(malformed.into()));
}

#[test]
fn a_question_may_be_refused_before_any_answer() {
    let piece = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    let (chunks, fault) = read(&[piece]);
    assert_eq!(fault, None);
    let stop = ReplyStopReason::Refusal;
    assert_eq!(chunks.last(), Some(&ReplyChunk::End { stop, usage: None }));
}

#[test]
fn an_answer_without_a_reason_to_stop_was_cut() {
    for pieces in [
        vec![],
        vec![candidate(json!([{ "text": "a" }]), Value::Null)],
    ] {
        assert_eq!(read(&pieces).1.unwrap().kind, ModelFaultKind::Cut);
    }
}

#[test]
fn signatures_are_kept_with_their_parts() {
    let parts = json!([
        { "text": "hm", "thought": true, "thoughtSignature": "MQ==" },
        { "text": "so", "thoughtSignature": "Mg==" },
        { "text": "", "thoughtSignature": "Mw==" },
        { "functionCall": { "id": "f1", "name": "read", "args": { "b": 1, "a": [null] } }, "thoughtSignature": "NA==" },
        { "functionCall": { "id": "f1", "name": "read", "args": {} } },
        { "functionCall": { "name": "read" } },
        { "executableCode": { "code": "1" } },
        "odd",
    ]);
    let (chunks, fault) = read(&[candidate(parts, json!("STOP"))]);
    assert_eq!(fault, None);
    let seal = |data: &str| ProviderSignature {
        wire: "google".into(),
        data: data.into(),
    };
    let text = |text: &str| text.to_owned();
    let start = |index, id: &str| ReplyChunk::ToolStart {
        index,
        id: text(id),
        name: text("read"),
    };
    let delta = |index, arguments: &str| ReplyChunk::ToolDelta {
        index,
        arguments: text(arguments),
    };
    let end = |index, seal| ReplyChunk::ToolEnd { index, seal };
    let expected = [
        ReplyChunk::Thinking { text: text("hm") },
        ReplyChunk::ThinkingSealed { seal: seal("MQ==") },
        ReplyChunk::Text { text: text("so") },
        ReplyChunk::TextSealed { seal: seal("Mg==") },
        ReplyChunk::TextSealed { seal: seal("Mw==") },
        start(0, "f1"),
        delta(0, r#"{"a":[null],"b":1}"#),
        end(0, Some(seal("NA=="))),
        start(1, "f1_1"),
        delta(1, "{}"),
        end(1, None),
        start(2, "call_2"),
        delta(2, "{}"),
        end(2, None),
    ];
    assert_eq!(chunks[1..chunks.len() - 1], expected);
}

#[test]
fn tokens_are_counted_as_everybody_counts_them() {
    let check = |usages: &[Value], expected: Option<TokenUsage>| {
        let mut pieces: Vec<Value> = usages
            .iter()
            .map(|usage| json!({ "usageMetadata": usage }))
            .collect();
        pieces.push(candidate(Value::Null, json!("STOP")));
        let (chunks, _) = read(&pieces);
        let stop = ReplyStopReason::End;
        let usage = expected;
        assert_eq!(
            chunks.last(),
            Some(&ReplyChunk::End { stop, usage }),
            "{usages:?}"
        );
    };
    let all = json!({
        "promptTokenCount": 100,
        "cachedContentTokenCount": 80,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
    });
    let whole = TokenUsage {
        input: 100,
        cache_read: 80,
        cache_write: 0,
        output: 50,
        thinking: 30,
    };
    check(std::slice::from_ref(&all), Some(whole));
    check(
        &[json!({ "promptTokenCount": 100 }), all.clone()],
        Some(whole),
    );
    check(
        &[
            all.clone(),
            json!({ "promptTokenCount": 4, "candidatesTokenCount": -1 }),
        ],
        Some(whole),
    );
    check(
        &[all, json!({ "promptTokenCount": 1_000_000_000_000_u64 })],
        None,
    );
    check(&[], None);
}

#[test]
fn an_error_in_the_middle_has_its_sort() {
    let check = |error: Value, expected: ModelFaultKind| {
        let before = candidate(json!([{ "text": "a" }]), Value::Null);
        let (chunks, fault) = read(&[before, json!({ "error": error })]);
        assert_eq!(chunks.len(), 2);
        assert_eq!(fault.unwrap().kind, expected, "{error}");
    };
    check(
        json!({ "code": 503, "message": "The model is overloaded." }),
        ModelFaultKind::Overloaded,
    );
    check(
        json!({ "code": 500, "status": "INTERNAL" }),
        ModelFaultKind::Server,
    );
    check(
        json!({ "code": 429, "status": "RESOURCE_EXHAUSTED" }),
        ModelFaultKind::RateLimit,
    );
    check(
        json!({ "code": 8, "status": "RESOURCE_EXHAUSTED" }),
        ModelFaultKind::RateLimit,
    );
    check(
        json!({ "status": "UNAVAILABLE", "message": "try later" }),
        ModelFaultKind::Server,
    );
    check(
        json!({ "status": "INVALID_ARGUMENT" }),
        ModelFaultKind::BadRequest,
    );
    check(
        json!({ "code": 400, "message": "API key not valid." }),
        ModelFaultKind::Key,
    );
    check(json!("boom"), ModelFaultKind::Server);
}

#[test]
fn odd_shapes_do_no_harm() {
    for piece in [
        json!(null),
        json!([]),
        json!(7),
        json!({ "candidates": {} }),
        json!({ "candidates": [7] }),
        json!({ "candidates": [{ "content": { "parts": { "text": "a" } } }] }),
        json!({ "candidates": [{ "content": { "parts": [{ "text": 1, "thought": "yes" }] } }] }),
        json!({ "candidates": [{ "finishReason": 3 }], "usageMetadata": "many" }),
    ] {
        let (chunks, fault) = read(std::slice::from_ref(&piece));
        assert_eq!(fault.unwrap().kind, ModelFaultKind::Cut, "{piece}");
        assert!(chunks.len() <= 1, "{piece}: {chunks:?}");
    }
}
