//! Anthropic Messages.

mod check;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Seen;
use super::answer::{Ending, Said, Told};
use super::dialect::{Ask, Dialect, Key, Offer, Route, Wait};
use super::script::{Script, Step, pieces, sse, steps};
use super::trouble::{Refusal, Trouble};

pub(super) const DIALECT: Dialect = Dialect {
    base: "",
    route,
    key,
    model: |seen| seen.body["model"].as_str().unwrap_or_default().to_owned(),
    check: check::check,
    offer,
    events,
    stream_type: |_| "text/event-stream; charset=utf-8",
    whole,
    refuse,
    wait: Wait::InHeader,
    models,
    headers: |id| vec![("request-id", id.to_owned())],
    limits: &[
        ("anthropic-ratelimit-requests-limit", "4000"),
        ("anthropic-ratelimit-requests-remaining", "3999"),
        ("anthropic-ratelimit-requests-reset", "2030-01-01T00:00:00Z"),
        ("anthropic-ratelimit-tokens-limit", "500000"),
        ("anthropic-ratelimit-tokens-remaining", "499000"),
        ("anthropic-ratelimit-tokens-reset", "2030-01-01T00:00:00Z"),
    ],
};

fn route(seen: &Seen) -> Route {
    match seen.route() {
        ("POST", "/v1/messages") if seen.body["stream"] == true => Route::Stream,
        ("POST", "/v1/messages") => Route::Whole,
        ("GET", "/v1/models") => Route::Models,
        _ => Route::Nothing,
    }
}

fn key(seen: &Seen) -> Key<'_> {
    let key = seen.header("x-api-key").filter(|key| !key.is_empty());
    key.or_else(|| seen.bearer())
        .map_or(Key::Missing, Key::Given)
}

fn offer(body: &Value) -> Option<Offer> {
    let last = body["messages"].as_array()?.last()?;
    let mut blocks = last["content"].as_array().into_iter().flatten();
    if blocks.any(|block| block["type"] == "tool_result") {
        return None;
    }
    let tool = body["tools"].get(0)?;
    Offer::new(&tool["name"], &tool["input_schema"])
}

fn events(ask: &Ask<'_>, said: &Said) -> Vec<Bytes> {
    let mut script = Script::default();
    let started =
        json!({"type": "message_start", "message": message(ask, vec![], None, usage(said, 1))});
    script.event(sse("message_start", &started));
    script.event(sse("ping", &json!({"type": "ping"})));
    let mut index = 0;
    if !said.thinking.is_empty() {
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        script.event(block_start(index, &block));
        for piece in pieces(&said.thinking, said.deltas) {
            let delta = json!({"type": "thinking_delta", "thinking": piece});
            script.delta(block_delta(index, &delta));
        }
        let seal = json!({"type": "signature_delta", "signature": signature(ask)});
        script.event(block_delta(index, &seal));
        script.event(block_stop(index));
        index += 1;
    }
    if !said.text.is_empty() {
        script.event(block_start(index, &json!({"type": "text", "text": ""})));
        for piece in pieces(&said.text, said.deltas) {
            let delta = json!({"type": "text_delta", "text": piece});
            script.delta(block_delta(index, &delta));
        }
        script.event(block_stop(index));
        index += 1;
    }
    tell_calls(&mut script, ask, said, index);
    let delta = json!({
        "type": "message_delta",
        "delta": {
            "stop_reason": stop_reason(said),
            "stop_sequence": null,
            "stop_details": stop_details(said),
        },
        "usage": usage(said, 0),
    });
    script.event(sse("message_delta", &delta));
    script.event(sse("message_stop", &json!({"type": "message_stop"})));
    script.finish(said, |status, _| {
        sse("error", &error(&Trouble::Status(status), None))
    })
}

/// Adds the calls as blocks, beginning with index `first`.
fn tell_calls(script: &mut Script, ask: &Ask<'_>, said: &Said, first: usize) {
    for step in steps(said) {
        match step {
            Step::Begin(place) => {
                let block = json!({
                    "type": "tool_use",
                    "id": call_id(ask, place),
                    "name": said.calls[place].name,
                    "input": {},
                });
                script.event(block_start(first + place, &block));
            }
            Step::More(place, piece) => {
                let delta = json!({"type": "input_json_delta", "partial_json": piece});
                script.delta(block_delta(first + place, &delta));
            }
            Step::End(place) => script.event(block_stop(first + place)),
        }
    }
}

