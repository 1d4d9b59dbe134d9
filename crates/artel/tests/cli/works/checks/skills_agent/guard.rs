//! What keeps a step from going astray: few calls, and its directive now and then.

use std::fs;

use serde_json::{Value, json};

use super::super::stage::{Asked, Calls, Stage, Who, plan};
use super::{two_steps, usual};

/// A role that has eight calls.
fn careful(stage: &Stage) {
    let role = "---\nname: Careful\ndescription: Does one step with few calls\ncalls: 8\n---\n\n\
                You do one step of a plan. Look at the code first, then change what the step says.\n";
    let folder = stage.town.house.workshop.join("Agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("careful.md"), role).unwrap();
}

/// Looks for something else each time.
fn looks(asked: &Asked) -> Calls {
    let pattern = format!("word{}x{}", asked.attempt, asked.turn);
    vec![("grep", json!({ "pattern": pattern }))]
}

fn with_careful_second() -> Value {
    let mut steps = two_steps();
    steps[1]["role"] = json!("careful");
    steps
}

#[test]
fn skills_agent_07_a_step_that_goes_astray_begins_anew_and_ends_at_the_person() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(with_careful_second()),
        (Who::Worker, 2) => looks(asked),
        _ => usual(asked),
    });
    careful(&stage);
    let id = stage.town.asked();
    stage.approve(&id, 3).says("did not pass in 3 attempts");
    let asked = stage.asked_of(Who::Worker, 2);
    for attempt in 1..=3 {
        let own: Vec<_> = asked.iter().filter(|it| it.attempt == attempt).collect();
        assert_eq!(
            own.len(),
            9,
            "nine calls, then it is begun anew: attempt {attempt}"
        );
        let first = own[0];
        assert_eq!(first.turn, 0, "nothing of the other conversation");
        assert!(first.text.contains("Write notes.md."), "{}", first.text);
        assert!(first.text.contains("A=1"), "{}", first.text);
        for other in (1..=3).filter(|other| *other != attempt) {
            assert!(
                !first.text.contains(&format!("word{other}x")),
                "{}",
                first.text
            );
        }
    }
    assert_eq!(asked.len(), 27, "bounded");
    assert!(
        asked[9].text.contains("9 calls and no result"),
        "{}",
        asked[9].text
    );
}

#[test]
fn skills_agent_08_the_directive_comes_back_after_every_third_call() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(with_careful_second()),
        (Who::Worker, 2) if asked.turn < 7 => looks(asked),
        _ => usual(asked),
    });
    careful(&stage);
    stage.done();
    let asked = stage.asked_of(Who::Worker, 2);
    let reminders = |it: &Asked| {
        let text = "<primary_directive>\nWrite notes.md: Write notes.md.";
        it.text.matches(text).count()
    };
    let found: Vec<usize> = asked.iter().map(reminders).collect();
    assert_eq!(found[..8], [0, 0, 0, 1, 1, 1, 2, 2], "{found:?}");
}
