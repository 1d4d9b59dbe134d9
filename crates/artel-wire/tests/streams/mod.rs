//! Recorded answers, one file per format and case, and how they are read.

use std::fs;
use std::path::Path;

use artel_types::model::{ModelFault, ReplyChunk};
use artel_wire::WireFormat;

/// Every case there is a recording of.
pub(crate) const CASES: [&str; 8] = [
    "text",
    "thinking",
    "two-tools",
    "refusal",
    "max-tokens",
    "error-mid-stream",
    "empty",
    "split-utf8",
];

/// What a format has no words for, and so no recording of.
pub(crate) const UNKNOWN_TO: [(WireFormat, &str); 1] = [(WireFormat::Ollama, "refusal")];

/// What came of some bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) chunks: Vec<ReplyChunk>,
    pub(crate) fault: Option<ModelFault>,
}

/// Returns every recording. One that is missing fails the test that asks.
pub(crate) fn recordings() -> Vec<(WireFormat, &'static str, Vec<u8>)> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for wire in WireFormat::ALL {
        for case in CASES {
            if UNKNOWN_TO.contains(&(wire, case)) {
                continue;
            }
            let file = format!("tests/streams/{}/{case}.txt", folder(wire));
            match fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)) {
                Ok(bytes) => found.push((wire, case, bytes)),
                Err(_) => missing.push(file),
            }
        }
    }
    assert!(
        missing.is_empty(),
        "these recordings are missing: {missing:#?}"
    );
    found
}

/// Returns the folder of a format's recordings.
pub(crate) fn folder(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => "anthropic",
        WireFormat::Responses => "responses",
        WireFormat::Chat => "chat",
        WireFormat::Google => "google",
        WireFormat::Ollama => "ollama",
    }
}

/// Reads an answer that comes in pieces and then ends, and checks that what comes of it is well
/// formed.
pub(crate) fn decode<'a>(wire: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut decoder = wire.decoder();
    let mut chunks = Vec::new();
    let mut fault = None;
    for piece in pieces {
        let is_over = decoder.is_done();
        let before = chunks.len();
        let result = decoder.push(piece, &mut chunks);
        assert!(
            !is_over || (result.is_ok() && chunks.len() == before),
            "something came after the end"
        );
        fault = fault.or(result.err());
    }
    let result = decoder.finish(&mut chunks);
    assert!(fault.is_none() || result.is_ok(), "two faults");
    fault = fault.or(result.err());
    assert!(decoder.is_done());
    check_grammar(&chunks, fault.as_ref());
    Answer { chunks, fault }
}

/// One start, one end or fault, calls numbered in the order they began, nothing said of a call
/// before it began or after it ended.
fn check_grammar(chunks: &[ReplyChunk], fault: Option<&ModelFault>) {
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let is_first = at == 0;
        let is_last = at + 1 == chunks.len();
        let is_start = matches!(chunk, ReplyChunk::Start { .. });
        assert_eq!(is_start, is_first, "{at}: {chunk:?}");
        match chunk {
            ReplyChunk::End { .. } => assert!(is_last && fault.is_none(), "{at}: {chunk:?}"),
            ReplyChunk::ToolStart { index, id, .. } => {
                assert_eq!(*index as usize, calls.len());
                assert!(calls.iter().all(|(other, _)| other != id), "{id} twice");
                calls.push((id, false));
            }
            ReplyChunk::ToolDelta { index, .. } => assert!(!calls[*index as usize].1),
            ReplyChunk::ToolEnd { index, .. } => {
                let (_, is_over) = &mut calls[*index as usize];
                assert!(!*is_over, "call {index} ended twice");
                *is_over = true;
            }
            _ => {}
        }
    }
    let has_end = matches!(chunks.last(), Some(ReplyChunk::End { .. }));
    assert_ne!(has_end, fault.is_some(), "{fault:?} after {chunks:?}");
}
