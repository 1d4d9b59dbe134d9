//! What is on record: every attempt, what it took, and no secret.

use std::sync::Arc;
use std::time::Duration;

use artel_model::{ModelCallError, ModelCallProgress, fingerprint};
use artel_types::model::{
    MessagePart, ModelFaultKind, ModelMessage, ModelRequest, ReplyChunk, ReplyStopReason,
    TokenUsage, ToolSpec,
};
use artel_types::{Fact, Failure, FailureCode, Money, Secret, SecretRedactor};
use futures_util::FutureExt as _;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn the_intent_is_on_record_before_the_model_is_asked() {
    let house = house(|_| {});
    let book = house.book.clone();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (log, watched) = (seen.clone(), book.clone());
    let model = Puppet::new(move |_, _| {
        log.lock().unwrap().extend(watched.kinds());
        says("hello")
    });
    house.answer(call(&model, "hi")).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        ["budget.reserved", "model.requested"]
    );
    assert_eq!(
        house.book.kinds(),
        [
            "budget.reserved",
            "model.requested",
            "model.replied",
            "budget.settled"
        ]
    );
}

/// What a question follows from is durable before it is put, and it is not put where that failed.
#[tokio::test(start_paused = true)]
async fn a_question_waits_for_what_it_follows_from() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| says("hello"));
    let (written, owed) = tokio::sync::oneshot::channel();
    let owed = async move { owed.await.unwrap() };
    let mut calling = house
        .gateway
        .call_after(call(&model, "hi"), owed.boxed().shared());
    let early = tokio::time::timeout(Duration::from_secs(60), calling.next()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(model.asked(), 0);
    assert_eq!(house.book.kinds(), ["budget.reserved", "model.requested"]);
    written.send(Ok(())).unwrap();
    assert_eq!(calling.answer().await.unwrap().reply.text(), "hello");

    let lost = Failure::new(FailureCode::J006, "the disk is full");
    let owed = std::future::ready(Err(lost.clone())).boxed().shared();
    let calling = house.gateway.call_after(call(&model, "hi"), owed);
    assert_eq!(calling.answer().await, Err(ModelCallError::Record(lost)));
    assert_eq!(model.asked(), 1);
    let expected = [
        "budget.reserved",
        "model.requested",
        "model.failed",
        "budget.released",
    ];
    assert_eq!(house.book.kinds()[4..], expected);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_attributed_and_sums_are_exact() {
    let house = house(|setup| setup.thresholds.consecutive = 100);
    let usage = TokenUsage {
        input: 1_000,
        cache_read: 400,
        cache_write: 0,
        output: 50,
        thinking: 9,
    };
    let model = Puppet::new(move |before, _| match before {
        0 => chunks(vec![
            Ok(start()),
            Ok(text("hal")),
            Err(fault(ModelFaultKind::Cut)),
        ]),
        1 => faulty(fault(ModelFaultKind::Network)),
        _ => chunks(vec![
            Ok(start()),
            Ok(text("hello")),
            Ok(ReplyChunk::End {
                stop: ReplyStopReason::End,
                usage: Some(usage),
            }),
        ]),
    });
    let answer = house.answer(call(&model, "hi")).await.unwrap();
    assert_eq!(answer.charged.tokens.0, 1_050);
    assert_eq!(answer.cost, Some(Money(1_050)));
    let by = vec![artel_rules::usage::UsageDimension::Role];
    let mut tally = artel_rules::usage::UsageAggregator::new(by, Vec::new());
    house
        .book
        .events()
        .iter()
        .for_each(|event| tally.fold(event));
    let (rows, total) = tally.report();
    assert_eq!(rows[0].group, [Some("engineer".to_owned())]);
    assert_eq!(
        (total.attempts, total.answered, total.failed, total.unknown),
        (3, 1, 2, 0)
    );
    assert_eq!(
        (total.input, total.cache_read, total.output),
        (1_000, 400, 50)
    );
    assert!(
        total.estimated > 0,
        "the broken answer was begun, so it is charged"
    );
    let settled: u64 = house
        .facts(|fact| match fact {
            Fact::BudgetSettled(fact) => Some(fact.amount.tokens.0),
            _ => None,
        })
        .iter()
        .sum();
    assert_eq!(
        settled, total.tokens,
        "the budget and the report say the same"
    );
}

#[tokio::test(start_paused = true)]
async fn a_secret_reaches_neither_the_model_nor_the_reader_nor_the_record() {
    const KEY: &str = "sk-canary-0123456789abcdef";
    let house =
        house(|setup| setup.redactor = SecretRedactor::of_known_values([&Secret::new(KEY)]));
    let sent = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let log = sent.clone();
    let model = Puppet::new(move |before, request| {
        *log.lock().unwrap() = serde_json::to_string(request).unwrap();
        match before {
            0 => faulty(artel_types::model::ModelFault::new(
                ModelFaultKind::Network,
                format!("the proxy said {KEY}"),
            )),
            _ => chunks(vec![
                Ok(start()),
                Ok(text("it is sk-cana")),
                Ok(text("ry-0123456789abcdef, I think")),
                Ok(end(10, 5)),
            ]),
        }
    });
    let mut question = call(&model, &format!("my key is {KEY}"));
    question.request.tools.push(Arc::new(ToolSpec {
        name: "read".into(),
        description: format!("uses {KEY}"),
        schema: serde_json::json!({"type": "object"}),
    }));
    let mut shown = String::new();
    let mut calling = house.gateway.call(question);
    while let Some(progress) = calling.next().await {
        shown.push_str(&format!("{progress:?}"));
        if let ModelCallProgress::Done(answer) = progress {
            assert_eq!(answer.reply.text(), "it is [REDACTED], I think");
        }
    }
    let recorded: String = house
        .book
        .events()
        .iter()
        .map(|event| event.fact.encode().unwrap())
        .collect();
    for (place, text) in [
        ("reader", &shown),
        ("record", &recorded),
        ("model", &sent.lock().unwrap()),
    ] {
        assert!(!text.contains("canary"), "{place}: {text}");
        assert!(text.contains("[REDACTED]"), "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn malformed_arguments_are_for_the_model_to_mend() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| {
        let (index, id, name) = (0, "c1".to_owned(), "read".to_owned());
        let arguments = "{\"path\": ".to_owned();
        chunks(vec![
            Ok(start()),
            Ok(ReplyChunk::ToolStart { index, id, name }),
            Ok(ReplyChunk::ToolDelta { index, arguments }),
            Ok(ReplyChunk::ToolEnd { index, seal: None }),
            Ok(ReplyChunk::End {
                stop: ReplyStopReason::ToolUse,
                usage: None,
            }),
        ])
    });
    let answer = house.answer(call(&model, "hi")).await.unwrap();
    let observed = answer
        .reply
        .tool_calls()
        .next()
        .unwrap()
        .input()
        .unwrap_err();
    assert!(observed.to_string().contains("not a JSON object"));
    assert!(
        answer.charged.tokens.0 > 0,
        "nobody counted, so it is estimated"
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_holds_the_whole_conversation() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| says("hello"));
    let question = call(&model, "hi");
    let request = question.request.clone();
    let answer = house.answer(question).await.unwrap();
    let stored = house.facts(|fact| match fact {
        Fact::ModelRequested(fact) => Some((fact.request.clone(), fact.fingerprint.clone())),
        _ => None,
    });
    let artel_types::RecordedText::Inline(text) = &stored[0].0 else {
        panic!("small enough to stand in the event");
    };
    let back: ModelRequest = serde_json::from_str(text).unwrap();
    assert_eq!((&back, &stored[0].1), (&request, &fingerprint(&request)));
    assert_eq!(back.messages, [ModelMessage::user("hi")]);
    assert_eq!(answer.reply.parts, [MessagePart::text("hello")]);
}

#[tokio::test(start_paused = true)]
async fn a_paid_answer_is_not_lost_to_a_full_disk() {
    let house = house(|_| {});
    let book = house.book.clone();
    let model = Puppet::new(move |_, _| {
        book.fill_disk(3);
        says("worth its money")
    });
    let mut calling = house.gateway.call(call(&model, "hi"));
    let (mut notices, mut reply) = (Vec::new(), None);
    while let Some(progress) = calling.next().await {
        match progress {
            ModelCallProgress::Notice(text) => notices.push(text),
            ModelCallProgress::Done(answer) => reply = Some(answer.reply.text()),
            _ => {}
        }
    }
    assert_eq!(reply.as_deref(), Some("worth its money"));
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert_eq!(model.asked(), 1, "it was not asked for again");
    // A question is not worth waiting: nothing was paid for it yet.
    house.book.fill_disk(1);
    let error = house.answer(call(&model, "hi")).await.unwrap_err();
    assert_eq!(
        artel_types::Failure::from(error).code,
        artel_types::FailureCode::J006
    );
    assert_eq!(model.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn absurd_counts_are_not_believed() {
    let house = house(|_| {});
    let model = Puppet::new(|_, _| {
        let most = u64::MAX;
        chunks(vec![Ok(start()), Ok(text("hello")), Ok(end(most, most))])
    });
    for _ in 0..3 {
        let answer = house.answer(call(&model, "hi")).await.unwrap();
        assert!(answer.charged.tokens.0 < 1_000, "{:?}", answer.charged);
    }
    let mut tally = artel_rules::usage::UsageAggregator::new(Vec::new(), Vec::new());
    house
        .book
        .events()
        .iter()
        .for_each(|event| tally.fold(event));
    assert!(tally.report().1.tokens < 3_000);
}
