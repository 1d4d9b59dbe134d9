//! Skills that agents of a plan call.

use serde_json::json;

use super::super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};
use super::super::town::payload;
use super::{
    all_denied, bash, calls_skill, give_script, is, judged, runs_script, skill, skill_saying,
    tries, write,
};

/// Tests first, and everybody has a skill try what they may not do themselves.
fn with_helpers(asked: &Asked) -> Calls {
    if is(asked, "helper") {
        let said = |words: &str| asked.text.contains(words);
        return tries(
            asked,
            match () {
                () if said("plans now") => vec![bash("id"), write("planted.txt")],
                () if said("names criteria") => vec![bash("id"), write("calc.py")],
                () if said("tests first") => vec![bash("id"), write("calc.py")],
                () if said("works now") => vec![
                    bash("id"),
                    write("planted.txt"),
                    write("test_calc.py"),
                    ("fetch", json!({ "url": "http://127.0.0.1:9/" })),
                ],
                () => vec![bash("id"), write("calc.py"), write("test_calc.py")],
            },
        );
    }
    if asked.turn == 0 {
        let words = match asked.who {
            Who::Architect => "plans now",
            Who::Criteria => "names criteria",
            Who::Tests => "tests first",
            Who::Worker => "works now",
            _ => "judges",
        };
        return vec![calls_skill("helper", words)];
    }
    match asked.who {
        Who::Architect => plan(json!([mend(json!({
            "verify": "tdd",
            "scope": { "paths": ["calc.py", "test_calc.py"], "commands": ["true"] },
        }))])),
        Who::Criteria => {
            let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
            vec![("criteria", json!({ "criteria": [claim] })), end("named")]
        }
        Who::Tests => vec![tests_add(), end("they fail")],
        Who::Worker => vec![adds(), end("mended")],
        _ => pass(
            &Asked {
                turn: asked.turn - 1,
                ..asked.clone()
            },
            json!({}),
        ),
    }
}

#[test]
fn no_skill_that_an_agent_of_a_plan_calls_leaves_the_bounds_of_that_agent() {
    let stage = Stage::new(with_helpers);
    skill(&stage, "helper", "");
    let grant = [
        "policy",
        "grant",
        "Fetch(127.0.0.1)",
        "--reason",
        "a server of mine",
    ];
    stage.town.artel(grant).run().expect(0);
    stage.done();
    let judged = judged(&stage);
    all_denied(
        &judged,
        &[
            ("helper of plan/v1/0", "bash"),
            ("helper of plan/v1/0", "write"),
            ("helper of mend/1/criteria", "bash"),
            ("helper of mend/1/criteria", "write"),
            ("helper of mend/1/tests", "write"),
            ("helper of mend/1/work", "bash"),
            ("helper of mend/1/work", "write"),
            ("helper of mend/1/work", "fetch"),
            ("helper of mend/1/inspector", "bash"),
            ("helper of mend/1/inspector", "write"),
            ("helper of mend/1/tester", "write"),
        ],
    );
    assert_eq!(stage.town.count("step.passed"), 1);
    assert_eq!(stage.town.count("step.failed"), 0);
}

#[test]
fn a_skill_in_a_skill_in_a_step_and_two_side_by_side_stay_in_it() {
    let stage = Stage::new(|asked| match asked.who {
        _ if is(asked, "inner") => tries(asked, vec![bash("id"), write("planted.txt")]),
        _ if is(asked, "outer") => tries(asked, vec![calls_skill("inner", "deeper")]),
        _ if is(asked, "other") => tries(asked, vec![bash("id"), write("planted.txt")]),
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": { "paths": ["calc.py", "test_calc.py"], "commands": ["true"] },
        }))])),
        _ if asked.turn == 0 => vec![calls_skill("outer", "one"), calls_skill("other", "two")],
        _ => vec![adds(), tests_add(), end("mended")],
    });
    for name in ["inner", "outer", "other"] {
        skill(&stage, name, "");
    }
    stage.done();
    let judged = judged(&stage);
    let inner: Vec<_> = judged
        .iter()
        .filter(|it| it.whose.starts_with("inner of "))
        .collect();
    assert_eq!(inner.len(), 2, "{judged:#?}");
    all_denied(
        &judged,
        &[
            ("other of mend/1/work", "bash"),
            ("other of mend/1/work", "write"),
        ],
    );
    assert_eq!(stage.town.count("step.passed"), 1);
}

