//! The shipped list is sane, and the person's settings take precedence.

use std::collections::BTreeSet;

use artel_types::Money;
use artel_types::model::TokenUsage;

use super::*;

const LISTED: [Provider; 3] = [Provider::Anthropic, Provider::OpenAi, Provider::Google];

fn catalogue(extra: &[(&str, ModelSpec)]) -> ModelCatalogue {
    let extra = extra.iter().map(|(id, card)| ((*id).to_owned(), *card));
    ModelCatalogue::shipped(&extra.collect())
}

#[test]
fn the_shipped_list_can_be_read() {
    let shipped = ShippedCatalogue::parse(shipped::text());
    assert!(shipped.is_ok(), "{:?}", shipped.err());
    assert_eq!(ModelCatalogue::as_of().len(), "2026-01-01".len());
}

#[test]
fn every_provider_has_every_class_and_every_model_once() {
    for provider in LISTED {
        for class in ModelClass::ALL {
            let model = catalogue(&[]).of_class(provider, class).map(str::to_owned);
            assert!(model.is_some(), "{provider} {class}");
        }
        let known = ModelCatalogue::known(provider);
        let ids: BTreeSet<_> = known.iter().map(|known| &known.id).collect();
        assert_eq!(ids.len(), known.len(), "{provider}");
        for CatalogueModel { id, card, .. } in known {
            assert_eq!(catalogue(&[]).card(provider, id), *card, "{id}");
        }
    }
    for provider in [Provider::OpenAiChat, Provider::Ollama, Provider::Rehearsal] {
        assert_eq!(catalogue(&[]).of_class(provider, ModelClass::Fast), None);
    }
}

#[test]
fn shipped_prices_and_limits_are_sane() {
    for CatalogueModel { id, card, .. } in LISTED.iter().flat_map(|it| ModelCatalogue::known(*it)) {
        let (input, output) = (card.input.unwrap(), card.output.unwrap());
        assert!(
            input > Money(0) && output > input && output < Money(200_000_000),
            "{id}"
        );
        assert!(
            card.cache_read
                .is_none_or(|read| read > Money(0) && read <= input),
            "{id}"
        );
        assert!(card.cache_write.is_none_or(|write| write >= input), "{id}");
        let (context, output_limit) = (card.context.unwrap(), card.max_output.unwrap());
        assert!((8_000..=2_000_000).contains(&context), "{id}");
        assert!((4_000..context).contains(&output_limit), "{id}");
        let Some(long) = card.long else { continue };
        assert!(
            long.above < context && long.input > input && long.output > output,
            "{id}"
        );
        assert!(long.cache_read > card.cache_read, "{id}");
        assert_eq!(
            long.cache_write.is_some(),
            card.cache_write.is_some(),
            "{id}"
        );
        assert!(long.cache_write >= card.cache_write, "{id}");
    }
}

#[test]
fn a_strong_model_costs_no_less_than_a_fast_one() {
    for provider in LISTED {
        let price = |class| {
            let catalogue = catalogue(&[]);
            let model = catalogue.of_class(provider, class).unwrap().to_owned();
            catalogue.card(provider, &model).output.unwrap()
        };
        assert!(
            price(ModelClass::Fast) < price(ModelClass::Balanced),
            "{provider}"
        );
        assert!(
            price(ModelClass::Balanced) < price(ModelClass::Strong),
            "{provider}"
        );
    }
}

#[test]
fn cards_are_found_where_the_model_is_known() {
    let catalogue = catalogue(&[]);
    let opus = catalogue.card(Provider::Anthropic, "claude-opus-5-5");
    assert_eq!(opus.input, Some(Money(4_000_000)));
    for (provider, model, is_known) in [
        (Provider::Anthropic, "claude-opus-5-5-20260922", true),
        (Provider::OpenAiChat, "anthropic/claude-opus-5.5", true),
        (Provider::OpenAiChat, "claude-opus-5-5", true),
        (Provider::OpenAiChat, "openai/claude-opus-5.5", false),
        (Provider::OpenAiChat, "qwen/claude-opus-5.5", false),
        (Provider::OpenAi, "claude-opus-5-5", false),
        (Provider::Ollama, "claude-opus-5-5", false),
        (Provider::Rehearsal, "claude-opus-5-5", false),
        (Provider::Anthropic, "claude-opus-9", false),
        (Provider::Anthropic, "", false),
    ] {
        let expected = if is_known { opus } else { ModelSpec::default() };
        assert_eq!(
            catalogue.card(provider, model),
            expected,
            "{provider} {model}"
        );
    }
    let unknown = catalogue.card(Provider::Anthropic, "claude-opus-9");
    assert_eq!(
        unknown.cost(&TokenUsage::default()),
        None,
        "unknown, never zero"
    );
}

#[test]
fn the_person_s_word_comes_first_field_by_field() {
    let shipped = catalogue(&[]).card(Provider::Anthropic, "claude-haiku-4-5");
    let dear = ModelSpec {
        input: Some(Money(9_000_000)),
        ..ModelSpec::default()
    };
    let small = ModelSpec {
        context: Some(9),
        thinking: ThinkingStyle::None,
        ..ModelSpec::default()
    };
    let catalogue = catalogue(&[
        ("claude-haiku-4-5", dear),
        ("claude-haiku-5-5", dear),
        ("claude-opus-5-5", small),
        ("my-own", dear),
    ]);
    let card = catalogue.card(Provider::Anthropic, "claude-haiku-4-5-20251001");
    assert_eq!(card.input, dear.input);
    assert_eq!(card.output, shipped.output);
    assert_eq!(
        card.thinking,
        ThinkingStyle::Budget,
        "says nothing about it"
    );
    let card = catalogue.card(Provider::Anthropic, "claude-haiku-5-5");
    assert_eq!(card.long, None, "a price of theirs holds at every length");
    let card = catalogue.card(Provider::Anthropic, "claude-opus-5-5");
    assert_eq!(
        (card.context, card.thinking),
        (Some(9), ThinkingStyle::None)
    );
    assert_eq!(card.input, Some(Money(4_000_000)));
    for provider in Provider::ALL {
        assert_eq!(catalogue.card(provider, "my-own").input, dear.input);
    }
}

#[test]
fn aliases_stand_for_classes() {
    for (alias, class) in [
        ("haiku", Some(ModelClass::Fast)),
        ("sonnet", Some(ModelClass::Balanced)),
        ("opus", Some(ModelClass::Strong)),
        ("default", None),
        ("", None),
    ] {
        assert_eq!(ModelClass::of_alias(alias), class, "{alias}");
    }
    for class in ModelClass::ALL {
        assert_eq!(ModelClass::of_alias(class.as_str()), Some(class));
    }
}
