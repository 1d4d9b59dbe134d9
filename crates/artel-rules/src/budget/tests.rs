//! The budget machine: its table, its limits, and its sums against an independent count.

use artel_types::{BudgetLimited, Fact};
use proptest::prelude::*;

use super::*;

fn session() -> Level {
    Level::Session("s".to_owned())
}

fn limited(level: Level, tokens: u64, money: u64) -> Fact {
    BudgetLimited {
        level,
        limit: Amount::new(tokens, money),
    }
    .into()
}

fn reserved(key: &str, levels: &[Level], tokens: u64) -> Fact {
    let (key, levels) = (key.to_owned(), levels.to_vec());
    BudgetReserved {
        key,
        levels,
        amount: Amount::new(tokens, tokens * 10),
    }
    .into()
}

fn settled(key: &str, tokens: u64) -> Fact {
    BudgetSettled {
        key: key.to_owned(),
        amount: Amount::new(tokens, tokens * 10),
    }
    .into()
}

fn released(key: &str) -> Fact {
    BudgetReleased {
        key: key.to_owned(),
    }
    .into()
}

fn fold(facts: &[Fact]) -> Result<Budget, Refused> {
    facts
        .iter()
        .filter_map(Entry::of)
        .try_fold(Budget::default(), evolve)
}

#[test]
fn the_table_of_pairs() {
    let reservation = reserved("k", &[session()], 5);
    let histories = [
        vec![],
        vec![reservation.clone()],
        vec![reservation.clone(), settled("k", 7)],
        vec![reservation.clone(), released("k")],
    ];
    let facts = [
        limited(session(), 9, 9),
        reservation,
        settled("k", 7),
        released("k"),
    ];
    let mut table = format!("{:10}", "");
    for fact in &facts {
        table.push_str(&format!("{:17}", fact.kind()));
    }
    for history in histories {
        let before = fold(&history).unwrap();
        table.push_str(&format!("\n{:10}", before.standing("k").to_string()));
        for fact in &facts {
            let after = evolve(before.clone(), Entry::of(fact).unwrap());
            let after = after.map_or("refused".to_owned(), |after| {
                after.standing("k").to_string()
            });
            table.push_str(&format!("{after:17}"));
        }
    }
    let table: Vec<_> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
              budget.limited   budget.reserved  budget.settled   budget.released
    unknown   unknown          open             refused          refused
    open      open             refused          settled          released
    settled   settled          refused          refused          refused
    released  released         refused          refused          refused
    ");
}

#[test]
fn every_budget_fact_is_an_entry() {
    let kinds = Fact::PAGES.iter().map(|page| page.kind);
    let kinds: Vec<_> = kinds.filter(|kind| kind.starts_with("budget.")).collect();
    let known = [
        limited(session(), 0, 0),
        reserved("", &[], 0),
        settled("", 0),
        released(""),
    ];
    let known = known.map(|fact| Entry::of(&fact).unwrap().kind());
    assert_eq!(kinds, known);
    let other = Fact::from(artel_types::NoteAdded { text: "x".into() });
    assert_eq!(Entry::of(&other), None);
}

#[track_caller]
fn check_reserve(facts: &[Fact], tokens: u64, money: u64, expected: Result<(), &str>) {
    let levels = [session(), Level::Run("r".to_owned())];
    let budget = fold(facts).unwrap();
    let found = reserve(&budget, "new", levels, Amount::new(tokens, money));
    let found = found.map(|_| ()).map_err(|refused| refused.to_string());
    assert_eq!(found, expected.map_err(str::to_owned));
}

#[test]
fn a_call_must_fit_every_level() {
    check_reserve(&[], u64::MAX, u64::MAX, Ok(()));
    let session_limit = [limited(session(), 100, UNLIMITED)];
    check_reserve(&session_limit, 100, u64::MAX, Ok(()));
    check_reserve(
        &session_limit,
        101,
        0,
        Err(
            "the session `s` budget of 100 tokens has 0 tokens in use, and 101 tokens more do not fit",
        ),
    );
    let money = [limited(Level::Global, UNLIMITED, 2_000_000)];
    check_reserve(&money, u64::MAX, 2_000_000, Ok(()));
    check_reserve(
        &money,
        1,
        2_500_000,
        Err("the global budget of $2.00 has $0.00 in use, and $2.50 more do not fit"),
    );
    let other = [limited(Level::Run("other".to_owned()), 0, 0)];
    check_reserve(&other, 5, 5, Ok(()));
    let nothing = [limited(session(), 0, UNLIMITED)];
    check_reserve(&nothing, 0, 5, Ok(()));
    assert!(
        reserve(
            &fold(&nothing).unwrap(),
            "k",
            [session()],
            Amount::new(1, 0)
        )
        .is_err()
    );
}

#[test]
fn what_is_set_aside_and_what_is_spent_both_count() {
    let levels = [session(), Level::Global];
    let mut facts = vec![
        limited(session(), 100, UNLIMITED),
        reserved("a", &levels, 40),
        reserved("b", &levels, 40),
    ];
    check_reserve(&facts, 20, 0, Ok(()));
    let over = |used: u64, wanted: u64| {
        format!(
            "the session `s` budget of 100 tokens has {used} tokens in use, and {wanted} tokens more do not fit"
        )
    };
    check_reserve(&facts, 21, 0, Err(&over(80, 21)));
    facts.push(settled("a", 10));
    check_reserve(&facts, 50, 0, Ok(()));
    check_reserve(&facts, 51, 0, Err(&over(50, 51)));
    facts.push(released("b"));
    check_reserve(&facts, 90, 0, Ok(()));
    facts.push(reserved("c", &levels, 1));
    facts.push(settled("c", 200));
    check_reserve(&facts, 0, 0, Err(&over(210, 0)));
    facts.push(limited(session(), 210, UNLIMITED));
    check_reserve(&facts, 0, 0, Ok(()));
}

