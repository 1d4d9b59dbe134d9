//! The wide story: a step that needs more money than it may cost; two steps at the same time, one
//! with tests first and two judges side by side, one that fails before it passes; a branch that has
//! to be mended. It ends the same wherever it is killed.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_testkit::figure;
use artel_testkit::standin::Format;
use serde_json::{Value, json};

use super::killing::{Moment, chosen, is_tidy, once, tried, unanswered};
use super::stage::{Asked, Calls, Stage, Who, end, pass, plan};
use super::town::{Left, Town};
use crate::support::{Artel, entry};

/// What a token costs, so that money can run out.
const PRICES: &str = "[prices.\"tiny\"]\ninput = 1\noutput = 1\n";

/// A request by its place in the story: who is asked, at which step and attempt, and how many
/// replies came before.
type Place = (Who, usize, usize, usize);

fn place(asked: &Asked) -> Place {
    (asked.who, asked.step, asked.attempt, asked.turn)
}

/// A town in which the story is played.
pub(super) struct Wide(pub(super) Stage);

impl Wide {
    pub(super) fn new() -> Self {
        Self::speaking(Format::Chat, |_| false)
    }

    /// The same in the format of a provider; answers of which `held` says so are held back.
    pub(super) fn speaking(
        format: Format,
        held: impl Fn(&Asked) -> bool + Send + Sync + 'static,
    ) -> Self {
        let stage = Stage::speaking(format, plays, held);
        let settings = entry("default", format, &stage.model);
        stage.town.house.settings(&format!("{settings}{PRICES}"));
        Self(stage)
    }

    pub(super) fn town(&self) -> &Town {
        &self.0.town
    }

    pub(super) fn approve(&self, id: &str) -> Artel {
        self.town()
            .artel(["plan", "approve", id, "--at-once", "2", "--json"])
    }

    pub(super) fn resume(&self, id: &str) -> Artel {
        self.town()
            .artel(["resume", id, "--at-once", "2", "--json"])
    }

    pub(super) fn accept(&self, id: &str) -> Artel {
        self.town().artel(["answer", id, "accept"])
    }

    pub(super) fn merge(&self, id: &str) -> Artel {
        self.town().artel(["changeset", "approve", id, "--json"])
    }

    /// Tells whether the person is asked about money.
    fn is_asked(&self) -> bool {
        let waits = self.town().artel(["waiting", "--json"]).run().expect(0);
        let waits = waits.json();
        let mut texts = waits.as_array().unwrap().iter();
        texts.any(|it| it["kind"] == "question" && it["text"].to_string().contains("may cost"))
    }

    /// Does what a person would type next, until the changeset is merged.
    pub(super) fn to_the_end(&self) {
        let town = self.town();
        for _ in 0..12 {
            let Some(request) = town.request() else {
                town.ask().run().expect(0);
                continue;
            };
            let id = request["trace_id"].as_str().unwrap().to_owned();
            let state = request["plan_state"].as_str().unwrap_or("none").to_owned();
            match state.as_str() {
                "review" => {
                    self.approve(&id).run().expect(3);
                }
                "done" => {
                    let show = ["changeset", "show", &id, "--json"];
                    if town.artel(show).run().expect(0).json()["state"] == "merged" {
                        return;
                    }
                    self.merge(&id).run().expect(0);
                }
                _ if self.is_asked() => {
                    self.accept(&id).run().expect(0);
                }
                _ => {
                    let seen = self.resume(&id).run();
                    assert!([0, 3].contains(&seen.code), "{seen:?}");
                }
            }
        }
        let waiting = town.artel(["waiting", "--json"]).run().out;
        let told: Vec<_> = town.events().iter().map(|it| it["kind"].clone()).collect();
        let last = &told[told.len().saturating_sub(40)..];
        panic!("the story does not end; waiting: {waiting}; last: {last:?}");
    }

    /// What the story left. Steps that run at the same time pass in any order.
    pub(super) fn left(&self) -> Left {
        let mut left = self.town().left();
        left.subjects.sort();
        left
    }

    /// Counts how often the model was asked at each place of the story.
    pub(super) fn asked(&self) -> BTreeMap<Place, usize> {
        let mut places = BTreeMap::new();
        for asked in self.0.asked() {
            *places.entry(place(&asked)).or_default() += 1;
        }
        places
    }

