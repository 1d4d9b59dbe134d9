//! What is answered: plans, their order, their form as a file, and the program that serves them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use artel_testkit::standin::{Answer, Format, StandIn, Usage, plan_from_json, usual_plan};
use artel_testkit::testkit_binary;
use serde_json::{Value, json};

use crate::asking::{Ask, Reply};

#[test]
fn a_plan_is_answered_in_order_and_says_when_it_is_used_up() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [Answer::says("first"), Answer::status(503)]);
        stand_in.push(Answer::says("third"));
        let ask = Ask::short(format);
        let answers: Vec<(u16, String)> = (0..4).map(|_| ask.get(&stand_in)).collect();
        let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses, [200, 503, 200, 500], "{format:?}");
        assert!(answers[0].1.contains("first"), "{format:?}");
        assert!(answers[2].1.contains("third"), "{format:?}");
        assert!(answers[3].1.contains("no answer left"), "{}", answers[3].1);
    }
}

#[test]
fn the_last_answer_repeats_when_it_was_told_to() {
    let plan = [
        Answer::says("first").repeating(),
        Answer::says("last").repeating(),
    ];
    let stand_in = StandIn::start(Format::Chat, plan);
    let words = (0..4).map(|_| Ask::short(Format::Chat).get(&stand_in).1);
    let is_last: Vec<bool> = words.map(|body| body.contains("last")).collect();
    assert_eq!(is_last, [false, true, true, true]);
}

#[test]
fn requests_are_remembered_as_they_came() {
    let stand_in = StandIn::start(Format::Google, [Answer::says("Hello")]);
    let mut ask = Ask::short(Format::Google);
    ask.headers.push(("X-Mine", "1".to_owned()));
    ask.get(&stand_in);
    let seen = stand_in.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].method, "POST");
    assert_eq!(seen[0].path, ask.path);
    assert_eq!(seen[0].headers["x-mine"], "1");
    assert_eq!(seen[0].body, ask.body);
}

#[test]
fn answers_have_the_headers_of_their_provider() {
    for (format, expected) in [
        (
            Format::Anthropic,
            ["request-id", "anthropic-ratelimit-requests-remaining"],
        ),
        (
            Format::Responses,
            ["x-request-id", "x-ratelimit-remaining-tokens"],
        ),
        (Format::Chat, ["x-request-id", "x-ratelimit-reset-requests"]),
        (Format::Google, ["x-goog-request-id", "content-type"]),
        (Format::Ollama, ["content-type", "date"]),
    ] {
        let answer = Answer::says("Hello")
            .header("cf-ray", "a1")
            .header("date", "never");
        let stand_in = StandIn::start(format, [answer]);
        let reply = Reply::head(Ask::short(format).send(&stand_in));
        for name in expected {
            assert!(reply.headers.contains_key(name), "{format:?}: {name}");
        }
        assert_eq!(reply.headers["cf-ray"], "a1");
        assert_eq!(reply.headers["date"], "never");
    }
}

#[test]
fn a_recorded_stream_is_sent_as_it_is() {
    for format in Format::ALL {
        let recorded = "data: of another time\n\n";
        let plan = [Answer::status(200).body(recorded).in_pieces_of(5)];
        let stand_in = StandIn::start(format, plan);
        assert_eq!(
            Ask::short(format).get(&stand_in),
            (200, recorded.to_owned())
        );
    }
}

#[test]
fn garbage_stands_between_two_events_in_the_middle() {
    for format in Format::ALL {
        let stand_in = StandIn::start(
            format,
            [Answer::says("Hello, world.").garbage("\u{0}???\n")],
        );
        let (_, body) = Ask::short(format).get(&stand_in);
        let (before, after) = body.split_once("\u{0}???\n").unwrap();
        assert!(
            before.contains("Hello, w") && before.ends_with('\n'),
            "{before}"
        );
        assert!(after.contains("orld."), "{after}");
    }
}

#[test]
fn usage_can_be_left_out() {
    let words = [
        "input_tokens",
        "prompt_tokens",
        "promptTokenCount",
        "prompt_eval_count",
    ];
    for format in Format::ALL {
        let plan = [Answer::says("Hello"), Answer::says("Hello").without_usage()];
        let stand_in = StandIn::start(format, plan);
        let mut ask = Ask::short(format);
        if format == Format::Chat {
            ask = ask.with("stream_options", json!({"include_usage": true}));
        }
        let tells = [ask.get(&stand_in).1, ask.get(&stand_in).1]
            .map(|body| words.iter().any(|word| body.contains(word)));
        assert_eq!(tells, [true, false], "{format:?}");
    }
}

