//! What is tried again, when, and how often.

use std::time::Duration;

use artel_model::{ModelCallError, ModelCallProgress, ModelCallWait};
use artel_types::model::{ModelFault, ModelFaultKind, Provider, ReplyChunk};
use artel_types::{Fact, Failure};

use crate::support::*;

/// Asks a model that fails like this for ever; returns when each attempt was made.
async fn attempts(fault: ModelFault) -> (Vec<Duration>, ModelCallError) {
    let house = house(|setup| setup.thresholds.consecutive = 100);
    let model = Puppet::new(move |_, _| faulty(fault.clone()));
    let mut calling = house.gateway.call(call(&model, "hello"));
    let mut at = Vec::new();
    loop {
        match calling.next().await.unwrap() {
            ModelCallProgress::Asking { .. } => at.push(house.elapsed()),
            ModelCallProgress::Failed(error) => return (at, *error),
            _ => {}
        }
    }
}

fn waits(at: &[Duration]) -> Vec<f64> {
    at.windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect()
}

#[track_caller]
fn about(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 0.02, "{found} is not {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_class_has_its_schedule() {
    let (at, _) = attempts(fault(ModelFaultKind::Network)).await;
    about(&waits(&at), &[0.1, 0.2, 0.4, 0.8]);
    let (at, _) = attempts(fault(ModelFaultKind::Server)).await;
    about(&waits(&at), &[5.0, 10.0]);
    for kind in [
        ModelFaultKind::Key,
        ModelFaultKind::Quota,
        ModelFaultKind::BadRequest,
        ModelFaultKind::NoSuchModel,
        ModelFaultKind::ContextOverflow,
        ModelFaultKind::TooLarge,
        ModelFaultKind::Untrusted,
        ModelFaultKind::Endless,
        ModelFaultKind::OffScript,
    ] {
        let (at, error) = attempts(fault(kind)).await;
        assert_eq!(at.len(), 1, "{kind:?}");
        assert!(
            matches!(error, ModelCallError::Fault { attempts: 1, .. }),
            "{kind:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn being_asked_to_slow_down_doubles_the_wait_up_to_a_minute() {
    for kind in [ModelFaultKind::RateLimit, ModelFaultKind::Overloaded] {
        let (at, error) = attempts(fault(kind)).await;
        assert_eq!(at.len(), 10, "ten tries");
        assert!(matches!(error, ModelCallError::Fault { attempts: 10, .. }));
        let schedule = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0];
        for (wait, most) in waits(&at).iter().zip(schedule) {
            assert!(
                (most * 0.5..=most + 0.02).contains(wait),
                "{wait} of {most}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_a_provider_names_is_kept() {
    let mut named = fault(ModelFaultKind::RateLimit);
    named.retry_after = Some(Duration::from_secs(7));
    let (at, _) = attempts(named).await;
    for wait in waits(&at) {
        assert!((7.0..7.1).contains(&wait), "{wait}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_wait_parks_the_call_and_says_until_when() {
    let mut named = fault(ModelFaultKind::RateLimit);
    named.retry_after = Some(Duration::from_secs(3_600));
    let (at, error) = attempts(named).await;
    assert_eq!(at.len(), 1);
    let failure = Failure::from(error);
    assert!(
        failure
            .what
            .starts_with("`anthropic` asks for a pause until 2026-"),
        "{failure}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_shown_others_go_on_and_it_ends_by_itself() {
    let house = house(|_| {});
    let model = Puppet::new(|before, _| match before {
        0 => faulty(ModelFault {
            retry_after: Some(Duration::from_secs(30)),
            ..fault(ModelFaultKind::RateLimit)
        }),
        _ => says("at last"),
    });
    let mut calling = house.gateway.call(call(&model, "hello"));
    loop {
        if let ModelCallProgress::Waiting(ModelCallWait::Retry { until, .. }) =
            calling.next().await.unwrap()
        {
            assert_eq!(until.since(house.clock.now()), Duration::from_secs(30));
            break;
        }
    }
    // Another call to the same provider sees the pause; another provider does not know of it.
    let mut second = house.gateway.call(call(&model, "me too"));
    let waiting = second.next().await.unwrap();
    assert!(
        matches!(
            waiting,
            ModelCallProgress::Waiting(ModelCallWait::Pause { .. })
        ),
        "{waiting:?}"
    );
    let mut elsewhere = call(&Puppet::new(|_, _| says("hi")), "hello");
    elsewhere.chosen = chosen(Provider::OpenAi);
    house.answer(elsewhere).await.unwrap();
    assert!(house.elapsed() < Duration::from_secs(1));

    assert_eq!(calling.answer().await.unwrap().attempts, 2);
    second.answer().await.unwrap();
    assert!((30..31).contains(&house.elapsed().as_secs()));
    let health = house.facts(|fact| match fact {
        Fact::ProviderPaused(_) | Fact::ProviderResumed(_) => Some(fact.kind()),
        _ => None,
    });
    assert_eq!(health, ["provider.paused", "provider.resumed"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_pause_one_goes_first_and_the_rest_follow_its_success() {
    let house = house(|_| {});
    // Everybody is refused during the first ten seconds.
    let clock = house.clock.clone();
    let model = Puppet::new(move |_, _| match clock.uptime().as_secs() {
        0..10 => faulty(fault(ModelFaultKind::RateLimit)),
        _ => says("yes"),
    });
    let calls: Vec<_> = (0..20)
        .map(|number| house.gateway.call(call(&model, &number.to_string())))
        .collect();
    for call in calls {
        call.answer().await.unwrap();
    }
    // Ten at once in the beginning, then one per step of the back-off, then everybody.
    assert!(model.asked() <= 10 + 5 + 20, "{} requests", model.asked());
}

#[tokio::test(start_paused = true)]
async fn a_success_makes_the_next_pause_short_again() {
    let house = house(|_| {});
    let model = Puppet::new(|before, _| match before {
        0..=4 | 6 => faulty(fault(ModelFaultKind::RateLimit)),
        _ => says("yes"),
    });
    house.answer(call(&model, "first")).await.unwrap();
    let begun = house.elapsed();
    house.answer(call(&model, "second")).await.unwrap();
    assert!(house.elapsed() - begun <= Duration::from_millis(1_100));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_and_its_piece_is_kept() {
    let house = house(|_| {});
    let model = Puppet::new(|before, _| match before {
        0 => chunks(vec![
            Ok(start()),
            Ok(text("half an ans")),
            Err(fault(ModelFaultKind::Cut)),
        ]),
        // A stream that simply stops is a cut as well.
        1 => chunks(vec![Ok(start()), Ok(text("again ha"))]),
        _ => says("the whole answer"),
    });
    let answer = house.answer(call(&model, "hello")).await.unwrap();
    assert_eq!(
        (answer.reply.text().as_str(), answer.attempts),
        ("the whole answer", 3)
    );
    let partial = house.facts(|fact| match fact {
        Fact::ModelFailed(fact) => Some(format!("{:?}", fact.partial)),
        _ => None,
    });
    assert!(partial[0].contains("half an ans") && partial[1].contains("again ha"));
}

#[tokio::test(start_paused = true)]
async fn a_sequence_that_breaks_the_grammar_is_not_believed() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| {
        let (index, arguments) = (3, "{}".to_owned());
        chunks(vec![
            Ok(start()),
            Ok(ReplyChunk::ToolDelta { index, arguments }),
        ])
    });
    let error = house.answer(call(&model, "hello")).await.unwrap_err();
    let ModelCallError::Fault {
        fault, attempts, ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((fault.kind, attempts), (ModelFaultKind::Garbled, 5));
}

#[tokio::test(start_paused = true)]
async fn blips_are_silent_until_there_are_many() {
    let house = house(|setup| setup.thresholds.consecutive = 100);
    let notices = async |failures: usize| {
        let model = Puppet::new(move |before, _| match before {
            before if before < failures => faulty(fault(ModelFaultKind::Network)),
            _ => says("yes"),
        });
        let mut calling = house.gateway.call(call(&model, "hello"));
        let mut notices = 0;
        while let Some(progress) = calling.next().await {
            notices += usize::from(matches!(progress, ModelCallProgress::Notice(_)));
        }
        notices
    };
    assert_eq!(notices(2).await, 0);
    assert_eq!(notices(1).await, 1, "the third within ten seconds");
    assert_eq!(notices(4).await, 0, "told once a minute");
}

#[tokio::test(start_paused = true)]
async fn an_answer_many_times_too_long_is_cut_and_not_asked_for_again() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| {
        Box::pin(futures_util::stream::unfold(0_u64, |at| {
            let chunk = if at == 0 {
                start()
            } else {
                text("and on and on ")
            };
            std::future::ready(Some((Ok(chunk), at + 1)))
        }))
    });
    let mut calling = house.gateway.call(call(&model, "be brief"));
    let error = loop {
        if let ModelCallProgress::Failed(error) = calling.next().await.unwrap() {
            break *error;
        }
    };
    let ModelCallError::Fault {
        fault,
        attempts,
        partial,
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((fault.kind, attempts), (ModelFaultKind::Endless, 1));
    assert!(partial.len() < 40_000, "{}", partial.len());
}
