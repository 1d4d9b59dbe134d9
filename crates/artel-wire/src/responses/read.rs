//! Reads replies.
//!
//! Content comes in pieces, then once more as a whole when its part is done, and again
//! when its item is done. Pieces are emitted as they come; of a whole, only the rest that
//! no piece had. An item is identified by its place, since some servers change its id from
//! event to event, and by its id only where there is no place.

use std::collections::HashMap;

use artel_types::model::{ModelFault, ProviderSignature, ReplyChunk, ReplyStopReason};
use serde_json::{Value, json};

use super::WIRE;
use crate::answer::{StreamedToolCalls, fault, text};
use crate::decoder::{ReplyFrameReader, json};
use crate::frame::UNNAMED;
use crate::openai::{OpenAiUsageNames, usage};
use crate::wire::WireFormat;

const USAGE: OpenAiUsageNames = OpenAiUsageNames {
    input: "input_tokens",
    input_details: "input_tokens_details",
    output: "output_tokens",
    output_details: "output_tokens_details",
};

#[derive(Debug, Default)]
pub(crate) struct ResponsesReplyReader {
    has_refused: bool,
    calls: StreamedToolCalls,
    items: HashMap<ResponsesItemKey, ResponsesItemProgress>,
}

/// The progress of one output item.
#[derive(Debug, Default)]
struct ResponsesItemProgress {
    call: Option<u32>,
    /// Bytes already emitted of each part.
    sent: HashMap<(ResponsesPartKind, u64), usize>,
}

/// Identifies an output item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ResponsesItemKey {
    At(u64),
    Named(String),
}

/// The content of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ResponsesPartKind {
    Words,
    Refusal,
    Summary,
    Thought,
    Arguments,
}

impl ReplyFrameReader for ResponsesReplyReader {
    fn frame(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let is_known = name == UNNAMED || name == "error" || name.starts_with("response.");
        // `[DONE]` is not part of this format, but servers that come from Chat Completions
        // send it.
        if !is_known || data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = json(data)?;
        let name = text(&event["type"]).unwrap_or(name);
        match name {
            "response.created" | "response.queued" | "response.in_progress" => {
                start(&event["response"], out);
            }
            "response.output_item.added" => self.item_added(&event, out)?,
            "response.output_item.done" => self.item_done(&event, out)?,
            "response.completed" | "response.incomplete" => self.close(&event["response"], out),
            "response.failed" => {
                return Err(fault(WireFormat::Responses, &event["response"]["error"]));
            }
            "error" if event["error"].is_object() => {
                return Err(fault(WireFormat::Responses, &event["error"]));
            }
            "error" => return Err(fault(WireFormat::Responses, &without_type(event))),
            _ => self.part(name, &event, out),
        }
        Ok(())
    }

    /// Does nothing: a reply says itself that it is complete.
    fn finish(&mut self, _out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        Ok(())
    }
}

impl ResponsesReplyReader {
    fn part(&mut self, name: &str, event: &Value, out: &mut Vec<ReplyChunk>) {
        let Some((kind, stage)) = part_of(name) else {
            return;
        };
        let number = match kind {
            ResponsesPartKind::Summary => &event["summary_index"],
            _ => &event["content_index"],
        };
        let part = (kind, number.as_u64().unwrap_or_default());
        match stage {
            "delta" => self.say(event, part, text(&event["delta"]), out),
            _ => self.say_rest(event, part, text(&event[whole_of(kind)]), out),
        }
    }

    /// Begins an item. Some servers give every item the same place, so an earlier item
    /// there is over.
    fn item_added(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        self.items
            .insert(place(event), ResponsesItemProgress::default());
        if event["item"]["type"] == "function_call" {
            self.begin_call(event, out)?;
        }
        Ok(())
    }

    fn item_done(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let item = &event["item"];
        match item["type"].as_str() {
            Some("function_call") => {
                let index = self.begin_call(event, out)?;
                let arguments = text(&item["arguments"]);
                self.say_rest(event, (ResponsesPartKind::Arguments, 0), arguments, out);
                // A call at the reply's limit is done too, but incomplete.
                if item["status"] != "incomplete" {
                    self.calls.end(index, out);
                }
            }
            Some("message") => self.message_done(event, out),
            Some("reasoning") => self.thought_done(event, out),
            _ => {}
        }
        Ok(())
    }

    fn begin_call(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) -> Result<u32, ModelFault> {
        let known = self.items.entry(place(event)).or_default();
        if let Some(index) = known.call {
            return Ok(index);
        }
        let item = &event["item"];
        let id = item["call_id"].as_str().unwrap_or_default();
        let name = item["name"].as_str().unwrap_or_default();
        let index = self.calls.begin(id, name, out)?;
        known.call = Some(index);
        Ok(index)
    }

    fn message_done(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) {
        let item = &event["item"];
        for (number, part) in parts(&item["content"]) {
            let kind = match part["type"].as_str() {
                Some("refusal") => ResponsesPartKind::Refusal,
                _ => ResponsesPartKind::Words,
            };
            let whole = text(&part[whole_of(kind)]);
            self.say_rest(event, (kind, number), whole, out);
        }
        // The model reads its own words better when it is told what they were for.
        let known = self.items.get(&place(event));
        let has_words =
            known.is_some_and(|item| item.sent.contains_key(&(ResponsesPartKind::Words, 0)));
        if let (Some(phase), true) = (text(&item["phase"]), has_words) {
            let seal = sealed(&json!({ "phase": phase }));
            out.push(ReplyChunk::TextSealed { seal });
        }
    }

