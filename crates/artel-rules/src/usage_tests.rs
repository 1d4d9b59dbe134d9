//! Tests that rows add up to totals, whatever they are grouped by.

use artel_types::model::{ModelCallPriority, PrivacyLabel, ReplyStopReason};
use artel_types::{
    Actor, EventVisibility, RecordedText, RunId, SessionId, StreamName, Timestamp, TraceId,
};
use proptest::prelude::*;

use super::*;

/// One attempt in a few numbers.
#[derive(Debug, Clone)]
struct Attempt {
    provider: usize,
    role: usize,
    run: u8,
    ending: u8,
    input: u64,
    output: u64,
    price: Option<u64>,
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let attempt = (
        0..3_usize,
        0..3_usize,
        0..3_u8,
        0..5_u8,
        0..10_000_u64,
        0..10_000_u64,
        proptest::option::of(1..50_u64),
    );
    let attempt = attempt.prop_map(
        |(provider, role, run, ending, input, output, price)| Attempt {
            provider,
            role,
            run,
            ending,
            input,
            output,
            price,
        },
    );
    proptest::collection::vec(attempt, 0..60)
}

fn event(attempt: &Attempt, fact: Fact, outcome: Option<EventOutcome>) -> Event {
    Event {
        seq: 1,
        stream: StreamName::workshop(),
        stream_seq: 1,
        at: Timestamp::from_micros(0),
        trace: TraceId::from_random([1; 16]),
        session: None,
        run: (attempt.run > 0).then(|| RunId::from_random([attempt.run; 16])),
        cause: None,
        actor: Actor::system("test"),
        target: None,
        outcome,
        visibility: EventVisibility::Full,
        fact,
    }
}

/// Returns the events of one attempt with this number.
fn events(number: usize, attempt: &Attempt) -> Vec<Event> {
    let provider = Provider::ALL[attempt.provider];
    let account = ModelCallAttribution {
        role: (attempt.role > 0).then(|| format!("role{}", attempt.role)),
        ..ModelCallAttribution::default()
    };
    let (call, model) = (format!("call{number}"), format!("m{}", attempt.provider));
    let tokens = attempt.input + attempt.output;
    let money = attempt.price.map(|price| tokens * price);
    let charged = SpendAmount::new(tokens, money.unwrap_or(0));
    let requested = ModelRequested {
        call: call.clone(),
        attempt: 1,
        wanted: "default".into(),
        resolved: "as named".into(),
        provider,
        model: model.clone(),
        priority: ModelCallPriority::User,
        privacy: PrivacyLabel::Any,
        account: account.clone(),
        estimate: charged,
        request: RecordedText::from("{}"),
        fingerprint: String::new(),
        prior: None,
    };
    let failed = ModelFailed {
        call: call.clone(),
        attempt: 1,
        provider,
        model: model.clone(),
        account: account.clone(),
        fault: None,
        class: None,
        status: None,
        message: "broke off".into(),
        request_id: None,
        charged,
        cost: money.map(Money),
        retry_at: None,
        partial: None,
    };
    let replied = ModelReplied {
        call,
        attempt: 1,
        provider,
        model,
        account,
        stop: ReplyStopReason::End,
        usage: (attempt.ending == 0).then_some(TokenUsage {
            input: attempt.input,
            output: attempt.output,
            ..TokenUsage::default()
        }),
        charged,
        cost: money.map(Money),
        first_ms: 1,
        total_ms: 2,
        reply: RecordedText::from("{}"),
    };
    let begun = event(attempt, requested.into(), None);
    let (fact, outcome): (Fact, _) = match attempt.ending {
        0 | 1 => (replied.into(), EventOutcome::Done),
        2 => (failed.into(), EventOutcome::Failed),
        3 => (failed.into(), EventOutcome::Cancelled),
        _ => return vec![begun],
    };
    vec![begun, event(attempt, fact, Some(outcome))]
}

fn report(
    attempts: &[Attempt],
    by: &[UsageDimension],
    filter: &[(UsageDimension, String)],
) -> (Vec<UsageGroupRow>, UsageTotals) {
    let mut tally = UsageAggregator::new(by.to_vec(), filter.to_vec());
    for (number, attempt) in attempts.iter().enumerate() {
        events(number, attempt)
            .iter()
            .for_each(|event| tally.fold(event));
    }
    tally.report()
}

