//! A provider that fails is left alone, tried gently, and trusted again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artel_model::{GatewayEventBatch, ModelCallError};
use artel_types::model::ModelFaultKind;
use artel_types::{Actor, BreakerClosed, EventDraft, Fact, ProviderResumed, StreamName, TraceId};
use tokio::sync::Semaphore;

use crate::support::*;

/// A model that is ill while the flag is set. One failure per call: nothing is tried again.
fn patient() -> (Arc<AtomicBool>, Arc<Puppet>) {
    let ill = Arc::new(AtomicBool::new(true));
    let flag = ill.clone();
    let model = Puppet::new(move |_, _| {
        if flag.load(Ordering::SeqCst) {
            faulty(fault(ModelFaultKind::Server))
        } else {
            says("well again")
        }
    });
    (ill, model)
}

fn health_of(house: &House) -> Vec<&'static str> {
    house.facts(|fact| fact.kind().starts_with("breaker.").then(|| fact.kind()))
}

/// Makes failing calls until the provider is left alone.
async fn open(house: &House, model: &Arc<Puppet>) {
    for _ in 0..3 {
        drop(house.answer(call(model, "hello")).await);
    }
    assert_eq!(health_of(house), ["breaker.opened"]);
    assert_eq!(model.asked(), 5);
}

#[tokio::test(start_paused = true)]
async fn five_failures_in_a_row_and_it_is_left_alone() {
    let house = house(|_| {});
    let (ill, model) = patient();
    open(&house, &model).await;
    let begun = house.elapsed();
    let refused = house.answer(call(&model, "hello")).await.unwrap_err();
    assert!(
        matches!(refused, ModelCallError::Unwell { .. }),
        "{refused:?}"
    );
    assert_eq!(
        (model.asked(), house.elapsed()),
        (5, begun),
        "at once, and unasked"
    );

    ill.store(false, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    for _ in 0..3 {
        house.answer(call(&model, "hello")).await.unwrap();
    }
    // Each probe is told when it goes and when it is over, so that others know.
    let probes = ["breaker.probed"; 5];
    let expected: Vec<_> = ["breaker.opened"]
        .into_iter()
        .chain(probes)
        .chain(["breaker.closed"])
        .collect();
    assert_eq!(health_of(&house), expected);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_fails_leaves_it_alone_anew() {
    let house = house(|_| {});
    let (_, model) = patient();
    open(&house, &model).await;
    tokio::time::advance(Duration::from_secs(31)).await;
    drop(house.answer(call(&model, "are you well?")).await);
    assert_eq!(model.asked(), 6, "one probe");
    tokio::time::advance(Duration::from_secs(20)).await;
    let refused = house.answer(call(&model, "and now?")).await.unwrap_err();
    assert!(matches!(refused, ModelCallError::Unwell { .. }));
    assert_eq!(model.asked(), 6);
}

#[tokio::test(start_paused = true)]
async fn exactly_one_probe_goes_out_also_with_two_processes() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let one = house_on(&clock, &book, |_| {});
    let other = house_on(&clock, &book, |_| {});
    let (_, model) = patient();
    open(&one, &model).await;
    let gate = Arc::new(Semaphore::new(0));
    let held_by = gate.clone();
    let slow = Puppet::new(move |_, _| held(&held_by));
    tokio::time::advance(Duration::from_secs(31)).await;
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let house = if number % 2 == 0 { &one } else { &other };
            house.gateway.call(call(&slow, "are you well?"))
        })
        .collect();
    settle().await;
    assert_eq!(slow.asked(), 1, "one probe");
    gate.add_permits(20);
    let mut answered = 0;
    for call in calls {
        answered += usize::from(call.answer().await.is_ok());
    }
    assert_eq!(answered, 1);
}

