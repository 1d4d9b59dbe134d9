//! Tests of limits, periods, warnings, and what is forgotten.

use artel_types::{
    Actor, BudgetLimited, BudgetReleased, Event, EventVisibility, Fact, NoteAdded, RunFinished,
    RunId, SessionEnded, SessionId, StreamName, TraceId,
};

use super::*;

mod properties;

/// A ledger with its limits and its clock. Granted facts are recorded at once.
#[derive(Default)]
struct Desk {
    ledger: BudgetLedger,
    limits: ConfiguredSpendLimits,
    now: Option<Timestamp>,
    events: Vec<Event>,
}

impl Desk {
    fn new(limits: ConfiguredSpendLimits, now: &str) -> Self {
        Self {
            limits,
            now: Some(now.parse().unwrap()),
            ..Self::default()
        }
    }

    fn now(&self) -> Timestamp {
        self.now.unwrap_or(Timestamp::from_micros(0))
    }

    fn record(&mut self, fact: impl Into<Fact>) {
        let event = event(fact, self.now());
        self.ledger.fold(&event);
        self.events.push(event);
    }

    /// Reserves tokens, at a thousandth of a dollar each, and returns the warnings or the
    /// refusal.
    fn reserve(&mut self, key: &str, levels: &[BudgetLevel], tokens: u64) -> String {
        let (amount, now) = (dear(tokens), self.now());
        match reserve(&self.ledger, &self.limits, key, levels, amount, now) {
            Err(refused) => refused.to_string(),
            Ok(granted) => {
                self.record(granted.reserved);
                self.warn(granted.warnings)
            }
        }
    }

    fn settle(&mut self, key: &str, tokens: u64) -> String {
        let (amount, now) = (dear(tokens), self.now());
        match settle(&self.ledger, &self.limits, key, amount, now) {
            None => "unknown".to_owned(),
            Some(settlement) => {
                self.record(settlement.settled);
                self.warn(settlement.warnings)
            }
        }
    }

    fn warn(&mut self, warnings: Vec<BudgetWarned>) -> String {
        let shown = warnings.iter().map(|warning| {
            let since = warning.since.map_or(String::new(), |since| {
                format!(" since {}", &since.to_string()[..10])
            });
            let (used, limit) = (shown(warning.used), shown(warning.limit));
            format!("{}: {used} of {limit}{since}", warning.level)
        });
        let shown: Vec<_> = shown.collect();
        for warning in warnings {
            self.record(warning);
        }
        shown.join(", ")
    }

    fn spent(&self, level: &BudgetLevel, period: Option<CalendarPeriod>) -> u64 {
        self.ledger.spent(level, period, self.now()).tokens.0
    }
}

fn shown(amount: SpendAmount) -> String {
    match (amount.tokens.0, amount.money.0) {
        (UNLIMITED, _) => amount.money.to_string(),
        (tokens, UNLIMITED) => format!("{tokens} tokens"),
        (tokens, _) => format!("{tokens} tokens and {}", amount.money),
    }
}

fn dear(tokens: u64) -> SpendAmount {
    SpendAmount::new(tokens, tokens.saturating_mul(1000))
}

fn event(fact: impl Into<Fact>, at: Timestamp) -> Event {
    Event {
        seq: 1,
        stream: StreamName::budget(),
        stream_seq: 1,
        at,
        trace: TraceId::from_random([1; 16]),
        session: None,
        run: None,
        cause: None,
        actor: Actor::system("test"),
        target: None,
        outcome: None,
        visibility: EventVisibility::Full,
        fact: fact.into(),
    }
}

fn tokens(tokens: u64, period: Option<CalendarPeriod>) -> SpendLimit {
    SpendLimit {
        tokens: Some(Tokens(tokens)),
        money: None,
        period,
    }
}

fn dollars(dollars: u64, period: Option<CalendarPeriod>) -> SpendLimit {
    SpendLimit {
        tokens: None,
        money: Some(Money(dollars * 1_000_000)),
        period,
    }
}

