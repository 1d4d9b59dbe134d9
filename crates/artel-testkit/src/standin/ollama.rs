//! Ollama, `/api/chat`.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Seen;
use super::answer::{Ending, Order, Said, Told};
use super::dialect::{Ask, Dialect, Key, Offer, Route, Wait, ensure, items};
use super::script::{Script, pieces};
use super::trouble::{Refusal, Trouble};

pub(super) const DIALECT: Dialect = Dialect {
    base: "",
    route,
    key: |seen| seen.bearer().map_or(Key::NotNeeded, Key::Given),
    model: |seen| seen.body["model"].as_str().unwrap_or_default().to_owned(),
    check,
    offer,
    events,
    stream_type: |_| "application/x-ndjson",
    whole,
    refuse,
    wait: Wait::InHeader,
    models,
    headers: |_| Vec::new(),
    limits: &[],
};

fn route(seen: &Seen) -> Route {
    match seen.route() {
        ("POST", "/api/chat") if seen.body["stream"] == false => Route::Whole,
        ("POST", "/api/chat") => Route::Stream,
        ("GET", "/api/tags") => Route::Models,
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

fn check(seen: &Seen) -> Result<(), String> {
    let body = &seen.body;
    ensure!(
        body["model"].as_str().is_some_and(|name| !name.is_empty()),
        "model is required"
    );
    ensure!(
        body["messages"].is_array(),
        "json: cannot unmarshal into Go struct field ChatRequest.messages of type []api.Message"
    );
    for message in items(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        ensure!(
            ["system", "user", "assistant", "tool"].contains(&role),
            "invalid role: {role}"
        );
        ensure!(
            message.get("content").is_none_or(Value::is_string),
            "json: cannot unmarshal into Go struct field ChatRequest.messages.content of type string"
        );
        for call in items(&message["tool_calls"]) {
            ensure!(
                call["function"]["arguments"].is_object(),
                "json: cannot unmarshal into Go struct field \
                 ChatRequest.messages.tool_calls.function.arguments of type \
                 api.ToolCallFunctionArguments"
            );
        }
    }
    for tool in items(&body["tools"]) {
        ensure!(
            tool["function"]["name"].is_string(),
            "json: cannot unmarshal into Go struct field ChatRequest.tools of type api.Tool"
        );
    }
    Ok(())
}

fn events(ask: &Ask<'_>, said: &Said) -> Vec<Bytes> {
    let mut script = Script::default();
    for piece in pieces(&said.thinking, said.deltas) {
        let message = json!({"role": "assistant", "content": "", "thinking": piece});
        script.delta(line(&part(ask, &message)));
    }
    for piece in pieces(&said.text, said.deltas) {
        let message = json!({"role": "assistant", "content": piece});
        script.delta(line(&part(ask, &message)));
    }
    for calls in call_lines(said) {
        let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
        script.delta(line(&part(ask, &message)));
    }
    match malformed(said) {
        Some(error) => script.event(line(&error)),
        None => {
            let last = part(ask, &json!({"role": "assistant", "content": ""}));
            script.event(line(&ended(last, said)));
        }
    }
    script.finish(said, |status, _| line(&error(&Trouble::Status(status))))
}

/// Ollama parses the arguments itself, and fails if they are not JSON.
fn malformed(said: &Said) -> Option<Value> {
    let call = said.calls.iter().find(|call| call.value().is_none())?;
    Some(json!({
        "error": format!("error parsing tool call: raw='{}', err=invalid JSON", call.arguments),
    }))
}

/// Calls are sent whole: all in one line, or each in its own.
fn call_lines(said: &Said) -> Vec<Vec<Value>> {
    let calls = calls(said);
    match said.order {
        _ if calls.is_empty() => Vec::new(),
        Order::InTurn => vec![calls],
        Order::Interleaved => calls.into_iter().map(|call| vec![call]).collect(),
    }
}

fn calls(said: &Said) -> Vec<Value> {
    let calls = said.calls.iter().enumerate();
    calls
        .filter_map(|(place, call)| {
            let arguments = call.value()?;
            Some(json!({
                "function": {"index": place, "name": call.name, "arguments": arguments},
            }))
        })
        .collect()
}

fn part(ask: &Ask<'_>, message: &Value) -> Value {
    json!({
        "model": ask.model,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "message": message,
        "done": false,
    })
}

/// A refusal cannot be expressed here: it ends like any other answer.
fn ended(mut part: Value, said: &Said) -> Value {
    part["done"] = json!(true);
    part["done_reason"] = match said.ending {
        Ending::MaxTokens => json!("length"),
        Ending::Done | Ending::Refused | Ending::Filtered => json!("stop"),
    };
    part["total_duration"] = json!(5_000_000_000_u64);
    part["load_duration"] = json!(1_000_000_u64);
    if let Told::Usage(usage) = said.usage {
        part["prompt_eval_count"] = json!(usage.input);
        part["prompt_eval_duration"] = json!(100_000_000_u64);
        part["eval_count"] = json!(usage.output);
        part["eval_duration"] = json!(400_000_000_u64);
    }
    part
}

fn whole(ask: &Ask<'_>, said: &Said) -> Value {
    if let Some(error) = malformed(said) {
        return error;
    }
    let mut message = json!({"role": "assistant", "content": said.text});
    if !said.thinking.is_empty() {
        message["thinking"] = json!(said.thinking);
    }
    if !said.calls.is_empty() {
        message["tool_calls"] = json!(calls(said));
    }
    ended(part(ask, &message), said)
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn refuse(refusal: &Refusal<'_>) -> (u16, Value) {
    (refusal.trouble.status_elsewhere(), error(&refusal.trouble))
}

fn error(trouble: &Trouble) -> Value {
    let message = match trouble {
        Trouble::WrongKey(_) | Trouble::Status(401) => "unauthorized".to_owned(),
        Trouble::Status(429) => "too many requests".to_owned(),
        Trouble::Status(500) => "an error was encountered while running the model".to_owned(),
        Trouble::Status(503 | 529) => {
            "server busy, please try again. maximum pending requests exceeded".to_owned()
        }
        Trouble::TooLong => "the input length exceeds the context length".to_owned(),
        Trouble::NoQuota => "you have reached your usage limit, please upgrade".to_owned(),
        Trouble::NoModel(model) => format!("model '{model}' not found"),
        other => other.plainly(),
    };
    json!({"error": message})
}

fn models() -> Value {
    let model = |name: &str| {
        json!({
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 4_000_000_000_u64,
            "digest": "sha256:0000",
            "details": {"format": "gguf", "family": "stand-in", "parameter_size": "8B"},
        })
    };
    json!({"models": [model("stand-in-large:latest"), model("stand-in-small:latest")]})
}
