//! `artel usage` and budgets: every attempt counts once, rows add up, limits stop.

use artel_testkit::standin::{Answer, Format, StandIn, Usage};
use serde_json::{Value, json};

use crate::support::{ADA, House, Seen, entry, obliging};

/// What is summed up in each row.
const SUMS: [&str; 14] = [
    "attempts",
    "answered",
    "failed",
    "cancelled",
    "denied",
    "unknown",
    "input",
    "cache_read",
    "cache_write",
    "output",
    "estimated",
    "tokens",
    "unpriced",
    "cost_microusd",
];

/// Every way to make rows.
const WAYS: [&str; 9] = [
    "--session",
    "--run",
    "--step",
    "--provider",
    "--model",
    "--skill",
    "--role",
    "--portal",
    "--person",
];

/// Returns a report, after checking that its rows add up to its total.
#[track_caller]
fn usage(house: &House, words: &[&str]) -> Value {
    let seen = house.artel(["usage", "--json"]).words(words).run();
    let report = seen.expect(0).json();
    let rows = report["rows"].as_array().unwrap();
    for name in SUMS {
        let sum: u64 = rows.iter().map(|row| number(&row[name])).sum();
        assert_eq!(sum, number(&report["total"][name]), "{name}: {report}");
    }
    let total = &report["total"];
    let ends = ["answered", "failed", "cancelled", "denied", "unknown"];
    let ends: u64 = ends.iter().map(|name| number(&total[name])).sum();
    assert_eq!(ends, number(&total["attempts"]), "{report}");
    report
}

/// What is not known adds nothing.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn used(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        cache_read: 0,
        cache_write: 0,
        thinking: 0,
    }
}

/// A house in which three models were tried, one of them unpriced, one of them in vain.
fn after_a_mixed_run() -> House {
    let house = House::new();
    let speaks = |usage| Answer::obliging("Hello.").usage(usage).repeating();
    let cheap = StandIn::start(Format::Anthropic, [speaks(used(1_000, 10))]);
    let dear = StandIn::start(Format::Responses, [speaks(used(2_000, 200))]);
    let other = StandIn::start(Format::Chat, [speaks(used(30, 3))]);
    let broken = StandIn::start(Format::Google, [Answer::status(400).repeating()]);
    let model = |text: String, name: &str| text.replace("\"tiny\"", &format!("{name:?}"));
    let entries = [
        model(entry("default", Format::Anthropic, &cheap), "cheap"),
        model(entry("dear", Format::Responses, &dear), "dear"),
        model(entry("other", Format::Chat, &other), "other"),
        model(entry("broken", Format::Google, &broken), "broken"),
        "[prices.\"cheap\"]\ninput = 0.10\noutput = 1\n".to_owned(),
        "[prices.\"dear\"]\ninput = 3\noutput = 15\n".to_owned(),
    ];
    house.settings(&entries.concat());
    for alias in ["default", "dear", "other", "default"] {
        house.keyed(["model", "test", alias]).run().expect(0);
    }
    house.keyed(["model", "test", "broken"]).run().expect(1);
    house
}

/// What two questions to each of the priced models cost, in millionths of a dollar.
const CHEAP: u64 = 2 * (1_000 / 10 + 10);
const DEAR: u64 = 2 * (2_000 * 3 + 200 * 15);

#[test]
fn rows_add_up_to_the_total_whatever_they_stand_for() {
    let house = after_a_mixed_run();
    let total = usage(&house, &[])["total"].clone();
    assert_eq!(total["attempts"], 9);
    assert_eq!(total["answered"], 8);
    assert_eq!(total["failed"], 1);
    assert_eq!(total["tokens"], 2 * (2 * 1_010 + 2_200 + 33));
    assert_eq!(total["cost_microusd"], 2 * CHEAP + DEAR);
    assert_eq!(total["unpriced"], 2);
    for way in WAYS {
        assert_eq!(usage(&house, &[way])["total"], total, "{way}");
    }
    assert_eq!(usage(&house, &WAYS)["total"], total);
    for period in ["day", "week", "month"] {
        let report = usage(&house, &["--period", period]);
        assert_eq!(report["total"], total, "{period}");
        assert!(
            report["since"].as_str() < report["until"].as_str(),
            "{report}"
        );
    }
}