#[tokio::test(start_paused = true)]
async fn what_one_process_learnt_another_knows_at_once() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let one = house_on(&clock, &book, |_| {});
    let other = house_on(&clock, &book, |_| {});
    let (_, model) = patient();
    let fine = Puppet::new(|_, _| says("hello"));
    other.answer(call(&fine, "hello")).await.unwrap();
    open(&one, &model).await;
    let refused = other.answer(call(&fine, "hello")).await.unwrap_err();
    assert!(
        matches!(refused, ModelCallError::Unwell { .. }),
        "{refused:?}"
    );
    // And one that starts later.
    let late = house_on(&clock, &book, |_| {});
    let refused = late.answer(call(&fine, "hello")).await.unwrap_err();
    assert!(
        matches!(refused, ModelCallError::Unwell { .. }),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_can_say_that_it_is_to_be_asked_again() {
    let house = house(|_| {});
    let (ill, model) = patient();
    open(&house, &model).await;
    ill.store(false, Ordering::SeqCst);
    let reset = EventDraft::new(
        StreamName::provider("anthropic").unwrap(),
        TraceId::from_random([1; 16]),
        Actor::human("ada", artel_types::ActorSurface::Cli),
        BreakerClosed {
            provider: "anthropic".into(),
            why: "reset by hand".into(),
        },
    );
    house
        .book
        .write(GatewayEventBatch::from(vec![reset]))
        .unwrap();
    house.answer(call(&model, "hello")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_of_a_reset_by_another_process() {
    let house = house(|_| {});
    let model = Puppet::new(|before, _| match before {
        0 => faulty(artel_types::model::ModelFault {
            retry_after: Some(Duration::from_secs(500)),
            ..fault(ModelFaultKind::RateLimit)
        }),
        _ => says("yes"),
    });
    let calling = house.gateway.call(call(&model, "hello"));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(model.asked(), 1);
    let resumed = EventDraft::new(
        StreamName::provider("anthropic").unwrap(),
        TraceId::from_random([1; 16]),
        Actor::human("ada", artel_types::ActorSurface::Cli),
        ProviderResumed {
            provider: "anthropic".into(),
        },
    );
    house
        .book
        .write(GatewayEventBatch::from(vec![resumed]))
        .unwrap();
    calling.answer().await.unwrap();
    assert!(house.elapsed() <= Duration::from_secs(33));
}

#[tokio::test(start_paused = true)]
async fn half_of_twenty_is_too_much_though_never_five_in_a_row() {
    let house = house(|_| {});
    let model = Puppet::new(|before, _| match before % 2 {
        0 => says("yes"),
        _ => faulty(fault(ModelFaultKind::Cut)),
    });
    for _ in 0..10 {
        // Each call after the first fails once and is answered on its second attempt.
        drop(house.answer(call(&model, "hello")).await);
    }
    while model.asked() < 20 {
        drop(house.answer(call(&model, "hello")).await);
    }
    let opened = house.facts(|fact| match fact {
        Fact::BreakerOpened(fact) => Some(fact.why.clone()),
        _ => None,
    });
    assert_eq!(opened.len(), 1, "{opened:?}");
}

#[tokio::test(start_paused = true)]
async fn slowing_down_wrong_requests_and_calling_off_say_nothing_about_health() {
    let house = house(|_| {});
    for kind in [
        ModelFaultKind::BadRequest,
        ModelFaultKind::Key,
        ModelFaultKind::RateLimit,
    ] {
        let model = Puppet::new(move |_, _| faulty(fault(kind)));
        for _ in 0..6 {
            drop(house.answer(call(&model, "hello")).await);
        }
    }
    let gate = Arc::new(Semaphore::new(0));
    let slow = Puppet::new(move |_, _| held(&gate));
    for _ in 0..6 {
        let calling = house.gateway.call(call(&slow, "hello"));
        settle().await;
        drop(calling);
        settle().await;
    }
    assert_eq!(health_of(&house), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_good_probes_of_three_short_processes_close_it() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let (ill, model) = patient();
    open(&house_on(&clock, &book, |_| {}), &model).await;
    ill.store(false, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    for _ in 0..3 {
        let short = house_on(&clock, &book, |_| {});
        short.answer(call(&model, "hello")).await.unwrap();
    }
    let last = house_on(&clock, &book, |_| {});
    assert_eq!(health_of(&last).last(), Some(&"breaker.closed"));
}

#[tokio::test(start_paused = true)]
async fn an_old_stream_that_ends_well_does_not_end_a_pause() {
    let house = house(|_| {});
    let (old_gate, scout_gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let held_by = old_gate.clone();
    let old = Puppet::new(move |_, _| held(&held_by));
    let streaming = house.gateway.call(call(&old, "a long story"));
    settle().await;
    let held_by = scout_gate.clone();
    let model = Puppet::new(move |before, _| match before {
        0 => faulty(fault(ModelFaultKind::RateLimit)),
        _ => held(&held_by),
    });
    let first = house.gateway.call(call(&model, "first"));
    let second = house.gateway.call(call(&model, "second"));
    // The pause passes and the scout goes out; only then the old stream ends.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let out = model.asked();
    old_gate.add_permits(1);
    streaming.answer().await.unwrap();
    settle().await;
    assert_eq!(model.asked(), out, "the others still wait for the scout");
    let resumed = |house: &House| {
        let facts = house.facts(|fact| matches!(fact, Fact::ProviderResumed(_)).then_some(()));
        facts.len()
    };
    assert_eq!(resumed(&house), 0);
    scout_gate.add_permits(5);
    first.answer().await.unwrap();
    second.answer().await.unwrap();
    assert_eq!(resumed(&house), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_into_a_long_pause_is_parked_with_the_time() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| {
        faulty(artel_types::model::ModelFault {
            retry_after: Some(Duration::from_secs(3_600)),
            ..fault(ModelFaultKind::RateLimit)
        })
    });
    house.answer(call(&model, "first")).await.unwrap_err();
    let begun = house.elapsed();
    let parked = house.answer(call(&model, "second")).await.unwrap_err();
    assert!(
        matches!(parked, ModelCallError::Parked { .. }),
        "{parked:?}"
    );
    assert_eq!(
        (house.elapsed(), model.asked()),
        (begun, 1),
        "at once, and unasked"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_does_not_depend_on_what_was_played_before() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let rehearsed = |model: &Arc<Puppet>| {
        let mut call = call(model, "hello");
        call.chosen.entry.provider = artel_types::model::Provider::Rehearsal;
        call
    };
    let ill = Puppet::new(|_, _| faulty(fault(ModelFaultKind::Network)));
    let first = house_on(&clock, &book, |_| {});
    for _ in 0..2 {
        drop(first.answer(rehearsed(&ill)).await);
    }
    assert_eq!(health_of(&first), [""; 0]);
    let well = Puppet::new(|_, _| says("yes"));
    let second = house_on(&clock, &book, |_| {});
    second.answer(rehearsed(&well)).await.unwrap();
}
