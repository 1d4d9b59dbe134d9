//! What may be spent holds over all that is called.

use artel_testkit::standin::{Answer, Format, StandIn, Usage};
use serde_json::{Value, json};

use super::super::stage::{Asked, Calls, Stage, Who, adds, end, mend, plan, tests_add};
use super::super::town::{Town, payload};
use super::{calls_skill, is, skill};
use crate::support::{House, entry};

/// A house whose model has a price and writes much, with settings of its own and a skill that calls
/// another.
fn priced(settings: &str, mind: fn(&Asked) -> Calls) -> Stage {
    let model = StandIn::minded(Format::Chat, move |body| {
        let calls = mind(&Asked::of(body)).into_iter();
        let answer = calls.fold(Answer::says(""), |answer, (name, input)| {
            answer.calls(name, input)
        });
        answer.usage(Usage {
            input: 3_000,
            output: 1_000,
            ..Usage::default()
        })
    });
    let house = House::with_model(Format::Chat, &model);
    let prices = "[prices.\"tiny\"]\ninput = 1000\noutput = 1000\n";
    let model_entry = entry("default", Format::Chat, &model);
    house.settings(&format!("{model_entry}{prices}{settings}"));
    let town = Town::asking(house, "default".to_owned());
    let stage = Stage { town, model };
    skill(&stage, "outer", "");
    skill(&stage, "helper", "");
    stage
}

/// Calls the helper again and again, with other words each time.
fn calls_on(asked: &Asked) -> Calls {
    match asked.turn {
        turn if turn < 6 => vec![calls_skill("helper", &format!("part {turn}"))],
        _ => vec![end("all parts are done")],
    }
}

fn helps(asked: &Asked) -> Calls {
    match asked.turn {
        0 => vec![("read", json!({ "path": "calc.py" }))],
        _ => vec![end("helped")],
    }
}

fn in_skills(asked: &Asked) -> Calls {
    if is(asked, "helper") {
        helps(asked)
    } else {
        calls_on(asked)
    }
}

/// What every answer cost, in millionths of a dollar.
fn costs(stage: &Stage) -> Vec<u64> {
    let replied = stage.told("model.replied");
    replied
        .iter()
        .map(|it| it["cost"].as_u64().unwrap())
        .collect()
}

fn sum(costs: &[u64]) -> u64 {
    costs.iter().sum()
}

fn dollars(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// No more than the limit and the one call in flight.
#[track_caller]
fn within(stage: &Stage, limit: u64, whole: &[u64]) {
    let costs = costs(stage);
    let most = costs.iter().max().copied().unwrap_or_default();
    assert!(sum(&costs) <= limit + most, "{costs:?} of {limit}");
    assert!(
        !costs.is_empty() && costs.len() < whole.len(),
        "{costs:?}, {whole:?}"
    );
}

#[test]
fn what_a_run_may_cost_holds_over_the_skills_that_it_calls() {
    let free = priced("", in_skills);
    free.town
        .artel(["run", "outer", "go", "--json"])
        .run()
        .expect(0);
    let whole = costs(&free);
    let limit = sum(&whole) / 2;
    let stage = priced("", in_skills);
    let most = dollars(limit);
    let order = ["run", "outer", "go", "--max-cost", &most, "--json"];
    stage.town.artel(order).run();
    within(&stage, limit, &whole);
    // As a setting, for every run with all that it calls.
    let stage = priced(&format!("[budget.run]\nusd = {most}\n"), in_skills);
    stage.town.artel(["run", "outer", "go", "--json"]).run();
    within(&stage, limit, &whole);
}

#[test]
fn the_last_line_of_a_run_counts_what_it_called() {
    let stage = priced("", in_skills);
    let seen = stage.town.artel(["run", "outer", "go"]).run().expect(0);
    let whole = sum(&costs(&stage));
    let events = stage.town.events();
    let ended = events
        .iter()
        .rfind(|it| it["kind"] == "run.finished")
        .unwrap();
    let metrics = payload(ended)["metrics"].clone();
    let number = |value: &Value| value.as_u64().unwrap();
    let below = &metrics["below"];
    assert_eq!(
        number(&metrics["cost"]) + number(&below["cost"]),
        whole,
        "{metrics}"
    );
    assert_eq!(below["runs"], 6, "{metrics}");
    let shown = artel_types::Money(whole).to_string();
    assert!(seen.text().contains(&shown), "{shown}: {}", seen.text());
}

fn in_a_plan(asked: &Asked) -> Calls {
    match asked.who {
        _ if is(asked, "helper") => helps(asked),
        Who::Architect => plan(json!([mend(json!({ "verify": "none", "tokens": 1_000 }))])),
        _ if asked.turn < 6 => vec![calls_skill("helper", &format!("part {}", asked.turn))],
        _ => vec![adds(), tests_add(), end("mended")],
    }
}

/// Returns what answers cost that came once the plan was begun.
fn since_begun(stage: &Stage) -> Vec<u64> {
    let events = stage.town.events();
    let begun = events
        .iter()
        .position(|it| it["kind"] == "branch.begun")
        .unwrap();
    let replied = events[begun..]
        .iter()
        .filter(|it| it["kind"] == "model.replied");
    replied
        .map(|it| payload(it)["cost"].as_u64().unwrap())
        .collect()
}

#[test]
fn what_a_run_may_cost_holds_over_all_agents_of_a_plan_and_their_skills() {
    let free = priced("", in_a_plan);
    free.done();
    let whole = since_begun(&free);
    // The architect has a run of its own, which needs less.
    let limit = sum(&whole) / 2;
    let stage = priced(
        &format!("[budget.run]\nusd = {}\n", dollars(limit)),
        in_a_plan,
    );
    let id = stage.town.asked();
    stage.town.artel(["plan", "approve", &id, "--json"]).run();
    let costs = since_begun(&stage);
    let most = costs.iter().max().copied().unwrap_or_default();
    assert!(sum(&costs) <= limit + most, "{costs:?} of {limit}");
    assert!(!costs.is_empty(), "nothing was done");
}

#[test]
fn what_a_step_may_cost_holds_over_the_skills_that_it_calls() {
    let free = priced("", in_a_plan);
    free.done();
    let whole = since_begun(&free);
    let stage = priced("", |asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({
            "verify": "none", "tokens": 1_000,
            "scope": { "paths": ["calc.py", "test_calc.py"], "cost_usd": LIMIT },
        }))])),
        _ => in_a_plan(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let costs = since_begun(&stage);
    let most = costs.iter().max().copied().unwrap_or_default();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small sum"
    )]
    let limit = (LIMIT * 1e6) as u64;
    assert!(limit < sum(&whole), "{whole:?}");
    assert!(sum(&costs) <= limit + most, "{costs:?} of {limit}");
    let waits = stage
        .town
        .artel(["waiting", "--json"])
        .run()
        .expect(0)
        .json();
    let text = waits[0]["text"].as_str().unwrap();
    assert!(text.contains("does not suffice"), "{text}");
}

/// What a step may cost: some calls, and fewer than it wants.
const LIMIT: f64 = 30.0;
