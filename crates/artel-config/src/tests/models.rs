//! Entries of `[models]`: the forms that people write, the layers, and what is refused.

use std::time::Duration;

use artel_types::FailureCode;
use artel_types::model::{ModelAliasSettings, Provider};

use super::house::House;
use crate::SettingOrigin;

const EXAMPLE: &str = r#"
[models.default]
provider = "openai-chat"        # anthropic | openai | openai-chat | google | ollama | rehearsal
model = "qwen3-coder"
base_url = "http://127.0.0.1:8080/v1"   # optional
api_key_env = "MY_KEY"                   # optional; otherwise the provider's usual variable, then the key store
[models.haiku]
provider = "anthropic"
model = "…"
"#;

#[test]
fn the_example_is_read_as_it_stands() {
    let house = House::new().workshop(EXAMPLE);
    let models = house.load().unwrap().models;
    let expected = ModelAliasSettings {
        provider: Provider::OpenAiChat,
        model: "qwen3-coder".to_owned(),
        base_url: Some("http://127.0.0.1:8080/v1".to_owned()),
        api_key_env: Some("MY_KEY".to_owned()),
        account: None,
        headers: [].into(),
        timeout: None,
        proxy: None,
    };
    assert_eq!(models["default"].value, expected);
    assert_eq!(
        models["default"].origin,
        SettingOrigin::Workshop(house.workshop_file(), 3)
    );
    assert_eq!(models["haiku"].value.provider, Provider::Anthropic);
    assert_eq!(models["haiku"].value.model, "…");
    assert_eq!(models.len(), 2);
}

#[test]
fn every_provider_and_every_setting_is_taken() {
    for provider in Provider::ALL {
        let house = House::new()
            .flag("models.a.provider", provider.as_str())
            .flag("models.a.model", "m");
        assert_eq!(house.load().unwrap().models["a"].value.provider, provider);
    }
    let house = House::new().workshop(
        "[models.\"my.own\"]\nprovider = 'ollama'\nmodel = 'qwen3:8b'\naccount = 'work'\n\
         timeout = '90s'\nproxy = 'http://proxy:3128/'\nbase_url = 'http://10.0.0.7:11434/'\n\
         headers = { X-Team = 'blue', anthropic-beta = 'a,b' }\n",
    );
    let entry = house.load().unwrap().models["my.own"].value.clone();
    assert_eq!(entry.account.as_deref(), Some("work"));
    assert_eq!(entry.timeout, Some(Duration::from_secs(90)));
    assert_eq!(entry.proxy.as_deref(), Some("http://proxy:3128"));
    assert_eq!(entry.base_url.as_deref(), Some("http://10.0.0.7:11434"));
    let headers: Vec<_> = entry.headers.iter().collect();
    let expected = [("X-Team", "blue"), ("anthropic-beta", "a,b")];
    assert!(
        headers.into_iter().eq(expected
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .iter()
            .map(|(name, text)| (name, text)))
    );
}

