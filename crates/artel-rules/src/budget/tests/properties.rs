//! Checks sums against an independent count, and properties that hold whatever is ordered.

use proptest::prelude::*;

use super::*;

/// An order to the state machine; refused orders are not recorded.
#[derive(Debug, Clone)]
enum Order {
    Limit(BudgetLevel, u64),
    Reserve(String, Vec<BudgetLevel>, u64),
    Settle(String, u64),
    Release(String),
    EndRun(u8),
    Wait(i64),
}

fn run_id(seed: u8) -> RunId {
    RunId::from_random([seed; 16])
}

fn levels() -> impl Strategy<Value = BudgetLevel> {
    prop_oneof![
        Just(BudgetLevel::Global),
        "[ab]".prop_map(BudgetLevel::Provider),
        "[ab]".prop_map(BudgetLevel::Session),
        (0_u8..2).prop_map(|seed| BudgetLevel::Run(run_id(seed).to_string())),
        (0_u8..2).prop_map(|seed| BudgetLevel::Step(format!("{}/1", run_id(seed)))),
    ]
}

fn amounts() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..1000, 1 => Just(u64::MAX)]
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let named = proptest::collection::vec(levels(), 0..4);
    let order = prop_oneof![
        2 => (levels(), amounts()).prop_map(|(level, limit)| Order::Limit(level, limit)),
        8 => ("[a-f]", named, amounts()).prop_map(|(key, levels, n)| Order::Reserve(key, levels, n)),
        8 => ("[a-f]", amounts()).prop_map(|(key, n)| Order::Settle(key, n)),
        2 => "[a-f]".prop_map(Order::Release),
        1 => (0_u8..2).prop_map(Order::EndRun),
        2 => (-10_i64..20).prop_map(Order::Wait),
    ];
    proptest::collection::vec(order, 0..60)
}

fn limits() -> impl Strategy<Value = ConfiguredSpendLimits> {
    let period = proptest::sample::select(vec![
        CalendarPeriod::Day,
        CalendarPeriod::Week,
        CalendarPeriod::Month,
    ]);
    let limit = (
        proptest::option::of(0_u64..3000),
        proptest::option::of(0_u64..3000),
        proptest::option::of(period),
    );
    let limit = proptest::option::of(limit.prop_map(|(tokens, money, period)| SpendLimit {
        tokens: tokens.map(Tokens),
        money: money.map(Money),
        period,
    }));
    let warning = proptest::option::of(0_u64..3000);
    (limit.clone(), limit.clone(), limit.clone(), limit, warning).prop_map(
        |(global, session, run, step, warning)| ConfiguredSpendLimits {
            global,
            session,
            run,
            step,
            run_warning: warning.map(Money),
            ..ConfiguredSpendLimits::default()
        },
    )
}

/// Returns the facts that an order leads to.
fn decide(desk: &Desk, order: &Order) -> Vec<Fact> {
    let both = |n: u64| SpendAmount::new(n, n);
    let (ledger, limits, now) = (&desk.ledger, &desk.limits, desk.now());
    let is_open = |key: &str| ledger.reservation(key).is_some();
    let warned = |warnings: Vec<BudgetWarned>| warnings.into_iter().map(Fact::from);
    match order {
        Order::Limit(level, n) => vec![limited(level.clone(), both(*n)).into()],
        Order::Reserve(key, levels, n) if !is_open(key) => {
            let granted = reserve(ledger, limits, key, levels, both(*n), now);
            granted.map_or(vec![], |granted| {
                let first = Fact::from(granted.reserved);
                [first]
                    .into_iter()
                    .chain(warned(granted.warnings))
                    .collect()
            })
        }
        Order::Settle(key, n) => {
            let settlement = settle(ledger, limits, key, both(*n), now);
            settlement.map_or(vec![], |settlement| {
                let first = Fact::from(settlement.settled);
                [first]
                    .into_iter()
                    .chain(warned(settlement.warnings))
                    .collect()
            })
        }
        Order::Release(key) if is_open(key) => vec![released(key).into()],
        Order::EndRun(seed) => {
            let (id, summary) = (run_id(*seed), String::new());
            vec![RunFinished::new(id, summary).into()]
        }
        _ => vec![],
    }
}

fn play(orders: &[Order], limits: ConfiguredSpendLimits) -> Desk {
    let mut desk = Desk::new(limits, "2026-11-15T12:00:00Z");
    for order in orders {
        if let Order::Wait(days) = order {
            let micros = desk.now().as_micros() + days * 86_400_000_000;
            desk.now = Some(Timestamp::from_micros(micros));
        }
        for fact in decide(&desk, order) {
            desk.record(fact);
        }
    }
    desk
}

/// Returns what a level has used in a period, counted from the events alone. Each
/// reservation counts by how it ended, on its own day, and from the end of the level's
/// last run onwards.
fn counted(desk: &Desk, level: &BudgetLevel, period: Option<CalendarPeriod>) -> SpendAmount {
    let is_end = |event: &Event| match (&event.fact, level) {
        (Fact::RunFinished(fact), BudgetLevel::Run(id) | BudgetLevel::Step(id)) => {
            id.starts_with(&fact.id.to_string())
        }
        _ => false,
    };
    let begin = desk.events.iter().rposition(is_end).map_or(0, |at| at + 1);
    let events = &desk.events[begin..];
    let days = period.map(|period| days(period, desk.now()));
    let mut used = SpendSum::default();
    for (at, event) in events.iter().enumerate() {
        let Fact::BudgetReserved(fact) = &event.fact else {
            continue;
        };
        let is_in = days
            .as_ref()
            .is_none_or(|days| days.contains(&day_of(event.at)));
        if !is_in || !(fact.levels.contains(level)) {
            continue;
        }
        // If a reservation stays open long enough to be written off, its key may come
        // again.
        let ending = events[at + 1..].iter().find_map(|event| match &event.fact {
            Fact::BudgetSettled(ending) if ending.key == fact.key => Some(ending.amount),
            Fact::BudgetReleased(ending) if ending.key == fact.key => Some(SpendAmount::default()),
            Fact::BudgetReserved(again) if again.key == fact.key => Some(fact.amount),
            _ => None,
        });
        used += ending.unwrap_or(fact.amount).into();
    }
    used.amount()
}

