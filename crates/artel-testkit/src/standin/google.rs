//! Google Gemini, `generateContent` and `streamGenerateContent`.

mod check;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Seen;
use super::answer::{Ending, Order, Said, Told};
use super::dialect::{Ask, Dialect, Key, Offer, Route, Wait, items};
use super::script::{Script, pieces, unnamed};
use super::trouble::{Refusal, Trouble};

pub(super) const DIALECT: Dialect = Dialect {
    base: "",
    route,
    key,
    model,
    check: check::check,
    offer,
    events,
    stream_type: |seen| {
        if is_sse(seen) {
            "text/event-stream"
        } else {
            "application/json; charset=UTF-8"
        }
    },
    whole,
    refuse,
    wait: Wait::InBody,
    models,
    headers: |id| vec![("x-goog-request-id", id.to_owned())],
    limits: &[],
};

fn route(seen: &Seen) -> Route {
    let (method, _) = seen.route();
    match (method, place(seen).split_once(':')) {
        ("GET", None) if place(seen) == "models" => Route::Models,
        ("POST", Some((_, "streamGenerateContent"))) => Route::Stream,
        ("POST", Some((_, "generateContent"))) => Route::Whole,
        _ => Route::Nothing,
    }
}

/// Returns the path without the API version. Both versions that Google serves are accepted.
fn place(seen: &Seen) -> &str {
    let (_, path) = seen.route();
    path.strip_prefix("/v1beta/")
        .or_else(|| path.strip_prefix("/v1/"))
        .unwrap_or_default()
}

fn key(seen: &Seen) -> Key<'_> {
    let key = seen.header("x-goog-api-key");
    key.or_else(|| seen.parameter("key"))
        .or_else(|| seen.bearer())
        .filter(|key| !key.is_empty())
        .map_or(Key::Missing, Key::Given)
}

fn model(seen: &Seen) -> String {
    let name = place(seen).strip_prefix("models/").unwrap_or_default();
    name.split(':').next().unwrap_or_default().to_owned()
}

/// Without `alt=sse`, a stream is one growing array.
fn is_sse(seen: &Seen) -> bool {
    seen.parameter("alt") == Some("sse")
}

fn offer(body: &Value) -> Option<Offer> {
    let last = body["contents"].as_array()?.last()?;
    if items(&last["parts"]).any(|part| part.get("functionResponse").is_some()) {
        return None;
    }
    let tool = &body["tools"].get(0)?["functionDeclarations"].get(0)?;
    let schema = tool
        .get("parameters")
        .or_else(|| tool.get("parametersJsonSchema"));
    Offer::new(&tool["name"], schema.unwrap_or(&Value::Null))
}

fn events(ask: &Ask<'_>, said: &Said) -> Vec<Bytes> {
    let mut script = Script::default();
    let event = |chunk: &Value| {
        if is_sse(ask.seen) {
            unnamed(chunk).replace('\n', "\r\n")
        } else {
            chunk.to_string()
        }
    };
    if said.ending == Ending::Filtered {
        script.event(event(&blocked(ask, said)));
    } else {
        let sofar = running_usage(said);
        for piece in pieces(&said.thinking, said.deltas) {
            let part = json!({"text": piece, "thought": true});
            script.delta(event(&chunk(ask, vec![part], &sofar)));
        }
        for piece in pieces(&said.text, said.deltas) {
            script.delta(event(&chunk(ask, vec![json!({"text": piece})], &sofar)));
        }
        for parts in call_chunks(ask, said) {
            script.delta(event(&chunk(ask, parts, &sofar)));
        }
        let mut last = chunk(ask, vec![json!({"text": ""})], &usage(said));
        finish(&mut last["candidates"][0], said);
        script.event(event(&last));
    }
    let events = script.finish(said, |status, _| {
        let trouble = Trouble::Status(status);
        event(&error(trouble.status_elsewhere(), &trouble, None))
    });
    if is_sse(ask.seen) {
        events
    } else {
        as_array(&events)
    }
}

fn as_array(events: &[Bytes]) -> Vec<Bytes> {
    let between = |place: usize| if place == 0 { &b"["[..] } else { b",\r\n" };
    let pieces = events
        .iter()
        .enumerate()
        .map(|(place, event)| Bytes::from([between(place), event].concat()));
    pieces.chain([Bytes::from_static(b"]")]).collect()
}

/// Calls are sent whole: all in one chunk, or each in its own.
fn call_chunks(ask: &Ask<'_>, said: &Said) -> Vec<Vec<Value>> {
    let parts = call_parts(ask, said);
    match said.order {
        _ if parts.is_empty() => Vec::new(),
        Order::InTurn => vec![parts],
        Order::Interleaved => parts.into_iter().map(|part| vec![part]).collect(),
    }
}

/// Arguments that are not JSON never get this far, because the provider drops such a call.
/// The first call carries the signature of the thoughts.
fn call_parts(ask: &Ask<'_>, said: &Said) -> Vec<Value> {
    let calls = said.calls.iter().filter_map(|call| {
        let arguments = call.value()?;
        Some(json!({"functionCall": {"name": call.name, "args": arguments}}))
    });
    let mut parts: Vec<Value> = calls.collect();
    if let Some(first) = parts.first_mut()
        && !said.thinking.is_empty()
    {
        first["thoughtSignature"] = json!(format!("c2VhbGVk{:04}", ask.number));
    }
    parts
}