fn session() -> BudgetLevel {
    BudgetLevel::Session("s".to_owned())
}

fn run() -> BudgetLevel {
    BudgetLevel::Run("r".to_owned())
}

fn limited(level: BudgetLevel, limit: SpendAmount) -> BudgetLimited {
    BudgetLimited { level, limit }
}

fn released(key: &str) -> BudgetReleased {
    let key = key.to_owned();
    BudgetReleased { key }
}

fn settled(key: &str, amount: SpendAmount) -> BudgetSettled {
    let key = key.to_owned();
    BudgetSettled { key, amount }
}

fn reserved(key: &str, levels: &[BudgetLevel], amount: SpendAmount) -> BudgetReserved {
    let (key, levels) = (key.to_owned(), levels.to_vec());
    BudgetReserved {
        step: None,
        key,
        levels,
        amount,
    }
}

#[test]
fn the_table_of_pairs() {
    let reservation = Fact::from(reserved("k", &[session()], dear(5)));
    let paid = Fact::from(settled("k", dear(7)));
    let given_back = Fact::from(released("k"));
    let histories = [
        vec![],
        vec![reservation.clone()],
        vec![reservation.clone(), paid.clone()],
        vec![reservation.clone(), given_back.clone()],
    ];
    let facts = [reservation, paid, given_back];
    let mut table = format!("{:17}", "");
    for fact in &facts {
        table.push_str(&format!("{:17}", fact.kind()));
    }
    for history in histories {
        let mut before = Desk::default();
        history.into_iter().for_each(|fact| before.record(fact));
        let shown = |ledger: &BudgetLedger| {
            let spent = ledger.spent(&session(), None, before.now()).tokens.0;
            format!("{spent} used, {} open", ledger.open_reservations())
        };
        table.push_str(&format!("\n{:17}", shown(&before.ledger)));
        for fact in &facts {
            let mut after = before.ledger.clone();
            after.fold(&event(fact.clone(), before.now()));
            let after = if after == before.ledger {
                "passed over".to_owned()
            } else {
                shown(&after)
            };
            table.push_str(&format!("{after:17}"));
        }
    }
    let table: Vec<_> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
                     budget.reserved  budget.settled   budget.released
    0 used, 0 open   5 used, 1 open   passed over      passed over
    5 used, 1 open   passed over      7 used, 0 open   0 used, 0 open
    7 used, 0 open   12 used, 1 open  passed over      passed over
    0 used, 0 open   5 used, 1 open   passed over      passed over
    ");
}

#[test]
fn every_budget_fact_is_minded() {
    let kinds = Fact::PAGES.iter().map(|page| page.kind);
    let kinds: Vec<_> = kinds.filter(|kind| kind.starts_with("budget.")).collect();
    let mut desk = Desk::default();
    let warning = BudgetWarned {
        level: session(),
        since: None,
        used: dear(1),
        limit: dear(1),
    };
    let facts: [Fact; 5] = [
        limited(session(), dear(9)).into(),
        reserved("k", &[], dear(1)).into(),
        settled("k", dear(1)).into(),
        released("j").into(),
        warning.into(),
    ];
    assert_eq!(kinds, facts.each_ref().map(Fact::kind));
    desk.record(reserved("j", &[], dear(1)));
    for fact in facts {
        let before = desk.ledger.clone();
        desk.record(fact.clone());
        assert_ne!(desk.ledger, before, "{fact:?}");
    }
    let before = desk.ledger.clone();
    desk.record(NoteAdded { text: "x".into() });
    assert_eq!(desk.ledger, before);
}

