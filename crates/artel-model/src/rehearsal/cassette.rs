//! Plays a recording.

use std::collections::{BTreeMap, VecDeque};

use artel_types::model::{MessagePart, ModelFault, ModelReply, ModelRequest, ReplyChunk, ToolCall};
use artel_types::{Failure, FailureCode};
use serde::{Deserialize, Serialize};

use super::complaint::without_place;
use super::difference::{between, off_script};
use super::print::{fingerprint, json};

/// Number of remaining takes that are compared if none fits.
const LOOK_AHEAD: usize = 8;

/// A recorded request with its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an object with `fingerprint`, `request` and `reply`")]
pub struct CassetteTake {
    /// The [`fingerprint`] of the request. It is stored separately because a recording may have
    /// been cleaned of secrets, and then the request no longer matches it.
    pub fingerprint: String,
    /// The recorded request.
    pub request: ModelRequest,
    /// The recorded reply.
    pub reply: ModelReply,
}

/// Recorded takes in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cassette {
    takes: Vec<CassetteTake>,
}

/// A cassette, and the takes that are left.
#[derive(Debug)]
pub(super) struct CassettePlayer {
    takes: Vec<CassetteTake>,
    /// Unplayed takes in order, by fingerprint. Parallel calls may come in another order than
    /// recorded, but equal requests still get their replies in the recorded order.
    left: BTreeMap<String, VecDeque<usize>>,
}

impl CassetteTake {
    /// Creates a take from a request and its reply.
    pub fn new(request: ModelRequest, reply: ModelReply) -> Self {
        Self {
            fingerprint: fingerprint(&request),
            request,
            reply,
        }
    }
}

impl Cassette {
    /// Creates a cassette from recorded takes.
    pub fn new(takes: Vec<CassetteTake>) -> Self {
        Self { takes }
    }

    /// Returns the takes.
    pub fn takes(&self) -> &[CassetteTake] {
        &self.takes
    }

    /// Reads a cassette with one take per line. Empty lines are skipped.
    pub fn read_jsonl(text: &str) -> Result<Self, Failure> {
        let lines = text.lines().enumerate();
        let takes = lines.filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let place = format!("line {}, column {}", at + 1, error.column());
                let what = format!("the recording cannot be used: {place} is not as in a take");
                Failure::new(FailureCode::M011, what).because(without_place(&error.to_string()))
            })
        };
        takes.map(read).collect::<Result<_, _>>().map(Self::new)
    }

    /// Writes the cassette with one take per line.
    pub fn write_jsonl(&self) -> Result<String, Failure> {
        let mut text = String::new();
        for take in &self.takes {
            let line = serde_json::to_string(take).map_err(|error| {
                Failure::new(FailureCode::X001, "a take cannot be written")
                    .because(error.to_string())
            })?;
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }
}

impl From<Cassette> for CassettePlayer {
    fn from(cassette: Cassette) -> Self {
        let mut left: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (at, take) in cassette.takes.iter().enumerate() {
            left.entry(take.fingerprint.clone())
                .or_default()
                .push_back(at);
        }
        let takes = cassette.takes;
        Self { takes, left }
    }
}

impl CassettePlayer {
    /// Replies with the next take of the same request.
    pub(super) fn answer(&mut self, request: &ModelRequest) -> Result<Vec<ReplyChunk>, ModelFault> {
        let fingerprint = fingerprint(request);
        let next = self
            .left
            .get_mut(&fingerprint)
            .and_then(VecDeque::pop_front);
        match next.and_then(|at| self.takes.get(at)) {
            Some(take) => Ok(chunks_of(&take.reply)),
            None => Err(self.nothing_fits(&fingerprint, request)),
        }
    }

    /// Returns the number of takes that were not played.
    pub(super) fn unused(&self) -> usize {
        self.left.values().map(VecDeque::len).sum()
    }

    fn nothing_fits(&self, fingerprint: &str, request: &ModelRequest) -> ModelFault {
        let had = self.takes.len();
        if self.left.contains_key(fingerprint) {
            let head = "the recording has no further answer to this request";
            return off_script(head, &[]);
        }
        let mut left: Vec<_> = self.left.values().flatten().copied().collect();
        left.sort_unstable();
        let got = json(request);
        let expected = left.into_iter().take(LOOK_AHEAD).filter_map(|at| {
            let take = self.takes.get(at)?;
            Some((at, json(&take.request)))
        });
        let expected: Vec<_> = expected.collect();
        let compared = expected
            .iter()
            .map(|(at, value)| (at, between(value, &got)));
        match compared.min_by_key(|(_, differences)| differences.len()) {
            None => off_script(
                &format!("the recording has no take left (it had {had})"),
                &[],
            ),
            Some((at, differences)) => {
                let place = format!("take {} of {had}", at + 1);
                let head = if differences.is_empty() {
                    format!("{place} looks the same, but has another fingerprint")
                } else {
                    format!("{place} expects another request")
                };
                off_script(&head, &differences)
            }
        }
    }
}

/// Returns a reply as chunks that can be gathered into it again. Images and tool results
/// are left out, because no model replies with them.
pub fn chunks_of(reply: &ModelReply) -> Vec<ReplyChunk> {
    let (id, model) = (reply.id.clone(), reply.model.clone());
    let mut chunks = vec![ReplyChunk::Start { id, model }];
    let mut calls = 0;
    for part in &reply.parts {
        match part {
            MessagePart::Text { text, seal } => {
                chunks.extend(said(text).map(|text| ReplyChunk::Text { text }));
                chunks.extend(seal.clone().map(|seal| ReplyChunk::TextSealed { seal }));
            }
            MessagePart::Thinking { text, seal } => {
                chunks.extend(said(text).map(|text| ReplyChunk::Thinking { text }));
                chunks.extend(seal.clone().map(|seal| ReplyChunk::ThinkingSealed { seal }));
            }
            MessagePart::ToolCall(call) => {
                chunks.extend(chunks_of_call(calls, call));
                calls += 1;
            }
            MessagePart::Image(_) | MessagePart::ToolResult(_) => {}
        }
    }
    let (stop, usage) = (reply.stop.clone(), reply.usage);
    chunks.push(ReplyChunk::End { stop, usage });
    chunks
}

/// Returns the text of a chunk, or `None` if it is empty: an empty chunk says nothing.
fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn chunks_of_call(index: u32, call: &ToolCall) -> [ReplyChunk; 3] {
    let (id, name) = (call.id.clone(), call.name.clone());
    let (arguments, seal) = (call.arguments.clone(), call.seal.clone());
    [
        ReplyChunk::ToolStart { index, id, name },
        ReplyChunk::ToolDelta { index, arguments },
        ReplyChunk::ToolEnd { index, seal },
    ]
}
