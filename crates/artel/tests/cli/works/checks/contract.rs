//! The plan as a contract: what a step may cost, what is proposed on the way, what people change
//! while it runs, and what stays of a plan that fails.

use std::fs;

use artel_testkit::standin::Format;
use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, end, mend, mends, note, plan, write_note};
use crate::support::entry;

fn states(stage: &Stage, id: &str) -> Vec<(String, String)> {
    let show = ["plan", "show", id, "--json"];
    let shown = stage.town.artel(show).run().expect(0).json();
    let steps = shown["plan"]["steps"].as_array().unwrap().iter();
    let states = shown["steps"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    steps
        .zip(states)
        .map(|(step, state)| (text(&step["id"]), text(&state["state"])))
        .collect()
}

#[test]
fn a_step_that_would_cost_more_than_its_scope_says_stops_and_asks_once() {
    let over = json!({
        "verify": "none", "tokens": 1_000_000,
        "scope": { "paths": ["calc.py", "test_calc.py"], "cost_usd": 0.000_001 },
    });
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(over.clone())])),
        _ => vec![
            super::stage::adds(),
            super::stage::tests_add(),
            end("mended"),
        ],
    });
    let town = &stage.town;
    let settings = entry("default", Format::Chat, &stage.model);
    let prices = "[prices.\"tiny\"]\ninput = 1\noutput = 1\n";
    town.house.settings(&format!("{settings}{prices}"));
    let id = town.asked();
    stage.approve(&id, 3);
    assert!(
        stage.asked_of(Who::Worker, 1).is_empty(),
        "nothing is spent"
    );
    let waits = town.artel(["waiting", "--json"]).run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    for words in ["may cost", "instead of 0.000001", "does not suffice"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
    assert_eq!(town.count("plan.proposed"), 1);
    let limits: Vec<_> = stage
        .told("budget.limited")
        .iter()
        .map(|it| it["limit"]["money"].as_u64().unwrap())
        .collect();
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert!(limits[0] == 1 && limits[1] > 1_000_000, "{limits:?}");
}

#[test]
fn exoframe_14_what_passed_before_a_failure_stays_on_the_branch() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([note("one", &[]), note("two", &["one"])])),
        (_, 1) => write_note(asked),
        _ => vec![
            ("read", json!({ "path": "nowhere.py" })),
            end("it is not there"),
        ],
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "give-up: it is not there"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(1);
    let branch = stage.branch(&id);
    let range = format!("main..{branch}");
    assert_eq!(
        stage.git(&["log", "--format=%s", &range]),
        "docs: Write one.md"
    );
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    for words in [&*branch, "Write one.md", "Write two.md", "artel plan retry"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    let show = ["changeset", "show", &id, "--json"];
    let shown = town.artel(show).run().expect(0).json();
    assert_eq!(shown["complete"], json!(false), "{shown:#}");
}

