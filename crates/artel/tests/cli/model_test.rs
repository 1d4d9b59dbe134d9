//! `artel model test`: one tiny prompt and one tool call through everything, and the exit code.

use artel_testkit::block_on;
use artel_testkit::standin::{Answer, Format, StandIn};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{House, KEY, Seen, obliging};

/// Tries the default model of a house that has a stand-in for it.
fn tried(format: Format, plan: impl IntoIterator<Item = Answer>) -> (Seen, StandIn) {
    let stand_in = StandIn::start(format, plan);
    let house = House::with_model(format, &stand_in);
    (house.keyed(["model", "test", "--json"]).run(), stand_in)
}

/// The error of a trial that could be made and failed.
fn error(seen: &Seen) -> Value {
    let trial = seen.json();
    assert_eq!(trial["ok"], false, "{trial}");
    trial["error"].clone()
}

#[test]
fn every_provider_works_as_the_settings_name_it() {
    for format in Format::ALL {
        let stand_in = obliging(format);
        let house = House::with_model(format, &stand_in);
        let trial = house.keyed(["model", "test", "--json"]).run().expect(0);
        let trial = trial.json();
        for feature in ["text", "tool_call", "streaming", "usage"] {
            assert_eq!(trial[feature], "works", "{format:?}: {trial}");
        }
        assert_eq!(trial["ok"], true, "{trial}");
        assert_eq!(trial["base_url"], stand_in.url(), "{trial}");
        assert_eq!(trial["tokens"], 240, "{trial}");
        assert_eq!(trial["cost_microusd"], Value::Null, "{trial}");
        assert!(trial["first_ms"].is_u64() && trial["total_ms"].is_u64());
        assert!(trial["tokens_per_second"].as_f64().unwrap() > 0.0);
        let seen = stand_in.seen();
        assert_eq!(seen.len(), 2, "{format:?}");
        for request in seen {
            let with_key = request.headers.values().any(|value| value.contains(KEY));
            assert!(with_key, "{format:?}: {:?}", request.headers);
        }
    }
}

#[test]
fn words_and_call_may_come_in_any_order() {
    let call = |arguments: Value| Answer::default().calls("echo", arguments);
    for format in Format::ALL {
        let stand_in = StandIn::start(format, []);
        let house = House::with_model(format, &stand_in);
        for plan in [
            vec![Answer::says("Hello.").calls("echo", json!({}))],
            vec![Answer::says("Hello."), call(json!({ "text": "Hello." }))],
            vec![call(json!({ "volume": 11 })), Answer::says("Hello.")],
        ] {
            let requests = stand_in.seen().len() + plan.len();
            plan.into_iter().for_each(|answer| stand_in.push(answer));
            let trial = house.keyed(["model", "test", "--json"]).run().expect(0);
            assert_eq!(trial.json()["ok"], true);
            assert_eq!(stand_in.seen().len(), requests, "{format:?}");
        }
    }
}

/// Answers without words or without a good call, how often they are asked for, and what is said.
fn shortcomings() -> Vec<(Answer, usize, &'static str)> {
    let says = || Answer::says("I would rather not.");
    let no_object = "the arguments of `echo` are not a JSON object";
    let half = "{\"text\": ";
    vec![
        (says(), 2, "no well-formed call of the tool came"),
        (
            says().calls("shout", json!({})),
            2,
            "called `shout`, which was not offered",
        ),
        (says().calls_raw("echo", half), 2, no_object),
        (says().calls_raw("echo", "[1]"), 2, no_object),
        (
            Answer::default().calls("echo", json!({})),
            2,
            "the model answered, but no words came",
        ),
        (
            Answer::default(),
            3,
            "no words came, and no well-formed call of the tool came",
        ),
    ]
}

