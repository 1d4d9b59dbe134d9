//! The connection breaks at every single byte of an answer with three calls.

use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::model::{MessagePart, ModelFaultKind, ToolCall};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn anthropic() {
    check(Format::Anthropic).await;
}

#[tokio::test]
async fn responses() {
    check(Format::Responses).await;
}

#[tokio::test]
async fn chat() {
    check(Format::Chat).await;
}

#[tokio::test]
async fn google() {
    check(Format::Google).await;
}

#[tokio::test]
async fn ollama() {
    check(Format::Ollama).await;
}

fn three_calls() -> Answer {
    Answer::default()
        .calls("read", json!({"path": "ü"}))
        .calls("read", json!({}))
        .calls("write", json!({"n": 1}))
}

async fn check(format: Format) {
    let bytes = record(format, three_calls()).await;
    let whole = hear_answer(format, Answer::status(200).body(bytes.clone())).await;
    let calls = carried_out(&whole);
    assert_eq!(calls.len(), 3);
    let answers = (0..=bytes.len()).map(|at| {
        let answer = Answer::status(200).body(bytes.clone());
        answer.cut_after(at)
    });
    let stand_in = StandIn::start(format, answers);
    let remote = remote(format, stand_in.url());
    for at in 0..=bytes.len() {
        let cut = hear(&remote, &question()).await;
        let told = format!("{format:?} cut at {at} of {}: {cut:?}", bytes.len());
        // The end of the connection is Google's only mark of the end, and that is missing here.
        let is_whole = at == bytes.len() && format != Format::Google;
        assert_eq!(cut.reply().is_some(), is_whole, "{told}");
        if !is_whole {
            assert_eq!(cut.fault().kind, ModelFaultKind::Cut, "{told}");
        }
        let found = carried_out(&cut);
        assert!(calls.starts_with(&found), "{told}");
    }
}

/// Every server also ends a connection in good order where it should not.
#[tokio::test]
async fn an_answer_that_ends_early_in_good_order_is_cut_too() {
    for format in Format::ALL {
        let bytes = record(format, three_calls()).await;
        let whole = hear_answer(format, Answer::status(200).body(bytes.clone())).await;
        let mut marks: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        marks.push(0);
        for at in marks {
            let answer = Answer::status(200).body(bytes[..at].to_vec());
            let cut = hear_answer(format, answer).await;
            let told = format!("{format:?} ends at {at} of {}: {cut:?}", bytes.len());
            match cut.reply() {
                // Only the count, or a mark after the last word, can be missing from a whole one.
                Some(reply) => {
                    assert_eq!(reply.parts, whole.reply().unwrap().parts, "{told}");
                    assert_eq!(reply.stop, whole.reply().unwrap().stop, "{told}");
                }
                None => assert_eq!(cut.fault().kind, ModelFaultKind::Cut, "{told}"),
            }
            assert!(
                carried_out(&whole).starts_with(&carried_out(&cut)),
                "{told}"
            );
        }
    }
}

/// Returns the calls that are complete: the only ones that are ever carried out.
fn carried_out(heard: &Heard) -> Vec<ToolCall> {
    let parts = heard.gathered().partial();
    let calls = parts.into_iter().filter_map(|part| match part {
        MessagePart::ToolCall(call) => Some(call),
        _ => None,
    });
    calls.collect()
}
