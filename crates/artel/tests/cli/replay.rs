//! A recorded run is played again, bit for bit, with nobody to ask.

use std::fs;
use std::process::Command;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::Value;

use crate::support::{Artel, House, Seen};

/// Returns the events of one kind, oldest first.
fn events(house: &House, kind: &str) -> Vec<Value> {
    let seen = house.ok([
        "journal", "query", "--kind", kind, "--json", "--limit", "1000",
    ]);
    let mut events = seen.json().as_array().unwrap().clone();
    events.sort_by_key(|event| event["seq"].as_u64());
    events
}

/// Returns the answers of a trace, as they are on record.
fn replies(house: &House, trace: &str) -> Vec<String> {
    let events = events(house, "model.replied");
    let mine = events.iter().filter(|event| event["trace"] == trace);
    mine.map(|event| payload(event)["reply"].to_string())
        .collect()
}

fn payload(event: &Value) -> Value {
    match &event["payload"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        value => value.clone(),
    }
}

fn last_trace(house: &House) -> String {
    let events = events(house, "model.replied");
    events.last().unwrap()["trace"].as_str().unwrap().to_owned()
}

/// Makes a recording of a model that thinks, speaks at length, and calls; then it is gone.
fn recorded(format: Format) -> (House, String) {
    let long = "Well, that depends. ".repeat(400);
    let stand_in = StandIn::start(
        format,
        [
            Answer::says(long).thinking("Hmm, \"hello\"\n\tperhaps. \u{1f600}"),
            Answer::default().calls("echo", serde_json::json!({ "text": "\u{e9}\\\"" })),
        ],
    );
    let house = House::with_model(format, &stand_in);
    house.keyed(["model", "test"]).run().expect(0);
    let trace = last_trace(&house);
    (house, trace)
}

/// Runs a command where there is no network at all, if the system allows it.
fn without_network(artel: Artel) -> (i32, String) {
    let command = artel.command();
    let mut alone = Command::new("/usr/bin/unshare");
    alone.args(["--map-root-user", "--net", "--"]);
    alone.arg(command.get_program()).args(command.get_args());
    alone
        .env_clear()
        .current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            alone.env(name, value);
        }
    }
    let output = match alone.output() {
        Ok(output) if is_possible() => output,
        // The provider is gone in any case.
        _ => {
            let mut command = command;
            command.output().unwrap()
        }
    };
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

fn is_possible() -> bool {
    let mut probe = Command::new("/usr/bin/unshare");
    let probe = probe
        .args(["--map-root-user", "--net", "--", "/bin/true"])
        .output();
    probe.is_ok_and(|output| output.status.success())
}

#[test]
fn a_run_plays_again_bit_for_bit_without_a_network() {
    for format in Format::ALL {
        let (house, trace) = recorded(format);
        let original = replies(&house, &trace);
        assert_eq!(original.len(), 2, "{format:?}");
        let name = format!("rehearsal:{trace}");
        let again = house.artel(["model", "test"]).env("ARTEL_MODEL", &name);
        let (code, said) = without_network(again);
        assert_eq!(code, 0, "{said}");
        let second = last_trace(&house);
        assert_ne!(second, trace);
        assert_eq!(replies(&house, &second), original, "{format:?}");

        let file = house.ok(["model", "record", &trace]);
        assert_eq!(file.out.lines().count(), 2);
        fs::write(house.workshop.join("take.jsonl"), &file.out).unwrap();
        let again = house
            .artel(["model", "test"])
            .env("ARTEL_MODEL", "rehearsal:take.jsonl");
        let (code, said) = without_network(again);
        assert_eq!(code, 0, "{said}");
        assert_eq!(replies(&house, &last_trace(&house)), original, "{format:?}");
        // A recording of the recording is the recording.
        let copy = house.ok(["model", "record", &last_trace(&house)[..13]]);
        assert_eq!(copy.out, file.out);
        house.ok(["journal", "verify"]);
    }
}

/// Plays a file again.
fn played(house: &House, text: &str) -> Seen {
    fs::write(house.workshop.join("take.jsonl"), text).unwrap();
    let test = house.artel(["model", "test"]);
    test.env("ARTEL_MODEL", "rehearsal:take.jsonl").run()
}

#[test]
fn a_request_that_was_not_recorded_is_refused_with_the_difference() {
    let (house, trace) = recorded(Format::Chat);
    let file = house.ok(["model", "record", &trace]).out;
    let takes = file.lines().map(|line| {
        let mut take: Value = serde_json::from_str(line).unwrap();
        let text = &mut take["request"]["messages"][0]["parts"][0]["text"];
        *text = text.as_str().unwrap().replace("hello", "goodbye").into();
        take["request"]["max_output"] = 9.into();
        // The fingerprint is left as it was, as somebody does who edits by hand.
        take.to_string() + "\n"
    });
    let changed: String = takes.collect();
    let seen = played(&house, &changed).fails_last(1, "M012");
    let (_, difference) = seen.err.split_once("  why: ").unwrap();
    insta::assert_snapshot!(difference, @r#"
        take 1 of 2 expects another request
                 max_output: expected 9, got 1024
                 messages[0].parts[0].text: expected "Say goodbye in one short sentence. Then call the tool `echo` with that…", got "Say hello in one short sentence. Then call the tool `echo` with that s…"
          try: mend the script, or record it again: `docs/rehearsal.md`
        "#);
}

#[test]
fn a_recording_that_cannot_be_used_is_refused_with_its_place() {
    let (house, trace) = recorded(Format::Chat);
    let file = house.ok(["model", "record", &trace]).out;
    let one = file.lines().next().unwrap();
    // What is missing is missed.
    played(&house, one).fails_last(1, "M012");
    let all = [
        played(&house, &format!("{one}\n{{}}\n")),
        played(&house, "not json"),
        house
            .artel(["model", "test"])
            .env("ARTEL_MODEL", "rehearsal:nowhere.jsonl")
            .run(),
        house
            .artel(["model", "test"])
            .env("ARTEL_MODEL", "rehearsal:nowhere.yaml")
            .run(),
        house
            .artel(["model", "test"])
            .env("ARTEL_MODEL", "rehearsal:0123456789")
            .run(),
        house.artel(["model", "record", "0123456789"]).run(),
    ];
    let all = all.map(|seen| seen.text()).concat();
    insta::assert_snapshot!(all, @r"
        exit 2
        error[M011]: the recording cannot be used: line 2, column 2 is not as in a take
          why: missing field `fingerprint`
          try: `artel model record TRACE > FILE` makes one
        exit 2
        error[M011]: the recording cannot be used: line 1, column 2 is not as in a take
          why: expected ident
          try: `artel model record TRACE > FILE` makes one
        exit 2
        error[M011]: could not open `HERE/nowhere.jsonl`
          why: No such file or directory (os error 2)
          try: look at its folder, owner and mode, then repeat
        exit 2
        error[M011]: could not open `HERE/nowhere.yaml`
          why: No such file or directory (os error 2)
          try: look at its folder, owner and mode, then repeat
        exit 4
        error[W005]: no trace, run or session has an id that begins with `0123456789`
          try: `artel journal tail` shows the ids of recent events
        exit 4
        error[W005]: no trace, run or session has an id that begins with `0123456789`
          try: `artel journal tail` shows the ids of recent events
        ");
    let init = events(&house, "workshop.created")[0]["trace"].clone();
    let nothing = house
        .artel(["model", "record", init.as_str().unwrap()])
        .run();
    nothing
        .fails(2, "M011")
        .says("no answer of a model to play again");
}