fn all_levels() -> Vec<BudgetLevel> {
    let named = ["a", "b"].map(str::to_owned).into_iter();
    let named = named.flat_map(|id| [BudgetLevel::Provider(id.clone()), BudgetLevel::Session(id)]);
    let runs = [0, 1].map(|seed| run_id(seed).to_string()).into_iter();
    let runs = runs.flat_map(|id| [BudgetLevel::Step(format!("{id}/1")), BudgetLevel::Run(id)]);
    [BudgetLevel::Global]
        .into_iter()
        .chain(named)
        .chain(runs)
        .collect()
}

proptest! {
    #[test]
    fn sums_equal_those_of_the_events(orders in orders(), limits in limits()) {
        let desk = play(&orders, limits);
        for level in all_levels() {
            for period in [None, Some(CalendarPeriod::Day), Some(CalendarPeriod::Week), Some(CalendarPeriod::Month)] {
                let spent = desk.ledger.spent(&level, period, desk.now());
                prop_assert_eq!(spent, counted(&desk, &level, period), "{} {:?}", level, period);
            }
        }
    }

    #[test]
    fn folding_again_gives_the_same(orders in orders(), limits in limits(), cut in 0_usize..60) {
        let desk = play(&orders, limits);
        let mut again = BudgetLedger::default();
        for (at, event) in desk.events.iter().enumerate() {
            again.fold(event);
            let once = again.clone();
            again.fold(event);
            prop_assert_eq!(&again, &once, "an event that comes twice changes nothing");
            if at == cut {
                let written = serde_json::to_string(&again).unwrap();
                again = serde_json::from_str(&written).unwrap();
            }
        }
        prop_assert_eq!(again, desk.ledger);
    }

    #[test]
    fn what_is_granted_fits_every_limit(orders in orders(), limits in limits()) {
        let mut desk = Desk::new(limits, "2026-11-15T12:00:00Z");
        for order in &orders {
            for fact in decide(&desk, order) {
                desk.record(fact.clone());
                let Fact::BudgetReserved(reserved) = fact else { continue };
                for level in &reserved.levels {
                    for bound in bounds(&desk.ledger, &desk.limits, level) {
                        let used = desk.ledger.spent(level, bound.period, desk.now());
                        let (amount, limit) = (reserved.amount, bound.limit);
                        prop_assert!(amount.tokens.0 == 0 || used.tokens <= limit.tokens);
                        prop_assert!(amount.money.0 == 0 || used.money <= limit.money);
                    }
                }
            }
        }
    }

    #[test]
    fn a_warning_is_given_once_and_deserved(orders in orders(), limits in limits()) {
        let desk = play(&orders, limits);
        let has_ended = desk.events.iter().any(|event| matches!(event.fact, Fact::RunFinished(_)));
        let mut seen = Vec::new();
        for event in &desk.events {
            let Fact::BudgetWarned(warning) = &event.fact else { continue };
            let (used, limit) = (warning.used, warning.limit);
            let is_near = |used: u64, limit: u64| {
                limit != UNLIMITED && u128::from(used) * 5 >= u128::from(limit) * 4
            };
            prop_assert!(is_near(used.tokens.0, limit.tokens.0) || is_near(used.money.0, limit.money.0));
            let name = (warning.level.clone(), warning.since, limit);
            // If the clock goes back, or a run ends and continues, the warning may be
            // given again.
            let is_lasting = warning.since.is_none() && !has_ended;
            prop_assert!(!is_lasting || !seen.contains(&name), "{:?}", name);
            seen.push(name);
        }
    }

    #[test]
    fn fifty_calls_at_once_pass_a_limit_by_their_errors_at_most(
        calls in proptest::collection::vec((1_u64..200, 0_u64..300), 50),
        order in Just((0..100).collect::<Vec<usize>>()).prop_shuffle(),
        limit in 0_u64..5000,
    ) {
        let limits = ConfiguredSpendLimits { session: Some(tokens(limit, Some(CalendarPeriod::Day))), ..ConfiguredSpendLimits::default() };
        let mut desk = Desk::new(limits, "2026-11-15");
        let mut error = 0;
        // Each call comes up twice: the first time it is reserved, the second time it is
        // paid.
        let mut is_begun = [false; 50];
        for at in order.into_iter().map(|at| at % 50) {
            let (key, (estimate, paid)) = (at.to_string(), calls[at]);
            if !is_begun[at] {
                is_begun[at] = true;
                desk.reserve(&key, &[session()], estimate);
            } else if desk.settle(&key, paid) != "unknown" {
                error += paid.saturating_sub(estimate);
            }
            prop_assert!(desk.spent(&session(), Some(CalendarPeriod::Day)) <= limit + error);
        }
        prop_assert_eq!(desk.ledger.open_reservations(), 0);
    }
}
