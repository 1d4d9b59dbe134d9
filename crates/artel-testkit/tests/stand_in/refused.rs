//! What a stand-in refuses, in its provider's words.

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use crate::asking::{Ask, Reply};
use crate::planned::tool_round;

/// A request that does not fit, the status it gets, and words of the message.
type Unfit<'a> = (Ask, u16, &'a str);

/// Sends requests that do not fit to a stand-in with one answer, which must still be there after.
fn check<'a>(format: Format, requests: impl IntoIterator<Item = Unfit<'a>>) {
    let stand_in = StandIn::start(format, [Answer::says("still here")]);
    for (ask, status, words) in requests {
        let (got, body) = ask.get(&stand_in);
        assert_eq!(got, status, "{format:?} {}: {body}", ask.body);
        let body: Value = serde_json::from_str(&body).unwrap();
        let message = match format {
            Format::Ollama => &body["error"],
            _ => &body["error"]["message"],
        };
        let message = message.as_str().unwrap();
        assert!(message.contains(words), "{message}\nlacks\n{words}");
    }
    let (_, fit) = tool_round(format);
    let (status, body) = fit.get(&stand_in);
    assert_eq!(status, 200, "what fits is answered: {body}");
}

/// Reads a table of `changes => words`: fields of a request that fits, changed so that it does not.
fn changed(base: &Ask, table: &'static str) -> Vec<Unfit<'static>> {
    let rows = table.lines().filter(|row| !row.trim().is_empty());
    rows.map(|row| {
        let (changes, words) = row.split_once(" => ").unwrap();
        let changes: Value = serde_json::from_str(changes).unwrap();
        let fields = changes.as_object().unwrap().iter();
        let ask = fields.fold(base.clone(), |ask, (name, value)| {
            ask.with(name, value.clone())
        });
        (ask, 400, words)
    })
    .collect()
}

/// Takes one turn out of a conversation.
fn without_turn(ask: &Ask, field: &str, place: usize) -> Ask {
    let mut turns = ask.body[field].as_array().unwrap().clone();
    turns.remove(place);
    ask.clone().with(field, json!(turns))
}

fn with_headers(format: Format, headers: &[(&'static str, &str)]) -> Ask {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    Ask {
        headers: headers.collect(),
        ..Ask::short(format)
    }
}

fn at(path: &str, format: Format) -> Ask {
    Ask {
        path: path.to_owned(),
        ..Ask::short(format)
    }
}

/// A model that no stand-in has; Google has it in the path.
fn without_model(format: Format) -> Unfit<'static> {
    let ask = Ask::short(format).with("model", json!("no-such-model"));
    (ask, 404, "no-such-model")
}

#[test]
fn anthropic_fields() {
    let format = Format::Anthropic;
    let table = r#"
{"model": null} => model: Field required
{"max_tokens": null} => max_tokens: Field required
{"max_tokens": 0} => max_tokens: Input should be greater
{"input": "a"} => input: Extra inputs are not permitted
{"messages": []} => at least one message
{"messages": [{"role": "system", "content": "a"}]} => Unexpected role "system"
{"messages": [{"role": "assistant", "content": "a"}]} => first message must use the "user" role
{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]} => roles must alternate
{"messages": [{"role": "user", "content": ""}]} => non-empty content
{"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]} => must be non-empty
{"thinking": {"type": "enabled", "budget_tokens": 99}} => budget_tokens
{"thinking": {"type": "enabled", "budget_tokens": 2000}} => `max_tokens` must be greater
{"tools": [{"name": "a b", "input_schema": {"type": "object"}}]} => tools.0.custom.name
{"tools": [{"name": "a", "input_schema": {}}]} => tools.0.custom.input_schema
{"tool_choice": {"type": "any"}} => while providing tools
"#;
    let key = ("x-api-key", "a-key");
    let version = ("anthropic-version", "2023-06-01");
    let both = [key, version, ("authorization", "Bearer a-key")];
    check(format, changed(&Ask::short(format), table));
    check(
        format,
        [
            without_model(format),
            (with_headers(format, &[version]), 401, "x-api-key"),
            (with_headers(format, &[key]), 400, "anthropic-version"),
            (with_headers(format, &both), 400, "may not both be given"),
            (at("/v1/complete", format), 404, "/v1/complete"),
        ],
    );
}

#[test]
fn anthropic_turns() {
    let (_, round) = tool_round(Format::Anthropic);
    let mut unsigned = round.clone();
    let thought = unsigned.body["messages"][1]["content"][0].as_object_mut();
    thought.unwrap().remove("signature");
    let mut late = round.clone();
    let blocks = late.body["messages"][2]["content"].as_array_mut();
    blocks.unwrap().reverse();
    let mut stray = round.clone();
    stray.body["messages"][1]["content"][1] = json!({"type": "text", "text": "a"});
    let mark = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    let marked = json!([{"role": "user", "content": vec![mark; 5]}]);
    let unanswered = "without `tool_result` blocks immediately after: t1";
    check(
        Format::Anthropic,
        [
            (without_turn(&round, "messages", 2), 400, unanswered),
            (late, 400, unanswered),
            (stray, 400, "unexpected `tool_use_id`"),
            (
                unsigned,
                400,
                "messages.1.content.0.signature: Field required",
            ),
            (round.with("messages", marked), 400, "A maximum of 4 blocks"),
        ],
    );
}

#[test]
fn responses() {
    let format = Format::Responses;
    let table = r#"
{"model": null} => 'model'
{"input": null} => 'input'
{"input": []} => 'input'
{"messages": []} => 'messages'
{"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}]} => 'input_text'
{"tools": [{"type": "function", "function": {"name": "weather"}}]} => 'tools[0].name'
{"tools": [{"type": "function", "name": "a", "strict": true, "parameters": {}}]} => 'additionalProperties'
{"text": {"format": {"type": "json_schema", "schema": {}}}} => 'text.format.name'
"#;
    let (_, round) = tool_round(format);
    let mut open = round.clone().with("store", json!(false));
    let thought = open.body["input"][1].as_object_mut().unwrap();
    thought.remove("encrypted_content");
    let no_call = "No tool call found for function call output with call_id c1";
    check(format, changed(&Ask::short(format), table));
    check(
        format,
        [
            without_model(format),
            (with_headers(format, &[]), 401, "API key"),
            (at("/responses", format), 404, "/responses"),
            (without_turn(&round, "input", 2), 400, no_call),
            (
                without_turn(&round, "input", 3),
                400,
                "No tool output found",
            ),
            (open, 400, "Item with id 'rs_1' not found"),
        ],
    );
}

#[test]
fn chat() {
    let format = Format::Chat;
    let table = r#"
{"model": null} => model
{"messages": []} => empty array
{"messages": [{"role": "model", "content": "a"}]} => Invalid value: 'model'
{"messages": [{"role": "user"}]} => expected a string or an array
{"stream": null, "stream_options": {"include_usage": true}} => only allowed when 'stream' is enabled
{"max_tokens": 1, "max_completion_tokens": 1} => at the same time
{"tools": [{"name": "weather"}]} => tools[0].type
{"tools": [{"type": "function", "function": {"name": "a b"}}]} => tools[0].function.name
{"tool_choice": "auto"} => only allowed when 'tools' are specified
"#;
    let (_, round) = tool_round(format);
    let mut object = round.clone();
    object.body["messages"][1]["tool_calls"][0]["function"]["arguments"] = json!({});
    let no_call = "must be a response to a preceeding message";
    check(format, changed(&Ask::short(format), table));
    check(
        format,
        [
            without_model(format),
            (with_headers(format, &[]), 401, "API key"),
            (at("/chat/completions", format), 404, "/chat/completions"),
            (without_turn(&round, "messages", 1), 400, no_call),
            (
                without_turn(&round, "messages", 2),
                400,
                "did not have response messages: c1",
            ),
            (object, 400, "expected a string"),
        ],
    );
}

#[test]
fn google() {
    let format = Format::Google;
    let table = r#"
{"contents": []} => contents is not specified
{"messages": []} => Unknown name "messages"
{"contents": [{"role": "assistant", "parts": [{"text": "a"}]}]} => valid role
{"contents": [{"role": "user", "parts": []}]} => must not be empty
{"contents": [{"role": "user", "parts": [{"thought": true}]}]} => must have one initialized field
{"tools": [{"functionDeclarations": [{"name": "a b"}]}]} => Invalid function name
{"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"additionalProperties": false}}]}]} => Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters'
{"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"properties": {"b": {"items": {"$ref": "c"}}}}}]}]} => parameters.properties[0].value.items'
{"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"type": ["string", "null"]}}]}]} => not repeating
{"tools": [{"functionDeclarations": [{"name": "a", "parameters": {"enum": [1, 2]}}]}]} => TYPE_STRING
"#;
    let (_, round) = tool_round(format);
    let wrong_key = with_headers(format, &[("x-goog-api-key", "wrong-key")]);
    let no_model = at("/v1beta/models/no-such-model:streamGenerateContent", format);
    let counts = "number of function response parts";
    check(format, changed(&Ask::short(format), table));
    check(
        format,
        [
            (no_model, 404, "no-such-model"),
            (with_headers(format, &[]), 403, "unregistered callers"),
            (wrong_key, 400, "API key not valid"),
            (
                at("/v1beta/models/m:countTokens", format),
                404,
                "countTokens",
            ),
            (without_turn(&round, "contents", 1), 400, counts),
            (
                without_turn(&round, "contents", 0),
                400,
                "immediately after a user turn",
            ),
        ],
    );
}

#[test]
fn google_takes_a_key_in_the_query() {
    let stand_in = StandIn::start(Format::Google, [Answer::says("Hello")]);
    let mut ask = with_headers(Format::Google, &[]);
    ask.path += "&key=a-key";
    assert_eq!(ask.get(&stand_in).0, 200);
}

#[test]
fn ollama() {
    let format = Format::Ollama;
    let table = r#"
{"model": null} => model is required
{"messages": null} => ChatRequest.messages
{"messages": [{"role": "model", "content": "a"}]} => invalid role
{"messages": [{"role": "user", "content": [{"text": "a"}]}]} => ChatRequest.messages.content of type string
{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]}]} => ToolCallFunctionArguments
{"tools": [{"name": "weather"}]} => ChatRequest.tools
"#;
    let wrong_key = with_headers(format, &[("authorization", "Bearer wrong-key")]);
    check(format, changed(&Ask::short(format), table));
    check(
        format,
        [
            without_model(format),
            (wrong_key, 401, "unauthorized"),
            (at("/api/complete", format), 404, "/api/complete"),
        ],
    );
}

/// What decides how Artel goes on: the status, and the word for the sort of trouble.
#[test]
fn trouble_has_the_providers_name() {
    let table = "
anthropic long  400 /error/message prompt is too long
anthropic quota 400 /error/message credit balance is too low
anthropic 403   403 /error/type permission_error
anthropic 529   529 /error/type overloaded_error
responses long  400 /error/code context_length_exceeded
responses quota 429 /error/code insufficient_quota
responses 500   500 /error/code server_error
chat      429   429 /error/code rate_limit_exceeded
chat      529   503 /error/code server_is_overloaded
google    long  400 /error/status INVALID_ARGUMENT
google    quota 429 /error/details/0/@type QuotaFailure
google    529   503 /error/status UNAVAILABLE
ollama    500   500 /error while running the model
ollama    quota 429 /error usage limit
";
    for row in table.trim().lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [format, trouble, status, place, expected @ ..] = &words[..] else {
            panic!("a row of five columns: {row}");
        };
        let answer = match *trouble {
            "long" => Answer::too_long(),
            "quota" => Answer::no_quota(),
            status => Answer::status(status.parse().unwrap()),
        };
        let format: Format = format.parse().unwrap();
        let stand_in = StandIn::start(format, [answer]);
        let (got, body) = Ask::short(format).get(&stand_in);
        let body: Value = serde_json::from_str(&body).unwrap();
        let found = body.pointer(place).and_then(Value::as_str).unwrap();
        assert_eq!(got.to_string(), *status, "{row}: {body}");
        assert!(found.contains(&expected.join(" ")), "{row}: {body}");
    }
}

#[test]
fn a_wait_is_said_where_the_provider_says_it() {
    let date = "Wed, 21 Oct 2026 07:28:00 GMT";
    for format in Format::ALL {
        for wait in ["7", date] {
            let stand_in = StandIn::start(format, [Answer::status(429).retry_after(wait)]);
            let reply = Reply::head(Ask::short(format).send(&stand_in));
            let header = reply.headers.get("retry-after").cloned();
            let body: Value = serde_json::from_str(&reply.rest().text()).unwrap();
            let delay = &body["error"]["details"][0]["retryDelay"];
            if format == Format::Google && wait == "7" {
                assert_eq!((header, delay), (None, &json!("7s")));
            } else {
                assert_eq!((header.as_deref(), delay), (Some(wait), &Value::Null));
            }
        }
    }
}
