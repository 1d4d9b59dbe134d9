//! A provider that is not well: left alone, shown, asked again by hand.

use std::time::Duration;

use artel_testkit::standin::{Answer, Format, StandIn};
use artel_testkit::system_clock;
use artel_types::{Actor, BreakerOpened, EventDraft, Fact, ProviderPaused, StreamName, TraceId};

use crate::support::{House, obliging};

/// Records something about a provider, as a process of the same person would.
fn record(house: &House, provider: &str, fact: impl Into<Fact>) {
    let stream = StreamName::provider(provider).unwrap();
    let actor = Actor::system("gateway-test");
    house.append([EventDraft::new(
        stream,
        TraceId::from_random([7; 16]),
        actor,
        fact,
    )]);
}

/// Returns the name by which the journal knows the default model's provider.
fn provider_name(house: &House) -> String {
    let shown = house.keyed(["model", "show", "--json"]).run().json();
    shown["provider_name"].as_str().unwrap().to_owned()
}

#[test]
fn a_provider_that_failed_too_often_is_left_alone_until_reset() {
    let stand_in = obliging(Format::Chat);
    let house = House::with_model(Format::Chat, &stand_in);
    let name = provider_name(&house);
    let until = system_clock().now().after(Duration::from_secs(3600));
    record(
        &house,
        &name,
        BreakerOpened {
            provider: name.clone(),
            until,
            why: "5 failures in a row".to_owned(),
        },
    );
    let show = || house.keyed(["model", "show", "--json"]).run().json();
    let shown = show();
    let health = shown["health"].as_str().unwrap();
    assert!(health.starts_with("left alone until 20"), "{health}");
    assert!(health.ends_with("(5 failures in a row)"), "{health}");
    assert_eq!(shown["until"], until.to_string());
    let seen = house.keyed(["model", "test"]).run().fails(1, "M007");
    seen.says(&format!("`artel model reset {name}`"));
    assert_eq!(stand_in.seen(), []);

    let reset = house.ok(["model", "reset", "openai-chat", "--json"]).json();
    assert_eq!(reset["reset"], serde_json::json!([name]));
    assert_eq!(show()["health"], "well, as far as known");
    house.keyed(["model", "test"]).run().expect(0);
    let again = house.ok(["model", "reset", &name]);
    assert_eq!(
        again.out,
        format!("{name} was not held back; nothing to reset\n")
    );
}

#[test]
fn a_pause_that_a_provider_asked_for_is_shown_and_can_be_ended() {
    let stand_in = obliging(Format::Anthropic);
    let house = House::with_model(Format::Anthropic, &stand_in);
    let name = provider_name(&house);
    let until = system_clock().now().after(Duration::from_secs(3600));
    record(
        &house,
        &name,
        ProviderPaused {
            provider: name.clone(),
            until,
            attempt: 1,
            why: "asked to slow down".to_owned(),
        },
    );
    let shown = house.keyed(["model", "show"]).run().expect(0);
    shown.says("health     asked for a pause until 20");
    house.ok(["model", "reset", &name]);
    house.keyed(["model", "test"]).run().expect(0);
}

#[test]
fn five_failures_in_a_row_open_the_breaker_for_every_process() {
    let stand_in = StandIn::start(Format::Chat, (0..5).map(|_| Answer::hang_up()));
    let house = House::with_model(Format::Chat, &stand_in);
    let tried = || house.keyed(["model", "test", "--json"]).run();
    let trial = tried().expect(1).json();
    assert_eq!(trial["error"]["code"], "M009", "{trial}");
    assert_eq!(stand_in.seen().len(), 5);
    assert!(house.kinds().contains(&"breaker.opened".to_owned()));
    (0..2).for_each(|_| stand_in.push(Answer::obliging("Hello.")));
    let trial = tried().expect(1).json();
    assert_eq!(trial["error"]["code"], "M007", "{trial}");
    assert_eq!(stand_in.seen().len(), 5, "it was left alone");
    let shown = house.keyed(["model", "show"]).run();
    shown.says("left alone until").says("5 failures in a row");
    let reset = house.ok(["model", "reset", "openai-chat"]);
    reset.says("asked again from now on: openai-chat:127.0.0.1:");
    tried().expect(0);
    house.ok(["journal", "verify"]);
}

#[test]
fn only_providers_can_be_reset() {
    let house = House::new();
    let all = ["sonnet", "openai-caht", "sk-12345", "anthropic"];
    let all = all.map(|name| house.artel(["model", "reset", name]).run().text());
    insta::assert_snapshot!(all.concat(), @r"
        exit 2
        error[M001]: there is no provider `sonnet`
          why: the providers are anthropic, openai, openai-chat, google, ollama, rehearsal
          try: `artel model show` names the provider of a model
        exit 2
        error[M001]: there is no provider `openai-caht`
          why: the providers are anthropic, openai, openai-chat, google, ollama, rehearsal
          try: `artel model show` names the provider of a model
        exit 2
        error[M001]: there is no provider `sk-12345`
          why: the providers are anthropic, openai, openai-chat, google, ollama, rehearsal
          try: `artel model show` names the provider of a model
        exit 0
        anthropic was not held back; nothing to reset
        ");
}