#[test]
fn a_skill_may_do_in_a_step_what_the_step_may_do() {
    let stage = Stage::new(|asked| match asked.who {
        _ if is(asked, "helper") => tries(
            asked,
            vec![adds(), tests_add(), bash("python3 -m unittest -q")],
        ),
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": {
                "paths": ["calc.py", "test_calc.py"], "commands": ["python3 -m unittest:*"],
            },
        }))])),
        _ if asked.turn == 0 => vec![calls_skill("helper", "do it")],
        _ => vec![end("mended")],
    });
    skill(&stage, "helper", "");
    stage.done();
    let judged = judged(&stage);
    assert_eq!(judged.len(), 3, "{judged:#?}");
    assert!(
        judged.iter().all(|it| it.decision == "allow"),
        "{judged:#?}"
    );
    assert_eq!(stage.town.count("step.passed"), 1);
}

#[test]
fn a_script_of_a_called_skill_is_a_command_that_the_step_has_to_list() {
    for (commands, decision) in [(json!(["true"]), "deny"), (json!([]), "allow")] {
        let scope = json!({ "paths": ["calc.py", "test_calc.py"], "commands": commands });
        let stage = Stage::new(move |asked| match asked.who {
            _ if is(asked, "helper") => tries(asked, vec![runs_script("x.sh")]),
            Who::Architect => plan(json!([mend(json!({ "scope": scope }))])),
            _ if asked.turn == 0 => vec![calls_skill("helper", "run it")],
            Who::Worker => vec![adds(), tests_add(), end("mended")],
            _ => pass(
                &Asked {
                    turn: asked.turn - 1,
                    ..asked.clone()
                },
                json!({}),
            ),
        });
        skill(&stage, "helper", "");
        give_script(&stage, "helper", "x.sh");
        stage.done();
        let judged = judged(&stage);
        // The worker's and the verifier's.
        let scripts: Vec<_> = judged.iter().filter(|it| it.tool == "script").collect();
        assert_eq!(scripts.len(), 2, "{judged:#?}");
        assert!(
            scripts.iter().all(|it| it.decision == decision),
            "{judged:#?}"
        );
        let is_by_step = |rule: &str| rule == "bound.step mend";
        let by_step = scripts.iter().all(|it| is_by_step(&it.rule));
        assert_eq!(by_step, decision == "deny", "{judged:#?}");
    }
}

#[test]
fn a_command_in_the_text_of_a_called_skill_is_one_that_the_step_has_to_list() {
    let stage = Stage::new(|asked| match asked.who {
        _ if is(asked, "helper") => vec![end("tried")],
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": { "paths": ["calc.py", "test_calc.py"], "commands": ["true"] },
        }))])),
        _ if asked.turn == 0 => vec![calls_skill("helper", "look")],
        _ => vec![adds(), tests_add(), end("mended")],
    });
    let front = "allowed-tools: Bash(id:*), Bash(true)\n";
    skill_saying(&stage, "helper", front, "Who: !`id`. Well: !`true`.");
    stage.done();
    let injected = stage.told("skill.injected");
    let rule_of = |command: &str| {
        let found = injected.iter().find(|it| it["command"] == command);
        found.unwrap_or_else(|| panic!("{injected:#?}"))["rule"].clone()
    };
    assert_eq!(rule_of("id"), "bound.step mend");
    assert_eq!(rule_of("true"), "Bash(true)");
}

#[test]
fn a_step_plays_again_within_its_scope_and_with_what_was_approved_with_it() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({
            "verify": "none",
            "scope": {
                "paths": ["calc.py", "test_calc.py"], "commands": ["python3 -m unittest:*"],
            },
        }))])),
        _ if asked.turn == 0 => vec![bash("id"), write("planted.txt"), adds(), tests_add()],
        _ if asked.turn == 1 => vec![bash("python3 -m unittest -q")],
        _ => vec![end("mended")],
    });
    let settings = stage.town.house.workshop.join("artel.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    text.push_str("\n[policy]\ncommands = \"ask\"\n");
    std::fs::write(&settings, text).unwrap();
    stage.done();
    let events = stage.town.events();
    let of_step = |it: &&serde_json::Value| {
        it["kind"] == "run.started" && payload(it)["call"] == "mend/1/work"
    };
    let work = payload(events.iter().find(of_step).unwrap());
    let decided = |tool: &str| {
        let asked = stage.told("tool.requested").into_iter();
        let asked = asked.filter(|it| it["tool"] == tool);
        let word = |it: &serde_json::Value| it["decision"].as_str().unwrap().to_owned();
        asked.map(|it| word(&it)).collect::<Vec<_>>()
    };
    assert_eq!(decided("bash"), ["deny", "allow"]);
    assert_eq!(decided("write"), ["deny"]);
    let plan_run = work["parent"].as_str().unwrap();
    let replay = stage.town.artel(["replay", plan_run, "--json"]).run();
    let replay = replay.expect(0).json();
    assert_eq!(replay["differences"], json!([]), "{replay}");
    assert!(replay["decided"].as_u64().unwrap() >= 5, "{replay}");
}
