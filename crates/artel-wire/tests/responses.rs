//! OpenAI Responses: its requests, and answers that come in other pieces than usual.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod answers;

use artel_types::model::{
    MessagePart, MessageRole, ModelFaultKind, ModelMessage, ModelRequest, PromptCacheLifetime,
    ProviderSignature, ReplyChunk, ThinkingEffort, ThinkingStyle, ToolChoice,
};
use artel_wire::{WireFormat, WireTarget};
use serde_json::{Value, json};

use answers::{TARGET, body, rich};

fn check(answer: &str, expected: &str) {
    answers::check(WireFormat::Responses, answer, expected);
}

/// Writes events as the API does, after the one with which an answer begins.
fn events(events: &[Value]) -> String {
    let first = json!({ "type": "response.created", "response": { "id": "r1", "model": "m" } });
    let all = [&first].into_iter().chain(events);
    all.map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    })
    .collect()
}

fn event(name: &str, mut fields: Value) -> Value {
    fields["type"] = json!(format!("response.{name}"));
    fields
}

fn completed() -> Value {
    event(
        "completed",
        json!({ "response": { "status": "completed" } }),
    )
}

#[test]
fn a_request_with_everything() {
    answers::check_rich(WireFormat::Responses, "responses");
    assert_eq!(
        WireFormat::Responses.encode(&TARGET, &rich()).path,
        "/responses"
    );
}

