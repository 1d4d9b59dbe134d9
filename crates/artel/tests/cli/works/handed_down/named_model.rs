//! The model that a person names for a plan is the one of all that is done for it, whichever process
//! goes on with it.

use std::sync::atomic::{AtomicBool, Ordering};

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::json;

use super::super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};
use crate::support::entry;

/// A model for which nobody asked; whoever asks it gets nowhere.
pub(in super::super) fn unwanted() -> StandIn {
    StandIn::minded(Format::Chat, |_| Answer::status(401))
}

/// Makes the model of a stage the one that has to be named, and another one the default.
pub(in super::super) fn has_to_be_named(stage: &Stage, default: &StandIn) {
    let named = entry("named", Format::Chat, &stage.model);
    let default = entry("default", Format::Chat, default);
    stage.town.house.settings(&format!("{named}{default}"));
}

fn mends(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

/// The process that carries the plan out is killed at the work; another one goes on, and a third one
/// tries again what failed.
#[test]
fn the_model_that_a_person_names_with_an_approval_holds_after_a_kill_and_when_it_is_tried_again() {
    let default = unwanted();
    let is_first = AtomicBool::new(true);
    let is_hopeless = std::sync::Arc::new(AtomicBool::new(true));
    let gives_up = std::sync::Arc::clone(&is_hopeless);
    let stage = Stage::holding(
        move |asked| match asked.who {
            Who::Worker if gives_up.load(Ordering::SeqCst) => vec![end("nothing to do")],
            _ => mends(asked),
        },
        move |asked| asked.who == Who::Worker && is_first.swap(false, Ordering::SeqCst),
    );
    let id = stage.town.asked();
    has_to_be_named(&stage, &default);
    let mut child = stage.begin(&id, &["--model", "named"]);
    stage.until_held(1);
    child.kill().unwrap();
    child.wait().unwrap();
    stage.model.release();
    let resume = || stage.town.artel(["resume", &id, "--json"]).run();
    resume().expect(3);
    let give_up = ["answer", &id, "give-up"];
    stage.town.artel(give_up).run().expect(0);
    resume().expect(1);
    assert!(default.seen().is_empty(), "by whoever went on");
    is_hopeless.store(false, Ordering::SeqCst);
    let retry = ["plan", "retry", &id, "--json"];
    stage.town.artel(retry).run().expect(0);
    assert_eq!(stage.town.count("step.passed"), 1);
    assert!(default.seen().is_empty(), "by whoever tried again");
}

#[test]
fn a_model_that_is_not_known_is_refused_before_a_plan_is_approved_with_it() {
    let stage = Stage::new(mends);
    let id = stage.town.asked();
    let approve = ["plan", "approve", &id, "--model", "nobody", "--json"];
    let seen = stage.town.artel(approve).run();
    assert!(seen.err.contains("nobody"), "{}", seen.err);
    assert_eq!(stage.town.count("plan.approved"), 0);
    stage.approve(&id, 0);
}

#[test]
fn the_model_that_a_person_names_for_another_version_writes_it_after_a_kill() {
    let default = unwanted();
    let is_second = AtomicBool::new(false);
    let stage = Stage::holding(mends, move |asked| {
        asked.text.contains("in smaller steps") && !is_second.swap(true, Ordering::SeqCst)
    });
    let id = stage.town.asked();
    has_to_be_named(&stage, &default);
    let comment = "in smaller steps";
    let revise = ["plan", "revise", &id, "--comment", comment];
    let revise = stage.town.artel(revise).words(["--model", "named"]);
    let mut child = revise.command().spawn().unwrap();
    stage.until_held(1);
    child.kill().unwrap();
    child.wait().unwrap();
    stage.model.release();
    let resume = ["resume", &id, "--json"];
    stage.town.artel(resume).run().expect(0);
    assert!(default.seen().is_empty());
    assert_eq!(stage.town.count("plan.drafted"), 2);
}

#[test]
fn the_model_that_a_request_names_writes_every_version_of_its_plan() {
    let default = unwanted();
    let stage = Stage::new(mends);
    has_to_be_named(&stage, &default);
    let ask = stage.town.ask().words(["--model", "named"]);
    let seen = ask.run().expect(0).json();
    let id = seen["trace_id"].as_str().unwrap().to_owned();
    let revise = ["plan", "revise", &id, "--comment", "in smaller steps"];
    stage.town.artel(revise).run().expect(0);
    assert!(default.seen().is_empty());
    assert_eq!(stage.town.count("plan.drafted"), 2);
}
