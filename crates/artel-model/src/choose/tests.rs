//! Every rule of the choice, in tables.

use artel_types::{FailureCode, StreamName};
use proptest::prelude::*;

use super::*;

/// Makes a menu: entries as `alias=provider:model@base_url`, keys, models of Ollama, an
/// override.
fn menu(
    entries: &[&str],
    keyed: &[Provider],
    ollama: &[&str],
    over: Option<&str>,
) -> ModelSelector {
    let entry = |text: &&str| {
        let (alias, rest) = text.split_once('=').unwrap();
        let (name, url) = rest.split_once('@').unwrap_or((rest, ""));
        let (provider, model) = name.split_once(':').unwrap();
        let mut entry = ModelAliasSettings::named(provider.parse().unwrap(), model);
        entry.base_url = (!url.is_empty()).then(|| url.to_owned());
        (alias.to_owned(), entry)
    };
    ModelSelector {
        entries: entries.iter().map(entry).collect(),
        override_with: over.map(str::to_owned),
        keyed: keyed.to_vec(),
        ollama: ollama.iter().map(|&model| model.to_owned()).collect(),
        catalogue: ModelCatalogue::default(),
    }
}

fn balanced(provider: Provider) -> String {
    let catalogue = ModelCatalogue::default();
    let model = catalogue.of_class(provider, ModelClass::Balanced).unwrap();
    format!("{provider}:{model}")
}

fn of_class(provider: Provider, class: ModelClass) -> String {
    let catalogue = ModelCatalogue::default();
    format!(
        "{provider}:{}",
        catalogue.of_class(provider, class).unwrap()
    )
}

/// Expects `provider:model (how)`, or the code of a refusal.
#[track_caller]
fn check(menu: &ModelSelector, wanted: Option<&str>, expected: &str) {
    let found = match menu.choose(wanted) {
        Ok(chosen) => {
            assert_eq!(chosen.wanted, wanted.unwrap_or("default"));
            let ModelAliasSettings {
                provider, model, ..
            } = &chosen.entry;
            format!("{provider}:{model} ({})", chosen.resolved)
        }
        Err(failure) => failure.code.to_string(),
    };
    assert_eq!(found, expected, "{wanted:?}");
}

#[test]
fn without_a_wish_the_default_is_found_in_order() {
    use Provider::{Anthropic, Google, OpenAi};
    let nothing = menu(&[], &[], &[], None);
    let one = menu(&["mine=google:g"], &[Anthropic], &["q"], None);
    let two = ["mine=google:g", "other=ollama:o"];
    let keyed = menu(&two, &[OpenAi, Google], &["q"], None);
    let ollama = menu(&two, &[], &["qwen3:8b", "other"], None);
    let named = menu(&["default=openai:d", "a=google:g"], &[Anthropic], &[], None);
    let key = format!(
        "{} (class balanced of openai, which there is a key for)",
        balanced(OpenAi)
    );
    for wanted in [None, Some("default"), Some("inherit")] {
        check(&named, wanted, "openai:d (entry [models.default])");
        check(&one, wanted, "google:g ([models.mine], the only entry)");
        check(&keyed, wanted, &key);
        check(
            &ollama,
            wanted,
            "ollama:qwen3:8b (the first model of the local Ollama)",
        );
        check(&nothing, wanted, "M004");
        check(&menu(&two, &[], &[], None), wanted, "M004");
    }
}

#[test]
fn aliases_with_an_entry_mean_that_entry() {
    let menu = menu(
        &["default=openai:d", "haiku=google:g", "my.own=ollama:o"],
        &[],
        &[],
        None,
    );
    check(&menu, Some("haiku"), "google:g (entry [models.haiku])");
    check(&menu, Some("my.own"), "ollama:o (entry [models.my.own])");
    check(
        &menu,
        Some("fast"),
        &format!(
            "{} (nearest class fast of openai)",
            of_class(Provider::OpenAi, ModelClass::Fast)
        ),
    );
}