#[test]
fn what_is_not_asked_for_is_not_written() {
    let request = ModelRequest {
        messages: vec![ModelMessage::user("hello")],
        ..ModelRequest::default()
    };
    let content = json!([{ "type": "input_text", "text": "hello" }]);
    let expected = json!({
        "model": "some-model",
        "input": [{ "type": "message", "role": "user", "content": content }],
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    assert_eq!(body(WireFormat::Responses, &TARGET, &request), expected);
}

#[test]
fn a_model_that_cannot_think_is_not_asked_to() {
    let target = WireTarget {
        thinking: ThinkingStyle::None,
        ..TARGET
    };
    let body = body(WireFormat::Responses, &target, &rich());
    assert_eq!(body["include"], Value::Null);
    assert_eq!(body["reasoning"], Value::Null);
    let items = body["input"].as_array().unwrap();
    assert!(items.iter().all(|item| item["type"] != "reasoning"));
}

#[test]
fn efforts_and_limits() {
    let asked = |thinking: Option<ThinkingEffort>, max_output: u64| {
        let request = ModelRequest {
            thinking,
            max_output: Some(max_output),
            ..ModelRequest::default()
        };
        let body = body(WireFormat::Responses, &TARGET, &request);
        (body["reasoning"].clone(), body["max_output_tokens"].clone())
    };
    assert_eq!(asked(None, 100), (Value::Null, json!(100)));
    let off = json!({ "effort": "none" });
    assert_eq!(asked(Some(ThinkingEffort::Off), 1), (off, json!(16)));
    let low = json!({ "effort": "low", "summary": "auto" });
    assert_eq!(
        asked(Some(ThinkingEffort::Low), 100_000),
        (low, json!(8_000))
    );
}

#[test]
fn one_tool_can_be_named() {
    let mut request = rich();
    request.tool_choice = ToolChoice::Named("read".into());
    let body = body(WireFormat::Responses, &TARGET, &request);
    assert_eq!(
        body["tool_choice"],
        json!({ "type": "function", "name": "read" })
    );
}

#[test]
fn the_cache_key_is_that_of_the_beginning() {
    let key = |change: fn(&mut ModelRequest)| {
        let mut request = rich();
        change(&mut request);
        body(WireFormat::Responses, &TARGET, &request)["prompt_cache_key"].clone()
    };
    let usual = key(|_| {});
    assert_eq!(usual, key(|request| request.messages.clear()));
    assert_eq!(
        usual,
        key(|request| request.cache = PromptCacheLifetime::Short)
    );
    assert_ne!(usual, key(|request| request.system.push('!')));
    assert_ne!(usual, key(|request| request.tools.truncate(1)));
    assert_eq!(
        key(|request| request.cache = PromptCacheLifetime::Unset),
        Value::Null
    );
}

#[test]
fn seals_that_cannot_be_read_are_not_sent() {
    let sent = |wire: &str, data: &str| {
        let seal = Some(ProviderSignature {
            wire: wire.into(),
            data: data.into(),
        });
        let text = "Hm.".to_owned();
        let words = MessagePart::Text {
            text: "Hi".into(),
            seal: seal.clone(),
        };
        let request = ModelRequest {
            messages: vec![ModelMessage::assistant(vec![
                MessagePart::Thinking { text, seal },
                words,
            ])],
            ..ModelRequest::default()
        };
        let body = body(WireFormat::Responses, &TARGET, &request);
        let items = body["input"].as_array().unwrap();
        (items.len(), items.last().unwrap()["phase"].clone())
    };
    assert_eq!(
        sent("openai", r#"{"id":"a","encrypted_content":"b"}"#),
        (2, Value::Null)
    );
    assert_eq!(
        sent("openai", r#"{"phase":"final_answer"}"#),
        (1, json!("final_answer"))
    );
    assert_eq!(
        sent("google", r#"{"id":"a","encrypted_content":"b"}"#),
        (1, Value::Null)
    );
    for data in ["", "rubbish", "[]", "7", r#"{"id":"a"}"#, r#"{"phase":7}"#] {
        assert_eq!(sent("openai", data), (1, Value::Null), "{data}");
    }
}

#[test]
fn a_thought_comes_back_as_it_was_sealed() {
    let recorded = include_str!("streams/responses/thinking.txt");
    let (chunks, _) = answers::read(WireFormat::Responses, [recorded.as_bytes()]);
    let mut gather = artel_rules::stream::ModelReplyBuilder::default();
    chunks.iter().for_each(|chunk| gather.add(chunk).unwrap());
    let reply = gather.reply().unwrap();
    let usage = reply.usage.unwrap();
    assert_eq!((usage.cache_read, usage.thinking), (8, 9));
    let request = ModelRequest {
        messages: vec![ModelMessage {
            role: MessageRole::Assistant,
            parts: reply.parts,
        }],
        ..ModelRequest::default()
    };
    let expected = json!({
        "type": "reasoning",
        "id": "rs_68ed1f2a7d048190b1c2",
        "encrypted_content": "gAAAAABo7R8qVhZ0YmJxT2s1c0dGd0x1N3JQ",
        "summary": [{ "type": "summary_text", "text": "Two and two make four." }],
    });
    assert_eq!(
        body(WireFormat::Responses, &TARGET, &request)["input"][0],
        expected
    );
}

#[test]
fn what_no_piece_had_is_told_when_it_is_done() {
    let at = |fields: Value| {
        let mut all = json!({ "output_index": 0, "content_index": 0 });
        for (key, value) in fields.as_object().unwrap() {
            all[key] = value.clone();
        }
        all
    };
    let delta = event("output_text.delta", at(json!({ "delta": "Grü" })));
    let done = event("output_text.done", at(json!({ "text": "Grüße" })));
    let part = json!({ "type": "output_text", "text": "Grüße!" });
    let item = json!({ "type": "message", "content": [part] });
    let item_done = event("output_item.done", at(json!({ "item": item })));
    let pieces = [
        (vec![&delta], "text Grü"),
        (vec![&delta, &done], "text Grü\ntext ße"),
        (vec![&done, &done], "text Grüße"),
        (vec![&delta, &done, &item_done], "text Grü\ntext ße\ntext !"),
        (vec![&item_done], "text Grüße!"),
    ];
    for (some, expected) in pieces {
        let mut all: Vec<Value> = some.into_iter().cloned().collect();
        all.push(completed());
        check(&events(&all), &format!("start r1 m\n{expected}\nend End"));
    }
}

#[test]
fn thoughts_have_paragraphs_and_may_be_hidden() {
    let piece = |number: u64, text: &str| {
        let fields = json!({ "output_index": 0, "summary_index": number, "delta": text });
        event("reasoning_summary_text.delta", fields)
    };
    let done = |index: u64, item: Value| {
        event(
            "output_item.done",
            json!({ "output_index": index, "item": item }),
        )
    };
    let summary = json!([{ "text": "One." }, { "text": "Two." }, { "text": "Three." }]);
    let all = [
        piece(0, "One."),
        piece(1, "Two"),
        piece(1, "."),
        done(
            0,
            json!({ "type": "reasoning", "id": "a", "summary": summary }),
        ),
        done(
            1,
            json!({ "type": "reasoning", "id": "b", "encrypted_content": "x" }),
        ),
        event(
            "reasoning_text.delta",
            json!({ "output_index": 2, "delta": "Open." }),
        ),
        completed(),
    ];
    check(
        &events(&all),
        r#"start r1 m
           thought One.
           thought \n\nTwo
           thought .
           thought \n\nThree.
           thought sealed openai {"encrypted_content":"x","id":"b"}
           thought Open.
           end End"#,
    );
}

#[test]
fn words_keep_what_they_were_for() {
    let done = |index: u64, text: &str| {
        let part = json!({ "type": "output_text", "text": text });
        let item = json!({ "type": "message", "phase": "commentary", "content": [part] });
        event(
            "output_item.done",
            json!({ "output_index": index, "item": item }),
        )
    };
    check(
        &events(&[done(0, "Hi"), done(1, ""), completed()]),
        r#"start r1 m
           text Hi
           text sealed openai {"phase":"commentary"}
           end End"#,
    );
}

/// An event about the item of a call.
fn call(stage: &str, place: Value, arguments: &str, status: &str) -> Value {
    let item = json!({
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "read",
        "arguments": arguments,
        "status": status,
    });
    let mut fields = json!({ "item": item });
    if !place.is_null() {
        fields["output_index"] = place;
    }
    event(&format!("output_item.{stage}"), fields)
}

#[test]
fn a_call_comes_once_in_whatever_pieces() {
    let added = |place: Value| call("added", place, "", "in_progress");
    let done = |place: Value| call("done", place, "{\"p\":1}", "completed");
    let more = |fields: Value| event("function_call_arguments.delta", fields);
    let finished = |fields: Value| event("function_call_arguments.done", fields);
    let by_place = json!({ "output_index": 0, "delta": "{\"p\"", "arguments": "{\"p\":1}" });
    let by_id = json!({ "item_id": "fc_1", "delta": "{\"p\"", "arguments": "{\"p\":1}" });
    let (zero, none) = (json!(0), Value::Null);
    let in_two = "more 0 {\"p\"\nmore 0 :1}";
    let in_one = "more 0 {\"p\":1}";
    let table = [
        (vec![done(zero.clone())], in_one),
        (vec![added(zero.clone()), done(zero.clone())], in_one),
        (
            vec![
                added(zero.clone()),
                more(by_place.clone()),
                done(zero.clone()),
            ],
            in_two,
        ),
        (
            vec![
                added(zero.clone()),
                more(by_place.clone()),
                finished(by_place.clone()),
            ],
            in_two,
        ),
        (
            vec![
                added(zero.clone()),
                finished(by_place.clone()),
                done(zero.clone()),
            ],
            in_one,
        ),
        (
            vec![added(none.clone()), more(by_id.clone()), done(none.clone())],
            in_two,
        ),
        (vec![added(none.clone()), finished(by_id.clone())], in_one),
        // Without a beginning, pieces say nothing: nobody knows yet of what.
        (
            vec![more(by_place.clone()), finished(by_place), done(zero)],
            in_one,
        ),
    ];
    for (mut all, expected) in table {
        all.push(completed());
        let answer = events(&all);
        let expected = format!("start r1 m\ncall 0 c1 read\n{expected}\ndone 0\nend ToolUse");
        check(&answer, &expected);
        // The server of the other format ends this one too.
        check(&format!("{answer}data: [DONE]\n\n"), &expected);
    }
}

#[test]
fn items_that_all_have_the_same_place() {
    let message = |stage: &str, text: &str| {
        let part = json!({ "type": "output_text", "text": text });
        let item = json!({ "type": "message", "content": [part] });
        event(
            &format!("output_item.{stage}"),
            json!({ "output_index": 0, "item": item }),
        )
    };
    let call = |stage: &str, arguments: &str| call(stage, json!(0), arguments, "completed");
    let all = [
        message("added", ""),
        message("done", "One."),
        message("added", ""),
        message("done", "Two."),
        call("added", ""),
        call("done", "{\"p\":1}"),
        call("added", ""),
        call("done", "{\"p\":2}"),
        completed(),
    ];
    check(
        &events(&all),
        "start r1 m
         text One.
         text Two.
         call 0 c1 read
         more 0 {\"p\":1}
         done 0
         call 1 c1_1 read
         more 1 {\"p\":2}
         done 1
         end ToolUse",
    );
}

#[test]
fn a_call_at_the_limit_cannot_be_carried_out() {
    let incomplete = event(
        "incomplete",
        json!({ "response": { "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } } }),
    );
    let all = [
        call("done", json!(0), "{}", "completed"),
        call("done", json!(1), "{\"p\":", "incomplete"),
        call("added", json!(2), "", "in_progress"),
        incomplete,
    ];
    check(
        &events(&all),
        "start r1 m
         call 0 c1 read
         more 0 {}
         done 0
         call 1 c1_1 read
         more 1 {\"p\":
         call 2 c1_2 read
         done 1
         more 2 {
         done 2
         end MaxTokens",
    );
}

#[test]
fn reasons_to_be_incomplete() {
    let table = [
        (
            "incomplete",
            json!({ "reason": "max_output_tokens" }),
            "MaxTokens",
        ),
        (
            "incomplete",
            json!({ "reason": "content_filter" }),
            "Refusal",
        ),
        ("incomplete", json!({ "reason": "new" }), r#"Other("new")"#),
        ("incomplete", Value::Null, r#"Other("incomplete")"#),
        ("completed", Value::Null, "End"),
    ];
    for (status, details, stop) in table {
        let response = json!({ "status": status, "incomplete_details": details });
        // Some servers complete whatever happens.
        for name in [status, "completed"] {
            let end = event(name, json!({ "response": response }));
            check(&events(&[end]), &format!("start r1 m\nend {stop}"));
        }
    }
}

#[test]
fn failures() {
    let failed = |error: Value| event("failed", json!({ "response": { "error": error } }));
    let coded = |code: &str| failed(json!({ "code": code, "message": "m" }));
    let table = [
        (coded("server_error"), ModelFaultKind::Server),
        (coded("rate_limit_exceeded"), ModelFaultKind::RateLimit),
        (coded("server_is_overloaded"), ModelFaultKind::Overloaded),
        (coded("insufficient_quota"), ModelFaultKind::Quota),
        (
            coded("context_length_exceeded"),
            ModelFaultKind::ContextOverflow,
        ),
        (coded("invalid_prompt"), ModelFaultKind::BadRequest),
        (coded("image_too_large"), ModelFaultKind::BadRequest),
        (coded("bio_policy"), ModelFaultKind::BadRequest),
        (coded("something_new"), ModelFaultKind::Server),
        (failed(Value::Null), ModelFaultKind::Server),
        (
            json!({ "type": "error", "code": "server_error", "message": "m" }),
            ModelFaultKind::Server,
        ),
        (
            json!({ "type": "error", "code": null, "message": "m" }),
            ModelFaultKind::Server,
        ),
        (
            json!({ "type": "error", "error": { "type": "insufficient_quota", "message": "m" } }),
            ModelFaultKind::Quota,
        ),
    ];
    for (end, kind) in table {
        let (chunks, fault) = answers::read(
            WireFormat::Responses,
            [events(std::slice::from_ref(&end)).as_bytes()],
        );
        assert_eq!(chunks.len(), 1, "{end}");
        assert_eq!(fault.unwrap().kind, kind, "{end}");
    }
    let slow =
        failed(json!({ "code": "rate_limit_exceeded", "message": "Please try again in 11.054s." }));
    let (_, fault) = answers::read(WireFormat::Responses, [events(&[slow]).as_bytes()]);
    assert_eq!(fault.unwrap().retry_after.unwrap().as_millis(), 11_054);
}

#[test]
fn what_is_not_known_is_passed_over() {
    let odd = [
        event("web_search_call.searching", json!({ "item_id": "x" })),
        event("output_text.annotation.added", json!({ "annotation": {} })),
        event(
            "output_item.added",
            json!({ "output_index": 3, "item": { "type": "new_thing" } }),
        ),
        event("output_item.done", json!({ "item": null })),
        event("output_text.delta", json!({ "delta": 7 })),
        event(
            "output_text.delta",
            json!({ "output_index": "x", "delta": "Hi" }),
        ),
        event("in_progress", json!({ "response": null })),
        completed(),
    ];
    let answer = format!(
        "event: keepalive\ndata: rubbish\n\ndata: []\n\n{}",
        events(&odd)
    );
    check(&answer, "start r1 m\ntext Hi\nend End");
}

#[test]
fn an_answer_that_does_not_say_its_end_was_cut_off() {
    let delta = event(
        "output_text.delta",
        json!({ "output_index": 0, "delta": "Hi" }),
    );
    for rest in ["", "data: [DONE]\n\n"] {
        let answer = format!("{}{rest}", events(std::slice::from_ref(&delta)));
        let (chunks, fault) = answers::read(WireFormat::Responses, [answer.as_bytes()]);
        assert_eq!(chunks.len(), 2);
        assert_eq!(fault.unwrap().kind, ModelFaultKind::Cut);
    }
    let (_, fault) = answers::read(WireFormat::Responses, [b"data: {\"type\":\n\n".as_slice()]);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Garbled);
}

#[test]
fn more_calls_than_any_answer_has() {
    let calls = |count: u64| {
        let calls = (0..count).map(|at| call("done", json!(at), "{}", "completed"));
        events(&calls.chain([completed()]).collect::<Vec<_>>())
    };
    let (chunks, fault) = answers::read(WireFormat::Responses, [calls(1_000).as_bytes()]);
    assert_eq!(fault, None);
    assert!(matches!(chunks.last(), Some(ReplyChunk::End { .. })));
    let (_, fault) = answers::read(WireFormat::Responses, [calls(1_001).as_bytes()]);
    assert_eq!(fault.unwrap().kind, ModelFaultKind::Garbled);
}