#[test]
fn sylk_7_23_steps_that_are_proposed_come_first_and_finished_ones_stay() {
    let stage = Stage::new(|asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([note("one", &[]), note("two", &["one"])])),
        _ if asked.text.contains("step 2 of 2") && asked.attempt == 1 => vec![
            (
                "propose_change",
                json!({
                    "why": "something is missing", "impact": "one step more",
                    "steps": [note("extra", &["one"])],
                }),
            ),
            end("waiting"),
        ],
        _ => write_note(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let waits = town.artel(["waiting", "--json"]).run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    assert!(text.contains("first: Write extra.md"), "{text}");
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let done = |id: &str| (id.to_owned(), "done".to_owned());
    assert_eq!(
        states(&stage, &id),
        [done("one"), done("extra"), done("two")]
    );
    let passed: Vec<_> = stage
        .told("step.passed")
        .iter()
        .map(|it| it["step"].clone())
        .collect();
    assert_eq!(passed, [json!("one"), json!("extra"), json!("two")]);
    assert_eq!(stage.asked_of(Who::Worker, 1).len(), 1, "done once");
    let third = stage.asked_of(Who::Worker, 3);
    assert!(third[0].text.contains("This is step 3 of 3"));
}

#[test]
fn steps_that_clash_fail_with_both_sides_shown_and_go_on_from_the_branch() {
    let shared = |id: &str| {
        let mut step = note(id, &[]);
        step["scope"] = json!({ "paths": ["shared.md"] });
        step["evidence"] = json!([{ "kind": "file", "what": "shared.md" }]);
        step
    };
    let write = |text: String| ("write", json!({ "path": "shared.md", "content": text }));
    let stage = Stage::holding(
        move |asked| match (asked.who, asked.attempt, asked.turn) {
            (Who::Architect, ..) => plan(json!([shared("left"), shared("right")])),
            (_, 1, _) => vec![write(format!("by step {}\n", asked.step)), end("written")],
            (_, _, 0) => vec![("read", json!({ "path": "shared.md" }))],
            _ => vec![write("by step 1\nby step 2\n".to_owned()), end("both")],
        },
        |asked| asked.who == Who::Worker && asked.attempt == 1,
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--at-once", "2"]);
    stage.until_held(2);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    for words in ["shared.md", "<theirs>", "<yours>", "by step 1", "by step 2"] {
        assert!(why.contains(words), "{words}: {why}");
    }
    let again = stage.asked().into_iter().find(|it| it.attempt == 2);
    assert!(again.unwrap().text.contains("<theirs>"), "it is told");
    let branch = stage.branch(&id);
    let file = stage.git(&["show", &format!("{branch}:shared.md")]);
    assert_eq!(file, "by step 1\nby step 2");
}

/// A plan with one step more once a person said so.
fn revised(asked: &Asked) -> Calls {
    let mut steps = vec![note("one", &[]), note("two", &["one"])];
    if asked.text.contains("three as well") {
        steps.push(note("three", &["two"]));
    }
    plan(json!(steps))
}

#[test]
fn a_plan_that_runs_is_revised_and_what_is_done_stays_done() {
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => revised(asked),
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 2),
    );
    let town = &stage.town;
    let id = town.asked();
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    let revise = ["plan", "revise", &id, "--comment", "three as well"];
    town.artel(revise).run().expect(0);
    let state = |id: &str, state: &str| (id.to_owned(), state.to_owned());
    let seen = states(&stage, &id);
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(seen[0], state("one", "done"));
    assert_eq!(seen[2], state("three", "waiting"));
    let shown = town.artel(["plan", "show", &id]).run().expect(0).out;
    assert!(shown.contains("[x]"), "{shown}");
    let diff = town.artel(["plan", "diff", &id]).run().expect(0).out;
    assert!(diff.contains("three"), "{diff}");
    assert_eq!(town.count("step.started"), 2, "what is new is held");
    let approve = town.artel(["plan", "approve", &id, "--json"]);
    let approving = approve.command().spawn().unwrap();
    stage.until_told("plan.approved", 2);
    for process in [child, approving] {
        let output = stage.let_go(process);
        assert!(output.status.success(), "{output:?}");
    }
    let passed: Vec<_> = stage
        .told("step.passed")
        .iter()
        .map(|it| (it["step"].clone(), it["round"].clone()))
        .collect();
    let once = |id: &str| (json!(id), json!(1));
    assert_eq!(passed, [once("one"), once("two"), once("three")]);
}