#[test]
fn an_entry_for_a_class_holds_for_its_other_name() {
    let menu = menu(&["default=openai:d", "fast=google:g"], &[], &[], None);
    for alias in ["fast", "haiku"] {
        check(&menu, Some(alias), "google:g (entry [models.fast])");
    }
}

#[test]
fn class_aliases_mean_the_nearest_class_of_the_default_s_provider() {
    let usual = "https://api.anthropic.com/";
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Google] {
        let by_entry = menu(&[&format!("default={provider}:own")], &[], &[], None);
        let by_key = menu(&[], &[provider], &[], None);
        for (alias, class) in [
            ("haiku", ModelClass::Fast),
            ("fast", ModelClass::Fast),
            ("sonnet", ModelClass::Balanced),
            ("balanced", ModelClass::Balanced),
            ("opus", ModelClass::Strong),
            ("strong", ModelClass::Strong),
        ] {
            let expected = format!(
                "{} (nearest class {class} of {provider})",
                of_class(provider, class)
            );
            check(&by_entry, Some(alias), &expected);
            check(&by_key, Some(alias), &expected);
        }
    }
    let spelt_out = menu(&[&format!("default=anthropic:own@{usual}")], &[], &[], None);
    let opus = of_class(Provider::Anthropic, ModelClass::Strong);
    check(
        &spelt_out,
        Some("opus"),
        &format!("{opus} (nearest class strong of anthropic)"),
    );
}

#[test]
fn a_class_keeps_how_the_default_is_reached() {
    let mut menu = menu(&["default=anthropic:own"], &[], &[], None);
    let default = menu.entries.get_mut("default").unwrap();
    default.account = Some("work".to_owned());
    default.api_key_env = Some("MY_KEY".to_owned());
    default
        .headers
        .insert("x-team".to_owned(), "blue".to_owned());
    let expected = ModelAliasSettings {
        model: menu
            .catalogue
            .of_class(Provider::Anthropic, ModelClass::Fast)
            .unwrap()
            .to_owned(),
        ..default.clone()
    };
    let chosen = menu.choose(Some("haiku")).unwrap();
    assert_eq!(chosen.entry, expected);
    assert!(chosen.card.input.is_some());
}

#[test]
fn a_server_in_front_of_the_provider_has_its_classes() {
    let fast = ModelCatalogue::known(Provider::Anthropic)
        .iter()
        .find(|known| known.class == ModelClass::Fast)
        .unwrap();
    let strong = ModelCatalogue::known(Provider::Anthropic)
        .iter()
        .find(|known| known.class == ModelClass::Strong)
        .unwrap();
    let entry = format!("default=anthropic:{}@https://proxy.example", strong.id);
    let menu = menu(&[&entry], &[], &[], None);
    let expected = format!("anthropic:{} (nearest class fast of anthropic)", fast.id);
    check(&menu, Some("haiku"), &expected);
    let chosen = menu.choose(Some("haiku")).unwrap();
    assert_eq!(chosen.base_url(), "https://proxy.example");
}

#[test]
fn where_no_classes_are_known_the_default_answers_and_says_so() {
    for (entry, place, model) in [
        (
            "default=openai-chat:q@http://127.0.0.1:8080/v1",
            "openai-chat:127.0.0.1:8080",
            "openai-chat:q",
        ),
        ("default=openai-chat:q", "openai-chat", "openai-chat:q"),
        ("default=ollama:q", "ollama", "ollama:q"),
        ("default=rehearsal:a.yaml", "rehearsal", "rehearsal:a.yaml"),
        (
            "default=anthropic:own@https://proxy.example/anthropic",
            "anthropic:proxy.example",
            "anthropic:own",
        ),
    ] {
        let expected = format!(
            "{model} (no classes are known of {place}, so the default: entry [models.default])"
        );
        check(&menu(&[entry], &[], &[], None), Some("opus"), &expected);
    }
    check(
        &menu(&[], &[], &["q"], None),
        Some("fast"),
        "ollama:q (no classes are known of ollama, so the default: the first model of the local \
         Ollama)",
    );
    check(&menu(&[], &[], &[], None), Some("fast"), "M004");
}