/// A model's arguments are text to most providers; two read them, and say that they cannot.
#[test]
fn arguments_that_are_no_json_take_the_providers_way() {
    for (format, expected) in [
        (Format::Anthropic, r#""partial_json":"{bad""#),
        (Format::Responses, r#""arguments":"{bad""#),
        (Format::Chat, r#""arguments":"{bad""#),
        (
            Format::Google,
            r#""finishReason":"MALFORMED_FUNCTION_CALL""#,
        ),
        (Format::Ollama, "error parsing tool call"),
    ] {
        let stand_in = StandIn::start(format, [Answer::default().calls_raw("write", "{bad")]);
        let (_, body) = Ask::short(format).get(&stand_in);
        assert!(body.contains(expected), "{format:?}: {body}");
    }
}

#[test]
fn without_alt_sse_google_sends_one_array() {
    let plan = [
        Answer::says("Hello, world."),
        Answer::says("Hello").error_mid_stream(503),
    ];
    let stand_in = StandIn::start(Format::Google, plan);
    let mut ask = Ask::short(Format::Google);
    ask.path = ask.path.replace("?alt=sse", "");
    let (_, body) = ask.get(&stand_in);
    let chunks: Vec<Value> = serde_json::from_str(&body).unwrap();
    assert_eq!(chunks.len(), 3);
    let (_, body) = ask.get(&stand_in);
    let chunks: Vec<Value> = serde_json::from_str(&body).unwrap();
    assert_eq!(chunks.last().unwrap()["error"]["status"], "UNAVAILABLE");
}

#[test]
fn an_obliging_answer_calls_what_is_offered_and_then_speaks() {
    for format in Format::ALL {
        let (offer, after) = tool_round(format);
        let stand_in = StandIn::start(format, usual_plan());
        let (_, body) = offer.get(&stand_in);
        assert!(body.contains("example"), "{format:?}: {body}");
        let (_, body) = after.get(&stand_in);
        assert!(
            body.contains("Hello, w") && !body.contains("example"),
            "{format:?}: {body}"
        );
        let (_, body) = Ask::short(format).get(&stand_in);
        assert!(body.contains("Hello, w"), "{format:?}: {body}");
    }
}

/// Returns a request that offers a tool, and one that brings its result.
pub(crate) fn tool_round(format: Format) -> (Ask, Ask) {
    let schema = json!({
        "type": "object",
        "properties": {"town": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["town"],
    });
    let function = json!({"name": "weather", "description": "Tells it.", "parameters": schema});
    let hello = json!({"role": "user", "content": "Hello"});
    let (tools, field, turns) = match format {
        Format::Anthropic => (
            json!([{"name": "weather", "description": "Tells it.", "input_schema": schema}]),
            "messages",
            json!([
                hello,
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "abc"},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"town": "Graz"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "sun"},
                    {"type": "text", "text": "And?"},
                ]},
            ]),
        ),
        Format::Responses => (
            json!([{"type": "function", "name": "weather", "parameters": schema}]),
            "input",
            json!([
                hello,
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
                {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "sun"},
            ]),
        ),
        Format::Chat => (
            json!([{"type": "function", "function": function}]),
            "messages",
            json!([
                hello,
                {"role": "assistant", "content": null, "tool_calls": [{
                    "id": "c1", "type": "function",
                    "function": {"name": "weather", "arguments": "{}"},
                }]},
                {"role": "tool", "tool_call_id": "c1", "content": "sun"},
            ]),
        ),
        Format::Google => (
            json!([{"functionDeclarations": [function]}]),
            "contents",
            json!([
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {}}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "weather", "response": {"result": "sun"}}},
                ]},
            ]),
        ),
        Format::Ollama => (
            json!([{"type": "function", "function": function}]),
            "messages",
            json!([
                hello,
                {"role": "assistant", "content": "", "tool_calls": [
                    {"function": {"name": "weather", "arguments": {}}},
                ]},
                {"role": "tool", "tool_name": "weather", "content": "sun"},
            ]),
        ),
    };
    let offer = Ask::short(format).with("tools", tools);
    let result = offer.clone().with(field, turns);
    (offer, result)
}

#[test]
fn a_plan_can_be_a_file() {
    let text = r#"[
        {"text": "Hello", "thinking": "Hm.", "ending": "max_tokens", "usage": {"input": 7}},
        {"calls": [{"name": "a", "arguments": {"b": 1}}, {"name": "c", "arguments": "{bad"}]},
        {"status": 429, "retry_after": "7", "headers": {"x-mine": "1"}, "body": "slower"},
        {"obliging": true, "text": "Hi", "one_char_deltas": true, "repeating": true}
    ]"#;
    let from_file = StandIn::start(Format::Chat, plan_from_json(text).unwrap());
    let usage = Usage {
        input: 7,
        ..Usage::default()
    };
    let by_hand = StandIn::start(
        Format::Chat,
        [
            Answer::says("Hello")
                .thinking("Hm.")
                .cut_short()
                .usage(usage),
            Answer::default()
                .calls("a", json!({"b": 1}))
                .calls_raw("c", "{bad"),
            Answer::status(429)
                .retry_after("7")
                .header("x-mine", "1")
                .body("slower"),
            Answer::obliging("Hi").one_char_deltas().repeating(),
        ],
    );
    for _ in 0..5 {
        let ask = Ask::short(Format::Chat).with("stream_options", json!({"include_usage": true}));
        let [one, other] = [&from_file, &by_hand].map(|stand_in| {
            let reply = Reply::head(ask.send(stand_in));
            let (status, mut headers) = (reply.status, reply.headers.clone());
            headers.remove("date");
            (status, headers, reply.rest())
        });
        assert_eq!(one, other);
    }
}

#[test]
fn a_plan_that_cannot_be_read_says_where() {
    let error = plan_from_json(r#"[{"txt": "Hello"}]"#).unwrap_err();
    assert!(error.contains("unknown field `txt`"), "{error}");
}

#[test]
fn the_program_serves_the_plan_it_is_given() {
    let mut plan = tempfile::NamedTempFile::new().unwrap();
    plan.write_all(br#"[{"text": "from a file"}]"#).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the program is the test's own")]
    let mut program = Command::new(testkit_binary("stand-in"))
        .args(["ollama", "--plan"])
        .arg(plan.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let mut output = BufReader::new(program.stdout.take().unwrap());
    output.read_line(&mut url).unwrap();
    let address = url.trim().strip_prefix("http://").unwrap();
    let connection = Ask::short(Format::Ollama).send_to(address);
    let body = Reply::head(connection).rest().text();
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(body.contains("from a f"), "{body}");
}
