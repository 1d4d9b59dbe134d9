//! OpenAI Chat Completions, as OpenAI and the compatible servers speak it.

mod check;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Seen;
use super::answer::{Ending, Said, Told};
use super::dialect::{Ask, Dialect, Offer, Route, Wait};
use super::openai;
use super::script::{Script, Step, pieces, steps, unnamed};
use super::trouble::Trouble;

pub(super) const DIALECT: Dialect = Dialect {
    base: "/v1",
    route,
    key: openai::key,
    model: |seen| seen.body["model"].as_str().unwrap_or_default().to_owned(),
    check: check::check,
    offer,
    events,
    stream_type: |_| "text/event-stream; charset=utf-8",
    whole,
    refuse: openai::refuse,
    wait: Wait::InHeader,
    models: openai::models,
    headers: openai::headers,
    limits: openai::LIMITS,
};

fn route(seen: &Seen) -> Route {
    match seen.route() {
        ("POST", "/v1/chat/completions") if seen.body["stream"] == true => Route::Stream,
        ("POST", "/v1/chat/completions") => Route::Whole,
        ("GET", "/v1/models") => Route::Models,
        _ => Route::Nothing,
    }
}

fn offer(body: &Value) -> Option<Offer> {
    if body["messages"].as_array()?.last()?["role"] == "tool" {
        return None;
    }
    let function = &body["tools"].get(0)?["function"];
    Offer::new(&function["name"], &function["parameters"])
}

fn events(ask: &Ask<'_>, said: &Said) -> Vec<Bytes> {
    let mut script = Script::default();
    let first = json!({"role": "assistant", "content": ""});
    script.event(chunk(ask, &first, None));
    for piece in pieces(&said.thinking, said.deltas) {
        script.delta(chunk(ask, &json!({"reasoning_content": piece}), None));
    }
    // A model that refuses says so in a separate field.
    let field = match said.ending {
        Ending::Refused => "refusal",
        _ => "content",
    };
    for piece in pieces(&said.text, said.deltas) {
        script.delta(chunk(ask, &json!({field: piece}), None));
    }
    tell_calls(&mut script, ask, said);
    script.event(chunk(ask, &json!({}), Some(finish_reason(said))));
    if wants_usage(ask)
        && let Some(usage) = usage(said)
    {
        let mut last = frame(ask, json!([]));
        last["usage"] = usage;
        script.event(unnamed(&last));
    }
    script.event("data: [DONE]\n\n");
    script.finish(said, |status, _| {
        unnamed(&json!({"error": openai::error(&Trouble::Status(status), None)}))
    })
}

/// Only the first piece of a call carries its id and its name.
fn tell_calls(script: &mut Script, ask: &Ask<'_>, said: &Said) {
    for step in steps(said) {
        match step {
            Step::Begin(place) => {
                let call = json!({
                    "index": place,
                    "id": call_id(ask, place),
                    "type": "function",
                    "function": {"name": said.calls[place].name, "arguments": ""},
                });
                script.event(chunk(ask, &json!({"tool_calls": [call]}), None));
            }
            Step::More(place, piece) => {
                let call = json!({"index": place, "function": {"arguments": piece}});
                script.delta(chunk(ask, &json!({"tool_calls": [call]}), None));
            }
            Step::End(_) => {}
        }
    }
}

fn chunk(ask: &Ask<'_>, delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    unnamed(&frame(ask, json!([choice])))
}

fn frame(ask: &Ask<'_>, choices: Value) -> Value {
    let mut frame = json!({
        "id": format!("chatcmpl-{:04}", ask.number),
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
        "model": ask.model,
        "system_fingerprint": null,
        "choices": choices,
    });
    if wants_usage(ask) {
        frame["usage"] = Value::Null;
    }
    frame
}

fn wants_usage(ask: &Ask<'_>) -> bool {
    ask.seen.body["stream_options"]["include_usage"] == true
}

fn whole(ask: &Ask<'_>, said: &Said) -> Value {
    let calls = said.calls.iter().enumerate().map(|(place, call)| {
        json!({
            "id": call_id(ask, place),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        })
    });
    let calls: Vec<Value> = calls.collect();
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    match said.ending {
        Ending::Refused => message["refusal"] = json!(said.text),
        _ if said.text.is_empty() && !calls.is_empty() => {}
        _ => message["content"] = json!(said.text),
    }
    if !said.thinking.is_empty() {
        message["reasoning_content"] = json!(said.thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(said),
    });
    let mut answer = frame(ask, json!([choice]));
    answer["object"] = json!("chat.completion");
    if let Some(usage) = usage(said) {
        answer["usage"] = usage;
    }
    answer
}

fn usage(said: &Said) -> Option<Value> {
    let Told::Usage(usage) = said.usage else {
        return None;
    };
    Some(json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.thinking},
    }))
}

fn finish_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Done if !said.calls.is_empty() => "tool_calls",
        Ending::Done | Ending::Refused => "stop",
        Ending::MaxTokens => "length",
        Ending::Filtered => "content_filter",
    }
}

fn call_id(ask: &Ask<'_>, place: usize) -> String {
    format!("call_{:04}_{place}", ask.number)
}
