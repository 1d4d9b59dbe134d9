//! The gateway in front of real HTTP.

use std::sync::Arc;
use std::time::Duration;

use artel_model::{ChosenModel, ModelCall, ModelCallError, ModelCallProgress};
use artel_testkit::standin::{Answer, Format, StandIn, Usage, cases};
use artel_types::model::{ModelAliasSettings, ModelFaultKind, ModelRequest};
use artel_types::{EventOutcome, Fact, ModelFailed, ModelReplied};
use tokio::time::Instant;

use crate::house::{self, House, house};
use crate::support::*;

/// Puts the usual question to a stand-in.
pub(crate) fn call_to(format: Format, url: &str) -> ModelCall {
    let usual = house::call(&house::Puppet::new(|_, _| house::says("")), "hello");
    ModelCall {
        request: ModelRequest {
            max_output: Some(1_000),
            ..question()
        },
        model: Arc::new(remote(format, url)),
        chosen: ChosenModel {
            entry: ModelAliasSettings {
                base_url: Some(url.to_owned()),
                ..ModelAliasSettings::named(provider(format), MODEL)
            },
            ..usual.chosen.clone()
        },
        ..usual
    }
}

fn failures(house: &House) -> Vec<ModelFailed> {
    house.facts(|fact| match fact {
        Fact::ModelFailed(failed) => Some(failed.clone()),
        _ => None,
    })
}

fn replies(house: &House) -> Vec<ModelReplied> {
    house.facts(|fact| match fact {
        Fact::ModelReplied(replied) => Some(replied.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn a_pause_of_a_second_is_kept_and_then_there_is_an_answer() {
    for format in [Format::Anthropic, Format::Google] {
        let plan = [Answer::status(429).retry_after("1"), Answer::says("Hi.")];
        let stand_in = StandIn::start(format, plan);
        let house = house(|_| {});
        let began = Instant::now();
        let answer = house
            .answer(call_to(format, &stand_in.url()))
            .await
            .unwrap();
        let took = began.elapsed().as_secs_f32();
        assert_eq!((answer.attempts, answer.reply.text().as_str()), (2, "Hi."));
        assert!((1.0..5.0).contains(&took), "{took} s");
        assert_eq!(stand_in.seen().len(), 2);
    }
}

/// What cannot get better is asked once; what can, more than once.
#[tokio::test]
async fn only_what_can_get_better_is_tried_again() {
    for (answer, kind, attempts) in [
        (Answer::no_quota(), ModelFaultKind::Quota, 1),
        (Answer::status(401), ModelFaultKind::Key, 1),
        (Answer::too_long(), ModelFaultKind::ContextOverflow, 1),
        (Answer::status(404), ModelFaultKind::NoSuchModel, 1),
        (Answer::hang_up(), ModelFaultKind::Network, 5),
    ] {
        for format in Format::ALL {
            let stand_in = StandIn::start(format, [answer.clone().repeating()]);
            let house = house(|setup| setup.thresholds.consecutive = 100);
            let error = house.answer(call_to(format, &stand_in.url())).await;
            let Err(ModelCallError::Fault { fault, .. }) = &error else {
                panic!("{format:?}: {error:?}");
            };
            assert_eq!(fault.kind, kind, "{format:?}: {fault}");
            assert_eq!(stand_in.seen().len(), attempts, "{format:?}: {fault}");
            assert_eq!(failures(&house).len(), attempts);
            if attempts > 1 {
                // The others need not show again that it takes two seconds.
                break;
            }
        }
    }
}

/// An answer that broke off is asked for again, and nothing of it is left in the new one.
#[tokio::test]
async fn a_broken_answer_is_asked_for_again_as_a_whole() {
    for format in Format::ALL {
        let answer =
            || Answer::says("I will read it.").calls("read", serde_json::json!({"path": "a.txt"}));
        let length = record(format, answer()).await.len();
        let plan = [answer().cut_after(length * 9 / 10), answer()];
        let stand_in = StandIn::start(format, plan);
        let house = house(|_| {});
        let got = house
            .answer(call_to(format, &stand_in.url()))
            .await
            .unwrap();
        assert_eq!(got.attempts, 2, "{format:?}");
        assert_eq!(got.reply.text(), "I will read it.", "{format:?}");
        assert_eq!(got.reply.tool_calls().count(), 1, "{format:?}");
        assert_eq!(
            failures(&house)[0].fault,
            Some(ModelFaultKind::Cut),
            "{format:?}"
        );
    }
}

/// Whoever stops listening ends the call: the server sees the connection go, within a second.
#[tokio::test]
async fn a_dropped_call_hangs_up() {
    for format in Format::ALL {
        let plan = [
            Answer::says("word ".repeat(200)).silent_after(4_000),
            Answer::says("Hello").held(),
        ];
        let stand_in = StandIn::start(format, plan);
        let house = house(|_| {});
        let mut calling = house.gateway.call(call_to(format, &stand_in.url()));
        while !matches!(calling.next().await.unwrap(), ModelCallProgress::Piece(_)) {}
        assert_eq!(stand_in.open(), 1);
        let began = Instant::now();
        drop(calling);
        stand_in.until_open(0).await;
        assert!(began.elapsed() < Duration::from_secs(1), "{format:?}");

        // Also before the first byte.
        let calling = house.gateway.call(call_to(format, &stand_in.url()));
        stand_in.until_held(1).await;
        let began = Instant::now();
        drop(calling);
        stand_in.until_open(0).await;
        assert!(began.elapsed() < Duration::from_secs(1), "{format:?}");
        house::settle().await;
        let ends = house.book.events().into_iter().filter_map(|event| {
            matches!(event.fact, Fact::ModelFailed(_)).then_some(event.outcome)
        });
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends, [Some(EventOutcome::Cancelled); 2], "{format:?}");
    }
}

#[tokio::test]
async fn the_record_names_the_request_and_what_it_took() {
    let usage = Usage {
        input: 1_234,
        cache_read: 200,
        cache_write: 30,
        output: 56,
        thinking: 7,
    };
    for format in Format::ALL {
        let plan = [
            Answer::status(404),
            Answer::says("Hi.").thinking("Hm.").usage(usage),
        ];
        let stand_in = StandIn::start(format, plan);
        let house = house(|_| {});
        house
            .answer(call_to(format, &stand_in.url()))
            .await
            .unwrap_err();
        house
            .answer(call_to(format, &stand_in.url()))
            .await
            .unwrap();
        let failed = failures(&house).remove(0);
        let named = (format != Format::Ollama).then(|| format!("req_{}_0001", format.as_str()));
        assert_eq!(failed.request_id, named, "{format:?}");
        assert_eq!((failed.status, failed.charged.tokens.0), (Some(404), 0));
        let replied = replies(&house).remove(0);
        assert_eq!(
            replied.usage,
            Some(cases::told(format, usage)),
            "{format:?}"
        );
        assert_eq!(replied.charged.tokens.0, 1_234 + 56);
    }
}