#[test]
fn the_widest_level_that_is_too_small_is_named() {
    let provider = BudgetLevel::Provider("p".to_owned());
    let step = BudgetLevel::Step("r/1".to_owned());
    let levels = [step, run(), session(), provider];
    let too_small = |level: &str| {
        format!("the {level} budget of 4 tokens has 0 tokens in use, and 5 tokens more do not fit")
    };
    let mut limits = ConfiguredSpendLimits {
        global: Some(tokens(4, None)),
        providers: [("p".to_owned(), tokens(4, None))].into(),
        session: Some(tokens(4, None)),
        run: Some(tokens(4, None)),
        step: Some(tokens(4, None)),
        run_warning: None,
    };
    let check = |limits: &ConfiguredSpendLimits, expected: String| {
        let mut desk = Desk::new(limits.clone(), "2026-11-15");
        assert_eq!(desk.reserve("k", &levels, 5), expected);
    };
    check(&limits, too_small("global"));
    limits.global = None;
    check(&limits, too_small("provider `p`"));
    limits.providers.clear();
    check(&limits, too_small("session `s`"));
    limits.session = Some(tokens(UNLIMITED, None));
    check(&limits, too_small("run `r`"));
    limits.run = Some(tokens(7, None));
    check(&limits, too_small("step `r/1`"));
    limits.step = None;
    check(&limits, String::new());
}

#[test]
fn every_call_counts_globally_and_once_per_level() {
    let mut desk = Desk::default();
    desk.reserve("k", &[session(), session()], 5);
    assert_eq!(
        (
            desk.spent(&session(), None),
            desk.spent(&BudgetLevel::Global, None)
        ),
        (5, 5)
    );
    desk.record(reserved("j", &[session(), session()], dear(1)));
    assert_eq!(
        (
            desk.spent(&session(), None),
            desk.spent(&BudgetLevel::Global, None)
        ),
        (6, 6)
    );
}