proptest! {
    #[test]
    fn every_grouping_adds_up_to_the_same_total(attempts in attempts()) {
        let (_, total) = report(&attempts, &[], &[]);
        prop_assert_eq!(total.attempts, attempts.len() as u64);
        let tokens: u64 = attempts.iter().map(|one| one.input + one.output).sum();
        prop_assert_eq!(total.tokens, tokens);
        prop_assert_eq!(total.input + total.output + total.estimated, tokens);
        let cost: u64 = attempts
            .iter()
            .map(|one| (one.input + one.output) * one.price.unwrap_or(0))
            .sum();
        prop_assert_eq!(total.cost, Money(cost));
        for by in UsageDimension::ALL {
            let (rows, same) = report(&attempts, &[by], &[]);
            prop_assert_eq!(&same, &total);
            let mut sum = UsageTotals::default();
            rows.iter().for_each(|row| sum.add(&row.sum));
            prop_assert_eq!(&sum, &total);
        }
        let (_, both) = report(&attempts, &[UsageDimension::Provider, UsageDimension::Role], &[]);
        prop_assert_eq!(both, total);
    }

    #[test]
    fn filters_part_the_total(attempts in attempts()) {
        let (rows, total) = report(&attempts, &[UsageDimension::Provider], &[]);
        let mut sum = UsageTotals::default();
        for row in rows {
            let name = row.group[0].clone().unwrap();
            let (_, part) = report(&attempts, &[UsageDimension::Role], &[(UsageDimension::Model, model_of(&name))]);
            prop_assert_eq!(&part, &row.sum);
            sum.add(&part);
        }
        prop_assert_eq!(sum, total);
    }
}

fn model_of(provider: &str) -> String {
    let at = Provider::ALL
        .iter()
        .position(|one| one.as_str() == provider);
    format!("m{}", at.unwrap())
}

#[test]
fn what_is_not_known_is_not_shown_as_nothing() {
    let attempt = answered();
    let (rows, total) = report(std::slice::from_ref(&attempt), &[UsageDimension::Role], &[]);
    assert_eq!((total.cost, total.unpriced), (Money(0), 1));
    assert_eq!(rows[0].group, [None]);
    let dead = Attempt {
        ending: 4,
        ..attempt
    };
    let (_, total) = report(&[dead], &[], &[]);
    assert_eq!((total.unknown, total.estimated, total.unpriced), (1, 15, 1));
}

#[test]
fn ids_are_named_by_their_beginning_and_everything_else_in_full() {
    let id = RunId::from_random([1; 16]).to_string();
    let (some, other) = (&id[..6], "no-such-id".to_owned());
    for (by, wanted, attempts) in [
        (UsageDimension::Provider, "openai", 1),
        (UsageDimension::Provider, "openai-chat", 1),
        (UsageDimension::Provider, "open", 0),
        (UsageDimension::Model, "m1", 1),
        (UsageDimension::Model, "m", 0),
        (UsageDimension::Role, "role1", 2),
        (UsageDimension::Role, "role", 0),
        (UsageDimension::Run, some, 2),
        (UsageDimension::Run, &id, 2),
        (UsageDimension::Run, &other, 0),
        (UsageDimension::Session, some, 2),
        (UsageDimension::Session, &id, 2),
        (UsageDimension::Session, &other, 0),
        (UsageDimension::Step, "s1", 2),
        (UsageDimension::Step, "s", 0),
        (UsageDimension::Skill, "sort", 2),
        (UsageDimension::Skill, "so", 0),
        (UsageDimension::Portal, "home", 2),
        (UsageDimension::Portal, "ho", 0),
        (UsageDimension::Person, "ada", 2),
        (UsageDimension::Person, "ad", 0),
    ] {
        let mut tally = UsageAggregator::new(vec![], vec![(by, wanted.to_owned())]);
        for provider in [1, 2] {
            let attempt = Attempt {
                provider,
                role: 1,
                run: 1,
                ..answered()
            };
            for event in events(provider, &attempt) {
                tally.fold(&named(event));
            }
        }
        let (_, total) = tally.report();
        assert_eq!(total.attempts, attempts, "{by:?} {wanted}");
    }
}

fn answered() -> Attempt {
    Attempt {
        provider: 0,
        role: 0,
        run: 0,
        ending: 0,
        input: 10,
        output: 5,
        price: None,
    }
}

/// Gives an event every name that an attempt can have.
fn named(mut event: Event) -> Event {
    event.session = Some(SessionId::from_random([1; 16]));
    let account = match &mut event.fact {
        Fact::ModelRequested(fact) => &mut fact.account,
        Fact::ModelReplied(fact) => &mut fact.account,
        _ => return event,
    };
    account.step = Some("s1".into());
    account.skill = Some("sort".into());
    account.portal = Some("home".into());
    account.person = Some("ada".into());
    event
}
