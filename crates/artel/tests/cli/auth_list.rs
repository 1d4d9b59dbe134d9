//! `artel auth status` and `remove`: which keys there are, which one is used, and none of them shown.

use std::fs;

use artel_testkit::standin::Format;
use serde_json::Value;

use crate::auth::with_provider;
use crate::support::{Artel, House, KEY, obliging};

/// Returns what `auth status` says, a line for each key.
fn listed(artel: Artel) -> Vec<String> {
    let seen = artel.words(["auth", "status", "--json"]).run().expect(0);
    let line = |key: &Value| {
        let text = |name: &str| key[name].as_str().unwrap_or("-").to_owned();
        let used = if key["is_used"] == true {
            ", in use"
        } else {
            ""
        };
        let (provider, account) = (text("provider"), text("account"));
        format!("{provider} {account}: {}{used}", text("place"))
    };
    let report = seen.json();
    report["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

#[test]
fn a_named_account_beats_the_environment() {
    let stand_in = obliging(Format::Anthropic);
    let house = with_provider(Format::Anthropic, &stand_in);
    for (account, key) in [("default", "sk-stored-default"), ("work", "sk-stored-work")] {
        let set = house.artel(["auth", "set", "anthropic", "--account", account]);
        set.given(key).run().expect(0);
    }
    let used = |artel: Artel| {
        artel.words(["model", "test"]).run().expect(0);
        stand_in.seen().last().unwrap().headers["x-api-key"].clone()
    };
    let variable = |artel: Artel| artel.env("ANTHROPIC_API_KEY", "sk-from-variable");
    let work = |artel: Artel| artel.env("ARTEL_ACCOUNT", "work");
    let plain = || house.artel([]);
    assert_eq!(used(plain()), "sk-stored-default");
    assert_eq!(used(variable(plain())), "sk-from-variable");
    assert_eq!(used(work(variable(plain()))), "sk-stored-work");
    let (own, default, office) = (
        "anthropic -: variable ANTHROPIC_API_KEY",
        "anthropic default: encrypted file",
        "anthropic work: encrypted file",
    );
    let used = |line: &str| format!("{line}, in use");
    assert_eq!(listed(plain()), [&used(default), office]);
    assert_eq!(listed(variable(plain())), [&used(own), default, office]);
    let keys = listed(work(variable(plain())));
    assert_eq!(keys, [own, default, &used(office)]);
    // What is named and is not there is not replaced by something else.
    let other = || variable(plain()).env("ARTEL_ACCOUNT", "other");
    let named = other().words(["model", "test", "anthropic:tiny"]);
    named.run().fails(4, "K003");
    let seen = other().words(["auth", "status"]).run().expect(0);
    seen.says("note: no key is stored for the account `other`, which `ARTEL_ACCOUNT` names");
    let shown = work(plain()).words(["model", "show"]).run();
    shown.says("key        the encrypted file, account `work`");
}

#[test]
fn the_variable_of_an_entry_is_listed_as_the_one_in_use() {
    let stand_in = obliging(Format::Chat);
    let house = House::with_model(Format::Chat, &stand_in);
    let keys = house.keyed([]).env("OPENAI_API_KEY", "sk-usual-0123456");
    let expected = [
        "openai -: variable OPENAI_API_KEY, in use",
        "openai-chat -: variable MY_KEY, in use",
        "openai-chat -: variable OPENAI_API_KEY",
    ];
    assert_eq!(listed(keys), expected);
    let none = house.ok(["auth", "status"]);
    none.says("note: the model `default` has no key: the variable `MY_KEY`");
}

#[test]
fn the_list_shows_no_key() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    insta::assert_snapshot!(house.ok(["auth", "status"]).text(), @r"
        exit 0
        no keys yet; `artel auth set anthropic` stores one
        ");
    let set = house.artel(["auth", "set", "openai-chat"]).given(KEY);
    set.run().expect(0);
    let status = || {
        house
            .artel(["auth", "status"])
            .env("GEMINI_API_KEY", "sk-canary-gemini")
    };
    let seen = status().run().expect(0);
    let day = &house.ok(["auth", "status", "--json"]).json()["keys"][0]["since"];
    let day: String = day.as_str().unwrap().chars().take(10).collect();
    insta::assert_snapshot!(seen.text().replace(&day, "2000-01-01"), @r"
        exit 0
        PROVIDER     ACCOUNT  PLACE                    SINCE
        openai-chat  default  encrypted file           2000-01-01  in use
        google       -        variable GEMINI_API_KEY  -           in use
        ");
    let programs = status().words(["--json"]).run();
    for seen in [seen, programs] {
        assert!(!seen.out.contains("canary") && !seen.err.contains("canary"));
    }
}

#[test]
fn keys_are_removed_one_by_one_and_all_at_once() {
    let stand_in = obliging(Format::Chat);
    let house = with_provider(Format::Chat, &stand_in);
    for account in ["default", "work", "play"] {
        let set = house.artel(["auth", "set", "openai-chat", "--account", account]);
        set.given(KEY).run().expect(0);
    }
    let all: String = [
        house.artel(["auth", "remove", "openai-chat"]),
        house.artel(["auth", "remove", "openai-chat"]),
        house.artel(["auth", "remove", "anthropic", "--account", "work"]),
        house.artel([
            "auth",
            "remove",
            "openai-chat",
            "--account",
            "work",
            "--json",
        ]),
        house.artel(["auth", "remove"]),
        house.artel(["auth", "remove", "--all"]),
        house.artel(["auth", "remove", "--all", "--yes"]),
        house.artel(["auth", "remove", "--all", "--yes", "--json"]),
    ]
    .map(|artel| artel.run().text())
    .concat();
    insta::assert_snapshot!(all, @r#"
        exit 0
        removed the stored key of openai-chat, account `default`
        exit 4
        error[K003]: no key is stored for `openai-chat` under the account `default`
          try: `artel auth status` lists what is stored
        exit 4
        error[K003]: no key is stored for `anthropic` under the account `work`
          try: `artel auth status` lists what is stored
        exit 0
        {"account":"work","removed":"openai-chat"}
        exit 2
        error[C005]: `artel auth remove` needs <PROVIDER>
          try: `artel auth remove --help`
        exit 3
        error[C006]: remove all stored keys: nobody is here to say yes
          try: run it in a terminal, or add `--yes` if you mean it
        exit 0
        removed 1 key
        exit 0
        {"left":[],"removed":0}
        "#);
    assert!(!house.data().join("keys.enc").exists());
    assert!(!house.data().join("keys.key").exists());
}

#[test]
fn damaged_keys_are_said_and_stop_nothing_else() {
    let stand_in = obliging(Format::Anthropic);
    let house = with_provider(Format::Anthropic, &stand_in);
    let set = || house.artel(["auth", "set", "anthropic"]).given(KEY).run();
    set().expect(0);
    let file = house.data().join("keys.enc");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let asked = stand_in.seen().len();
    for seen in [
        house.artel(["auth", "status"]).run(),
        house.artel(["auth", "remove", "anthropic"]).run(),
        set(),
        house.artel(["model", "test"]).run(),
    ] {
        seen.fails(1, "K001").says("`artel auth remove --all`");
    }
    assert_eq!(
        stand_in.seen().len(),
        asked,
        "no key was asked for or tried"
    );
    for words in [
        &["config", "show"][..],
        &["journal", "verify"],
        &["model", "list"],
        &["usage"],
    ] {
        house.artel([]).words(words).run().expect(0);
    }
    let keyed = house.artel(["model", "test"]).env("ANTHROPIC_API_KEY", KEY);
    keyed.run().expect(0);
    house.settings("");
    house.artel(["model", "test"]).run().fails(1, "K001");
    house.ok(["auth", "remove", "--all", "--yes"]);
    assert_eq!(listed(house.artel([])), Vec::<String>::new());
}