    fn thought_done(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) {
        let item = &event["item"];
        for (list, kind) in [
            ("summary", ResponsesPartKind::Summary),
            ("content", ResponsesPartKind::Thought),
        ] {
            for (number, part) in parts(&item[list]) {
                self.say_rest(event, (kind, number), text(&part["text"]), out);
            }
        }
        if let (Some(id), Some(content)) = (text(&item["id"]), text(&item["encrypted_content"])) {
            let seal = sealed(&json!({ "id": id, "encrypted_content": content }));
            out.push(ReplyChunk::ThinkingSealed { seal });
        }
    }

    /// Emits what a whole has beyond its pieces.
    fn say_rest(
        &mut self,
        event: &Value,
        part: (ResponsesPartKind, u64),
        whole: Option<&str>,
        out: &mut Vec<ReplyChunk>,
    ) {
        let item = self.items.get(&place(event));
        let sent = item.and_then(|item| item.sent.get(&part)).copied();
        let rest = whole.and_then(|whole| whole.get(sent.unwrap_or_default()..));
        self.say(event, part, rest, out);
    }

    fn say(
        &mut self,
        event: &Value,
        (kind, number): (ResponsesPartKind, u64),
        more: Option<&str>,
        out: &mut Vec<ReplyChunk>,
    ) {
        let Some(more) = more.filter(|more| !more.is_empty()) else {
            return;
        };
        let item = self.items.entry(place(event)).or_default();
        if kind == ResponsesPartKind::Arguments {
            // Pieces of a call that has not begun come again with the whole call when it
            // is done.
            let Some(index) = item.call else {
                return;
            };
            self.calls.add(index, more, out);
        }
        let sent = item.sent.entry((kind, number)).or_default();
        let is_new_paragraph = *sent == 0 && number > 0;
        *sent += more.len();
        let text = more.to_owned();
        match kind {
            ResponsesPartKind::Words => out.push(ReplyChunk::Text { text }),
            ResponsesPartKind::Refusal => {
                self.has_refused = true;
                out.push(ReplyChunk::Text { text });
            }
            ResponsesPartKind::Summary | ResponsesPartKind::Thought if is_new_paragraph => {
                let text = format!("\n\n{text}");
                out.push(ReplyChunk::Thinking { text });
            }
            ResponsesPartKind::Summary | ResponsesPartKind::Thought => {
                out.push(ReplyChunk::Thinking { text })
            }
            ResponsesPartKind::Arguments => {}
        }
    }

    fn close(&mut self, response: &Value, out: &mut Vec<ReplyChunk>) {
        let reason = text(&response["incomplete_details"]["reason"]);
        let is_incomplete = reason.is_some() || response["status"] == "incomplete";
        let stop = match reason {
            _ if self.has_refused => ReplyStopReason::Refusal,
            Some("max_output_tokens" | "max_tokens") => ReplyStopReason::MaxTokens,
            Some("content_filter") => ReplyStopReason::Refusal,
            Some(other) => ReplyStopReason::Other(other.chars().take(64).collect()),
            None if is_incomplete => ReplyStopReason::Other("incomplete".to_owned()),
            None if self.calls.is_empty() => ReplyStopReason::End,
            None => ReplyStopReason::ToolUse,
        };
        if is_incomplete {
            self.calls.break_off(out)
        } else {
            self.calls.end_all(out)
        }
        let usage = usage(&response["usage"], &USAGE);
        out.push(ReplyChunk::End { stop, usage });
    }
}

fn start(response: &Value, out: &mut Vec<ReplyChunk>) {
    out.push(ReplyChunk::Start {
        id: text(&response["id"]).map(str::to_owned),
        model: text(&response["model"]).map(str::to_owned),
    });
}

/// Splits an event's name into the kind of part and whether it is a piece or the whole.
fn part_of(name: &str) -> Option<(ResponsesPartKind, &str)> {
    let (part, stage) = name.strip_prefix("response.")?.rsplit_once('.')?;
    let kind = match part {
        "output_text" => ResponsesPartKind::Words,
        "refusal" => ResponsesPartKind::Refusal,
        "reasoning_summary_text" => ResponsesPartKind::Summary,
        "reasoning_text" => ResponsesPartKind::Thought,
        "function_call_arguments" => ResponsesPartKind::Arguments,
        _ => return None,
    };
    matches!(stage, "delta" | "done").then_some((kind, stage))
}

/// Returns the field that holds the whole.
fn whole_of(kind: ResponsesPartKind) -> &'static str {
    match kind {
        ResponsesPartKind::Words | ResponsesPartKind::Summary | ResponsesPartKind::Thought => {
            "text"
        }
        ResponsesPartKind::Refusal => "refusal",
        ResponsesPartKind::Arguments => "arguments",
    }
}

fn place(event: &Value) -> ResponsesItemKey {
    if let Some(at) = event["output_index"].as_u64() {
        return ResponsesItemKey::At(at);
    }
    let item = &event["item"];
    let names = [&event["item_id"], &item["id"], &item["call_id"]];
    let name = names.into_iter().find_map(text);
    ResponsesItemKey::Named(name.unwrap_or_default().to_owned())
}

fn parts(list: &Value) -> impl Iterator<Item = (u64, &Value)> {
    (0..).zip(list.as_array().into_iter().flatten())
}

fn sealed(data: &Value) -> ProviderSignature {
    ProviderSignature {
        wire: WIRE.to_owned(),
        data: data.to_string(),
    }
}

/// Removes the type from an error that is itself the event: it says nothing about the
/// error.
fn without_type(mut event: Value) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.remove("type");
    }
    event
}