fn chunk(ask: &Ask<'_>, parts: Vec<Value>, usage: &Value) -> Value {
    let content = json!({"role": "model", "parts": parts});
    frame(ask, json!([{"content": content, "index": 0}]), usage)
}

fn frame(ask: &Ask<'_>, candidates: Value, usage: &Value) -> Value {
    let mut frame = json!({
        "candidates": candidates,
        "modelVersion": ask.model,
        "responseId": format!("resp-{:04}", ask.number),
    });
    if !usage.is_null() {
        frame["usageMetadata"] = usage.clone();
    }
    frame
}

fn finish(candidate: &mut Value, said: &Said) {
    let is_malformed = said.calls.iter().any(|call| call.value().is_none());
    let reason = match said.ending {
        _ if is_malformed => "MALFORMED_FUNCTION_CALL",
        Ending::Done => "STOP",
        Ending::MaxTokens => "MAX_TOKENS",
        Ending::Refused | Ending::Filtered => "SAFETY",
    };
    candidate["finishReason"] = json!(reason);
    if is_malformed {
        candidate["finishMessage"] = json!("Malformed function call");
    }
}

/// A prompt that the filter blocks has no candidates at all.
fn blocked(ask: &Ask<'_>, said: &Said) -> Value {
    let mut frame = frame(ask, Value::Null, &usage(said));
    if let Some(fields) = frame.as_object_mut() {
        fields.remove("candidates");
    }
    frame["promptFeedback"] = json!({"blockReason": "PROHIBITED_CONTENT"});
    frame
}

fn whole(ask: &Ask<'_>, said: &Said) -> Value {
    if said.ending == Ending::Filtered {
        return blocked(ask, said);
    }
    let mut parts = Vec::new();
    if !said.thinking.is_empty() {
        parts.push(json!({"text": said.thinking, "thought": true}));
    }
    if !said.text.is_empty() {
        parts.push(json!({"text": said.text}));
    }
    parts.extend(call_parts(ask, said));
    let mut answer = chunk(ask, parts, &usage(said));
    finish(&mut answer["candidates"][0], said);
    answer
}

/// In this format, thoughts are counted separately from the answer.
fn usage(said: &Said) -> Value {
    let Told::Usage(usage) = said.usage else {
        return Value::Null;
    };
    let mut value = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output.saturating_sub(usage.thinking),
        "totalTokenCount": usage.input + usage.output,
    });
    if usage.cache_read > 0 {
        value["cachedContentTokenCount"] = json!(usage.cache_read);
    }
    if usage.thinking > 0 {
        value["thoughtsTokenCount"] = json!(usage.thinking);
    }
    value
}

/// Every chunk reports the usage so far; only the last one reports all of it.
fn running_usage(said: &Said) -> Value {
    let mut value = usage(said);
    if let Told::Usage(usage) = said.usage {
        value["candidatesTokenCount"] = json!(1);
        value["totalTokenCount"] = json!(usage.input + 1);
    }
    value
}

/// To Google, a wrong key is a bad argument, and a missing key is a lack of permission.
fn refuse(refusal: &Refusal<'_>) -> (u16, Value) {
    let status = match &refusal.trouble {
        Trouble::WrongKey(_) => 400,
        Trouble::NoKey => 403,
        other => other.status_elsewhere(),
    };
    (status, error(status, &refusal.trouble, refusal.retry_after))
}

fn error(status: u16, trouble: &Trouble, retry_after: Option<&str>) -> Value {
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "FAILED_PRECONDITION",
    };
    let message = match trouble {
        Trouble::WrongKey(_) => "API key not valid. Please pass a valid API key.".to_owned(),
        Trouble::NoKey => "Method doesn't allow unregistered callers.".to_owned(),
        Trouble::Status(429) => "Resource has been exhausted (e.g. check quota).".to_owned(),
        Trouble::Status(503 | 529) => "The model is overloaded. Please try again later.".to_owned(),
        Trouble::Status(500) => "An internal error has occurred.".to_owned(),
        Trouble::TooLong => {
            "The input token count (210000) exceeds the maximum number of tokens allowed (200000)."
                .to_owned()
        }
        Trouble::NoQuota => {
            "You exceeded your current quota, please check your plan and billing details."
                .to_owned()
        }
        Trouble::NoModel(model) => format!("models/{model} is not found for API version v1beta."),
        other => other.plainly(),
    };
    let mut error = json!({"code": status, "message": message, "status": name});
    let details = details(trouble, retry_after);
    if !details.is_empty() {
        error["details"] = json!(details);
    }
    json!({"error": error})
}

fn details(trouble: &Trouble, retry_after: Option<&str>) -> Vec<Value> {
    let mut details = Vec::new();
    if matches!(trouble, Trouble::WrongKey(_)) {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        }));
    }
    if *trouble == Trouble::NoQuota {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
                "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
            }],
        }));
    }
    if let Some(wait) = retry_after.filter(|wait| wait.parse::<f64>().is_ok()) {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{wait}s"),
        }));
    }
    details
}

fn models() -> Value {
    let model = |id: &str| {
        json!({
            "name": format!("models/{id}"),
            "version": "001",
            "displayName": id,
            "inputTokenLimit": 200_000,
            "outputTokenLimit": 8192,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    };
    json!({"models": [model("stand-in-large"), model("stand-in-small")]})
}
