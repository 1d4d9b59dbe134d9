//! Servers that fall silent, and servers that are only slow.

use std::time::Duration;

use artel_model::ModelAddress;
use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::model::ModelFaultKind;
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::support::*;

/// Listens to servers that fall silent somewhere.
async fn check(answer: Answer, words: &str) {
    let listen = |format| {
        let answer = answer.clone();
        async move {
            let stand_in = StandIn::start(format, [answer]);
            let began = Instant::now();
            let heard = hear(&hasty(format, stand_in.url()), &question()).await;
            let took = began.elapsed();
            let fault = heard.fault();
            assert_eq!(fault.kind, ModelFaultKind::Silent, "{fault}");
            assert!(fault.message.contains(words), "{fault}");
            assert!(fault.message.contains("0.4 s"), "{fault}");
            let longest = SHORT + Duration::from_secs(3);
            assert!((SHORT..longest).contains(&took), "{took:?}");
            stand_in.until_open(0).await;
        }
    };
    join_all(Format::ALL.map(listen)).await;
}

#[tokio::test]
async fn before_the_head() {
    check(Answer::says("Hello").held(), "before it answered").await;
}

#[tokio::test]
async fn after_the_head() {
    check(Answer::says("Hello").silent_after(0), "in the middle").await;
}

#[tokio::test]
async fn in_the_middle_of_a_word() {
    let answer = Answer::says("Hello, dear world.").silent_after(150);
    check(answer, "in the middle").await;
}

/// What keeps coming is not silent, however slow it is and however long it takes.
#[tokio::test]
async fn a_trickle_is_not_silence() {
    let trickle = |format| async move {
        let bytes = record(format, Answer::says("Hi")).await;
        let size = bytes.len().div_ceil(20);
        let answer = Answer::status(200)
            .body(bytes)
            .in_pieces_of(size)
            .pause_between(Duration::from_millis(40));
        let stand_in = StandIn::start(format, [answer]);
        let address = ModelAddress {
            patience: Duration::from_millis(600),
            ..address(format, stand_in.url())
        };
        let began = Instant::now();
        let heard = hear(&reach(straight(), address), &question()).await;
        assert_eq!(heard.reply().unwrap().text(), "Hi", "{format:?}");
        let took = began.elapsed();
        assert!(
            took > Duration::from_millis(600),
            "{took:?}: no silence may take so long"
        );
    };
    join_all(Format::ALL.map(trickle)).await;
}

/// A refusal whose body never comes is still a refusal.
#[tokio::test]
async fn a_refusal_that_falls_silent() {
    let listen = |format| async move {
        let stand_in = StandIn::start(format, [Answer::status(429).silent_after(5)]);
        let heard = hear(&hasty(format, stand_in.url()), &question()).await;
        assert_eq!(heard.fault().kind, ModelFaultKind::RateLimit, "{format:?}");
        assert_eq!(heard.fault().status, Some(429));
    };
    join_all(Format::ALL.map(listen)).await;
}
