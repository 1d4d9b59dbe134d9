//! Answers that are longer than any answer may be.

use artel_testkit::standin::{Answer, Format};
use artel_types::model::ModelFaultKind;
use serde_json::json;

use crate::servers::Endless;
use crate::support::*;

/// No more of an answer is read, whatever comes.
const MOST: u64 = 64 << 20;

/// What fits between two sockets on top of what was read.
const IN_FLIGHT: u64 = 16 << 20;

/// No test of this program, and not all of them together, need so much memory, in kibibytes.
const MEMORY: u64 = 512 << 10;

/// Listens to a server that never stops.
async fn check(format: Format, first: &str, more: &str, most: u64) {
    let server = Endless::start(first, more).await;
    let heard = hear(&remote(format, server.url()), &question()).await;
    let fault = heard.fault();
    assert_eq!(fault.kind, ModelFaultKind::Endless, "{format:?}: {fault}");
    assert!(fault.message.contains("more than"), "{fault}");
    let sent = server.sent();
    assert!(sent < most + IN_FLIGHT, "{format:?}: {sent} bytes");
    assert_bounded_memory();
}

/// Looks at the most memory that was ever used, where the system tells.
fn assert_bounded_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|rest| rest.split_whitespace().next());
    let peak = peak.map_or(0, |number| number.parse().unwrap());
    assert!(peak < MEMORY, "{peak} KiB");
}

/// One piece of an answer with these words.
fn words(format: Format, text: &str) -> String {
    let event = match format {
        Format::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        }
        Format::Responses => {
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": text})
        }
        Format::Chat => json!({"choices": [{"delta": {"content": text}}]}),
        Format::Google => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        Format::Ollama => return format!("{}\n", json!({"message": {"content": text}})),
    };
    format!("data: {event}\n\n")
}

fn first(format: Format) -> &'static str {
    match format {
        Format::Anthropic => {
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        }
        _ => "",
    }
}

#[tokio::test]
async fn one_piece_that_never_ends() {
    for format in Format::ALL {
        check(format, "data: {\"a\":\"", &"a".repeat(1 << 16), MOST / 2).await;
    }
}

#[tokio::test]
async fn words_without_end() {
    for format in Format::ALL {
        let more = words(format, &"word ".repeat(10_000));
        check(format, first(format), &more, MOST / 3).await;
    }
}

#[tokio::test]
async fn signs_of_life_without_an_answer() {
    for format in Format::ALL {
        let more = match format {
            Format::Ollama => format!("{}\n", " ".repeat(1_000)).repeat(50),
            _ => format!(": {}\n\n", "still here ".repeat(100)).repeat(50),
        };
        check(format, "", &more, MOST).await;
    }
}

/// Fifty megabytes of words, and an end: nobody can use such an answer.
#[tokio::test]
async fn fifty_megabytes() {
    for format in Format::ALL {
        let piece = words(format, &"word ".repeat(100_000));
        let mut body = format!("{}{}", first(format), piece.repeat(100));
        body.push_str("data: {\"type\":\"message_stop\"}\n\n");
        let heard = hear_answer(format, Answer::status(200).body(body)).await;
        let fault = heard.fault.as_ref().unwrap();
        assert_eq!(fault.kind, ModelFaultKind::Endless, "{format:?}: {fault}");
        assert!(fault.message.contains("more than"), "{format:?}: {fault}");
        assert_bounded_memory();
    }
}

#[tokio::test]
async fn ten_thousand_calls() {
    for format in Format::ALL {
        let answer = (0..10_000).fold(Answer::default(), |answer, number| {
            answer.calls("read", json!({"n": number}))
        });
        let heard = hear_answer(format, answer).await;
        assert_eq!(heard.fault().kind, ModelFaultKind::Garbled, "{format:?}");
        let kept = heard.gathered().partial().len();
        assert!(kept <= 1_000, "{format:?}: {kept}");
        assert_bounded_memory();
    }
}

/// A refusal is not read to its end either.
#[tokio::test]
async fn a_refusal_without_end() {
    for format in Format::ALL {
        let body = format!("{{\"error\": \"{}", "no ".repeat(10_000_000));
        let heard = hear_answer(format, Answer::status(400).body(body)).await;
        assert_eq!(heard.fault().kind, ModelFaultKind::BadRequest, "{format:?}");
        assert!(heard.fault().message.chars().count() <= 500);
    }
}