#[test]
fn what_is_set_aside_and_what_is_spent_both_count() {
    let limits = ConfiguredSpendLimits {
        session: Some(tokens(100, None)),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-11-15");
    let levels = [session()];
    desk.reserve("a", &levels, 40);
    desk.reserve("b", &levels, 30);
    let over = |used: u64, wanted: u64| {
        format!(
            "the session `s` budget of 100 tokens has {used} tokens in use, and {wanted} tokens more do not fit"
        )
    };
    assert_eq!(desk.reserve("c", &levels, 31), over(70, 31));
    assert_eq!(desk.reserve("c", &[run()], 31), "");
    desk.settle("a", 10);
    assert_eq!(desk.reserve("d", &levels, 61), over(40, 61));
    desk.record(released("b"));
    assert_eq!(desk.spent(&session(), None), 10);
    desk.reserve("d", &levels, 60);
    desk.settle("d", 200);
    assert_eq!(desk.reserve("e", &levels, 1), over(210, 1));
    assert_eq!(desk.reserve("e", &levels, 0), "");
    assert_eq!(desk.settle("d", 200), "unknown");
    assert_eq!(desk.settle("nobody", 200), "unknown");
}

#[test]
fn a_model_that_costs_nothing_may_be_asked_when_the_money_is_gone() {
    let limits = ConfiguredSpendLimits {
        global: Some(dollars(0, None)),
        ..ConfiguredSpendLimits::default()
    };
    let now = Timestamp::from_micros(0);
    let ask = |amount| reserve(&BudgetLedger::default(), &limits, "k", &[], amount, now);
    assert_eq!(ask(SpendAmount::new(1000, 0)).unwrap().warnings, []);
    let refused = ask(SpendAmount::new(1000, 1)).unwrap_err();
    assert_eq!((refused.measure, refused.wanted), (BudgetMeasure::Money, 1));
}

#[test]
fn a_measure_without_a_limit_is_free() {
    let mut desk = Desk::default();
    desk.limits.global = Some(tokens(10, None));
    for key in ["a", "b"] {
        let (amount, now) = (SpendAmount::new(1, u64::MAX), desk.now());
        let granted = reserve(&desk.ledger, &desk.limits, key, &[], amount, now).unwrap();
        desk.record(granted.reserved);
    }
    let spent = desk.ledger.spent(&BudgetLevel::Global, None, desk.now());
    assert_eq!(spent, SpendAmount::new(2, u64::MAX), "more cannot be said");
    desk.record(released("a"));
    desk.settle("b", 3);
    assert_eq!(desk.spent(&BudgetLevel::Global, None), 3);
}

#[test]
fn a_period_counts_from_zero_again() {
    let over = |word: &str, reset: &str| {
        format!(
            "the global budget of $1.00 a {word} has $1.00 in use, and $0.50 more do not fit; it counts from zero again at {reset}T00:00:00.000000Z"
        )
    };
    for (period, word, last, next) in [
        (
            CalendarPeriod::Day,
            "day",
            "2026-11-13T23:00:00Z",
            "2026-11-14",
        ),
        (
            CalendarPeriod::Week,
            "week",
            "2026-11-15T23:00:00Z",
            "2026-11-16",
        ),
        (
            CalendarPeriod::Month,
            "month",
            "2026-11-30T23:00:00Z",
            "2026-12-01",
        ),
    ] {
        let limits = ConfiguredSpendLimits {
            global: Some(dollars(1, Some(period))),
            ..ConfiguredSpendLimits::default()
        };
        let mut desk = Desk::new(limits, "2026-11-13T12:00:00Z");
        desk.reserve("a", &[], 1000);
        desk.now = last.parse().ok();
        assert_eq!(desk.reserve("b", &[], 500), over(word, next));
        desk.now = next.parse().ok();
        assert_eq!(desk.reserve("b", &[], 500), "");
        desk.settle("a", 900);
        assert_eq!(
            desk.spent(&BudgetLevel::Global, Some(period)),
            500,
            "{word}"
        );
        assert_eq!(desk.spent(&BudgetLevel::Global, None), 1400);
    }
}

#[test]
fn a_limit_that_was_recorded_holds_beside_the_configured_one() {
    let limits = ConfiguredSpendLimits {
        run: Some(tokens(100, Some(CalendarPeriod::Day))),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-11-15");
    desk.record(limited(run(), SpendAmount::new(150, UNLIMITED)));
    let refused = desk.reserve("a", &[run()], 151);
    assert!(refused.contains("of 150 tokens has 0"), "{refused}");
    assert!(
        desk.reserve("a", &[run()], 101)
            .contains("of 100 tokens a day")
    );
    desk.reserve("a", &[run()], 90);
    desk.now = "2026-11-16".parse().ok();
    let refused = desk.reserve("b", &[run()], 61);
    assert!(refused.contains("of 150 tokens has 90"), "{refused}");
    desk.limits.run = Some(tokens(120, None));
    let refused = desk.reserve("b", &[run()], 31);
    assert!(refused.contains("of 120 tokens has 90"), "{refused}");
    desk.record(limited(run(), SpendAmount::new(95, UNLIMITED)));
    let refused = desk.reserve("b", &[run()], 6);
    assert!(refused.contains("of 95 tokens has 90"), "{refused}");
    desk.record(limited(run(), SpendAmount::new(UNLIMITED, UNLIMITED)));
    assert_eq!(desk.reserve("b", &[session()], 1000), "");
}

#[test]
fn coming_close_is_told_once_per_period() {
    let limits = ConfiguredSpendLimits {
        global: Some(tokens(100, Some(CalendarPeriod::Day))),
        session: Some(dollars(1, None)),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-11-15T10:00:00Z");
    let levels = [session()];
    for (key, tokens) in [("a", 79), ("b", 1), ("c", 1), ("late", 1)] {
        assert_eq!(desk.reserve(key, &levels, tokens), "");
    }
    assert_eq!(desk.settle("a", 79), "");
    let told = "global: 80 tokens and $0.08 of 100 tokens since 2026-11-15";
    assert_eq!(desk.settle("b", 1), told);
    assert_eq!(desk.settle("c", 1), "");
    desk.now = "2026-11-16T10:00:00Z".parse().ok();
    assert_eq!(desk.reserve("d", &levels, 10), "", "a new day");
    assert_eq!(desk.settle("late", 99), "", "yesterday's day is over");
    let told = "global: 600 tokens and $0.60 of 100 tokens since 2026-11-16";
    assert_eq!(desk.settle("d", 600), told);
    desk.now = "2026-11-17T10:00:00Z".parse().ok();
    assert_eq!(desk.reserve("e", &levels, 20), "");
    let told = "session `s`: 800 tokens and $0.80 of $1.00";
    assert_eq!(desk.settle("e", 20), told);
    assert_eq!(desk.reserve("f", &levels, 1), "");
}

#[test]
fn what_is_only_set_aside_does_not_come_close() {
    for period in [None, Some(CalendarPeriod::Day)] {
        let limits = ConfiguredSpendLimits {
            global: Some(tokens(1000, period)),
            ..ConfiguredSpendLimits::default()
        };
        let mut desk = Desk::new(limits, "2026-11-15T10:00:00Z");
        let keys: Vec<_> = (0..10).map(|number| number.to_string()).collect();
        for key in &keys {
            assert_eq!(desk.reserve(key, &[], 100), "", "{period:?}");
        }
        for key in &keys[..9] {
            assert_eq!(desk.settle(key, 1), "", "{period:?}");
        }
        // Nine tokens are paid, and then the limit that finally comes close is announced.
        let told = desk.settle(&keys[9], 800);
        assert!(told.starts_with("global: 809 tokens"), "{told}");
    }
}

#[test]
fn a_limit_in_money_holds_wherever_it_is_from() {
    let (global, provider) = (BudgetLevel::Global, BudgetLevel::Provider("p".to_owned()));
    let step = BudgetLevel::Step("r/1".to_owned());
    let all = [provider.clone(), session(), run(), step.clone()];
    let configured = |set: fn(&mut ConfiguredSpendLimits)| {
        let mut limits = ConfiguredSpendLimits::default();
        set(&mut limits);
        limits
    };
    let none = ConfiguredSpendLimits::default;
    let money = SpendAmount::new(UNLIMITED, 0);
    let free = SpendAmount::new(5, UNLIMITED);
    let daily = configured(|limits| limits.global = Some(dollars(1, Some(CalendarPeriod::Day))));
    let lasting = configured(|limits| limits.session = Some(dollars(0, None)));
    let tokens_only = configured(|limits| limits.run = Some(tokens(5, None)));
    let of_provider = configured(|limits| {
        limits.providers.insert("p".to_owned(), dollars(1, None));
    });
    for (limits, fact, levels, holds) in [
        (none(), None, &all[..], false),
        (tokens_only, None, &all, false),
        (daily, None, &[], true),
        (lasting.clone(), None, &all, true),
        (lasting, None, &[run()], false),
        (of_provider.clone(), None, &all, true),
        (
            of_provider,
            None,
            &[BudgetLevel::Provider("q".into())],
            false,
        ),
        (none(), Some((&global, money)), &[], true),
        (none(), Some((&run(), money)), &all, true),
        (none(), Some((&run(), money)), &[session()], false),
        (none(), Some((&step, money)), &all, true),
        (none(), Some((&provider, free)), &all, false),
    ] {
        let mut desk = Desk::default();
        if let Some((level, limit)) = fact {
            desk.record(limited(level.clone(), limit));
        }
        let found = limits_money(&desk.ledger, &limits, levels);
        assert_eq!(found, holds, "{limits:?} {fact:?} {levels:?}");
    }
}

#[test]
fn what_counts_for_ever_is_told_once_for_ever() {
    let daily = |limit| Some(tokens(limit, Some(CalendarPeriod::Day)));
    let mut desk = Desk::new(ConfiguredSpendLimits::default(), "2026-11-15");
    desk.limits.session = daily(90);
    desk.record(limited(session(), SpendAmount::new(100, UNLIMITED)));
    let told = "session `s`: 85 tokens and $0.09 of 100 tokens, \
                session `s`: 85 tokens and $0.09 of 90 tokens since 2026-11-15";
    desk.reserve("a", &[session()], 85);
    assert_eq!(desk.settle("a", 85), told);
    desk.now = "2026-11-16".parse().ok();
    desk.limits.session = daily(10);
    let told = "session `s`: 8 tokens and $0.01 of 10 tokens since 2026-11-16";
    desk.reserve("b", &[session()], 8);
    assert_eq!(desk.settle("b", 8), told);
    desk.reserve("c", &[session()], 1);
    assert_eq!(desk.settle("c", 1), "");
}

#[test]
fn another_limit_is_told_anew() {
    let limit = |limit| Some(tokens(limit, Some(CalendarPeriod::Day)));
    let mut desk = Desk::new(ConfiguredSpendLimits::default(), "2026-11-15T10:00:00Z");
    desk.limits.global = limit(2000);
    let told = "global: 1600 tokens and $1.60 of 2000 tokens since 2026-11-15";
    desk.reserve("a", &[], 1600);
    assert_eq!(desk.settle("a", 1600), told);
    desk.limits.global = limit(3000);
    assert_eq!(desk.reserve("b", &[], 1), "");
    desk.limits.global = limit(1900);
    let told = "global: 1600 tokens and $1.60 of 1900 tokens since 2026-11-15";
    assert_eq!(desk.reserve("c", &[], 1), told, "it is close already");
    desk.limits.global = limit(2000);
    assert_eq!(desk.reserve("d", &[], 1), "");
}

#[test]
fn an_expensive_run_is_told_once_by_what_was_really_paid() {
    let limits = ConfiguredSpendLimits {
        run_warning: Some(Money(500_000)),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-11-15");
    let levels = [session(), run()];
    assert_eq!(desk.reserve("a", &levels, 5000), "");
    assert_eq!(desk.reserve("b", &levels, 5000), "");
    assert_eq!(desk.settle("a", 500), "", "half a dollar is not more");
    assert_eq!(
        desk.settle("b", 1),
        "run `r`: 501 tokens and $0.50 of $0.50"
    );
    desk.reserve("c", &levels, 5000);
    assert_eq!(desk.settle("c", 5000), "");
    let other = [BudgetLevel::Run("q".to_owned())];
    desk.reserve("d", &other, 1);
    assert_eq!(
        desk.settle("d", 600),
        "run `q`: 600 tokens and $0.60 of $0.50"
    );
}

#[test]
fn what_has_ended_is_forgotten() {
    let (run, session) = (RunId::from_random([1; 16]), SessionId::from_random([2; 16]));
    let levels = [
        BudgetLevel::Session(session.to_string()),
        BudgetLevel::Run(run.to_string()),
        BudgetLevel::Step(format!("{run}/1")),
    ];
    let kept = [
        BudgetLevel::Provider("p".into()),
        BudgetLevel::Step(format!("{run}0/1")),
    ];
    let mut desk = Desk::default();
    desk.reserve("a", &[&levels[..], &kept].concat(), 5);
    desk.reserve("b", &[&levels[..], &kept].concat(), 7);
    desk.settle("a", 4);
    let summary = "done".to_owned();
    desk.record(RunFinished::new(run, summary));
    assert_eq!(
        levels.each_ref().map(|level| desk.spent(level, None)),
        [11, 0, 0]
    );
    desk.record(SessionEnded { id: session });
    desk.settle("b", 10);
    assert_eq!(
        levels.each_ref().map(|level| desk.spent(level, None)),
        [0, 0, 0]
    );
    assert_eq!(
        kept.each_ref().map(|level| desk.spent(level, None)),
        [14, 14]
    );
    let written = serde_json::to_string(&desk.ledger).unwrap();
    for gone in [format!("{run}\""), format!("{run}/"), session.to_string()] {
        assert!(!written.contains(&gone), "{written}");
    }
}

#[test]
fn old_days_and_dead_reservations_keep_their_charge_but_take_no_room() {
    let limits = ConfiguredSpendLimits {
        run_warning: Some(Money(1_100_000)),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-01-01T12:00:00Z");
    let start = desk.now();
    desk.reserve("dead", &[run()], 1000);
    let size = |desk: &Desk| serde_json::to_string(&desk.ledger).unwrap().len();
    let mut sizes = Vec::new();
    for day in 0..500 {
        desk.now = Some(start.after(std::time::Duration::from_secs(day * 86_400)));
        let key = format!("k{day}");
        desk.reserve(&key, &[run()], 5);
        // Reservations that nobody will settle any more count as paid at their estimate.
        let told = match day {
            63 => "run `r`: 1192 tokens and $1.19 of $1.10",
            _ => "",
        };
        assert_eq!(desk.settle(&key, 3), told, "day {day}");
        sizes.push(size(&desk));
    }
    assert!(sizes[499] < sizes[70] + 20, "{sizes:?}");
    assert_eq!(desk.spent(&run(), None), 1000 + 500 * 3);
    assert_eq!(
        desk.spent(&BudgetLevel::Global, Some(CalendarPeriod::Week)),
        6 * 3
    );
    assert_eq!(desk.ledger.open_reservations(), 0);
    assert_eq!(desk.settle("dead", 1), "unknown");
    desk.now = Some(start);
    desk.reserve("late", &[run()], 5);
    desk.settle("late", 1);
    assert_eq!(desk.spent(&run(), None), 1000 + 500 * 3 + 1, "an old day");
}

#[test]
fn what_is_set_aside_for_a_step_is_there_for_its_calls_and_the_rest_goes_back() {
    let limits = ConfiguredSpendLimits {
        global: Some(tokens(1_000, Some(CalendarPeriod::Day))),
        ..ConfiguredSpendLimits::default()
    };
    let mut desk = Desk::new(limits, "2026-03-01T10:00:00Z");
    let step = |name: &str| BudgetLevel::Step(name.to_owned());
    let held = |desk: &mut Desk, name: &str, count: u64| {
        let (amount, now) = (dear(count), desk.now());
        let fact = hold(&desk.ledger, &desk.limits, name, amount, now)?;
        let tokens = fact.amount.tokens.0;
        desk.record(fact);
        Some(tokens)
    };
    assert_eq!(held(&mut desk, "r/one", 600), Some(600));
    assert_eq!(held(&mut desk, "r/one", 600), None, "once is enough");
    assert_eq!(desk.spent(&BudgetLevel::Global, None), 600);
    let refused = desk.reserve("other", &[step("r/two")], 500);
    assert!(refused.contains("has 600 tokens in use"), "{refused}");
    assert_eq!(desk.reserve("own", &[step("r/one")], 500), "");
    assert_eq!(
        desk.spent(&BudgetLevel::Global, None),
        600,
        "it is counted once"
    );
    assert_eq!(desk.settle("own", 200), "");
    assert_eq!(desk.spent(&BudgetLevel::Global, None), 600);
    // A step that takes more than expected is charged for it.
    assert_eq!(desk.reserve("more", &[step("r/one")], 700), "");
    assert_eq!(desk.spent(&BudgetLevel::Global, None), 900);
    assert!(
        desk.reserve("most", &[step("r/one")], 101)
            .contains("do not fit")
    );
    desk.record(released("more"));
    assert_eq!(
        held(&mut desk, "r/two", 5_000),
        Some(400),
        "no more than is left"
    );
    let gone = let_go(&desk.ledger, "r/one").unwrap();
    desk.record(gone);
    assert!(let_go(&desk.ledger, "r/one").is_none());
    assert_eq!(
        desk.spent(&BudgetLevel::Global, None),
        600,
        "200 paid, 400 set aside"
    );
    assert_eq!(
        desk.ledger.paid(&BudgetLevel::Global, None).tokens,
        200,
        "only what was paid is spoken of"
    );
    let run = RunId::from_random([7; 16]);
    assert_eq!(held(&mut desk, &format!("{run}/three"), 100), Some(100));
    desk.record(RunFinished::new(run, ""));
    assert_eq!(
        desk.spent(&BudgetLevel::Global, None),
        600,
        "it ends with its run"
    );
    desk.limits = ConfiguredSpendLimits::default();
    assert_eq!(held(&mut desk, "r/four", 10), None, "nothing limits it");
}
