//! A conversation on record: each request holds what is new, and is put together again.

use std::sync::{Arc, Mutex};

use artel_model::{Cassette, CassetteTake, PriorModelCall, RecordedModelRequests, fingerprint};
use artel_types::model::{ModelFaultKind, ModelMessage, ModelReply, ModelRequest, ToolSpec};
use artel_types::{Fact, Failure, ModelRequested, RecordedText, Secret, SecretRedactor};

use crate::support::*;

fn inline(text: &RecordedText) -> Result<String, Failure> {
    let RecordedText::Inline(text) = text else {
        panic!("nothing is kept apart in memory");
    };
    Ok(text.clone())
}

fn requested(house: &House) -> Vec<ModelRequested> {
    house.facts(|fact| match fact {
        Fact::ModelRequested(fact) => Some(fact.clone()),
        _ => None,
    })
}

/// Returns the bytes of all recorded requests.
fn stored(house: &House) -> usize {
    let texts = requested(house);
    let texts = texts.iter().map(|fact| inline(&fact.request).unwrap());
    texts.map(|text| text.len()).sum()
}

/// Returns the calls that were answered, as a recording.
fn recording(house: &House) -> Cassette {
    let mut asked = RecordedModelRequests::default();
    requested(house).iter().for_each(|fact| asked.note(fact));
    let replies = house.facts(|fact| match fact {
        Fact::ModelReplied(fact) => Some(fact.clone()),
        _ => None,
    });
    let take = |fact: &artel_types::ModelReplied| {
        let request = asked.whole(&fact.call, inline).unwrap();
        let reply: ModelReply = serde_json::from_str(&inline(&fact.reply).unwrap()).unwrap();
        CassetteTake::new(request, reply)
    };
    Cassette::new(replies.iter().map(take).collect())
}

#[derive(Clone, Copy, PartialEq)]
enum Naming {
    Prior,
    Nothing,
}

/// Talks for so many turns; returns the requests as the model got them.
async fn talk(house: &House, turns: usize, naming: Naming) -> Vec<ModelRequest> {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = sent.clone();
    let model = Puppet::new(move |before, request| {
        log.lock().unwrap().push(request.clone());
        says(&format!("answer {before}"))
    });
    let mut next = call(&model, "the task");
    next.request.system = "You work with care. ".repeat(100);
    for turn in 0..turns {
        let answer = house.answer(next.clone()).await.unwrap();
        next.prior = (naming == Naming::Prior).then(|| answer.prior());
        next.request.messages.extend([
            ModelMessage::assistant(answer.reply.parts),
            ModelMessage::user(format!("{turn}: {}", "x".repeat(1_000))),
        ]);
    }
    let sent = sent.lock().unwrap();
    sent.clone()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_takes_space_in_proportion_to_its_length() {
    let mut sizes = Vec::new();
    for turns in [15, 30] {
        let house = house(|_| {});
        let sent = talk(&house, turns, Naming::Prior).await;
        let last = serde_json::to_string(sent.last().unwrap()).unwrap().len();
        let stored = stored(&house);
        assert!(stored < last + turns * 20, "{turns}: {stored} of {last}");
        sizes.push(stored);
        for (fact, request) in requested(&house).iter().zip(&sent) {
            assert_eq!(fact.fingerprint, fingerprint(request));
        }
    }
    let first = serde_json::to_string(&"You work with care. ".repeat(100))
        .unwrap()
        .len();
    let [fifteen, thirty] = [sizes[0] - first, sizes[1] - first];
    assert!(thirty < fifteen * 5 / 2, "{fifteen} {thirty}");
}

#[tokio::test(start_paused = true)]
async fn what_was_left_out_makes_no_difference_to_a_recording() {
    let (short, long) = (house(|_| {}), house(|_| {}));
    let sent = talk(&short, 15, Naming::Prior).await;
    assert_eq!(sent, talk(&long, 15, Naming::Nothing).await);
    assert!(stored(&short) * 4 < stored(&long));
    assert_eq!(recording(&short), recording(&long));
    let requests: Vec<_> = recording(&short)
        .takes()
        .iter()
        .map(|take| take.request.clone())
        .collect();
    assert_eq!(requests, sent);
}

#[tokio::test(start_paused = true)]
async fn attempts_of_one_call_and_changed_instructions() {
    let house = house(|setup| setup.thresholds.consecutive = 100);
    let model = Puppet::new(|before, _| match before {
        1 => faulty(fault(ModelFaultKind::Network)),
        _ => says("hello"),
    });
    let mut next = call(&model, "hi");
    let first = house.answer(next.clone()).await.unwrap();
    assert_eq!(*first.request, next.request);
    next.prior = Some(first.prior());
    next.request.messages.push(ModelMessage::user("more"));
    let second = house.answer(next.clone()).await.unwrap();
    next.prior = Some(second.prior());
    next.request.tools.push(Arc::new(ToolSpec {
        name: "read".into(),
        description: "reads".into(),
        schema: serde_json::json!({"type": "object"}),
    }));
    let third = house.answer(next.clone()).await.unwrap();
    let priors: Vec<_> = requested(&house)
        .into_iter()
        .map(|fact| (fact.call, fact.attempt, fact.prior))
        .collect();
    let [one, two, three] = [&first, &second, &third].map(|answer| answer.call.clone());
    assert_eq!(
        priors,
        [
            (one.clone(), 1, None),
            (two.clone(), 1, Some(one.clone())),
            (two, 2, Some(one)),
            (three, 1, None),
        ]
    );
    assert_eq!(recording(&house).takes()[2].request, next.request);
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_out_of_the_prior_too() {
    const KEY: &str = "sk-canary-0123456789abcdef";
    let house =
        house(|setup| setup.redactor = SecretRedactor::of_known_values([&Secret::new(KEY)]));
    let model = Puppet::new(|_, _| says("hello"));
    let mut next = call(&model, &format!("my key is {KEY}"));
    let answer = house.answer(next.clone()).await.unwrap();
    assert_eq!(
        answer.request.messages,
        [ModelMessage::user("my key is [REDACTED]")]
    );
    // The conversation still holds it; what is on record is compared, so the beginning is shared.
    next.prior = Some(answer.prior());
    next.request.messages.push(ModelMessage::user("and now?"));
    house.answer(next.clone()).await.unwrap();
    // Whoever hands in what was never on record has the whole written down.
    next.prior = Some(PriorModelCall {
        print: None,
        call: answer.call.clone(),
        request: Arc::new(next.request.clone()),
    });
    house.answer(next).await.unwrap();
    let facts = requested(&house);
    assert_eq!(facts[1].prior, Some(answer.call));
    assert_eq!(facts[2].prior, None);
    let written: String = facts
        .iter()
        .map(|fact| inline(&fact.request).unwrap())
        .collect();
    assert!(!written.contains("canary"), "{written}");
}