fn block_start(index: usize, block: &Value) -> String {
    let start = json!({"type": "content_block_start", "index": index, "content_block": block});
    sse("content_block_start", &start)
}

fn block_delta(index: usize, delta: &Value) -> String {
    let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
    sse("content_block_delta", &delta)
}

fn block_stop(index: usize) -> String {
    let stop = json!({"type": "content_block_stop", "index": index});
    sse("content_block_stop", &stop)
}

fn whole(ask: &Ask<'_>, said: &Said) -> Value {
    let mut content = Vec::new();
    if !said.thinking.is_empty() {
        content.push(json!({
            "type": "thinking", "thinking": said.thinking, "signature": signature(ask),
        }));
    }
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    for (place, call) in said.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use",
            "id": call_id(ask, place),
            "name": call.name,
            "input": call.value().unwrap_or_else(|| json!({})),
        }));
    }
    let mut message = message(ask, content, Some(stop_reason(said)), usage(said, 0));
    message["stop_details"] = stop_details(said);
    message
}

fn message(ask: &Ask<'_>, content: Vec<Value>, stop: Option<&str>, usage: Value) -> Value {
    let mut message = json!({
        "id": format!("msg_{:04}", ask.number),
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
    });
    if !usage.is_null() {
        message["usage"] = usage;
    }
    message
}

/// In this format, cached tokens are counted separately. At the start, `written` is the
/// output so far; 0 means all of it.
fn usage(said: &Said, written: u64) -> Value {
    let Told::Usage(usage) = said.usage else {
        return Value::Null;
    };
    let apart = usage.cache_read + usage.cache_write;
    let mut value = json!({
        "input_tokens": usage.input.saturating_sub(apart),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": if written == 0 { usage.output } else { written },
    });
    if usage.thinking > 0 && written == 0 {
        value["output_tokens_details"] = json!({"thinking_tokens": usage.thinking});
    }
    value
}

fn stop_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Done if said.calls.is_empty() => "end_turn",
        Ending::Done => "tool_use",
        Ending::MaxTokens => "max_tokens",
        Ending::Refused | Ending::Filtered => "refusal",
    }
}

fn stop_details(said: &Said) -> Value {
    match stop_reason(said) {
        "refusal" => json!({"type": "refusal", "category": null, "explanation": null}),
        _ => Value::Null,
    }
}

fn call_id(ask: &Ask<'_>, place: usize) -> String {
    format!("toolu_{:04}_{place}", ask.number)
}

fn signature(ask: &Ask<'_>) -> String {
    format!("c2lnbmVk{:04}==", ask.number)
}

fn refuse(refusal: &Refusal<'_>) -> (u16, Value) {
    let status = match refusal.trouble {
        Trouble::NoQuota => 400,
        _ => refusal.trouble.usual_status(),
    };
    (status, error(&refusal.trouble, Some(refusal.request_id)))
}

fn error(trouble: &Trouble, request_id: Option<&str>) -> Value {
    let kind = match trouble.usual_status() {
        _ if *trouble == Trouble::NoQuota => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let message = match trouble {
        Trouble::Status(401) | Trouble::WrongKey(_) => "invalid x-api-key".to_owned(),
        Trouble::Status(413) => "Request exceeds the maximum size".to_owned(),
        Trouble::Status(429) => {
            "This request would exceed your organization's rate limit".to_owned()
        }
        Trouble::Status(500) => "Internal server error".to_owned(),
        Trouble::Status(529) => "Overloaded".to_owned(),
        Trouble::NoKey => "x-api-key header is required".to_owned(),
        Trouble::TooLong => "prompt is too long: 210000 tokens > 200000 maximum".to_owned(),
        Trouble::NoQuota => "Your credit balance is too low to access the Anthropic API".to_owned(),
        other => other.plainly(),
    };
    let mut error = json!({"type": "error", "error": {"type": kind, "message": message}});
    if let Some(id) = request_id {
        error["request_id"] = json!(id);
    }
    error
}

fn models() -> Value {
    let model = |id: &str| {
        json!({
            "type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "data": [model("stand-in-large"), model("stand-in-small")],
        "has_more": false,
        "first_id": "stand-in-large",
        "last_id": "stand-in-small",
    })
}
