//! The same answer in five formats is the same answer.

use artel_testkit::standin::{Answer, Format, cases};
use artel_types::model::{MessagePart, ModelFaultKind, ReplyStopReason};

use crate::support::*;

/// What the providers' own SDKs must read, Artel must read too; the table is one and the same.
#[tokio::test]
async fn every_format_gives_the_reply_that_its_sdk_reads() {
    for format in Format::ALL {
        for case in cases::spoken(format) {
            let heard = hear_answer(format, case.answer).await;
            let told = format!("{} of {format:?}: {:?}", case.name, heard.fault);
            let reply = heard.reply().unwrap_or_else(|| panic!("{told}"));
            assert!(bare(reply.clone()) == case.reply, "{told} {reply:?}");
            assert_eq!(reply.model.as_deref(), Some(MODEL), "{told}");
            // Ollama does not name its answers.
            assert_eq!(reply.id.is_none(), format == Format::Ollama, "{told}");
            let mut ids: Vec<_> = reply.tool_calls().map(|call| &call.id).collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), reply.tool_calls().count(), "{told}: one id each");
        }
    }
}

/// What the table lets a format leave out. It is counted here, so that nothing can be added to it
/// unnoticed.
#[test]
fn few_things_cannot_be_said_in_every_format() {
    let fullest = cases::spoken(Format::Responses);
    let mut unsaid = Vec::new();
    for format in Format::ALL {
        for (case, full) in cases::spoken(format).iter().zip(&fullest) {
            let (reply, full) = (&case.reply, &full.reply);
            let differs = [
                ("words", reply.parts != full.parts),
                ("why it ended", reply.stop != full.stop),
                ("tokens", reply.usage != full.usage),
            ];
            let differs = differs.into_iter().filter(|(_, differs)| *differs);
            unsaid.extend(differs.map(|(what, _)| format!("{format:?} {}: {what}", case.name)));
        }
    }
    unsaid.retain(|line| !(line.starts_with("Ollama") && line.ends_with("tokens")));
    assert_eq!(
        unsaid,
        [
            "Google thinking, with all that can be counted: tokens",
            "Google filter: words",
            "Ollama refusal: why it ended",
            "Ollama filter: why it ended",
        ],
        "besides the tokens of Ollama, which counts only what was read and written"
    );
}

/// Arguments that are no JSON reach whoever carries out the call, who tells the model. Where the
/// server reads arguments itself, there is no call, and the answer says so.
#[tokio::test]
async fn malformed_arguments_are_never_carried_out() {
    let half = r#"{"path": "a.t"#;
    for format in Format::ALL {
        let answer = Answer::says("I try.").calls_raw("read", half);
        let heard = hear_answer(format, answer.clone()).await;
        match format {
            Format::Anthropic | Format::Responses | Format::Chat => {
                let parts = vec![MessagePart::text("I try."), cases::call("read", half)];
                let expected = cases::reply(format, parts, ReplyStopReason::ToolUse);
                let reply = heard.reply().unwrap();
                assert_eq!(bare(reply.clone()), expected, "{format:?}");
                assert!(reply.tool_calls().all(|call| call.input().is_err()));
            }
            Format::Google => {
                let stop = ReplyStopReason::Other("MALFORMED_FUNCTION_CALL".to_owned());
                let expected = cases::reply(format, vec![MessagePart::text("I try.")], stop);
                assert_eq!(bare(heard.reply().unwrap()), expected);
            }
            Format::Ollama => {
                let fault = heard.fault();
                assert_eq!(fault.kind, ModelFaultKind::Server, "{fault}");
                assert!(fault.message.contains("error parsing tool call"), "{fault}");
            }
        }
        // At the limit of the answer it is the same, with another reason to stop.
        let heard = hear_answer(format, answer.cut_short()).await;
        match format {
            Format::Anthropic | Format::Responses | Format::Chat => {
                let reply = heard.reply().unwrap();
                assert_eq!(reply.stop, ReplyStopReason::MaxTokens, "{format:?}");
                assert!(reply.tool_calls().all(|call| call.input().is_err()));
            }
            Format::Google => assert_eq!(heard.reply().unwrap().tool_calls().count(), 0),
            Format::Ollama => assert_eq!(heard.fault().kind, ModelFaultKind::Server),
        }
    }
}

/// A call that was begun at the limit of the answer, before any argument, is not one without
/// arguments.
#[tokio::test]
async fn a_call_that_was_only_begun_is_never_carried_out() {
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let answer = Answer::default().calls_raw("read", "").cut_short();
        let reply = hear_answer(format, answer).await.reply().unwrap();
        assert_eq!(reply.stop, ReplyStopReason::MaxTokens, "{format:?}");
        let call = reply.tool_calls().next().unwrap();
        assert!(call.input().is_err(), "{format:?}: {call:?}");
    }
}

/// Without a count, nothing is invented.
#[tokio::test]
async fn an_answer_without_a_count_has_none() {
    for format in Format::ALL {
        let heard = hear_answer(format, Answer::says("Hi.").without_usage()).await;
        assert_eq!(heard.reply().unwrap().usage, None, "{format:?}");
    }
}
