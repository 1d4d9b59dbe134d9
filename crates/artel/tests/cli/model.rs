//! `artel model list` and `show`: what an alias means here, and what is known of it.

use std::net::TcpStream;

use artel_testkit::standin::Format;

use crate::support::{House, entry, obliging};

#[test]
fn with_nothing_configured_the_three_ways_are_shown() {
    if TcpStream::connect("127.0.0.1:11434").is_ok() {
        // An Ollama of the machine is a fourth way, and the answer is another one.
        return;
    }
    let house = House::new();
    for words in [["model", "test"], ["model", "show"]] {
        let seen = house.artel(words).run().fails(2, "M004");
        insta::allow_duplicates!(insta::assert_snapshot!(seen.text(), @r"
            exit 2
            error[M004]: no model is configured
              why: no key in the environment or in the key store, no Ollama on 127.0.0.1:11434, no `[models]` in `artel.toml`
              try: `artel auth set anthropic`, or start Ollama, or set `ARTEL_MODEL=rehearsal:FILE.yaml`
            "));
    }
    let list = house.ok(["model", "list"]);
    assert!(list.out.contains("no model is configured"), "{}", list.out);
    assert!(
        list.err.contains("`artel auth set anthropic`"),
        "{}",
        list.err
    );
    let list = house.ok(["model", "list", "--json"]).json();
    assert!(list["models"][0]["provider"].is_null(), "{list}");
}

#[test]
fn built_in_aliases_need_no_entry_and_an_entry_wins() {
    let house = House::new();
    house.settings(
        "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-old\"\n\
         [models.haiku]\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\n",
    );
    let list = house.ok(["model", "list", "--json"]).json();
    let row = |alias: &str| {
        let rows = list["models"].as_array().unwrap();
        let row = rows.iter().find(|row| row["alias"] == alias).unwrap();
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        (text("provider"), text("model"), text("how"))
    };
    let (default, inherited) = (row("default"), row("inherit"));
    assert_eq!(default, inherited);
    assert_eq!(default.2, "entry [models.default]");
    let haiku = ["ollama", "qwen3:8b", "entry [models.haiku]"].map(str::to_owned);
    assert_eq!(row("haiku"), haiku.into());
    for (class, alias) in [("balanced", "sonnet"), ("strong", "opus"), ("fast", "fast")] {
        let (provider, model, how) = row(class);
        assert_eq!(how, format!("nearest class {class} of anthropic"));
        assert!(
            provider == "anthropic" && model.starts_with("claude-"),
            "{model}"
        );
        assert_eq!(row(alias).1, model);
    }
    let shown = house.ok(["model", "list"]).out;
    let columns = "ALIAS     PROVIDER   MODEL";
    assert!(
        shown.starts_with(columns) && shown.lines().count() == 9,
        "{shown}"
    );
}

#[test]
fn at_a_place_of_its_own_every_class_is_the_default() {
    let stand_in = obliging(Format::Chat);
    let house = House::with_model(Format::Chat, &stand_in);
    let list = house.ok(["model", "list", "--json"]).json();
    let rows = list["models"].as_array().unwrap();
    let aliases: Vec<&str> = rows
        .iter()
        .map(|row| row["alias"].as_str().unwrap())
        .collect();
    assert_eq!(
        aliases,
        [
            "default", "inherit", "fast", "balanced", "strong", "haiku", "sonnet", "opus"
        ]
    );
    for row in rows {
        assert_eq!(row["model"], "tiny", "{row}");
        assert!(row["card"]["usd_per_million"].is_null(), "{row}");
    }
    for alias in ["haiku", "strong", "inherit"] {
        house.keyed(["model", "test", alias]).run().expect(0);
    }
}

#[test]
fn the_environment_chooses_for_one_command() {
    let (one, other) = (obliging(Format::Chat), obliging(Format::Anthropic));
    let house = House::new();
    let entries = [
        entry("default", Format::Chat, &one),
        entry("other", Format::Anthropic, &other),
    ];
    house.settings(&entries.concat());
    let shown = |word: &str| {
        let show = house.keyed(["model", "show", "--json"]);
        show.env("ARTEL_MODEL", word).run()
    };
    assert_eq!(shown("other").json()["provider"], "anthropic");
    assert_eq!(shown("default").json()["provider"], "openai-chat");
    assert_eq!(shown("").json()["provider"], "openai-chat");
    let named = shown("ollama:qwen3:8b").json();
    assert_eq!(
        (&named["provider"], &named["model"]),
        (&"ollama".into(), &"qwen3:8b".into())
    );
    let test = house.keyed(["model", "test"]).env("ARTEL_MODEL", "other");
    test.run().expect(0);
    assert_eq!((one.seen().len(), other.seen().len()), (0, 2));
}

#[test]
fn what_nobody_knows_is_refused_with_what_is_known() {
    let stand_in = obliging(Format::Chat);
    let house = House::with_model(Format::Chat, &stand_in);
    let test = |word: &str| house.keyed(["model", "test", word]).run();
    let chosen = |word: &str| {
        let test = house.keyed(["model", "test"]).env("ARTEL_MODEL", word);
        test.run()
    };
    let all = [
        test("hiaku"),
        test("gpt"),
        test("antropic:claude"),
        test("openai"),
        test("google:"),
        chosen("sonnett"),
        chosen("claude:opus"),
    ];
    let all = all.map(|seen| seen.text()).concat();
    insta::assert_snapshot!(all, @r"
        exit 2
        error[M002]: there is no model alias `hiaku`
          why: known are `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
          try: did you mean `haiku`?
        exit 2
        error[M002]: there is no model alias `gpt`
          why: known are `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
          try: `artel model list` shows what each means here
        exit 2
        error[M001]: there is no provider `antropic`
          why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
          try: did you mean `anthropic:…`?
        exit 2
        error[M002]: there is no model alias `openai`
          why: known are `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
          try: name a model of it too: `openai:MODEL`
        exit 2
        error[M002]: `google:` names no model
          why: what follows the colon is empty
          try: name a model of it too: `google:MODEL`
        exit 2
        error[M002]: there is no model alias `sonnett`
          why: known are `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
          try: did you mean `sonnet`?
        exit 2
        error[M001]: there is no provider `claude`
          why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
          try: a model is named as `provider:model`, or by an alias
        ");
    assert_eq!(stand_in.seen(), [], "nothing took its place");
}

#[test]
fn a_provider_that_settings_name_wrongly_is_refused_with_those_there_are() {
    let house = House::new();
    house.settings("[models.default]\nprovider = \"openia\"\nmodel = \"m\"\n");
    let seen = house.artel(["model", "test"]).run().expect(2);
    for word in ["artel.toml` line 2", "openai-chat", "rehearsal"] {
        assert!(seen.err.contains(word), "{}", seen.err);
    }
}

#[test]
fn a_model_is_shown_with_place_key_price_and_health() {
    let stand_in = obliging(Format::Chat);
    let house = House::new();
    let priced =
        "[prices.\"tiny\"]\ninput = 0.20\noutput = 1.5\ncontext = 32768\nmax_output = 4096\n";
    house.settings(&(entry("default", Format::Chat, &stand_in) + priced));
    let seen = house.keyed(["model", "show"]).run();
    let text = seen.text().replace(&stand_in.url(), "PLACE");
    insta::assert_snapshot!(text, @r"
        exit 0
        alias      default
        means      openai-chat:tiny (entry [models.default])
        place      PLACE
        key        the variable `MY_KEY`
        context    32.7k
        answer     4.0k
        price      $0.2 / $1.5 for a million tokens read / written
        health     well, as far as known
        ");
    let shown = house.keyed(["model", "show", "--json"]).run().json();
    assert_eq!(shown["card"]["usd_per_million"]["input"], 0.2);
    assert_eq!(shown["key"], "the variable `MY_KEY`");
    assert_eq!(shown["is_local"], true);
    let remote = house.ok(["model", "show", "anthropic:unheard-of"]);
    insta::assert_snapshot!(remote.text(), @r"
        exit 0
        alias      anthropic:unheard-of
        means      anthropic:unheard-of (as named)
        place      https://api.anthropic.com
        key        none; `artel auth set anthropic` stores one
        context    unknown
        answer     unknown
        price      unknown
        health     well, as far as known
        ");
}
