//! Prices and budgets: exact amounts, what stays unknown, and limits with a period.

use artel_types::model::{CalendarPeriod, ModelSpec, ThinkingStyle};
use artel_types::{Money, SpendLimit, Tokens};

use super::house::House;

#[test]
fn prices_are_exact_and_what_is_not_named_stays_unknown() {
    let house = House::new().workshop(
        "[prices.\"qwen3-coder\"]\ninput = 3\noutput = 0.075\ncache_read = 0.000001\n\
         cache_write = 1_000.25\ncontext = 262_144\nmax_output = 0x100\nthinking = \"budget\"\n\
         [prices.\"anthropic/claude-opus-5.5\"]\ninput = 0.1\n",
    );
    let prices = house.load().unwrap().prices;
    let expected = ModelSpec {
        context: Some(262_144),
        max_output: Some(256),
        input: Some(Money(3_000_000)),
        output: Some(Money(75_000)),
        cache_read: Some(Money(1)),
        cache_write: Some(Money(1_000_250_000)),
        thinking: ThinkingStyle::Budget,
        long: None,
    };
    assert_eq!(prices["qwen3-coder"], expected);
    let expected = ModelSpec {
        input: Some(Money(100_000)),
        ..ModelSpec::default()
    };
    assert_eq!(prices["anthropic/claude-opus-5.5"], expected);
}

#[test]
fn limits_are_read_level_by_level() {
    let house = House::new()
        .workshop(
            "[budget]\nwarn_run = 2\n[budget.global]\nusd = 50\nperiod = 'month'\n\
             [budget.session]\ntokens = 1_000_000\n[budget.step]\nusd = 0\n\
             [budget.provider.anthropic]\nusd = 5.5\ntokens = 7\nperiod = 'day'\n\
             [budget.provider.openai-chat]\ntokens = 1\n",
        )
        .variable("ARTEL_BUDGET_GLOBAL_TOKENS", "9")
        .flag("budget.provider.google.usd", "0.25");
    let settings = house.load().unwrap();
    let [warning] = settings.warnings.as_slice() else {
        panic!("one warning: {:?}", settings.warnings);
    };
    assert!(warning.starts_with("`[budget.session]` limits nothing yet"));
    assert!(warning.contains("artel.toml"), "it says where: {warning}");
    let budget = settings.budget;
    let limit = |tokens: Option<u64>, micros: Option<u64>, period| SpendLimit {
        tokens: tokens.map(Tokens),
        money: micros.map(Money),
        period,
    };
    let month = limit(Some(9), Some(50_000_000), Some(CalendarPeriod::Month));
    assert_eq!(budget.global, Some(month));
    assert_eq!(budget.session, None, "no session ever begins");
    assert_eq!(budget.run, None);
    assert_eq!(budget.step, Some(limit(None, Some(0), None)));
    assert_eq!(budget.run_warning, Some(Money(2_000_000)));
    let providers: Vec<_> = budget.providers.into_iter().collect();
    let expected = [
        (
            "anthropic",
            limit(Some(7), Some(5_500_000), Some(CalendarPeriod::Day)),
        ),
        ("google", limit(None, Some(250_000), None)),
        ("openai-chat", limit(Some(1), None, None)),
    ];
    assert_eq!(
        providers,
        expected.map(|(name, limit)| (name.to_owned(), limit))
    );
}

#[test]
fn the_warning_can_be_switched_off() {
    for (text, expected) in [
        ("never", None),
        ("0", Some(Money(0))),
        ("0.5", Some(Money(500_000))),
    ] {
        let house = House::new().flag("budget.warn_run", text);
        assert_eq!(house.load().unwrap().budget.run_warning, expected, "{text}");
    }
}

#[test]
fn amounts_that_are_not_exact_are_refused() {
    let house = House::new().workshop(
        "[budget.run]\nusd = -1\nperiod = 'day'\n[budget.global]\nusd = '5'\ntokens = 1.5\n\
         [prices.m]\ninput = 0.0000001\noutput = 1e3\ncache_read = inf\nthinking = 'hard'\n\
         context = 0\n[budget.provider.antropic]\nusd = 1\n",
    );
    insta::assert_snapshot!(house.complaints(), @r#"
    error[S005]: `budget.run.usd` cannot be `-1`
      why: `WORKSHOP/artel.toml` line 2
      try: write US dollars with at most six decimals, such as 20 or 0.50
    error[S003]: unknown setting `budget.run.period`
      why: `WORKSHOP/artel.toml` line 3
      try: `artel config show` lists all settings
    error[S004]: `budget.global.usd` has the wrong type
      why: `WORKSHOP/artel.toml` line 5 has a string: `'5'`
      try: write US dollars with at most six decimals, such as 20 or 0.50
    error[S004]: `budget.global.tokens` has the wrong type
      why: `WORKSHOP/artel.toml` line 6 has a number with a point: `1.5`
      try: write a whole number from 0 to 1000000000000000
    error[S005]: `prices.m.input` cannot be `0.0000001`
      why: `WORKSHOP/artel.toml` line 8
      try: write US dollars with at most six decimals, such as 20 or 0.50
    error[S005]: `prices.m.output` cannot be `1e3`
      why: `WORKSHOP/artel.toml` line 9
      try: write US dollars with at most six decimals, such as 20 or 0.50
    error[S005]: `prices.m.cache_read` cannot be `inf`
      why: `WORKSHOP/artel.toml` line 10
      try: write US dollars with at most six decimals, such as 20 or 0.50
    error[S005]: `prices.m.thinking` cannot be `'hard'`
      why: `WORKSHOP/artel.toml` line 11
      try: write "effort" or "budget" or "none"
    error[S005]: `prices.m.context` cannot be `0`
      why: `WORKSHOP/artel.toml` line 12
      try: write a whole number from 1 to 1000000000
    error[M001]: there is no provider `antropic`
      why: `WORKSHOP/artel.toml` line 13
      try: write "anthropic" or "openai" or "openai-chat" or "google" or "ollama" or "rehearsal"; did you mean "anthropic"?
    "#);
}

#[test]
fn a_period_alone_limits_nothing_and_says_so() {
    let house = House::new()
        .workshop("[budget.global]\nperiod = 'day'\n[budget.provider.google]\nperiod = 'week'\n");
    insta::assert_snapshot!(house.complaints(), @r"
    error[S005]: `budget.global` has no `tokens` or `usd`
      why: `WORKSHOP/artel.toml` line 2
      try: write `tokens` or `usd` below `[budget.global]`
    error[S005]: `budget.provider.google` has no `tokens` or `usd`
      why: `WORKSHOP/artel.toml` line 4
      try: write `tokens` or `usd` below `[budget.provider.google]`
    ");
}
