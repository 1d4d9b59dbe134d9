//! Conversations that grow beyond what a model takes: made shorter, then handed over to a fresh
//! run, with nothing lost that the work needs.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use crate::omniforge::world::{World, calls, finish, words_of};
use crate::support::entry;

/// The tokens that the model takes.
const WINDOW: u64 = 20_000;

/// How the model is asked for a summary.
const SUMMARY: &str = "It is about to be replaced by your summary";

/// How a run is told what an earlier one knew.
const TAKEN_OVER: &str = "[Taken over from an earlier run]";

/// What the model makes of the first turn of a fresh run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Willing,
    Refuses,
}

/// A model that works turn by turn, whichever run it is in: by its words it knows how far it came.
pub(crate) fn worker(mood: Mood) -> StandIn {
    StandIn::minded(Format::Anthropic, move |body| {
        let said = words_of(&body["messages"]);
        if said.contains(SUMMARY) {
            return Answer::says(format!("SUMMARY: the table has two rows. {}", filler(600)));
        }
        let turns = body["messages"].as_array().map_or(0, Vec::len);
        if said.contains(TAKEN_OVER) {
            return match turns {
                1 if mood == Mood::Refuses => Answer::status(401),
                1 => calls("read", json!({"path": "report.md"})),
                _ => finish("two rows, all looked at"),
            };
        }
        if turns == 1 {
            let tasks = json!([
                {"text": "begin the report", "state": "done"},
                {"text": "look at all parts", "state": "pending"},
            ]);
            return calls(
                "write",
                json!({"path": "report.md", "content": "rows: two\n"}),
            )
            .calls("todo", json!({ "tasks": tasks }));
        }
        let next = latest(&said) + 1;
        Answer::says(format!("turn-{next:02}. {}", filler(1_500)))
            .calls("read", json!({"path": format!("part-{next:02}.txt")}))
    })
}

/// Returns the number of the last turn that a conversation tells of.
fn latest(said: &str) -> u32 {
    let turns = said.match_indices("turn-");
    let number = |at: usize| said.get(at + 5..at + 7)?.parse().ok();
    turns.filter_map(|(at, _)| number(at)).max().unwrap_or(0)
}