#[test]
fn entries_are_joined_field_by_field() {
    let house = House::new()
        .user("[models.default]\nprovider = 'anthropic'\nmodel = 'a'\nheaders.x-a = '1'\n")
        .workshop("[models.default]\nmodel = 'b'\nheaders.x-b = '2'\n[models.\"q2.5\"]\nmodel='q'")
        .flag("models.default.model", "c")
        .flag("models.\"q2.5\".provider", "ollama");
    let settings = house.load().unwrap();
    let entry = &settings.models["default"];
    assert_eq!(entry.origin, SettingOrigin::User(house.user_file(), 2));
    assert_eq!(entry.value.model, "c");
    assert_eq!(entry.value.headers.len(), 2);
    assert_eq!(settings.models["q2.5"].origin, SettingOrigin::Flag);

    let rows = settings.rows();
    let shown: Vec<_> = rows[..7]
        .iter()
        .map(|row| format!("{} = {} ({})", row.key, row.value, row.origin))
        .collect();
    insta::assert_snapshot!(house.anonymous(&shown.join("\n")), @r#"
    profile = "local" (default)
    models.default.provider = "anthropic" (user HOME/.config/artel/artel.toml:2)
    models.default.model = "c" (--set)
    models.default.headers.x-a = "1" (user HOME/.config/artel/artel.toml:4)
    models.default.headers.x-b = "2" (workshop WORKSHOP/artel.toml:3)
    models."q2.5".provider = "ollama" (--set)
    models."q2.5".model = "q" (workshop WORKSHOP/artel.toml:5)
    "#);
}

#[test]
fn the_checksum_follows_every_field() {
    let entry = "[models.default]\nprovider = 'anthropic'\nmodel = 'a'\n";
    let checksum = |more: &str| {
        let house = House::new().workshop(format!("{entry}{more}"));
        house.load().unwrap().checksum()
    };
    let plain = checksum("");
    assert_ne!(plain, House::new().load().unwrap().checksum());
    for more in [
        "account = 'work'",
        "base_url = 'http://h'",
        "headers.x-a = '1'",
        "[prices.a]\ninput = 1",
        "[budget.provider.anthropic]\nusd = 1",
        "[gateway]\nslots = 3",
    ] {
        assert_ne!(checksum(more), plain, "{more}");
    }
    assert_eq!(
        checksum("base_url = 'http://h/'\ntimeout = '1m'"),
        checksum("base_url = 'http://h'\ntimeout = '60s'")
    );
}

#[test]
fn what_is_wrong_is_named_with_file_line_and_remedy() {
    let house = House::new().workshop(
        "[models.default]\nprovider = 'antropic'\nmodel = ''\nbase_url = 'localhost:8080'\n\
         apikey = 'x'\napi_key_env = 'my key'\ntimeout = '0s'\nproxy = 1\n\
         [models.default.headers]\nAuthorization = 'x'\nHost = 'x'\n[models.Opus]\nmodel = 'x'\n\
         [models.inherit]\nmodel = 'x'\n[models.empty]\n[[models.list]]\n",
    );
    insta::assert_snapshot!(house.complaints(), @r#"
    error[M001]: there is no provider `antropic`
      why: `WORKSHOP/artel.toml` line 2
      try: write "anthropic" or "openai" or "openai-chat" or "google" or "ollama" or "rehearsal"; did you mean "anthropic"?
    error[S005]: `models.default.model` cannot be `''`
      why: `WORKSHOP/artel.toml` line 3
      try: write text in quotes: one line of at most 1000 characters
    error[S005]: `models.default.base_url` cannot be `'localhost:8080'`
      why: `WORKSHOP/artel.toml` line 4
      try: write an address that begins with http:// or https://, without user, `?` and `#`, such as "http://127.0.0.1:8080/v1"
    error[S003]: unknown setting `models.default.apikey`
      why: `WORKSHOP/artel.toml` line 5
      try: did you mean `models.default.api_key_env`?
    error[S005]: `models.default.api_key_env` cannot be `***`
      why: `WORKSHOP/artel.toml` line 6
      try: write the name of the variable that holds the key, such as "MY_KEY"; not the key itself
    error[S005]: `models.default.timeout` cannot be `'0s'`
      why: `WORKSHOP/artel.toml` line 7
      try: write a span in quotes, such as "200ms", "30s", "15m", "24h", "7d", "2w"; more than zero
    error[S004]: `models.default.proxy` has the wrong type
      why: `WORKSHOP/artel.toml` line 8 has a whole number: `1`
      try: write an address such as "http://proxy.example:3128", without user and path, or "none"; a proxy that wants a password goes into the variable HTTPS_PROXY
    error[S005]: the header `Authorization` cannot be set
      why: `WORKSHOP/artel.toml` line 10: settings are no place for keys
      try: name the variable that holds the key: `api_key_env = "MY_KEY"`
    error[S005]: the header `Host` cannot be set
      why: `WORKSHOP/artel.toml` line 11: every call sets it itself
      try: take the line away
    error[S005]: `Opus` cannot name a model
      why: `WORKSHOP/artel.toml` line 12
      try: use 1 to 64 characters of a-z, 0-9, `-`, `_`, `.`
    error[S005]: `inherit` cannot name a model
      why: `WORKSHOP/artel.toml` line 14
      try: write `[models.default]`: `inherit` always means the default
    error[S005]: `models.empty` is empty
      why: `WORKSHOP/artel.toml` line 16
      try: write settings below the line, or take it away
    error[S004]: `models.list` is a section, not a setting
      why: `WORKSHOP/artel.toml` line 17
      try: write `[models.list]` on a line of its own, and settings below it
    "#);
}

#[test]
fn what_is_missing_after_all_layers_is_named() {
    let house = House::new()
        .user("[models.a]\nmodel = 'm'\n")
        .workshop("\n[models.a]\nbase_url = 'http://h'\n[models.\"b.c\"]\nprovider = 'ollama'\n")
        .flag("models.d.timeout", "1s");
    insta::assert_snapshot!(house.complaints(), @r#"
    error[S005]: `models.a` has no `provider`
      why: `HOME/.config/artel/artel.toml` line 2
      try: write `provider` below `[models.a]`
    error[S005]: `models."b.c"` has no `model`
      why: `WORKSHOP/artel.toml` line 5
      try: write `model` below `[models."b.c"]`
    error[S005]: `models.d` has no `provider` and `model`
      why: `--set` on the command line
      try: write `provider` and `model` below `[models.d]`
    "#);
    let whole = house
        .flag("models.a.provider", "ollama")
        .flag("models.\"b.c\".model", "m")
        .flag("models.d.provider", "ollama")
        .flag("models.d.model", "m");
    assert_eq!(whole.load().unwrap().models.len(), 3);
}

#[test]
fn sections_and_variables_say_how_it_is_meant() {
    let house = House::new()
        .workshop("models = 'claude'\nprices = 1\n[budget]\nprovider = 1\n")
        .variable("ARTEL_MODELS_DEFAULT_MODEL", "x")
        .variable("ARTEL_PRICES_GPT_INPUT", "1")
        .variable("ARTEL_BUDGET_PROVIDER_GOOGLE_USD", "1")
        .variable("ARTEL_BUDGET_GLOBL_USD", "1");
    insta::assert_snapshot!(house.complaints(), @r"
    error[S004]: `models` is a section, not a setting
      why: `WORKSHOP/artel.toml` line 1
      try: write `[models.<alias>]` on a line of its own, and settings below it
    error[S004]: `prices` is a section, not a setting
      why: `WORKSHOP/artel.toml` line 2
      try: write `[prices.<model>]` on a line of its own, and settings below it
    error[S004]: `budget.provider` is a section, not a setting
      why: `WORKSHOP/artel.toml` line 4
      try: write `[budget.provider.<provider>]` on a line of its own, and settings below it
    error[S003]: unknown setting `ARTEL_BUDGET_GLOBL_USD`
      why: the variable `ARTEL_BUDGET_GLOBL_USD`
      try: did you mean `ARTEL_BUDGET_GLOBAL_USD`?
    error[S003]: unknown setting `ARTEL_BUDGET_PROVIDER_GOOGLE_USD`
      why: the variable `ARTEL_BUDGET_PROVIDER_GOOGLE_USD`; where you choose the names, there are no variables
      try: write it into `artel.toml`, or use `--set`, as in `--set models.default.model=x`
    error[S003]: unknown setting `ARTEL_MODELS_DEFAULT_MODEL`
      why: the variable `ARTEL_MODELS_DEFAULT_MODEL`; where you choose the names, there are no variables
      try: write it into `artel.toml`, or use `--set`, as in `--set models.default.model=x`
    error[S003]: unknown setting `ARTEL_PRICES_GPT_INPUT`
      why: the variable `ARTEL_PRICES_GPT_INPUT`; where you choose the names, there are no variables
      try: write it into `artel.toml`, or use `--set`, as in `--set models.default.model=x`
    ");
}

#[test]
fn flags_are_checked_like_files() {
    for (key, text, code) in [
        ("models.A.model", "m", FailureCode::S005),
        ("models.a.provider", "claude", FailureCode::M001),
        ("models.a.headers.cookie", "x", FailureCode::S005),
        ("models.a.headers", "x", FailureCode::S003),
        ("models.a", "x", FailureCode::S003),
        ("budget.provider.x.usd", "1", FailureCode::M001),
        ("prices.m.input", "cheap", FailureCode::S004),
        ("prices.m.input", "-1", FailureCode::S005),
    ] {
        let failures = House::new().flag(key, text).load().unwrap_err();
        assert_eq!(failures.len(), 1, "{key}");
        assert_eq!(failures[0].code, code, "{key}");
    }
}