#[test]
fn a_person_s_word_replaces_every_choice() {
    let entries = ["default=anthropic:a", "big=openai:b"];
    let fast = of_class(Provider::Anthropic, ModelClass::Fast);
    for (over, expected) in [
        ("big", "openai:b (ARTEL_MODEL: entry [models.big])"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b (ARTEL_MODEL: as named)"),
        (
            "rehearsal:path/to.yaml",
            "rehearsal:path/to.yaml (ARTEL_MODEL: as named)",
        ),
        (
            "haiku",
            &format!("{fast} (ARTEL_MODEL: nearest class fast of anthropic)"),
        ),
        (
            "inherit",
            "anthropic:a (ARTEL_MODEL: entry [models.default])",
        ),
        ("bgi", "M002"),
        ("antropic:x", "M001"),
    ] {
        let menu = menu(&entries, &[], &[], Some(over));
        for wanted in [
            None,
            Some("default"),
            Some("opus"),
            Some("nobody"),
            Some("x:y"),
        ] {
            check(&menu, wanted, expected);
        }
    }
    for empty in ["", "  "] {
        let menu = menu(&entries, &[], &[], Some(empty));
        check(&menu, None, "anthropic:a (entry [models.default])");
    }
}

#[test]
fn provider_and_model_are_taken_at_their_word() {
    let menu = menu(&["default=anthropic:a@http://127.0.0.1:1"], &[], &[], None);
    for name in ["anthropic:x", "openai-chat:a/b:free", "ollama:qwen3:8b"] {
        check(&menu, Some(name), &format!("{name} (as named)"));
        assert_eq!(menu.choose(Some(name)).unwrap().entry.base_url, None);
    }
    for (name, code) in [
        ("anthropic:", "M002"),
        ("anthropic: ", "M002"),
        ("anthropic", "M002"),
        ("Anthropic:x", "M001"),
        (":x", "M001"),
        ("", "M002"),
        ("nobody", "M002"),
        ("Default", "M002"),
    ] {
        check(&menu, Some(name), code);
    }
}

#[test]
fn refusals_say_what_there_is() {
    let told =
        |menu: &ModelSelector, wanted: &str| menu.choose(Some(wanted)).unwrap_err().to_string();
    let two = menu(&["a=ollama:x", "big=ollama:y"], &[], &[], None);
    let all = [
        told(&menu(&[], &[], &[], None), "default"),
        told(&two, "default"),
        told(&two, "bgi"),
        told(&two, "some\u{1b}[31mthing"),
        told(&two, "openai"),
        told(&two, "antropic:claude"),
        told(&two, "nobody:x"),
        told(&two, "ollama:"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    error[M004]: no model is configured
      why: no key in the environment or in the key store, no Ollama on 127.0.0.1:11434, no `[models]` in `artel.toml`
      try: `artel auth set anthropic`, or start Ollama, or set `ARTEL_MODEL=rehearsal:FILE.yaml`
    error[M004]: no model is configured
      why: no key in the environment or in the key store, no Ollama on 127.0.0.1:11434, none of the 2 entries of `[models]` is named `default`
      try: `artel auth set anthropic`, or start Ollama, or set `ARTEL_MODEL=rehearsal:FILE.yaml`
    error[M002]: there is no model alias `bgi`
      why: known are `a`, `big`, `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
      try: did you mean `big`?
    error[M002]: there is no model alias `some\u{1b}[31mthing`
      why: known are `a`, `big`, `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
      try: `artel model list` shows what each means here
    error[M002]: there is no model alias `openai`
      why: known are `a`, `big`, `default`, `inherit`, `fast`, `balanced`, `strong`, `haiku`, `sonnet`, `opus`
      try: name a model of it too: `openai:MODEL`
    error[M001]: there is no provider `antropic`
      why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
      try: did you mean `anthropic:…`?
    error[M001]: there is no provider `nobody`
      why: known are `anthropic`, `openai`, `openai-chat`, `google`, `ollama`, `rehearsal`
      try: a model is named as `provider:model`, or by an alias
    error[M002]: `ollama:` names no model
      why: what follows the colon is empty
      try: name a model of it too: `ollama:MODEL`
    ");
}

#[test]
fn ollama_is_asked_only_where_it_may_be_chosen() {
    let two = ["a=google:g", "b=google:h"];
    for (entries, keyed, over, needs) in [
        (&[][..], &[][..], None, true),
        (&two, &[], None, true),
        (&two[..1], &[], None, false),
        (&["default=google:g"], &[], None, false),
        (&[], &[Provider::Google], None, false),
        (&[], &[Provider::OpenAiChat], None, true),
        (&[], &[], Some("ollama:qwen3:8b"), false),
        (&[], &[], Some("rehearsal:a.yaml"), false),
        (&two, &[], Some("a"), false),
        (&two, &[], Some("fast"), true),
        (&[], &[], Some("inherit"), true),
        (&[], &[], Some(""), true),
        (&["fast=google:g", "b=google:h"], &[], Some("fast"), false),
    ] {
        let menu = menu(entries, keyed, &[], over);
        assert_eq!(menu.needs_ollama(), needs, "{entries:?} {keyed:?} {over:?}");
    }
}

#[test]
fn the_list_has_every_alias_once() {
    let menu = menu(&["default=anthropic:a", "big=openai:b"], &[], &[], None);
    let aliases: Vec<_> = menu.list().into_iter().map(|listed| listed.alias).collect();
    let expected = [
        "big", "default", "inherit", "fast", "balanced", "strong", "haiku", "sonnet", "opus",
    ];
    assert_eq!(aliases, expected);
    for ModelAliasEntry { alias, choice } in menu.list() {
        assert_eq!(choice, menu.choose(Some(&alias)));
        assert!(choice.is_ok(), "{alias}");
    }
    let nothing = super::tests::menu(&[], &[], &[], None).list();
    let is_refused = |listed: &ModelAliasEntry| {
        let failure = listed.choice.as_ref().err();
        failure.is_some_and(|failure| failure.code == FailureCode::M004)
    };
    assert!(nothing.iter().all(is_refused) && nothing.len() == BUILT_IN.len());
}

fn at(provider: Provider, base_url: Option<&str>, proxy: Option<&str>) -> ChosenModel {
    let entry = ModelAliasSettings {
        base_url: base_url.map(str::to_owned),
        proxy: proxy.map(str::to_owned),
        ..ModelAliasSettings::named(provider, "m")
    };
    ChosenModel {
        wanted: "default".to_owned(),
        resolved: "as named".to_owned(),
        entry,
        card: ModelSpec::default(),
    }
}

#[test]
fn local_means_that_nothing_leaves_this_machine() {
    use Provider::{Anthropic, Ollama, OpenAiChat, Rehearsal};
    for (provider, base_url, proxy, is_local) in [
        (Rehearsal, None, None, true),
        (Anthropic, None, None, false),
        (OpenAiChat, None, None, false),
        (Ollama, None, None, true),
        (Ollama, Some("http://10.0.0.7:11434"), None, false),
        (OpenAiChat, Some("http://127.0.0.1:8080/v1"), None, true),
        (OpenAiChat, Some("http://127.9.8.7/v1"), None, true),
        (OpenAiChat, Some("http://[::1]:8080/v1"), None, true),
        (OpenAiChat, Some("http://localhost:8080/v1"), None, true),
        (OpenAiChat, Some("http://LOCALHOST:8080/v1"), None, true),
        (OpenAiChat, Some("http://localhost.example/v1"), None, false),
        (OpenAiChat, Some("http://127.0.0.1.example/v1"), None, false),
        (
            OpenAiChat,
            Some("http://127.0.0.1@evil.example/"),
            None,
            false,
        ),
        (OpenAiChat, Some("http://[::ffff:127.0.0.1]/"), None, false),
        (OpenAiChat, Some("http://0.0.0.0:8080"), None, false),
        (OpenAiChat, Some("not an address"), None, false),
        (OpenAiChat, Some(""), None, false),
        (Ollama, None, Some("none"), true),
        (Ollama, None, Some("http://proxy.example:3128"), false),
        (Ollama, None, Some("http://127.0.0.1:3128"), true),
    ] {
        let chosen = at(provider, base_url, proxy);
        assert_eq!(
            chosen.is_local(),
            is_local,
            "{provider} {base_url:?} {proxy:?}"
        );
    }
}

#[test]
fn a_model_that_ollama_runs_in_its_cloud_is_not_local() {
    for (model, is_local) in [
        ("gpt-oss:120b-cloud", false),
        ("qwen3-coder:cloud", false),
        ("QWEN3-Coder:480B-Cloud", false),
        ("ada/mine:20b:cloud", false),
        ("gpt-oss:20b", true),
        ("cloud", true),
        ("my-cloud:7b", true),
        ("model:cloudy", true),
        ("model:mycloud", true),
    ] {
        let mut chosen = at(Provider::Ollama, None, None);
        chosen.entry.model = model.to_owned();
        assert_eq!(chosen.is_local(), is_local, "{model}");
    }
    // A script is played here, whatever the name of its file.
    let mut script = at(Provider::Rehearsal, None, None);
    script.entry.model = "a:cloud".to_owned();
    assert!(script.is_local());
}

#[test]
fn health_is_kept_by_place() {
    use Provider::{Anthropic, Google, Ollama, OpenAi, OpenAiChat, Rehearsal};
    for (provider, base_url, name, url) in [
        (Anthropic, None, "anthropic", "https://api.anthropic.com"),
        (
            Anthropic,
            Some("https://api.anthropic.com/"),
            "anthropic",
            "https://api.anthropic.com",
        ),
        (OpenAi, None, "openai", "https://api.openai.com/v1"),
        (
            Google,
            Some("https://gemini.example"),
            "google:gemini.example",
            "https://gemini.example",
        ),
        (
            OpenAiChat,
            Some("http://127.0.0.1:8080/v1"),
            "openai-chat:127.0.0.1:8080",
            "http://127.0.0.1:8080/v1",
        ),
        (
            OpenAiChat,
            Some("https://OpenRouter.ai/api/v1/"),
            "openai-chat:openrouter.ai",
            "https://OpenRouter.ai/api/v1",
        ),
        (
            OpenAiChat,
            Some("http://[::1]:8080/v1"),
            "openai-chat:::1:8080",
            "http://[::1]:8080/v1",
        ),
        (Ollama, None, "ollama", "http://127.0.0.1:11434"),
        (Rehearsal, None, "rehearsal", ""),
    ] {
        let chosen = at(provider, base_url, None);
        assert_eq!(chosen.health_name(), name);
        assert_eq!(chosen.base_url(), url);
    }
}

proptest! {
    #[test]
    fn any_place_can_name_a_stream(url in ".{0,300}", host in "[a-z0-9.\\[\\]:-]{0,250}") {
        for url in [url, format!("http://{host}/v1")] {
            let name = at(Provider::OpenAiChat, Some(&url), None).health_name();
            prop_assert!(StreamName::provider(&name).is_ok(), "{}", name);
        }
    }

    #[test]
    fn any_wish_is_answered(word in ".{0,60}", over in proptest::option::of(".{0,20}")) {
        let menu = menu(&["default=anthropic:a"], &[], &[], over.as_deref());
        if let Err(failure) = menu.choose(Some(&word)) {
            prop_assert!(matches!(failure.code, FailureCode::M001 | FailureCode::M002));
            let told = failure.to_string();
            prop_assert!(!told.contains('\x1b'), "{}", told);
        }
    }
}