#[test]
fn a_name_leaves_out_everything_else() {
    let house = after_a_mixed_run();
    let only = |words: &[&str]| {
        let report = usage(&house, words);
        let total = &report["total"];
        (number(&total["attempts"]), number(&total["cost_microusd"]))
    };
    assert_eq!(only(&["--provider", "anthropic"]), (4, 2 * CHEAP));
    assert_eq!(
        only(&["--provider", "openai"]),
        (2, DEAR),
        "not openai-chat"
    );
    assert_eq!(
        only(&["--provider", "openai", "--model", "dear"]),
        (2, DEAR)
    );
    assert_eq!(only(&["--model", "broken"]), (1, 0));
    assert_eq!(only(&["--person", ADA]), (9, 2 * CHEAP + DEAR));
    assert_eq!(only(&["--person", "bob"]), (0, 0));
    assert_eq!(only(&["--run", "0123"]), (0, 0));
    // A name and a way to make rows go together.
    let report = usage(&house, &["--person", ADA, "--model"]);
    assert_eq!(report["by"], json!(["model"]));
    let models = report["rows"].as_array().unwrap().iter();
    let models: Vec<&str> = models.map(|row| row["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["dear", "cheap", "other", "broken"]);
}

#[test]
fn what_costs_nobody_knows_what_is_never_shown_as_nothing() {
    let house = after_a_mixed_run();
    insta::assert_snapshot!(house.ok(["usage"]).text(), @r"
        exit 0
        PROVIDER     MODEL   CALLS  INPUT  CACHED  OUTPUT  TOKENS  COST
        openai       dear    2      4.0k   0       400     4.4k    $0.02
        anthropic    cheap   4      4.0k   0       40      4.0k    <$0.01
        openai-chat  other   2      60     0       6       66      unknown
        google       broken  1      0      0       0       0       -                1 failed
        total                9      8.0k   0       446     8.5k    $0.02 + unknown  1 failed
        ");
    insta::assert_snapshot!(house.ok(["usage", "--person"]).text(), @r"
        exit 0
        PERSON           CALLS  INPUT  CACHED  OUTPUT  TOKENS  COST
        ada@example.org  9      8.0k   0       446     8.5k    $0.02 + unknown  1 failed
        total            9      8.0k   0       446     8.5k    $0.02 + unknown  1 failed
        ");
    let report = usage(&house, &["--model", "other"]);
    for sum in [&report["total"], &report["rows"][0]] {
        assert!(
            sum["cost_usd"].is_null() && sum["cost_microusd"].is_null(),
            "{sum}"
        );
    }
    let report = usage(&house, &["--model", "dear"]);
    assert_eq!(report["total"]["cost_usd"], DEAR as f64 / 1e6);
    let trial = house.keyed(["model", "test", "dear", "--json"]);
    // Its stand-in is gone: a trial without an answer has no cost, rather than none.
    assert!(trial.run().expect(1).json()["cost_microusd"].is_null());
}

#[test]
fn nothing_used_is_said_and_adds_up_too() {
    let house = House::new();
    assert_eq!(house.ok(["usage"]).text(), "exit 0\nno model was asked\n");
    let report = usage(&house, &["--period", "week"]);
    assert_eq!(report["rows"], json!([]));
    let seen = house.artel(["usage", "--period", "year"]).run();
    seen.fails(2, "C004").says("expected day, week or month");
}

/// Tries the default model with these settings of budgets.
fn limited(house: &House, entry: &str, budget: &str) -> Seen {
    house.settings(&format!("{entry}{budget}"));
    house.keyed(["model", "test"]).run()
}

#[test]
fn a_budget_that_is_used_up_stops_before_anything_is_sent() {
    let stand_in = obliging(Format::Anthropic);
    let house = House::new();
    let entry = entry("default", Format::Anthropic, &stand_in);
    let priced = format!("{entry}[prices.\"tiny\"]\ninput = 1\noutput = 1\n");
    let mut all = String::new();
    for budget in [
        "[budget.global]\ntokens = 500\n",
        "[budget.global]\ntokens = 0\nperiod = \"day\"\n",
        "[budget.provider.anthropic]\nusd = 0.0001\nperiod = \"month\"\n",
    ] {
        let seen = limited(&house, &priced, budget).fails(3, "M005");
        all += &format!("{budget}{}", seen.err);
    }
    insta::assert_snapshot!(crate::support::masked(&all), @r#"
        [budget.global]
        tokens = 500
        error[M005]: the global budget of 500 tokens has no room for this call
          why: 0 tokens used or set aside, and this call may take 1.0k tokens
          try: raise it in `[budget]` in `artel.toml`
        [budget.global]
        tokens = 0
        period = "day"
        error[M005]: the global budget of 0 tokens a day has no room for this call
          why: 0 tokens used or set aside, and this call may take 1.0k tokens
          try: it counts from zero again at TIME; or raise it in `[budget]`
        [budget.provider.anthropic]
        usd = 0.0001
        period = "month"
        error[M005]: the provider `anthropic` budget of <$0.01 a month has no room for this call
          why: $0.00 used or set aside, and this call may take <$0.01
          try: it counts from zero again at TIME; or raise it in `[budget]`
        "#);
    assert_eq!(stand_in.seen(), []);
    let budget = "[budget.global]\ntokens = 1\n";
    house.settings(&format!("{entry}{budget}"));
    let seen = house.keyed(["model", "test", "--json"]).run().expect(3);
    assert_eq!(seen.json()["error"]["code"], "M005");
    assert_eq!(usage(&house, &[])["total"]["denied"], 4);
    // Another provider's limit is none of its business, and a generous one lets it pass.
    limited(&house, &priced, "[budget.provider.openai]\ntokens = 1\n").expect(0);
    limited(&house, &priced, "[budget.global]\ntokens = 100000\n").expect(0);
}

#[test]
fn what_was_spent_before_counts_after_a_restart() {
    let stand_in = obliging(Format::Chat);
    let house = House::new();
    let entry = entry("default", Format::Chat, &stand_in);
    // Each trial takes 240 tokens, and sets aside up to about 1,200 for each question.
    let budget = "[budget.global]\ntokens = 1800\nperiod = \"day\"\n";
    let seen: Vec<Seen> = (0..6).map(|_| limited(&house, &entry, budget)).collect();
    let codes: Vec<i32> = seen.iter().map(|seen| seen.code).collect();
    let refused = codes.iter().position(|code| *code == 3).unwrap();
    assert!((1..5).contains(&refused), "{codes:?}");
    assert!(codes[..refused].iter().all(|code| *code == 0), "{codes:?}");
    assert!(codes[refused..].iter().all(|code| *code == 3), "{codes:?}");
    let tokens = number(&usage(&house, &[])["total"]["tokens"]);
    assert!(tokens <= 1_800, "{tokens}");
    // Without the limit it goes on.
    limited(&house, &entry, "").expect(0);
}

#[test]
fn four_fifths_of_a_budget_are_spoken_of_once() {
    let big = Answer::obliging("Hello.")
        .usage(used(40_000, 100))
        .repeating();
    let stand_in = StandIn::start(Format::Chat, [big]);
    let house = House::new();
    let entry = entry("default", Format::Chat, &stand_in);
    let budget = "[budget.global]\ntokens = 200000\n";
    let warning = "of 200.0k tokens used";
    let first = limited(&house, &entry, budget).expect(0);
    assert!(!first.err.contains(warning), "{}", first.err);
    let second = limited(&house, &entry, budget).expect(0);
    assert_eq!(second.err.matches(warning).count(), 1, "{}", second.err);
    let third = limited(&house, &entry, budget);
    assert!(!third.err.contains(warning), "{}", third.err);
    let kinds = house.kinds();
    let warned = kinds.iter().filter(|kind| *kind == "budget.warned");
    assert_eq!(warned.count(), 1);
}

#[test]
fn a_money_limit_refuses_what_nobody_knows_the_price_of_unless_it_is_local() {
    let house = House::new();
    let budget = "[budget.global]\nusd = 5\n";
    let remote = "[models.default]\nprovider = \"openai-chat\"\nmodel = \"own\"\n\
                  base_url = \"http://192.0.2.1:9/v1\"\napi_key_env = \"MY_KEY\"\n";
    let seen = limited(&house, remote, budget).fails(3, "M005");
    seen.says("no price is known for `own`")
        .says("[prices.\"own\"]");
    let stand_in = obliging(Format::Ollama);
    let local = entry("default", Format::Ollama, &stand_in);
    limited(&house, &local, budget).expect(0);
}