#[test]
fn without_words_or_a_good_call_it_fails_and_says_what_is_missing() {
    let stand_in = StandIn::start(Format::Chat, []);
    let house = House::with_model(Format::Chat, &stand_in);
    for (answer, times, note) in shortcomings() {
        (0..times).for_each(|_| stand_in.push(answer.clone()));
        let trial = house.keyed(["model", "test", "--json"]).run().expect(1);
        let trial = trial.json();
        assert_eq!(trial["ok"], false, "{trial}");
        assert!(trial["error"].is_null(), "{trial}");
        let notes = trial["notes"].to_string();
        assert!(notes.contains(note), "no `{note}` in {notes}");
    }
    for format in [Format::Anthropic, Format::Responses, Format::Google] {
        let half = Answer::says("I try.").calls_raw("echo", "{\"text\": ");
        tried(format, [half.repeating()]).0.expect(1);
    }
}

#[test]
fn people_get_a_short_report() {
    let stand_in = obliging(Format::Anthropic);
    let house = House::with_model(Format::Anthropic, &stand_in);
    let seen = house.keyed(["model", "test"]).run().expect(0);
    let (rows, figures) = seen.out.rsplit_once("  first piece").unwrap();
    insta::assert_snapshot!(rows, @r"
    anthropic:tiny (entry [models.default])
      text       works
      tool call  works
      streaming  works
      thinking   not seen
      usage      works
    ");
    assert!(figures.contains("; 240 tokens, cost unknown"), "{figures}");
    assert_eq!(seen.err, "");
    let stand_in = StandIn::start(Format::Anthropic, [Answer::says("No.").repeating()]);
    let house = House::with_model(Format::Anthropic, &stand_in);
    let seen = house.keyed(["model", "test"]).run().expect(1);
    assert_eq!(
        seen.err,
        "the model answered, but no well-formed call of the tool came\n"
    );
}

#[test]
fn a_key_that_is_missing_or_wrong_is_said_with_what_to_do() {
    let stand_in = obliging(Format::Responses);
    let house = House::with_model(Format::Responses, &stand_in);
    let all = [
        house.artel(["model", "test"]).run(),
        house
            .artel(["model", "test", "anthropic:claude-haiku-4-5"])
            .run(),
        house
            .artel(["model", "test"])
            .env("MY_KEY", "wrong-key")
            .run(),
        house
            .artel(["model", "test", "openai:gpt-5"])
            .env("ARTEL_ACCOUNT", "work")
            .run(),
    ];
    let all = all.map(|seen| format!("exit {}\n{}", seen.code, seen.err));
    insta::assert_snapshot!(all.concat().replace(&stand_in.url()[7..22], "PLACE"), @r"
        exit 2
        error[M003]: the variable `MY_KEY` that should hold the key is not set, or is empty
          try: set `MY_KEY`, or take `api_key_env` out of the settings and run `artel auth set openai`
        exit 2
        error[M003]: `anthropic` needs a key
          why: `ANTHROPIC_API_KEY` is not set, and no key is stored for it
          try: `artel auth set anthropic`
        exit 2
        error[M003]: `openai:PLACE`: the key was not accepted
          why: Incorrect API key provided: [REDACTED]. (request req_responses_0001)
          try: the key is from `MY_KEY`: set another
        exit 4
        error[K003]: there is no key of `openai`, account `work`
          try: store it with `artel auth set openai --account work`; `artel auth status` lists what is there
        ");
    let wrong = house.artel(["model", "test", "--json"]);
    let wrong = wrong.env("MY_KEY", "wrong-key").run().expect(2);
    assert_eq!(error(&wrong)["code"], "M003");
}

#[test]
fn nobody_there_is_said_at_once() {
    let stand_in = obliging(Format::Chat);
    let house = House::with_model(Format::Chat, &stand_in);
    drop(stand_in);
    let seen = house.keyed(["model", "test"]).run().fails_last(1, "M009");
    seen.says("nobody answers").says("mend `base_url`");
    let trial = house.keyed(["model", "test", "--json"]).run().expect(1);
    assert_eq!(error(&trial)["code"], "M009");
}

#[test]
fn a_long_pause_parks_the_provider_with_the_time() {
    let limited = Answer::status(429).retry_after("3600").repeating();
    let (seen, stand_in) = tried(Format::Anthropic, [limited]);
    let error = error(&seen.expect(1));
    assert_eq!(error["code"], "M008", "{error}");
    let what = error["what"].as_str().unwrap();
    assert!(what.contains("asks for a pause until 20"), "{what}");
    assert_eq!(stand_in.seen().len(), 1);
}

#[test]
fn a_short_pause_is_sat_out() {
    let plan = [
        Answer::status(429).retry_after("1"),
        Answer::obliging("Hello.").repeating(),
    ];
    let (seen, stand_in) = tried(Format::Chat, plan);
    let trial = seen.expect(0).json();
    let notes = trial["notes"].as_array().unwrap();
    let note = notes[0].as_str().unwrap();
    let (why, until) = note.split_once("; tried again at ").unwrap();
    assert!(why.starts_with("asked to slow down: "), "{note}");
    assert!(until.ends_with(" UTC"), "{note}");
    assert_eq!(notes.len(), 1, "it is said once: {notes:?}");
    assert_eq!(stand_in.seen().len(), 3);
}

#[test]
fn what_the_provider_does_not_accept_is_not_tried_again() {
    let stand_in = StandIn::start(Format::Anthropic, []);
    let house = House::with_model(Format::Anthropic, &stand_in);
    for (number, (answer, code)) in [
        (Answer::status(400), "M010"),
        (Answer::status(404), "M010"),
        (Answer::too_long(), "M010"),
        (Answer::no_quota(), "M009"),
    ]
    .into_iter()
    .enumerate()
    {
        stand_in.push(answer);
        let seen = house.keyed(["model", "test", "--json"]).run().expect(1);
        assert_eq!(error(&seen)["code"], code, "{}", seen.out);
        assert!(error(&seen)["advice"].is_string(), "{}", seen.out);
        assert_eq!(stand_in.seen().len(), number + 1);
    }
}

#[test]
fn the_first_command_of_all_makes_a_workshop() {
    let house = House::empty();
    let script = house.workshop.join("script.yaml");
    std::fs::write(&script, "otherwise: { say: Hello., call: { echo: {} } }\n").unwrap();
    let name = format!("rehearsal:{}", script.display());
    let seen = house.artel(["model", "test"]).env("ARTEL_MODEL", name);
    seen.run().expect(0).says("made a workshop at");
    assert!(house.home.join("Artel/.artel/journal.db").exists());
}

#[test]
fn a_trial_that_is_called_off_is_settled() {
    for signal in [Signal::INT, Signal::TERM] {
        let stand_in = StandIn::start(Format::Chat, [Answer::says("Hello.").held()]);
        let house = House::with_model(Format::Chat, &stand_in);
        let mut command = house.keyed(["model", "test"]).command();
        let child = command.spawn().unwrap();
        block_on(stand_in.until_seen(1));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.starts_with("error[X002]: interrupted\n"), "{said}");
        let total = house.ok(["usage", "--json"]).json()["total"].clone();
        for (sort, count) in [("attempts", 1), ("cancelled", 1), ("unknown", 0)] {
            assert_eq!(total[sort], count, "{sort}: {total}");
        }
    }
}

#[test]
fn usage_says_whether_nothing_was_used_or_nothing_fits() {
    let house = House::new();
    house.ok(["usage"]).says("no model was asked");
    house.ok(["usage", "--role"]).says("no model was asked");
    for narrowed in [["--model", "tiny"], ["--period", "week"]] {
        let seen = house.artel(["usage"]).words(narrowed).run().expect(0);
        assert!(
            seen.err.ends_with("nothing fits the filter\n"),
            "{}",
            seen.err
        );
        assert_eq!(seen.out, "");
    }
}