#[test]
fn sylk_5_16_the_architect_is_told_what_failed_again_and_again() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => revised(asked),
        _ if asked.step == 2 => vec![("read", json!({ "path": "calc.py" })), end("no luck")],
        _ => write_note(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let revise = ["plan", "revise", &id, "--comment", "three as well"];
    town.artel(revise).run().expect(0);
    let told = stage
        .asked()
        .into_iter()
        .rfind(|it| it.who == Who::Architect);
    let told = told.unwrap().text;
    for words in [
        "one (done)",
        "Step `two` did not pass in 3 attempts:",
        "`two.md` is not there",
        "no luck",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn exoframe_09_what_does_not_fit_is_left_out_and_said() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({ "verify": "none" }))])),
        _ => mends(asked),
    });
    let town = &stage.town;
    let settings = entry("default", Format::Chat, &stage.model);
    let budget = "[context]\nmax_tokens = 2000\nstrategy = \"smallest-first\"\n";
    town.house.settings(&format!("{settings}{budget}"));
    let notes = town.house.workshop.join("Knowledge/Context");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("small.md"), "SMALL-NOTE: add means plus.\n").unwrap();
    fs::write(
        notes.join("large.md"),
        "LARGE-NOTE of no use. ".repeat(2_000),
    )
    .unwrap();
    let id = town.asked();
    let told = &stage.asked_of(Who::Architect, 0)[0].text;
    for words in [
        "SMALL-NOTE",
        "[System Warning: Context Truncated]",
        "Token Budget: 1600",
        "large.md",
    ] {
        assert!(told.contains(words), "{words}");
    }
    assert!(!told.contains("LARGE-NOTE"));
    let loaded = &stage.told("context.loaded")[0];
    let named = |list: &Value, name: &str| {
        let list = list.as_array().unwrap();
        list.iter().any(|it| it.as_str().unwrap().ends_with(name))
    };
    assert!(named(&loaded["included"], "small.md"), "{loaded:#}");
    assert!(named(&loaded["skipped"], "large.md"), "{loaded:#}");
    assert_eq!(loaded["strategy"], "smallest-first");
    assert!(loaded["tokens"].as_u64() <= loaded["budget"].as_u64());
    let sheet = format!("request-{}_plan.md", &id[..8]);
    let found = super::super::town::named(&town.house.workshop.join("Inbox"), &sheet);
    let text = fs::read_to_string(&found[0]).unwrap();
    assert!(text.contains("large.md"), "{text}");
}

/// The first step asks for one more file in its first attempt.
fn asks_for_more(asked: &Asked) -> Calls {
    match (asked.who, asked.step, asked.attempt) {
        (Who::Architect, ..) => plan(json!([note("one", &[]), note("two", &["one"])])),
        (Who::Worker, 1, 1) => vec![
            (
                "propose_change",
                json!({ "why": "one file is missing", "paths": ["extra.md"] }),
            ),
            end("waiting"),
        ],
        _ => write_note(asked),
    }
}

#[test]
fn a_proposal_that_the_plan_went_past_changes_nothing() {
    let stage = Stage::new(asks_for_more);
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    // Meanwhile the person makes a version of their own.
    let show = ["plan", "show", &id, "--json"];
    let file = town.house.workshop.join("Inbox/Active");
    let file = file.join(format!("request-{}_plan.md", &id[..8]));
    let text = fs::read_to_string(&file).unwrap();
    let mine = town.house.root().join("mine.md");
    let other = text.replace("Write two.md.", "Write two.md in two lines.");
    assert_ne!(text, other);
    fs::write(&mine, other).unwrap();
    let edit = ["plan", "edit", &id, "--file", mine.to_str().unwrap()];
    town.artel(edit).run().expect(0);
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let decided = stage.told("plan.decided");
    assert_eq!(decided.len(), 1, "{decided:?}");
    assert_eq!(decided[0]["version"], Value::Null);
    let why = "lapsed: the plan was changed since it was proposed";
    assert_eq!(decided[0]["reason"], why);
    let shown = town.artel(show).run().expect(0).json();
    assert_eq!(shown["version"], 2, "{shown:#}");
    let text = shown["plan"].to_string();
    assert!(
        text.contains("in two lines") && !text.contains("extra.md"),
        "{text}"
    );
    let again = stage.asked_of(Who::Worker, 1);
    let again = &again.last().unwrap().text;
    assert!(
        again.contains(why) && !again.contains("turned down"),
        "{again}"
    );
}

#[test]
fn a_proposal_about_a_step_that_is_left_out_lapses() {
    let stage = Stage::new(asks_for_more);
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let skip = ["plan", "skip", &id, "1", "--reason", "not needed"];
    town.artel(skip).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(1);
    let why = "lapsed: step 1 is skipped by now";
    let decided = stage.told("plan.decided");
    assert_eq!(decided.len(), 1, "{decided:?}");
    assert_eq!(decided[0]["reason"], why);
    let asked = stage.told("run.asked");
    assert_eq!(asked.len(), 1, "nobody is asked again: {asked:?}");
    let trace = town.artel(["trace", &id]).run().expect(0).out;
    assert!(trace.contains(&format!("the change {why}")), "{trace}");
}