#[test]
fn a_used_key_is_refused_by_deciding_too() {
    let budget = fold(&[reserved("k", &[], 1), reserved("j", &[], 1), released("j")]).unwrap();
    let amount = Amount::default();
    assert_eq!(
        reserve(&budget, "k", [], amount).unwrap_err().to_string(),
        "`budget.reserved` does not fit the reservation `k`, which is open"
    );
    assert_eq!(
        settle(&budget, "j", amount).unwrap_err().to_string(),
        "`budget.settled` does not fit the reservation `j`, which is released"
    );
    assert_eq!(
        release(&budget, "new").unwrap_err().standing,
        Standing::Unknown
    );
    assert!(settle(&budget, "k", amount).is_ok() && release(&budget, "k").is_ok());
    assert_eq!(budget.open_keys().collect::<Vec<_>>(), ["k"]);
}

#[test]
fn every_reservation_counts_globally_and_once_per_level() {
    let fact = reserve(
        &Budget::default(),
        "k",
        [session(), session()],
        Amount::new(5, 50),
    )
    .unwrap();
    assert_eq!(fact.levels, [Level::Global, session()]);
    let twice = fold(&[reserved("k", &[session(), session()], 5), settled("k", 6)]).unwrap();
    assert_eq!(twice.spent(&session()), Amount::new(6, 60));
}

/// An order to the machine; what it refuses is not recorded.
#[derive(Debug, Clone)]
enum Order {
    Limit(Level, u64),
    Reserve(String, Vec<Level>, u64),
    Settle(String, u64),
    Release(String),
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let level = prop_oneof![
        Just(Level::Global),
        "[ab]".prop_map(Level::Provider),
        "[ab]".prop_map(Level::Session),
        "[ab]".prop_map(Level::Run),
        "[ab]".prop_map(Level::Step),
    ];
    let amount = prop_oneof![0_u64..1000, Just(u64::MAX)];
    let levels = proptest::collection::vec(level.clone(), 0..4);
    let order = prop_oneof![
        (level, amount.clone()).prop_map(|(level, limit)| Order::Limit(level, limit)),
        ("[a-f]", levels, amount.clone())
            .prop_map(|(key, levels, n)| Order::Reserve(key, levels, n)),
        ("[a-f]", amount).prop_map(|(key, n)| Order::Settle(key, n)),
        "[a-f]".prop_map(Order::Release),
    ];
    proptest::collection::vec(order, 0..40)
}

fn decide(budget: &Budget, order: Order) -> Option<Fact> {
    let both = |n| Amount::new(n, n);
    match order {
        Order::Limit(level, n) => Some(
            BudgetLimited {
                level,
                limit: both(n),
            }
            .into(),
        ),
        Order::Reserve(key, levels, n) => {
            reserve(budget, &key, levels, both(n)).ok().map(Fact::from)
        }
        Order::Settle(key, n) => settle(budget, &key, both(n)).ok().map(Fact::from),
        Order::Release(key) => release(budget, &key).ok().map(Fact::from),
    }
}

/// Returns what is spent and set aside on a level, counted from the facts alone: each reservation
/// counts with what it ended in.
fn counted(facts: &[Fact], level: &Level) -> Amount {
    let ending = |key: &str| {
        facts.iter().find_map(|fact| match fact {
            Fact::BudgetSettled(fact) if fact.key == key => Some(fact.amount),
            Fact::BudgetReleased(fact) if fact.key == key => Some(Amount::default()),
            _ => None,
        })
    };
    facts
        .iter()
        .fold(Amount::default(), |sum, fact| match fact {
            Fact::BudgetReserved(fact) if fact.levels.contains(level) => {
                sum + ending(&fact.key).unwrap_or(fact.amount)
            }
            _ => sum,
        })
}

proptest! {
    #[test]
    fn sums_equal_those_of_the_facts(orders in orders()) {
        let mut budget = Budget::default();
        let mut facts = Vec::new();
        for order in orders {
            let is_reserving = matches!(order, Order::Reserve(..));
            let Some(fact) = decide(&budget, order) else { continue };
            budget = evolve(budget, Entry::of(&fact).unwrap()).unwrap();
            facts.push(fact);
            let levels = [Level::Global].into_iter().chain(["a", "b"].into_iter().flat_map(|id| {
                let id = id.to_owned();
                [Level::Provider(id.clone()), Level::Session(id.clone()), Level::Run(id.clone()), Level::Step(id)]
            }));
            for level in levels {
                let used = budget.spent(&level) + budget.reserved(&level);
                prop_assert_eq!(used, counted(&facts, &level));
                let touches = matches!(facts.last(), Some(Fact::BudgetReserved(fact)) if fact.levels.contains(&level));
                if let Some(limit) = budget.limit(&level).filter(|_| is_reserving && touches) {
                    prop_assert!(used.tokens <= limit.tokens && used.money <= limit.money);
                }
            }
        }
        prop_assert_eq!(fold(&facts), Ok(budget), "folding the facts again gives the same state");
    }

    #[test]
    fn a_repeated_fact_is_refused(orders in orders()) {
        let mut budget = Budget::default();
        for order in orders {
            let Some(fact) = decide(&budget, order) else { continue };
            let entry = Entry::of(&fact).unwrap();
            budget = evolve(budget, entry).unwrap();
            let again = evolve(budget.clone(), entry);
            prop_assert_eq!(again.is_ok(), matches!(entry, Entry::Limited(_)));
        }
    }
}
