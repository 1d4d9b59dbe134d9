//! What people say while a plan is being done, and the models that roles ask for.

use std::fs;

use artel_testkit::standin::Format;
use serde_json::json;

use super::stage::{Stage, Who, note, plan, write_note};
use crate::support::entry;

fn two_notes() -> super::stage::Calls {
    plan(json!([note("one", &[]), note("two", &["one"])]))
}

#[test]
fn a_hint_for_a_plan_reaches_whoever_is_at_a_step_and_those_who_come_after() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.step, asked.turn) {
            (Who::Architect, ..) => two_notes(),
            (Who::Worker, 1, 0) => vec![("read", json!({ "path": "calc.py" }))],
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 1) && asked.turn == 0,
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    let hint = ["hint", &id[..8], "write in small letters"];
    stage
        .town
        .artel(hint)
        .run()
        .expect(0)
        .says("given your hint");
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let first = stage.asked_of(Who::Worker, 1);
    assert!(!first[0].text.contains("small letters"));
    let last = &first[1].last;
    assert!(last.contains("write in small letters"), "{last}");
    let second = &stage.asked_of(Who::Worker, 2)[0].text;
    assert!(second.contains("write in small letters"), "{second}");
}

#[test]
fn a_role_runs_with_the_model_that_it_asks_for_and_says_if_that_is_not_known() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => two_notes(),
        _ => write_note(asked),
    });
    let town = &stage.town;
    let small = entry("small", Format::Chat, &stage.model).replace("tiny", "smaller");
    let usual = entry("default", Format::Chat, &stage.model);
    town.house.settings(&format!("{usual}\n{small}"));
    let asks_for = |model: &str| {
        let agents = town.house.workshop.join("Agents");
        fs::create_dir_all(&agents).unwrap();
        let text = format!(
            "---\nname: Engineer\nmodel: {model}\n---\n\nDo what the step says, and nothing \
             besides. Read before you write.\n"
        );
        fs::write(agents.join("engineer.md"), text).unwrap();
    };
    let id = town.asked();
    asks_for("nobody");
    // What holds for all commands beats a role; here nothing does.
    let approve = || {
        let artel = town.artel(["plan", "approve", &id]);
        artel.env("ARTEL_MODEL", "")
    };
    approve()
        .run()
        .fails_last(2, "M002")
        .says("the role `engineer` asks for the model `nobody`");
    town.artel(["agent", "validate", "engineer"])
        .run()
        .expect(1)
        .says("no model alias `nobody`");
    assert_eq!(town.count("step.started"), 0);
    asks_for("small");
    let resume = town.artel(["resume", &id, "--json"]).env("ARTEL_MODEL", "");
    resume.run().expect(0);
    let seen = stage.model.seen();
    let models = |who: Who| -> Vec<String> {
        let seen = seen.iter().filter(|it| it.body["messages"].is_array());
        let by = seen.filter(|it| super::stage::Asked::of(&it.body).who == who);
        by.map(|it| it.body["model"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(models(Who::Architect).iter().all(|it| it == "tiny"));
    let workers = models(Who::Worker);
    assert!(
        !workers.is_empty() && workers.iter().all(|it| it == "smaller"),
        "{workers:?}"
    );
}

#[test]
fn what_a_step_is_expected_to_take_is_set_aside_while_it_is_at_work() {
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => {
                let mut steps = json!([note("one", &[]), note("two", &["one"])]);
                steps[0]["tokens"] = json!(4_000_000);
                steps[1]["tokens"] = json!(9_000_000);
                plan(steps)
            }
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 1),
    );
    let town = &stage.town;
    let usual = entry("default", Format::Chat, &stage.model);
    let limits = "[budget.global]\ntokens = 10_000_000\nperiod = \"month\"\n";
    town.house.settings(&format!("{usual}\n{limits}"));
    let id = town.asked();
    let shown = town.artel(["plan", "show", &id]).run().expect(0);
    shown.says("it is expected to take 13000000 tokens");
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    let held = |kind: &str| -> Vec<serde_json::Value> {
        let all = stage.told(kind).into_iter();
        all.filter(|it| it["key"].as_str().unwrap().starts_with("step/"))
            .collect()
    };
    let reserved = held("budget.reserved");
    assert_eq!(reserved.len(), 1, "{reserved:?}");
    assert_eq!(reserved[0]["amount"]["tokens"], 4_000_000);
    assert!(held("budget.released").is_empty());
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("may stop on the way"), "{said}");
    let reserved = held("budget.reserved");
    assert_eq!(reserved.len(), 2, "{reserved:?}");
    assert_eq!(reserved[1]["amount"]["tokens"], 9_000_000);
    let released = held("budget.released");
    assert_eq!(released[0]["key"], reserved[0]["key"]);
    let calls = stage.told("model.requested");
    let of_step = calls.iter().filter(|it| it["account"]["step"] == "one");
    assert_eq!(of_step.count(), stage.asked_of(Who::Worker, 1).len());
}
