//! Redaction line by line, for `artel policy redact --batch`.

use artel_types::Secret;
use serde::{Deserialize, Serialize};

use super::redactor;

#[derive(Deserialize)]
struct RedactionBatchLine {
    text: String,
    #[serde(default)]
    known: Vec<String>,
    #[serde(default)]
    chunks: Vec<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum RedactionBatchReply {
    Text(String),
    Error(String),
}

/// Answers one line of JSON with one line of JSON: `{"text", "known"?, "chunks"?}` with
/// `{"text"}`. With `chunks` the text goes through a stream, cut at these byte positions.
/// A line that cannot be read is answered with `{"error"}`, which repeats nothing of it.
pub fn redact_line(line: &str) -> String {
    let answer = match serde_json::from_str::<RedactionBatchLine>(line) {
        Ok(asked) => RedactionBatchReply::Text(answer(&asked)),
        Err(bad) => RedactionBatchReply::Error(format!(
            "could not read the line as `{{\"text\": …}}`: wrong at column {}",
            bad.column()
        )),
    };
    serde_json::to_string(&answer).unwrap_or_else(|_| r#"{"error":"could not answer"}"#.to_owned())
}

fn answer(asked: &RedactionBatchLine) -> String {
    let known: Vec<Secret> = asked.known.iter().map(Secret::new).collect();
    let redactor = redactor(&known);
    if asked.chunks.is_empty() {
        return redactor.redact(&asked.text).into_owned();
    }
    let bytes = asked.text.as_bytes();
    let mut cuts: Vec<usize> = asked
        .chunks
        .iter()
        .map(|cut| (*cut).min(bytes.len()))
        .collect();
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let (mut stream, mut shown, mut from) = (redactor.stream(), Vec::new(), 0);
    for cut in cuts {
        shown.extend_from_slice(&stream.push_bytes(&bytes[from..cut]));
        from = cut;
    }
    shown.extend(stream.finish_bytes());
    String::from_utf8_lossy(&shown).into_owned()
}
