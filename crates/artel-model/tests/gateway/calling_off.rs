//! Somebody stops asking, or reads slowly.

use std::sync::Arc;
use std::time::Duration;

use artel_model::ModelCallProgress;
use artel_types::{EventOutcome, Fact};
use futures_util::stream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_paid_for_recorded_and_leaves_nothing_behind() {
    let house = house(|setup| setup.slots = 1);
    let gate = Arc::new(Semaphore::new(0));
    let model = Puppet::new(move |_, _| held(&gate));
    let before = Handle::current().metrics().num_alive_tasks();
    let mut calling = house.gateway.call(call(&model, "hello"));
    while let Some(progress) = calling.next().await {
        if matches!(progress, ModelCallProgress::Piece(_)) {
            break;
        }
    }
    // One that waits for its turn is called off as well.
    let waiting = house.gateway.call(call(&model, "me too"));
    settle().await;
    drop((calling, waiting));
    settle().await;
    assert_eq!(
        Handle::current().metrics().num_alive_tasks(),
        before,
        "no task is left"
    );
    let events = house.book.events();
    let last = events
        .iter()
        .rev()
        .find(|event| matches!(event.fact, Fact::ModelFailed(_)));
    let last = last.unwrap();
    assert_eq!(last.outcome, Some(EventOutcome::Cancelled));
    let Fact::ModelFailed(failed) = &last.fact else {
        unreachable!();
    };
    assert!(failed.charged.tokens.0 > 0, "the question was read");
    assert!(format!("{:?}", failed.partial).contains("thinking about it"));
    let kinds = house.book.kinds();
    let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
    assert_eq!(
        count("budget.reserved"),
        count("budget.settled") + count("budget.released")
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_provider_and_nothing_piles_up() {
    let house = house(|_| {});
    let given = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = given.clone();
    let model = Puppet::new(move |_, _| {
        let counter = counter.clone();
        Box::pin(stream::unfold(0_u32, move |at| {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let chunk = match at {
                0 => start(),
                1..5_000 => text("word "),
                5_000 => end(10, 5_000),
                _ => return std::future::ready(None),
            };
            std::future::ready(Some((Ok(chunk), at + 1)))
        }))
    });
    let mut calling = house.gateway.call(call(&model, "hello"));
    settle().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let ahead = given.load(std::sync::atomic::Ordering::SeqCst);
    assert!(
        ahead <= 110,
        "{ahead} pieces were taken for a reader who reads none"
    );
    let mut words = 0;
    while let Some(progress) = calling.next().await {
        match progress {
            ModelCallProgress::Piece(_) => words += 1,
            ModelCallProgress::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    assert_eq!(
        words, 5_000,
        "start and words; the end comes with the answer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_does_not_keep_a_user_waiting() {
    let house = house(|setup| setup.slots = 1);
    let endless = Puppet::new(|_, _| {
        Box::pin(stream::unfold(0_u64, |at| {
            let chunk = if at == 0 { start() } else { text("more ") };
            std::future::ready(Some((Ok(chunk), at + 1)))
        }))
    });
    let unread = house.gateway.call(call(&endless, "talk"));
    settle().await;
    let begun = house.elapsed();
    let quick = Puppet::new(|_, _| says("at once"));
    let urgent = urgent(&quick, artel_types::model::ModelCallPriority::User, "hello");
    house.answer(urgent).await.unwrap();
    assert!(house.elapsed() - begun < Duration::from_secs(1));
    drop(unread);
}

#[tokio::test(start_paused = true)]
async fn who_was_asked_and_left_before_the_first_word_has_read_the_question() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| Box::pin(stream::pending()));
    let calling = house.gateway.call(call(&model, "think hard"));
    settle().await;
    drop(calling);
    house.gateway.rest(Duration::from_secs(2)).await;
    let charged = house.facts(|fact| match fact {
        Fact::ModelFailed(fact) => Some(fact.charged.tokens.0),
        _ => None,
    });
    assert!(charged[0] > 0, "{charged:?}");
}

#[tokio::test(start_paused = true)]
async fn resting_waits_for_what_is_called_off_but_not_for_ever() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| Box::pin(stream::pending()));
    let calling = house.gateway.call(call(&model, "hello"));
    settle().await;
    let begun = house.elapsed();
    house.gateway.rest(Duration::from_secs(2)).await;
    assert_eq!(house.elapsed() - begun, Duration::from_secs(2));
    drop(calling);
    house.gateway.rest(Duration::from_secs(2)).await;
    assert_eq!(house.book.kinds().last(), Some(&"budget.settled"));
}
