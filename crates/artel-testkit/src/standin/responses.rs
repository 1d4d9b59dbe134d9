//! OpenAI Responses.

mod check;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::Seen;
use super::answer::{Ending, Said, Told};
use super::dialect::{Ask, Dialect, Offer, Route, Wait};
use super::openai;
use super::script::{Script, Step, pieces, sse, steps};
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
    whole: |ask, said| response(ask, said, Stage::Ended),
    refuse: openai::refuse,
    wait: Wait::InHeader,
    models: openai::models,
    headers: openai::headers,
    limits: openai::LIMITS,
};

/// The progress of an answer, or of an item in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begun,
    Ended,
}

fn route(seen: &Seen) -> Route {
    match seen.route() {
        ("POST", "/v1/responses") if seen.body["stream"] == true => Route::Stream,
        ("POST", "/v1/responses") => Route::Whole,
        ("GET", "/v1/models") => Route::Models,
        _ => Route::Nothing,
    }
}

fn offer(body: &Value) -> Option<Offer> {
    let last = body["input"].as_array().and_then(|items| items.last());
    if last.is_some_and(|item| item["type"] == "function_call_output") {
        return None;
    }
    let tool = body["tools"].get(0)?;
    Offer::new(&tool["name"], &tool["parameters"])
}

fn events(ask: &Ask<'_>, said: &Said) -> Vec<Bytes> {
    let mut told = Telling {
        ask,
        said,
        script: Script::default(),
    };
    let begun = json!({"response": response(ask, said, Stage::Begun)});
    told.event("response.created", begun.clone());
    told.event("response.in_progress", begun);
    let mut place = 0;
    if !said.thinking.is_empty() {
        told.reasoning(place);
        place += 1;
    }
    if !said.text.is_empty() {
        told.message(place);
        place += 1;
    }
    told.calls(place);
    let last = match said.ending {
        Ending::Done | Ending::Refused => "response.completed",
        Ending::MaxTokens | Ending::Filtered => "response.incomplete",
    };
    told.event(last, json!({"response": response(ask, said, Stage::Ended)}));
    told.script
        .finish(said, |status, number| failure(ask, said, status, number))
}

/// If the provider is unable to answer, the response fails; if it is unwilling, that is an
/// error event of its own.
fn failure(ask: &Ask<'_>, said: &Said, status: u16, number: usize) -> String {
    let error = openai::error(&Trouble::Status(status), None);
    if status < 500 {
        let event = json!({
            "type": "error",
            "sequence_number": number,
            "code": error["code"],
            "message": error["message"],
            "param": null,
        });
        return sse("error", &event);
    }
    let mut failed = response(ask, said, Stage::Begun);
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": error["code"], "message": error["message"]});
    let event = json!({"type": "response.failed", "sequence_number": number, "response": failed});
    sse("response.failed", &event)
}

/// An answer that is being written.
struct Telling<'a> {
    ask: &'a Ask<'a>,
    said: &'a Said,
    script: Script,
}

impl Telling<'_> {
    fn event(&mut self, kind: &str, data: Value) {
        let event = self.numbered(kind, data);
        self.script.event(event);
    }

    fn delta(&mut self, kind: &str, data: Value) {
        let event = self.numbered(kind, data);
        self.script.delta(event);
    }

    fn numbered(&self, kind: &str, mut data: Value) -> String {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.script.len());
        sse(kind, &data)
    }

    fn item(&mut self, kind: &str, place: usize, item: Value) {
        self.event(kind, json!({"output_index": place, "item": item}));
    }

    fn reasoning(&mut self, place: usize) {
        let id = id("rs", self.ask, place);
        let at = |mut data: Value| {
            data["item_id"] = json!(id);
            data["output_index"] = json!(place);
            data["summary_index"] = json!(0);
            data
        };
        let thought = &self.said.thinking;
        let part = |text: &str| json!({"part": {"type": "summary_text", "text": text}});
        let begun = reasoning(self.ask, self.said, place, Stage::Begun);
        self.item("response.output_item.added", place, begun);
        self.event("response.reasoning_summary_part.added", at(part("")));
        for piece in pieces(thought, self.said.deltas) {
            let more = at(json!({"delta": piece}));
            self.delta("response.reasoning_summary_text.delta", more);
        }
        let done = at(json!({"text": thought}));
        self.event("response.reasoning_summary_text.done", done);
        self.event("response.reasoning_summary_part.done", at(part(thought)));
        let ended = reasoning(self.ask, self.said, place, Stage::Ended);
        self.item("response.output_item.done", place, ended);
    }

    fn message(&mut self, place: usize) {
        let id = id("msg", self.ask, place);
        let at = |mut data: Value| {
            data["item_id"] = json!(id);
            data["output_index"] = json!(place);
            data["content_index"] = json!(0);
            data
        };
        let text = &self.said.text;
        let (delta, done, field) = match self.said.ending {
            Ending::Refused => ("response.refusal.delta", "response.refusal.done", "refusal"),
            _ => (
                "response.output_text.delta",
                "response.output_text.done",
                "text",
            ),
        };
        let begun = message(self.ask, self.said, place, Stage::Begun);
        self.item("response.output_item.added", place, begun);
        let part = at(json!({"part": part(self.said, "")}));
        self.event("response.content_part.added", part);
        for piece in pieces(text, self.said.deltas) {
            self.delta(delta, at(json!({"delta": piece, "logprobs": []})));
        }
        self.event(done, at(json!({field: text, "logprobs": []})));
        let part = at(json!({"part": self::part(self.said, text)}));
        self.event("response.content_part.done", part);
        let ended = message(self.ask, self.said, place, Stage::Ended);
        self.item("response.output_item.done", place, ended);
    }

    fn calls(&mut self, first: usize) {
        for step in steps(self.said) {
            match step {
                Step::Begin(call) => {
                    let begun = function_call(self.ask, self.said, first, call, Stage::Begun);
                    self.item("response.output_item.added", first + call, begun);
                }
                Step::More(call, piece) => {
                    let more = json!({
                        "item_id": id("fc", self.ask, first + call),
                        "output_index": first + call,
                        "delta": piece,
                    });
                    self.delta("response.function_call_arguments.delta", more);
                }
                Step::End(call) => {
                    let done = json!({
                        "item_id": id("fc", self.ask, first + call),
                        "output_index": first + call,
                        "name": self.said.calls[call].name,
                        "arguments": self.said.calls[call].arguments,
                    });
                    self.event("response.function_call_arguments.done", done);
                    let ended = function_call(self.ask, self.said, first, call, Stage::Ended);
                    self.item("response.output_item.done", first + call, ended);
                }
            }
        }
    }
}

