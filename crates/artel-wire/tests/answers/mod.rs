//! Reads answers and requests of one format in a form that tests can compare.

use std::fs;
use std::path::{Path, PathBuf};

use artel_rules::stream::ModelReplyBuilder;
use artel_types::model::{ModelFault, ModelRequest, ReplyChunk, ThinkingStyle};
use artel_wire::{WireFormat, WireTarget};
use serde_json::Value;

/// A model of which everything is known.
pub(crate) const TARGET: WireTarget<'static> = WireTarget {
    model: "some-model",
    max_output: Some(8_000),
    context: Some(200_000),
    thinking: ThinkingStyle::Effort,
};

/// Checks what comes of an answer, line by line. Space before a line does not matter.
pub(crate) fn check(wire: WireFormat, answer: &str, expected: &str) {
    let (chunks, fault) = read(wire, [answer.as_bytes()]);
    let lines = chunks.iter().map(line);
    let mut found: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    found.extend(fault.map(|fault| format!("fault {} {}", fault.kind.as_str(), fault.message)));
    let expected = expected.lines().map(str::trim);
    let expected: Vec<&str> = expected.filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected, "{answer}");
}

/// Reads an answer that comes in pieces and then ends, and checks that it keeps the grammar.
pub(crate) fn read<'a>(
    wire: WireFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ReplyChunk>, Option<ModelFault>) {
    let mut decoder = wire.decoder();
    let mut chunks = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.push(piece, &mut chunks));
    }
    let result = result.and_then(|()| decoder.finish(&mut chunks));
    let mut gather = ModelReplyBuilder::default();
    for chunk in &chunks {
        assert_eq!(gather.add(chunk), Ok(()), "{chunk:?} of {chunks:?}");
    }
    assert_ne!(gather.is_ended(), result.is_err(), "{result:?} {chunks:?}");
    (chunks, result.err())
}

fn line(chunk: &ReplyChunk) -> String {
    match chunk {
        ReplyChunk::Start { id, model } => {
            let (id, model) = (id.as_deref(), model.as_deref());
            format!("start {} {}", id.unwrap_or("-"), model.unwrap_or("-"))
        }
        ReplyChunk::Text { text } => format!("text {}", text.escape_debug()),
        ReplyChunk::TextSealed { seal } => format!("text sealed {} {}", seal.wire, seal.data),
        ReplyChunk::Thinking { text } => format!("thought {}", text.escape_debug()),
        ReplyChunk::ThinkingSealed { seal } => {
            format!("thought sealed {} {}", seal.wire, seal.data)
        }
        ReplyChunk::ToolStart { index, id, name } => format!("call {index} {id} {name}"),
        ReplyChunk::ToolDelta { index, arguments } => format!("more {index} {arguments}"),
        ReplyChunk::ToolEnd { index, .. } => format!("done {index}"),
        ReplyChunk::End { stop, usage: None } => format!("end {stop:?}"),
        ReplyChunk::End {
            stop,
            usage: Some(usage),
        } => format!(
            "end {stop:?} {}({} {}) {}({})",
            usage.input, usage.cache_read, usage.cache_write, usage.output, usage.thinking
        ),
    }
}

/// Returns a request with everything in it.
pub(crate) fn rich() -> ModelRequest {
    let text = fs::read_to_string(place("requests").join("rich.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the body of a request as a format writes it.
pub(crate) fn body(wire: WireFormat, target: &WireTarget<'_>, request: &ModelRequest) -> Value {
    let outgoing = wire.encode(target, request);
    serde_json::from_slice(&outgoing.body).unwrap()
}

/// Checks a request with everything in it against `tests/requests/<name>.json`.
pub(crate) fn check_rich(wire: WireFormat, name: &str) {
    let found = body(wire, &TARGET, &rich());
    let path = place("requests").join(format!("{name}.json"));
    let expected: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(found == expected, "{found:#} is not {expected:#}");
}

fn place(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder)
}