fn filler(bytes: usize) -> String {
    "I go on with care and look at what comes next. "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

pub(crate) fn world(model: &StandIn) -> World {
    let world = World::new();
    for number in 1..60 {
        let text = format!("part {number:02} {}\n", filler(1_000));
        fs::write(world.project.join(format!("part-{number:02}.txt")), text).unwrap();
    }
    fs::write(
        world.project.join("AGENTS.md"),
        "STANDING-MARK: be exact.\n",
    )
    .unwrap();
    world.skill("survey", "", "SKILL-MARK: look at every part.");
    listen(&world, model);
    world
}

fn listen(world: &World, model: &StandIn) {
    let prices = format!("[prices.tiny]\ninput = 1.0\noutput = 1.0\ncontext = {WINDOW}\n");
    let settings = entry("default", Format::Anthropic, model) + &prices;
    world.house.settings(&settings);
}

/// Every call has its result in the next message, and no result comes without its call.
fn assert_pairs(messages: &[Value]) {
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<String> {
        let parts = message["content"].as_array().into_iter().flatten();
        let parts = parts.filter(|part| part["type"] == kind);
        parts
            .map(|part| part[field].as_str().unwrap().to_owned())
            .collect()
    };
    let mut open = Vec::new();
    for message in messages {
        match message["role"].as_str().unwrap() {
            "assistant" => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open = ids(message, "tool_use", "id");
            }
            _ => {
                let results = ids(message, "tool_result", "tool_use_id");
                assert_eq!(results, std::mem::take(&mut open));
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

#[test]
fn a_conversation_is_summarised_and_then_handed_over() {
    let model = worker(Mood::Willing);
    let world = world(&model);
    let run = world.artel(["run", "survey", "the parts", "--max-turns", "50", "--apply"]);
    let seen = run.run().expect(0);
    assert_eq!(seen.out, "two rows, all looked at\n");
    let report = fs::read_to_string(world.project.join("report.md")).unwrap();
    assert_eq!(
        report, "rows: two\n",
        "the fresh run worked in the same files"
    );

    let summaries = world.events("context.compacted");
    let hows: Vec<_> = summaries.iter().map(|it| &it["payload"]["how"]).collect();
    assert_eq!(hows, ["summarised", "summarised"]);
    for fact in summaries.iter().map(|it| &it["payload"]) {
        assert!(fact["after"].as_u64() < fact["before"].as_u64(), "{fact}");
    }

    // Every request fits, is in order, and has what holds all the time.
    let (mut turns, mut fresh) = (Vec::new(), 0);
    for seen in model.seen() {
        let said = words_of(&seen.body["messages"]);
        assert!(said.len() as u64 / 3 < WINDOW, "{} bytes", said.len());
        if said.contains(SUMMARY) {
            continue;
        }
        assert_pairs(seen.body["messages"].as_array().unwrap());
        let all = words_of(&seen.body);
        for mark in ["SKILL-MARK", "STANDING-MARK", "the parts"] {
            assert!(all.contains(mark), "no {mark} in:\n{all}");
        }
        fresh += usize::from(said.contains(TAKEN_OVER));
        turns.push(said);
    }
    assert_eq!(fresh, 2);
    let [before, first, last] = &turns[turns.len() - 3..] else {
        panic!("{} turns", turns.len());
    };
    assert!(
        before.contains("[Still holds: todo]") && !before.contains("turn-01"),
        "{before}"
    );
    for known in [
        "SUMMARY: the table has two rows.",
        "Done: begin the report",
        "Still open: look at all parts",
        "Files made or changed: report.md",
        "Last words: turn-",
        "[Still holds: todo]",
    ] {
        assert!(first.contains(known), "no `{known}` in:\n{first}");
    }
    assert!(first.len() < 12_000, "{} bytes", first.len());
    assert!(last.contains("rows: two"), "{last}");
    // What was left out of the conversation is on record.
    let replies = world
        .ok(["journal", "export", "--kind", "model.replied"])
        .out;
    assert!(replies.contains("turn-01.") && replies.contains("turn-02."));
    assert_linked(&world, turns.len() as u64);
    assert_upkeep_waits(&world);
}

/// Nobody waits for a summary, so it is less urgent than the work.
fn assert_upkeep_waits(world: &World) {
    let requested = world.events("model.requested");
    let requested = requested.iter().map(|event| &event["payload"]);
    let (summaries, turns): (Vec<_>, Vec<_>) =
        requested.partition(|it| it["account"]["step"] == "summary");
    assert!(summaries.len() >= 2, "{summaries:#?}");
    assert!(summaries.iter().all(|it| it["priority"] == "background"));
    assert!(turns.iter().all(|it| it["priority"] == "execution"));
}

/// Both runs know of each other, and the one that was asked for tells the end of both.
fn assert_linked(world: &World, turns: u64) {
    let started = world.events("run.started");
    let handed = world.events("run.handed_over");
    let [first, heir] = &started[..] else {
        panic!("{started:?}");
    };
    let (first, heir) = (&first["payload"], &heir["payload"]);
    assert_eq!(handed.len(), 1);
    assert_eq!(handed[0]["payload"]["to"], heir["id"]);
    assert_eq!(heir["parent"], first["id"]);
    let finished = world.events("run.finished");
    let finished: Vec<_> = finished.iter().map(|it| &it["payload"]).collect();
    assert_eq!(finished[0]["id"], heir["id"]);
    assert_eq!(finished[1]["id"], first["id"]);
    assert_eq!(finished[1]["changed"][0]["path"], "report.md");
    assert!(finished.iter().all(|it| it["state"] == "complete"));
    // The last reply only ends the run.
    assert_eq!(finished[1]["metrics"]["turns"], turns - 1);
    let run = first["id"].as_str().unwrap();
    let trace = world.ok(["trace", run]).out;
    assert!(
        trace.contains("handed over to run ") && trace.contains("goes on in a fresh run "),
        "{trace}"
    );
    assert_eq!(trace.matches("✓ wrote report.md").count(), 1, "{trace}");
    for run in [run, heir["id"].as_str().unwrap()] {
        world.ok(["replay", run]).says("as recorded");
    }
    world.ok(["journal", "verify"]);
}

#[test]
fn a_run_that_is_left_after_the_hand_over_is_taken_up_as_one() {
    let model = worker(Mood::Refuses);
    let world = world(&model);
    let words = ["run", "survey", "the parts", "--max-turns", "50"];
    let left = world.artel(words).run();
    assert_ne!(left.code, 0, "{}", left.err);
    let row = world.ok(["runs", "--json"]).json()[0].clone();
    assert_eq!(row["state"], "left");
    let run = row["run"].as_str().unwrap().to_owned();
    world.ok(["hint", &run, "MARK-HINT: be brief"]);
    let again = worker(Mood::Willing);
    listen(&world, &again);
    let seen = world.artel(["resume", &run, "--apply"]).run().expect(0);
    assert_eq!(seen.out, "two rows, all looked at\n");
    assert!(world.project.join("report.md").exists());
    let asked = again.seen();
    assert_eq!(asked.len(), 2, "nothing is asked twice");
    assert!(
        words_of(&asked[0].body).contains("MARK-HINT"),
        "the fresh run is told"
    );
    assert_eq!(world.events("run.handed_over").len(), 1);
    let states = world.events("run.finished");
    assert!(states.iter().all(|it| it["payload"]["state"] == "complete"));
}

#[test]
fn hooks_hear_of_a_conversation_that_is_made_shorter() {
    let model = worker(Mood::Willing);
    let world = world(&model);
    let settings = world.house.home.join(".config/artel");
    fs::create_dir_all(&settings).unwrap();
    let hooks: String = [
        "PreCompact",
        "PostCompact",
        "SessionStart",
        "Stop",
        "SessionEnd",
    ]
    .iter()
    .map(|event| format!("[[hooks.{event}]]\ncommand = \"true\"\n"))
    .collect();
    fs::write(settings.join("artel.toml"), hooks).unwrap();
    let words = ["run", "survey", "the parts", "--max-turns", "50"];
    world.artel(words).run().expect(0);
    let ran = world.events("hook.ran");
    let ran: Vec<_> = ran
        .iter()
        .map(|event| event["payload"]["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        ran,
        [
            "SessionStart",
            "PreCompact",
            "PostCompact",
            "PreCompact",
            "PostCompact",
            // Handed over: the fresh run is a new beginning of the same session.
            "PreCompact",
            "SessionStart",
            "Stop",
            "SessionEnd",
        ]
    );
    // A hook that says no keeps the conversation as it is.
    let no = "[[hooks.PreCompact]]\ncommand = \"exit 2\"\n";
    fs::write(settings.join("artel.toml"), no).unwrap();
    let before = world.events("context.compacted").len();
    world
        .artel(["run", "survey", "the parts", "--max-turns", "12"])
        .run()
        .expect(1);
    assert_eq!(world.events("context.compacted").len(), before);
}
