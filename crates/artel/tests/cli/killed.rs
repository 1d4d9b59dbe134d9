//! A process that is killed in the middle of a call: nothing is lost, nothing is counted twice.

use std::process::{Child, Stdio};
use std::time::Duration;

use artel_testkit::block_on;
use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::Value;

use crate::support::{House, entry};

/// Starts a trial whose answer is held, and kills it without warning.
fn kill_while_held(house: &House, stand_in: &StandIn) {
    let child = start(house);
    block_on(stand_in.until_held(1));
    kill(child);
    // So that the next one waits for its own answer.
    block_on(stand_in.until_held(0));
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn start(house: &House) -> Child {
    let mut command = house.keyed(["model", "test"]).command();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn total(house: &House) -> Value {
    house.ok(["usage", "--json"]).json()["total"].clone()
}

/// How many attempts there are in the journal, of each sort.
fn recorded(house: &House) -> [u64; 3] {
    let kinds = house.kinds();
    let count = |kind: &str| kinds.iter().filter(|known| *known == kind).count() as u64;
    ["model.requested", "model.replied", "model.failed"].map(count)
}

#[track_caller]
fn adds_up(house: &House) -> Value {
    let [requested, replied, failed] = recorded(house);
    let total = total(house);
    assert_eq!(total["attempts"], requested, "{total}");
    assert_eq!(total["answered"], replied, "{total}");
    assert_eq!(total["failed"], failed, "{total}");
    assert_eq!(total["unknown"], requested - replied - failed, "{total}");
    total
}

#[test]
fn wherever_a_call_is_killed_every_attempt_counts_once() {
    let stand_in = StandIn::start(Format::Chat, []);
    let house = House::new();
    let prices = "[prices.\"tiny\"]\ninput = 1\noutput = 1\n";
    house.settings(&(entry("default", Format::Chat, &stand_in) + prices));
    let words = || Answer::obliging("Hello, whoever you are, wherever you are.");
    // Before the head, at the first byte, in the middle, and after almost all of the first answer;
    // then in the second answer, with the first one on record.
    let moments = [None, Some(0), Some(1), Some(150), Some(400), Some(700)];
    let held = |bytes: Option<usize>| match bytes {
        None => words().held(),
        Some(bytes) => words().held_after(bytes),
    };
    let (mut unknown, mut answered) = (0, 0);
    for bytes in moments {
        stand_in.push(held(bytes));
        kill_while_held(&house, &stand_in);
        unknown += 1;
        let total = adds_up(&house);
        assert_eq!(total["unknown"], unknown, "{bytes:?}: {total}");
    }
    for bytes in [None, Some(100)] {
        stand_in.push(words());
        stand_in.push(held(bytes));
        kill_while_held(&house, &stand_in);
        unknown += 1;
        answered += 1;
        let total = adds_up(&house);
        assert_eq!(total["unknown"], unknown, "{total}");
        assert_eq!(total["answered"], answered, "{total}");
    }
    let total = total(&house);
    let estimated = total["estimated"].as_u64().unwrap();
    assert!(
        estimated >= unknown * 1_024,
        "what was set aside counts: {total}"
    );
    assert_eq!(total["tokens"], estimated + answered * 120, "{total}");
    assert_eq!(
        total["cost_microusd"], total["tokens"],
        "a token is a millionth: {total}"
    );
    assert_eq!(total["unpriced"], 0, "{total}");
    house.ok(["journal", "verify"]);

    // The next one goes on, and changes nothing about what was.
    (0..2).for_each(|_| stand_in.push(words()));
    house.keyed(["model", "test"]).run().expect(0);
    let after = adds_up(&house);
    assert_eq!(after["unknown"], unknown, "{after}");
    assert_eq!(after["estimated"], estimated, "{after}");
    assert_eq!(after["answered"], answered + 2, "{after}");
    house.ok(["journal", "verify"]);
}

#[test]
fn killed_after_any_record_the_journal_and_the_sums_agree() {
    let answer = Answer::obliging("Hello.").pause_between(Duration::from_millis(1));
    let stand_in = StandIn::start(Format::Anthropic, [answer.repeating()]);
    let house = House::with_model(Format::Anthropic, &stand_in);
    for events in 0..10 {
        let wanted = house.kinds().len() + events;
        let mut child = start(&house);
        while house.kinds().len() < wanted && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        kill(child);
        adds_up(&house);
    }
    house.keyed(["model", "test"]).run().expect(0);
    let total = adds_up(&house);
    assert!(total["unknown"].as_u64() >= Some(1), "{total}");
    assert_eq!(total["failed"], 0, "{total}");
    house.ok(["journal", "verify"]);
}

#[test]
fn what_a_killed_call_set_aside_stays_charged() {
    let stand_in = StandIn::start(Format::Ollama, [Answer::says("Hello.").held().repeating()]);
    let house = House::new();
    let budget = "[budget.global]\ntokens = 2500\n";
    house.settings(&(entry("default", Format::Ollama, &stand_in) + budget));
    for _ in 0..2 {
        kill_while_held(&house, &stand_in);
    }
    // Nobody knows what the two took, so there is no room for a third.
    house.keyed(["model", "test"]).run().fails(3, "M005");
    assert_eq!(total(&house)["unknown"], 2);
}
