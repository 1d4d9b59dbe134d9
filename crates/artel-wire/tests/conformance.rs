//! The same answer in five formats is the same answer.
//!
//! A recording is a file `tests/streams/<format>/<case>.txt`, byte for byte as the provider sends
//! it. What it means stands in the table here once, for all formats.

#![expect(
    clippy::unwrap_used,
    reason = "in a test, a panic says where it went wrong"
)]

mod streams;

use artel_rules::stream::ModelReplyBuilder;
use artel_types::model::{MessagePart, ModelReply};
use artel_wire::WireFormat;
use serde_json::json;

use streams::{Answer, decode, folder, recordings};

/// What each case means, without ids, seals and names of models, which are each provider's own.
/// Of the tokens, only those that every provider counts.
fn meaning(case: &str) -> &'static str {
    match case {
        "text" => {
            "text Hello, world!
             end End, 12 read, 5 written"
        }
        "thinking" => {
            "thought Two and two make four.
             text 4.
             end End, 20 read, 15 written"
        }
        "two-tools" => {
            r#"text I will look.
             call read {"path":"a.txt"}
             call search {"limit":3,"query":"x"}
             end ToolUse, 40 read, 30 written"#
        }
        "refusal" => {
            "text I can't help with that.
             end Refusal, 15 read, 6 written"
        }
        "max-tokens" => {
            "text Once upon a
             end MaxTokens, 10 read, 3 written"
        }
        "error-mid-stream" => {
            "text The first
             fault server"
        }
        "empty" => "end End, 9 read, 1 written",
        "split-utf8" => {
            "text Grüße, 世界 🌍 👩‍👩‍👧!
             end End, 8 read, 14 written"
        }
        _ => panic!("there is no case {case}"),
    }
}

#[test]
fn the_same_answer_means_the_same_in_every_format() {
    let mut wrong = Vec::new();
    for (wire, case, bytes) in recordings() {
        let found = transcript(&decode(wire, [bytes.as_slice()]));
        let expected: Vec<&str> = meaning(case).lines().map(str::trim).collect();
        if found != expected {
            wrong.push((folder(wire), case, found, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn giant_arguments_arrive_whole() {
    let content = "line\\n\"é\" ".repeat(500_000);
    let arguments = json!({ "content": content }).to_string();
    for wire in WireFormat::ALL {
        let bytes = giant(wire, &arguments);
        for size in [bytes.len(), 1_001] {
            let answer = decode(wire, bytes.chunks(size));
            let reply = reply(&answer).unwrap_or_else(|| panic!("{wire:?}: {:?}", answer.fault));
            let calls: Vec<_> = reply.tool_calls().collect();
            assert_eq!(calls.len(), 1, "{wire:?} in pieces of {size}");
            assert!(
                calls[0].arguments == arguments,
                "{wire:?} in pieces of {size}"
            );
        }
    }
}

/// Returns an answer that is one call with these arguments.
fn giant(wire: WireFormat, arguments: &str) -> Vec<u8> {
    let object: serde_json::Value = serde_json::from_str(arguments).unwrap();
    let halves = || {
        let half = arguments.len() / 2;
        let half = (half..).find(|at| arguments.is_char_boundary(*at)).unwrap();
        let (first, second) = arguments.split_at(half);
        [first, second]
    };
    let lines: Vec<serde_json::Value> = match wire {
        WireFormat::Anthropic => {
            let block = json!({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}});
            let mut events =
                vec![json!({"type": "content_block_start", "index": 0, "content_block": block})];
            events.extend(halves().map(|piece| {
                let delta = json!({"type": "input_json_delta", "partial_json": piece});
                json!({"type": "content_block_delta", "index": 0, "delta": delta})
            }));
            events.push(json!({"type": "content_block_stop", "index": 0}));
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            events.push(json!({"type": "message_stop"}));
            events
        }
        WireFormat::Responses => {
            let item = |text: &str| json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "write", "arguments": text});
            let mut events = vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": item("")}),
            ];
            events.extend(halves().map(|piece| {
                json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_1", "delta": piece})
            }));
            events.push(json!({"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1", "arguments": arguments}));
            events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item(arguments)}));
            events.push(json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": [item(arguments)]}}));
            events
        }
        WireFormat::Chat => {
            let delta = |call: serde_json::Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]});
            let mut events = vec![delta(
                json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "write", "arguments": ""}}),
            )];
            events.extend(
                halves().map(|piece| delta(json!({"index": 0, "function": {"arguments": piece}}))),
            );
            events.push(
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            );
            events
        }
        WireFormat::Google => {
            let part = json!({"functionCall": {"name": "write", "args": object}});
            vec![
                json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}),
            ]
        }
        WireFormat::Ollama => {
            let call = json!({"function": {"name": "write", "arguments": object}});
            vec![
                json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": false}),
                json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
            ]
        }
    };
    let framed = lines
        .iter()
        .map(|line| match (wire, line["type"].as_str()) {
            (WireFormat::Ollama, _) => format!("{line}\n"),
            (_, Some(name)) => format!("event: {name}\ndata: {line}\n\n"),
            (_, None) => format!("data: {line}\n\n"),
        });
    let end = if wire == WireFormat::Chat {
        "data: [DONE]\n\n"
    } else {
        ""
    };
    framed
        .chain([end.to_owned()])
        .collect::<String>()
        .into_bytes()
}

fn gathered(answer: &Answer) -> ModelReplyBuilder {
    let mut gather = ModelReplyBuilder::default();
    for chunk in &answer.chunks {
        gather.add(chunk).unwrap();
    }
    gather
}

fn reply(answer: &Answer) -> Option<ModelReply> {
    gathered(answer).reply()
}

/// What an answer means, one line for each thing said.
fn transcript(answer: &Answer) -> Vec<String> {
    let gathered = gathered(answer);
    let mut lines: Vec<String> = gathered.partial().iter().filter_map(line).collect();
    if let Some(fault) = &answer.fault {
        lines.push(format!("fault {}", fault.kind.as_str()));
    }
    if let Some(ModelReply { stop, usage, .. }) = gathered.reply() {
        let tokens = usage.map_or("no count".to_owned(), |usage| {
            format!("{} read, {} written", usage.input, usage.output)
        });
        lines.push(format!("end {stop:?}, {tokens}"));
    }
    lines
}

/// A part that says nothing is only there for its seal.
fn line(part: &MessagePart) -> Option<String> {
    match part {
        MessagePart::Text { text, .. } if text.is_empty() => None,
        MessagePart::Text { text, .. } => Some(format!("text {text}")),
        MessagePart::Thinking { text, .. } => Some(format!("thought {text}")),
        MessagePart::ToolCall(call) => Some(format!("call {} {}", call.name, call.arguments)),
        other => Some(format!("{other:?}")),
    }
}
