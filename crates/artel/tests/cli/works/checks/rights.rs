//! Commands and hosts that a step needs and its scope does not have: one question, not many.

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};

/// A plan whose one step may run the tests alone.
fn narrow() -> Calls {
    let scope = json!({
        "paths": ["calc.py", "test_calc.py"], "commands": ["python3 -m unittest:*"],
    });
    plan(json!([mend(json!({ "scope": scope, "verify": "none" }))]))
}

fn run(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

/// Tries what it may not, and leaves the step undone until it may.
fn gives_up(asked: &Asked) -> Calls {
    match (asked.who, asked.turn) {
        (Who::Architect, _) => narrow(),
        (Who::Worker, 0) => vec![
            run("ls -l calc.py"),
            run("wc -l calc.py && cat calc.py"),
            (
                "fetch",
                json!({ "url": "https://docs.example.org/adding?x=1" }),
            ),
            run("git push origin main"),
        ],
        (Who::Worker, _) if asked.text.contains("not allowed by") => vec![end("I may not look")],
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

#[test]
fn what_a_step_was_denied_is_asked_for_once_where_it_did_not_get_done() {
    let stage = Stage::new(gives_up);
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    // Whoever works is told the way out with the denial.
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    for words in [
        "not allowed by `bound.step mend`",
        "`propose_change` asks the person",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let proposed = stage.told("plan.proposed");
    assert_eq!(proposed.len(), 1, "{proposed:#?}");
    let what = proposed[0]["what"].as_str().unwrap();
    for words in [
        "may run `ls -l calc.py`",
        "may run `wc -l calc.py`",
        "may run `cat calc.py`",
        "may reach `docs.example.org`",
    ] {
        assert!(what.contains(words), "{words}: {what}");
    }
    assert!(
        !what.contains("git push"),
        "what nobody may is not asked for: {what}"
    );
    let waits = town.artel(["waiting", "--json"]).run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    for words in ["did not get done", "Impact: the step is tried again"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(stage.asked_of(Who::Worker, 1).len(), 2, "it stops there");

    town.artel(["answer", &id, "reject: do without"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(3);
    assert_eq!(town.count("plan.proposed"), 1, "a step asks once");
    assert_eq!(town.count("step.failed"), 4, "three attempts beside that");
}

#[test]
fn an_attempt_that_never_came_to_its_end_asks_as_well() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => {
            let scope = json!({
                "paths": ["calc.py"], "commands": ["python3 -m unittest:*"], "turns": 1,
            });
            plan(json!([mend(json!({ "scope": scope, "verify": "none" }))]))
        }
        _ => vec![run("ls -l calc.py")],
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let worked = &stage.told("step.worked")[0];
    assert_ne!(worked["state"], "complete", "{worked:#}");
    let proposed = stage.told("plan.proposed");
    assert_eq!(proposed.len(), 1, "{proposed:#?}");
    assert_eq!(proposed[0]["what"], "may run `ls -l calc.py`");
}

#[test]
fn what_is_agreed_to_is_what_the_next_attempt_may() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt, asked.turn) {
        (Who::Architect, ..) => narrow(),
        (Who::Worker, _, 0) => vec![run("ls -l calc.py")],
        (Who::Worker, 1, _) => vec![end("I may not look")],
        (Who::Worker, ..) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
    let requested = stage.told("tool.requested");
    let shells = requested.iter().filter(|it| it["tool"] == "bash");
    let decided: Vec<_> = shells.map(|it| it["decision"].clone()).collect();
    assert_eq!(decided, [json!("deny"), json!("allow")]);
    let shown = town.artel(["plan", "show", &id]).run().expect(0).out;
    assert!(shown.contains("ls -l calc.py"), "{shown}");
}

#[test]
fn whoever_asks_for_it_themselves_is_not_asked_about_twice() {
    let stage = Stage::new(|asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => narrow(),
        (Who::Worker, 0) => vec![run("ls -l calc.py")],
        (Who::Worker, _) => vec![
            (
                "propose_change",
                json!({ "why": "I have to look", "commands": ["ls:*"] }),
            ),
            end("waiting"),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let proposed = stage.told("plan.proposed");
    assert_eq!(proposed.len(), 1, "{proposed:#?}");
    assert_eq!(proposed[0]["why"], "I have to look");
    assert_eq!(stage.told("run.asked").len(), 1);
}

/// The denial names `propose_change`; whoever follows it may do, once a person agreed, what was denied.
#[test]
fn the_way_out_that_a_denial_names_leads_there() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt, asked.turn) {
        (Who::Architect, ..) => narrow(),
        (Who::Worker, _, 0) => vec![run("ls -l calc.py")],
        (Who::Worker, 1, _) if asked.last.contains("`propose_change` asks the person") => vec![
            (
                "propose_change",
                json!({ "why": "I have to look", "commands": ["ls:*"] }),
            ),
            end("waiting"),
        ],
        (Who::Worker, 1, _) => vec![end("there is no way out")],
        (Who::Worker, ..) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let proposed = stage.told("plan.proposed");
    assert_eq!(proposed[0]["why"], "I have to look", "{proposed:#?}");
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let requested = stage.told("tool.requested");
    let shells = requested.iter().filter(|it| it["tool"] == "bash");
    let decided: Vec<_> = shells.map(|it| it["decision"].clone()).collect();
    assert_eq!(decided, [json!("deny"), json!("allow")]);
    assert_eq!(town.count("step.passed"), 1);
}
