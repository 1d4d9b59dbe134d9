//! Money: set aside before it is spent, never passed, told once.

use artel_model::{ModelCallError, ModelCallProgress};
use artel_types::model::{CalendarPeriod, ModelSpec, PrivacyLabel, Provider};
use artel_types::{
    BudgetLevel, ConfiguredSpendLimits, EventOutcome, Fact, Failure, Money, SpendLimit, Timestamp,
    Tokens,
};
use futures_util::future::join_all;

use crate::support::*;

fn tokens(tokens: u64) -> Option<SpendLimit> {
    Some(SpendLimit {
        tokens: Some(Tokens(tokens)),
        ..SpendLimit::default()
    })
}

fn money(dollars_millionths: u64, period: Option<CalendarPeriod>) -> Option<SpendLimit> {
    Some(SpendLimit {
        money: Some(Money(dollars_millionths)),
        period,
        ..SpendLimit::default()
    })
}

/// Each call takes 1,000 tokens and is estimated at a little more.
fn costly() -> std::sync::Arc<Puppet> {
    Puppet::new(|_, _| chunks(vec![Ok(start()), Ok(text("x")), Ok(end(900, 100))]))
}

#[tokio::test(start_paused = true)]
async fn fifty_at_once_never_pass_a_limit_and_the_error_names_the_level() {
    type Set = fn(&mut ConfiguredSpendLimits, Option<SpendLimit>);
    let levels: [(&str, Set); 5] = [
        ("global", |limits, limit| limits.global = limit),
        ("provider `anthropic`", |limits, limit| {
            limits.providers.insert("anthropic".into(), limit.unwrap());
        }),
        ("session `08080808", |limits, limit| limits.session = limit),
        ("run `09090909", |limits, limit| limits.run = limit),
        (
            "step `09090909-0909-4909-8909-090909090909/1`",
            |limits, limit| {
                limits.step = limit;
            },
        ),
    ];
    for (name, set) in levels {
        let house = house(|setup| {
            setup.slots = 50;
            set(&mut setup.limits, tokens(20_000));
        });
        let model = costly();
        let mut question = call(&model, &"word ".repeat(540));
        question.request.max_output = Some(100);
        let calls = (0..50).map(|_| house.answer(question.clone()));
        let results = join_all(calls).await;
        let answered = results.iter().filter(|result| result.is_ok()).count();
        // Twenty would fit if estimates were exact; each is at most 10 % high.
        assert!((18..=20).contains(&answered), "{name}: {answered}");
        let charged: u64 = results
            .iter()
            .flatten()
            .map(|answer| answer.charged.tokens.0)
            .sum();
        assert!(charged <= 20_000, "{name}: {charged}");
        assert_eq!(
            model.asked(),
            answered,
            "{name}: what is refused is not sent"
        );
        let refused = results.into_iter().find_map(Result::err).unwrap();
        let failure = Failure::from(refused);
        assert!(failure.what.contains(name), "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_processes_share_one_limit() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let limited = |setup: &mut artel_model::GatewaySetup| {
        setup.slots = 50;
        setup.limits.global = tokens(20_000);
    };
    let one = house_on(&clock, &book, limited);
    let other = house_on(&clock, &book, limited);
    let model = costly();
    let question = call(&model, &"word ".repeat(540));
    let calls = (0..50).map(|number| {
        let house = if number % 2 == 0 { &one } else { &other };
        house.answer(question.clone())
    });
    let answered = join_all(calls)
        .await
        .into_iter()
        .filter(Result::is_ok)
        .count();
    assert!((18..=20).contains(&answered), "{answered}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_grows_beyond_its_budget_is_cut_and_kept() {
    let house = house(|setup| setup.limits.run = tokens(10_000));
    let model = Puppet::new(|_, _| {
        let mut all = vec![Ok(start())];
        all.extend((0..100).map(|_| Ok(text(&"many words ".repeat(100)))));
        all.push(Ok(end(10, 40_000)));
        chunks(all)
    });
    let mut question = call(&model, "tell me everything");
    question.request.max_output = None;
    let error = house.answer(question).await.unwrap_err();
    let ModelCallError::OverBudget { over, partial } = error else {
        panic!("{error:?}");
    };
    assert!(matches!(over.level, BudgetLevel::Run(_)));
    assert!(partial.starts_with("many words "));
    let spent = house.facts(|fact| match fact {
        Fact::BudgetSettled(fact) => Some(fact.amount.tokens.0),
        _ => None,
    });
    assert!(spent[0] > 4_000 && spent[0] <= 10_400, "{spent:?}");
    let outcomes: Vec<_> = house
        .book
        .events()
        .iter()
        .filter_map(|event| event.outcome)
        .collect();
    assert_eq!(outcomes, [EventOutcome::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_counts_anew_when_its_period_does() {
    let house = house(|setup| setup.limits.global = money(1_500, Some(CalendarPeriod::Day)));
    let model = costly();
    let mut question = call(&model, &"word ".repeat(540));
    question.request.max_output = Some(100);
    house.answer(question.clone()).await.unwrap();
    let error = house.answer(question.clone()).await.unwrap_err();
    let failure = Failure::from(error.clone());
    let ModelCallError::OverBudget { over, .. } = error else {
        panic!("{error:?}");
    };
    let midnight: Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
    assert_eq!(over.resets_at, Some(midnight));
    assert!(failure.advice.unwrap().contains("2026-11-16T00:00:00"));
    tokio::time::advance(midnight.since(house.clock.now())).await;
    house.answer(question).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn four_fifths_are_told_once_also_after_a_restart() {
    let clock = clock();
    let book = MemoryBook::new(&clock);
    let limited = |setup: &mut artel_model::GatewaySetup| setup.limits.global = tokens(10_000);
    let mut notices = Vec::new();
    for _ in 0..9 {
        let house = house_on(&clock, &book, limited);
        let mut question = call(&costly(), &"word ".repeat(500));
        question.request.max_output = Some(100);
        let mut calling = house.gateway.call(question);
        while let Some(progress) = calling.next().await {
            if let ModelCallProgress::Notice(text) = progress {
                notices.push(text);
            }
        }
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("10.0k tokens used"), "{notices:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_becomes_expensive_is_spoken_of_once() {
    let house = house(|setup| setup.limits.run_warning = Some(Money(2_500)));
    let model = costly();
    let mut notices = Vec::new();
    for _ in 0..5 {
        let mut calling = house.gateway.call(call(&model, "go on"));
        while let Some(progress) = calling.next().await {
            if let ModelCallProgress::Notice(text) = progress {
                notices.push(text);
            }
        }
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].starts_with("budget of run `09090909"),
        "{notices:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_price_nobody_knows_is_no_hole_in_a_limit() {
    let unpriced = |privacy| {
        let mut question = call(&costly(), "hello");
        question.chosen.card = ModelSpec::default();
        question.privacy = privacy;
        question
    };
    let house = house(|setup| setup.limits.global = money(1_000_000, None));
    let refused = house.answer(unpriced(PrivacyLabel::Any)).await.unwrap_err();
    assert!(
        matches!(refused, ModelCallError::NoPrice { .. }),
        "{refused:?}"
    );
    let mut local = unpriced(PrivacyLabel::Any);
    local.chosen.entry.provider = Provider::Ollama;
    let answer = house.answer(local).await.unwrap();
    assert_eq!(answer.cost, None, "unknown, not nothing");
}

#[tokio::test(start_paused = true)]
async fn what_is_labelled_local_only_does_not_leave() {
    let house = house(|_| {});
    let model = costly();
    let mut question = call(&model, "the recipe");
    question.privacy = PrivacyLabel::LocalOnly;
    let refused = house.answer(question.clone()).await.unwrap_err();
    assert!(matches!(refused, ModelCallError::LocalOnly { .. }));
    assert_eq!(model.asked(), 0);
    let denied: Vec<_> = house
        .book
        .events()
        .iter()
        .map(|event| event.outcome)
        .collect();
    assert_eq!(
        denied,
        [Some(EventOutcome::Denied)],
        "on record, and nothing set aside"
    );
    question.chosen.entry.provider = Provider::Ollama;
    house.answer(question).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_same_step_of_another_run_has_its_own_budget() {
    let house = house(|setup| setup.limits.step = tokens(1_200));
    let model = costly();
    let mut question = call(&model, &"word ".repeat(540));
    question.request.max_output = Some(100);
    house.answer(question.clone()).await.unwrap();
    house.answer(question.clone()).await.unwrap_err();
    question.context.run = Some(artel_types::RunId::from_random([10; 16]));
    house.answer(question).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn growth_that_cannot_be_recorded_ends_the_answer_and_keeps_its_text() {
    let house = house(|_| {});
    let book = house.book.clone();
    let model = Puppet::new(move |_, _| {
        book.fill_disk(1);
        let mut all = vec![Ok(start())];
        all.extend((0..100).map(|_| Ok(text(&"many words ".repeat(100)))));
        all.push(Ok(end(10, 40_000)));
        chunks(all)
    });
    let mut question = call(&model, "tell me everything");
    question.request.max_output = None;
    let error = house.answer(question).await.unwrap_err();
    assert_eq!(Failure::from(error).code, artel_types::FailureCode::J006);
    let kept = house.facts(|fact| match fact {
        Fact::ModelFailed(fact) => Some(format!("{:?}", fact.partial)),
        _ => None,
    });
    assert!(kept[0].contains("many words"), "{kept:?}");
    let kinds = house.book.kinds();
    assert!(kinds.contains(&"budget.settled"), "{kinds:?}");
}