    /// Everything that the story is about came to pass.
    pub(super) fn is_told(&self) {
        let (stage, town) = (&self.0, self.town());
        let rounds = |step: &str| {
            let passed = stage.told("step.passed");
            let passed = passed.iter().find(|it| it["step"] == step);
            passed.unwrap_or_else(|| panic!("{step} did not pass"))["round"].clone()
        };
        assert_eq!(rounds("left"), 1, "tests first, then the work");
        assert_eq!(rounds("right"), 2, "what failed is repaired");
        let red = stage.told("proof.recorded").into_iter();
        let red = red.filter(|it| it["place"] == "red" && it["step"] == "left");
        assert_eq!(red.count(), 1, "the tests failed before the work");
        let judged = stage.told("step.judged");
        let mut by: Vec<_> = judged
            .iter()
            .map(|it| format!("{} {}", text(&it["step"]), text(&it["by"])))
            .collect();
        by.sort();
        let all = [
            "left inspector",
            "left tester",
            "mend.1 inspector",
            "right evaluator",
        ];
        assert_eq!(by, all);
        assert_eq!(town.count("plan.proposed"), 1, "more money, asked for once");
        let checked = stage.told("branch.checked");
        let checked: Vec<_> = checked.iter().map(|it| &it["passed"]).collect();
        assert_eq!(checked, [&json!(false), &json!(true)]);
        assert_eq!(town.count("branch.mended"), 1);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// What every agent does.
fn plays(asked: &Asked) -> Calls {
    match (asked.who, asked.step) {
        (Who::Architect, _) => plan(steps()),
        (Who::Criteria, _) => {
            let criteria = json!([{ "text": "left.VALUE is 1" }]);
            vec![("criteria", json!({ "criteria": criteria })), end("named")]
        }
        (Who::Tests, _) => vec![file("test_left.py", &tests_of("left")), end("they fail")],
        (Who::Worker, 1) => vec![file("NOTES.md", "left and right\n"), end("noted")],
        (Who::Worker, 2) => vec![file("left.py", "VALUE = 1\n"), end("added")],
        (Who::Worker, _) if asked.attempt == 1 => vec![
            file("right.py", "VALUE = 2\n"),
            file("test_right.py", &tests_of("right")),
            end("added"),
        ],
        (Who::Worker, _) => vec![edit("VALUE = 2", "VALUE = 1"), end("put right")],
        (Who::Mender, _) => vec![
            edit("VALUE = 1", "VALUE = 1  # right"),
            end("they can be together"),
        ],
        _ => pass(asked, json!({})),
    }
}

/// A step that may cost next to nothing, and two after it that pass alone and not together.
fn steps() -> Value {
    let side = |name: &str, verify: &str, paths: Value| {
        json!({
            "id": name, "title": format!("Add {name}"), "role": "engineer",
            "work": format!("Add {name}.py."), "check": "It is tested.", "verify": verify,
            "after": ["notes"], "scope": { "paths": paths },
        })
    };
    json!([
        {
            "id": "notes", "title": "Say so in the notes", "role": "engineer",
            "work": "Write NOTES.md.", "check": "It is there.", "verify": "none",
            "tokens": 1_000_000,
            "scope": { "paths": ["NOTES.md"], "cost_usd": 0.000_001 },
            "evidence": [{ "kind": "file", "what": "NOTES.md" }],
        },
        side("left", "tdd", json!(["left.py"])),
        side("right", "evaluator", json!(["right.py", "test_right.py"])),
    ])
}

/// Tests of a side: it has its value, and the two sides are not the same.
fn tests_of(name: &str) -> String {
    format!(
        "import os\nimport unittest\n\nimport {name}\n\n\nclass It(unittest.TestCase):\n    \
         def test_{name}(self):\n        self.assertEqual({name}.VALUE, 1)\n        \
         both = ['left.py', 'right.py']\n        \
         texts = [open(it).read() for it in both if os.path.exists(it)]\n        \
         self.assertEqual(len(texts), len(set(texts)))\n"
    )
}

fn file(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    let edit = json!({ "path": "right.py", "old": old, "new": new });
    ("edit", edit)
}

/// One command of the story, and what comes before it.
#[derive(Debug, Clone, Copy)]
enum Act {
    Ask,
    /// It ends with the question about money.
    Approve,
    Answer,
    /// All steps, and mending.
    Resume,
    Merge,
}

impl Act {
    const ALL: [Self; 5] = [
        Self::Ask,
        Self::Approve,
        Self::Answer,
        Self::Resume,
        Self::Merge,
    ];

    /// Plays the story up to this command, and returns it with the code that it ends with.
    fn command(self, wide: &Wide) -> (Command, i32) {
        if matches!(self, Self::Ask) {
            return (wide.town().ask().command(), 0);
        }
        let id = wide.town().asked();
        if matches!(self, Self::Approve) {
            return (wide.approve(&id).command(), 3);
        }
        wide.approve(&id).run().expect(3);
        if matches!(self, Self::Answer) {
            return (wide.accept(&id).command(), 0);
        }
        wide.accept(&id).run().expect(0);
        if matches!(self, Self::Resume) {
            return (wide.resume(&id).command(), 0);
        }
        wide.resume(&id).run().expect(0);
        (wide.merge(&id).command(), 0)
    }
}

/// The model was asked for the same replies as ever, and again only for what was in flight: no
/// more than one reply of a conversation, and of no more conversations than there were.
fn asked_again(wide: &Wide, expected: &BTreeMap<Place, usize>, in_flight: usize) -> usize {
    let asked = wide.asked();
    assert!(asked.keys().eq(expected.keys()), "{asked:?}");
    let again: Vec<_> = asked.iter().filter(|(_, times)| **times > 1).collect();
    assert!(again.iter().all(|(_, times)| **times == 2), "{again:?}");
    let mut conversations: Vec<_> = again
        .iter()
        .map(|((who, step, attempt, _), _)| (who, step, attempt))
        .collect();
    conversations.dedup();
    assert_eq!(conversations.len(), again.len(), "{again:?}");
    assert!(again.len() <= in_flight, "{again:?}");
    again.len()
}

#[test]
fn of_every_conversation_in_flight_one_reply_is_asked_for_again() {
    let in_flight = [
        (Who::Inspector, 2, 1, 1),
        (Who::Tester, 2, 1, 1),
        (Who::Worker, 3, 1, 0),
    ];
    let is_held = Arc::new(AtomicBool::new(true));
    let holds = Arc::clone(&is_held);
    let wide = Wide::speaking(Format::Chat, move |asked| {
        holds.load(Ordering::Relaxed) && in_flight.contains(&place(asked))
    });
    let id = wide.town().asked();
    wide.approve(&id).run().expect(3);
    wide.accept(&id).run().expect(0);
    let mut child = wide.resume(&id).command().spawn().unwrap();
    wide.0.until_held(in_flight.len());
    child.kill().unwrap();
    child.wait().unwrap();
    is_held.store(false, Ordering::Relaxed);
    wide.0.model.release();
    let lost = unanswered(wide.town());
    assert_eq!(lost.len(), in_flight.len(), "{lost:?}");
    wide.to_the_end();
    wide.is_told();
    assert_eq!(once(wide.town()), lost);
    for (place, times) in wide.asked() {
        let expected = if in_flight.contains(&place) { 2 } else { 1 };
        assert_eq!(times, expected, "{place:?}");
    }
}

#[test]
fn proof_story_wide_killed_at_every_append_it_ends_the_same() {
    let mut points = Vec::new();
    for act in Act::ALL {
        let wide = Wide::new();
        let (command, code) = act.command(&wide);
        let of_act = Moment::points(wide.town(), command, code);
        points.extend(of_act.into_iter().map(|(moment, nth)| (act, moment, nth)));
    }
    let whole = Wide::new();
    whole.to_the_end();
    whole.is_told();
    let (expected, places) = (whole.left(), whole.asked());
    assert!(places.values().all(|times| *times == 1), "{places:?}");
    assert!(once(whole.town()).is_empty());
    is_tidy(whole.town());

    let all = points.len();
    let chosen = chosen(&points, all as u64 / 6, "killed_wide_story");
    let tried = tried(chosen, |(act, moment, nth)| {
        let wide = Wide::new();
        let town = wide.town();
        let (command, code) = act.command(&wide);
        let is_killed = moment.kill(town, command, code, nth);
        let at = format!("killed {moment:?} at append {nth} of {act:?}");
        let in_flight = unanswered(town);
        // Two steps at once, one of them before two judges.
        assert!(in_flight.len() <= 3, "{in_flight:?}, {at}");
        eprintln!("{at}");
        wide.to_the_end();
        wide.is_told();
        assert_eq!(wide.left(), expected, "{at}");
        assert_eq!(once(town), in_flight, "{at}");
        let again = asked_again(&wide, &places, in_flight.len());
        is_tidy(town);
        town.house.ok(["journal", "verify"]);
        (is_killed, again)
    });
    let kills = tried.iter().filter(|(is_killed, _)| *is_killed).count();
    let most = tried.iter().map(|(_, again)| *again).max().unwrap_or(0);
    let again: usize = tried.iter().map(|(_, again)| again).sum();
    figure(&format!(
        "kills of a wide story | {kills} of {all} points | all end the same | at most {most} \
         replies asked for again at a kill, one of a conversation, {again} in all"
    ));
}