fn response(ask: &Ask<'_>, said: &Said, stage: Stage) -> Value {
    let (status, reason) = match (stage, said.ending) {
        (Stage::Begun, _) => ("in_progress", None),
        (Stage::Ended, Ending::Done | Ending::Refused) => ("completed", None),
        (Stage::Ended, Ending::MaxTokens) => ("incomplete", Some("max_output_tokens")),
        (Stage::Ended, Ending::Filtered) => ("incomplete", Some("content_filter")),
    };
    let (output, usage) = match stage {
        Stage::Begun => (Vec::new(), Value::Null),
        Stage::Ended => (output(ask, said), usage(said)),
    };
    let body = &ask.seen.body;
    json!({
        "id": format!("resp_{:04}", ask.number),
        "object": "response",
        "created_at": 1_767_225_600,
        "status": status,
        "error": null,
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "model": ask.model,
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls").unwrap_or(&json!(true)),
        "previous_response_id": null,
        "reasoning": {"effort": body["reasoning"]["effort"], "summary": null},
        "store": body.get("store").unwrap_or(&json!(true)),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice").unwrap_or(&json!("auto")),
        "tools": body.get("tools").unwrap_or(&json!([])),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "metadata": {},
    })
}

fn output(ask: &Ask<'_>, said: &Said) -> Vec<Value> {
    let mut output = Vec::new();
    if !said.thinking.is_empty() {
        output.push(reasoning(ask, said, 0, Stage::Ended));
    }
    if !said.text.is_empty() {
        output.push(message(ask, said, output.len(), Stage::Ended));
    }
    let first = output.len();
    let calls =
        (0..said.calls.len()).map(|call| function_call(ask, said, first, call, Stage::Ended));
    output.extend(calls);
    output
}

fn reasoning(ask: &Ask<'_>, said: &Said, place: usize, stage: Stage) -> Value {
    let id = id("rs", ask, place);
    let summary = json!([{"type": "summary_text", "text": said.thinking}]);
    match stage {
        Stage::Begun => json!({"id": id, "type": "reasoning", "summary": []}),
        Stage::Ended => json!({
            "id": id,
            "type": "reasoning",
            "summary": summary,
            "encrypted_content": format!("gAAAAA{:04}", ask.number),
        }),
    }
}

fn message(ask: &Ask<'_>, said: &Said, place: usize, stage: Stage) -> Value {
    let (content, status) = match stage {
        Stage::Begun => (json!([]), "in_progress"),
        Stage::Ended => (json!([part(said, &said.text)]), item_status(said)),
    };
    json!({
        "id": id("msg", ask, place),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    })
}

fn part(said: &Said, text: &str) -> Value {
    match said.ending {
        Ending::Refused => json!({"type": "refusal", "refusal": text}),
        _ => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
    }
}

fn function_call(ask: &Ask<'_>, said: &Said, first: usize, call: usize, stage: Stage) -> Value {
    let (arguments, status) = match stage {
        Stage::Begun => ("", "in_progress"),
        Stage::Ended => (said.calls[call].arguments.as_str(), item_status(said)),
    };
    json!({
        "id": id("fc", ask, first + call),
        "type": "function_call",
        "status": status,
        "call_id": format!("call_{:04}_{call}", ask.number),
        "name": said.calls[call].name,
        "arguments": arguments,
    })
}

fn item_status(said: &Said) -> &'static str {
    match said.ending {
        Ending::Done | Ending::Refused => "completed",
        Ending::MaxTokens | Ending::Filtered => "incomplete",
    }
}

fn usage(said: &Said) -> Value {
    let Told::Usage(usage) = said.usage else {
        return Value::Null;
    };
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": usage.input + usage.output,
    })
}

fn id(kind: &str, ask: &Ask<'_>, place: usize) -> String {
    format!("{kind}_{:04}_{place}", ask.number)
}
