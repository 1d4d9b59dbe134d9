//! Who goes first.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_model::{ModelCallProgress, ModelCallWait};
use artel_types::model::ModelCallPriority;
use artel_types::{EventOutcome, Fact};
use tokio::sync::Semaphore;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn with_one_slot_the_more_urgent_goes_first_and_equals_in_order() {
    let house = house(|setup| setup.slots = 1);
    let gate = Arc::new(Semaphore::new(0));
    let order = Arc::new(Mutex::new(Vec::new()));
    let (log, held_by) = (order.clone(), gate.clone());
    let model = Puppet::new(move |_, request| {
        let words = format!("{:?}", request.messages[0].parts[0]);
        log.lock().unwrap().push(words);
        held(&held_by)
    });
    // A user's own call holds the slot: it is not preempted.
    let mut calls = vec![
        house
            .gateway
            .call(urgent(&model, ModelCallPriority::User, "holder")),
    ];
    settle().await;
    for (priority, words) in [
        (ModelCallPriority::Background, "a 20"),
        (ModelCallPriority::Validation, "a 40"),
        (ModelCallPriority::Background, "b 20"),
        (ModelCallPriority::Execution, "a 60"),
        (ModelCallPriority::Planning, "a 80"),
        (ModelCallPriority::User, "a 100"),
        (ModelCallPriority::Execution, "b 60"),
        (ModelCallPriority::User, "b 100"),
    ] {
        calls.push(house.gateway.call(urgent(&model, priority, words)));
        settle().await;
    }
    gate.add_permits(100);
    for call in calls {
        call.answer().await.unwrap();
    }
    let order: Vec<String> = order
        .lock()
        .unwrap()
        .iter()
        .map(|words| words.split('"').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        order,
        [
            "holder", "a 100", "b 100", "a 80", "a 60", "b 60", "a 40", "a 20", "b 20"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_user_takes_the_place_of_the_least_urgent_who_is_then_asked_again() {
    let house = house(|setup| setup.slots = 2);
    let gate = Arc::new(Semaphore::new(0));
    let held_by = gate.clone();
    let slow = Puppet::new(move |_, _| held(&held_by));
    let quick = Puppet::new(|_, _| says("at once"));
    let execution = house
        .gateway
        .call(urgent(&slow, ModelCallPriority::Execution, "work"));
    let mut background = house
        .gateway
        .call(urgent(&slow, ModelCallPriority::Background, "index"));
    settle().await;
    let asked = house.elapsed();
    let answer = house
        .answer(urgent(&quick, ModelCallPriority::User, "what is up?"))
        .await
        .unwrap();
    assert_eq!(answer.reply.text(), "at once");
    assert!(house.elapsed() - asked < Duration::from_secs(1));

    let mut preempted = 0;
    gate.add_permits(10);
    let answer = loop {
        match background.next().await.unwrap() {
            ModelCallProgress::Waiting(ModelCallWait::Preempted) => preempted += 1,
            ModelCallProgress::Done(answer) => break answer,
            ModelCallProgress::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    };
    assert_eq!((preempted, answer.attempts), (1, 2));
    assert_eq!(execution.answer().await.unwrap().attempts, 1);
    // It gave way; that is no failure of its own.
    let outcomes: Vec<_> = house
        .book
        .events()
        .into_iter()
        .filter(|event| matches!(event.fact, Fact::ModelFailed(_)))
        .map(|event| event.outcome)
        .collect();
    assert_eq!(outcomes, [Some(EventOutcome::Cancelled)]);
}

#[tokio::test(start_paused = true)]
async fn with_a_free_slot_nobody_is_disturbed() {
    let house = house(|setup| setup.slots = 2);
    let gate = Arc::new(Semaphore::new(0));
    let held_by = gate.clone();
    let slow = Puppet::new(move |_, _| held(&held_by));
    let background = house
        .gateway
        .call(urgent(&slow, ModelCallPriority::Background, "index"));
    settle().await;
    let quick = Puppet::new(|_, _| says("at once"));
    house
        .answer(urgent(&quick, ModelCallPriority::User, "hello"))
        .await
        .unwrap();
    gate.add_permits(1);
    assert_eq!(background.answer().await.unwrap().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn background_work_is_not_starved_for_ever() {
    let house = house(|setup| setup.slots = 1);
    let model = Puppet::new(|_, _| {
        Box::pin(futures_util::stream::unfold(0, |stage| async move {
            match stage {
                0 => Some((Ok(start()), 1)),
                1 => {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    Some((Ok(end(1, 1)), 2))
                }
                _ => None,
            }
        }))
    });
    let ahead = house
        .gateway
        .call(urgent(&model, ModelCallPriority::User, "0"));
    settle().await;
    let background = house
        .gateway
        .call(urgent(&model, ModelCallPriority::Background, "index"));
    settle().await;
    // Two users who never stop asking: there is always somebody waiting.
    let users: Vec<_> = (0..2)
        .map(|_| {
            let (gateway, model) = (house.gateway.clone(), model.clone());
            tokio::spawn(async move {
                loop {
                    let call = urgent(&model, ModelCallPriority::User, "again");
                    gateway.call(call).answer().await.unwrap();
                }
            })
        })
        .collect();
    ahead.answer().await.unwrap();
    background.answer().await.unwrap();
    assert!(
        house.elapsed() < Duration::from_secs(600),
        "{:?}",
        house.elapsed()
    );
    users.into_iter().for_each(|user| user.abort());
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever() {
    let house = house(|setup| {
        setup.slots = 1;
        setup.max_wait = Duration::from_secs(60);
    });
    let gate = Arc::new(Semaphore::new(0));
    let held_by = gate.clone();
    let slow = Puppet::new(move |_, _| held(&held_by));
    let first = house.gateway.call(call(&slow, "first"));
    settle().await;
    let refused = house.answer(call(&slow, "second")).await.unwrap_err();
    let failure = artel_types::Failure::from(refused);
    assert_eq!(
        failure.what,
        "`anthropic` had no turn for this call in 60 s"
    );
    gate.add_permits(1);
    first.answer().await.unwrap();
}
