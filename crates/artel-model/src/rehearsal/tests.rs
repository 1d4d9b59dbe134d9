//! Tests of a rehearsal as a model, and the helpers of its other tests.

use std::time::Duration;

use artel_rules::stream::ModelReplyBuilder;
use artel_types::model::{
    MessagePart, ModelFault, ModelFaultKind, ModelMessage, ModelReply, ModelRequest, ReplyChunk,
    ToolCall, ToolResult, ToolSpec,
};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{Cassette, CassetteTake, RehearsalModel};
use crate::Model as _;

pub(super) fn script(text: &str) -> RehearsalModel {
    RehearsalModel::load(text, "s.yaml").unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

pub(super) fn user(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage::user(text)],
        ..ModelRequest::default()
    }
}

pub(super) fn offering(text: &str, tools: &[&str]) -> ModelRequest {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: "Does it.".into(),
        schema: json!({"type": "object"}),
    };
    ModelRequest {
        tools: tools.iter().map(spec).map(Into::into).collect(),
        ..user(text)
    }
}

/// Returns a conversation in which a tool was called and has answered.
pub(super) fn result(tool: &str, text: &str) -> ModelRequest {
    let call = ToolCall {
        id: "call-1".into(),
        name: tool.into(),
        arguments: "{}".into(),
        seal: None,
    };
    let result = ToolResult {
        id: "call-1".into(),
        name: tool.into(),
        text: text.into(),
        images: Vec::new(),
        is_error: false,
    };
    ModelRequest {
        messages: vec![
            ModelMessage::user("go on"),
            ModelMessage::assistant(vec![MessagePart::ToolCall(call)]),
            ModelMessage::results([result]),
        ],
        ..ModelRequest::default()
    }
}

/// Asks for a reply that takes no time. Returns the chunks before it ended or failed, and
/// the fault.
pub(super) fn ask(
    model: &RehearsalModel,
    request: &ModelRequest,
) -> (Vec<ReplyChunk>, Option<ModelFault>) {
    let items: Vec<_> = model.reply(request).collect().now_or_never().unwrap();
    let faults = items.iter().filter(|item| item.is_err()).count();
    let is_last = items.last().is_some_and(Result::is_err);
    assert!(faults == usize::from(is_last), "{items:?}");
    let fault = items.iter().find_map(|item| item.clone().err());
    (items.into_iter().flatten().collect(), fault)
}

pub(super) fn answer(model: &RehearsalModel, request: &ModelRequest) -> ModelReply {
    let (chunks, fault) = ask(model, request);
    assert_eq!(fault, None);
    gathered(&chunks)
}

pub(super) fn refusal(model: &RehearsalModel, request: &ModelRequest) -> String {
    let (chunks, fault) = ask(model, request);
    let fault = fault.unwrap_or_else(|| panic!("{chunks:?}"));
    assert_eq!(
        (fault.kind, chunks),
        (ModelFaultKind::OffScript, Vec::new())
    );
    fault.message
}

pub(super) fn gathered(chunks: &[ReplyChunk]) -> ModelReply {
    let mut gather = ModelReplyBuilder::default();
    for chunk in chunks {
        gather.add(chunk).unwrap();
    }
    gather.reply().unwrap()
}

#[test]
fn clones_share_the_position() {
    let one = script("lines: [{ say: first }, { say: second }]");
    let other = one.clone();
    assert_eq!(one.unused(), 2);
    assert_eq!(answer(&one, &user("?")).text(), "first");
    assert_eq!(answer(&other, &user("?")).text(), "second");
    assert_eq!((one.unused(), other.unused()), (0, 0));
}

#[test]
fn nothing_is_taken_before_the_stream_is_polled() {
    let model = script("lines: [{ say: first }]");
    drop(model.reply(&user("?")));
    assert_eq!(model.unused(), 1);
    let take = CassetteTake::new(user("?"), answer(&model, &user("?")));
    let model = RehearsalModel::play(Cassette::new(vec![take]));
    drop(model.reply(&user("?")));
    assert_eq!(model.unused(), 1);
}

#[tokio::test(start_paused = true)]
async fn pieces_come_at_their_pace() {
    let model = script("lines: [{ say: häuserkampf, pieces: 4, pace: 20ms }]");
    let begun = Instant::now();
    let mut stream = model.reply(&user("?"));
    let mut came = Vec::new();
    while let Some(item) = stream.next().await {
        if let ReplyChunk::Text { text } = item.unwrap() {
            came.push((begun.elapsed().as_millis(), text));
        }
    }
    let expected = [(20, "häus"), (40, "erka"), (60, "mpf")];
    assert_eq!(came, expected.map(|(at, text)| (at, text.to_owned())));
    assert_eq!(begun.elapsed(), Duration::from_millis(60));
}

#[tokio::test(start_paused = true)]
async fn a_silent_answer_never_ends_and_a_slow_one_does() {
    let model = script("lines: [{ say: hm, then: silent }, { say: hm, then: slow }]");
    let day = Duration::from_secs(86_400);
    let mut silent = model.reply(&user("?"));
    let head: Vec<_> = silent.by_ref().take(2).collect().await;
    assert!(head.iter().all(Result::is_ok), "{head:?}");
    assert!(timeout(day, silent.next()).await.is_err());

    let begun = Instant::now();
    let slow: Vec<_> = model.reply(&user("?")).map(Result::unwrap).collect().await;
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
    assert_eq!(gathered(&slow).text(), "hm");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_line_is_spoken_once_however_many_ask_at_once() {
    let lines: String = (0..64).map(|at| format!("- say: line {at}\n")).collect();
    let model = script(&format!("lines:\n{lines}"));
    let asking = (0..64).map(|_| {
        let model = model.clone();
        tokio::spawn(async move { answer(&model, &user("?")).text() })
    });
    let asking: Vec<_> = asking.collect();
    let mut said = Vec::new();
    for one in asking {
        said.push(one.await.unwrap());
    }
    said.sort();
    said.dedup();
    assert_eq!((said.len(), model.unused()), (64, 0));
}
