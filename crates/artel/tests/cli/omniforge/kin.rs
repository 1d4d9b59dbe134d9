//! Checks 18 to 20: skills that call skills, what they know of each other, and what they share.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use super::world::{World, calls, finish, words_of};

/// Returns the skill that a request is of.
fn skill_of(body: &Value) -> String {
    let system = words_of(&body["system"]);
    let name = system.split_once("executing the '").unwrap().1;
    name.split_once('\'').unwrap().0.to_owned()
}

/// Returns how many messages there are already.
fn length(body: &Value) -> usize {
    body["messages"].as_array().unwrap().len()
}

/// Returns the newest message.
fn newest(body: &Value) -> String {
    words_of(body["messages"].as_array().unwrap().last().unwrap())
}

/// Starts a model that answers by the skill and by how far it is.
fn minded(mind: impl Fn(&str, usize, &Value) -> Answer + Send + Sync + 'static) -> StandIn {
    StandIn::minded(Format::Anthropic, move |body| {
        mind(&skill_of(body), length(body), body)
    })
}

fn call(skill: &str) -> Answer {
    calls("skill", json!({"skill": skill, "arguments": "sales.csv"}))
}

#[test]
fn check_18_a_fork_knows_nothing_of_its_parent() {
    let world = World::new();
    fs::write(world.project.join("plans.txt"), "PARENT-MARK\n").unwrap();
    let model = minded(|skill, length, _| match (skill, length) {
        ("outer", 1) => calls("read", json!({"path": "plans.txt"})),
        ("outer", 3) => call("inner"),
        ("inner", 1) => calls("bash", json!({"command": "touch made.txt"})),
        ("inner", 3) => calls("read", json!({"path": "sales.csv"})),
        ("inner", _) => finish("CHILD-SUMMARY"),
        _ => finish("done"),
    });
    world.listens_to(&model);
    world.skill("outer", "", "OUTER-BODY: plan.");
    world.skill("inner", "context: fork\nallowed-tools: Read\n", "Look.");
    world.artel(["run", "outer"]).run().expect(0);
    let seen = model.seen();
    let of = |skill: &str| {
        let is = |body: &&Value| skill_of(body) == skill;
        let bodies = seen.iter().map(|seen| &seen.body);
        bodies.filter(is).map(words_of).collect::<Vec<_>>()
    };
    let inner = of("inner");
    assert_eq!(inner.len(), 3);
    for request in &inner {
        for mark in ["PARENT-MARK", "OUTER-BODY"] {
            assert!(
                !request.contains(mark),
                "{mark} reached the child:\n{request}"
            );
        }
    }
    let last = of("outer").pop().unwrap();
    assert!(last.contains("CHILD-SUMMARY"), "{last}");
    assert!(
        !last.contains("jan,1"),
        "what it looked at stays with the child"
    );
    let started = world.events("run.started");
    let child = started
        .iter()
        .find(|event| !event["payload"]["parent"].is_null());
    let child = child.unwrap()["payload"]["id"].as_str().unwrap().to_owned();
    assert!(last.contains(&format!("artel trace {child}")), "{last}");
    world.ok(["trace", &child]).says("inner");
    let bash = world
        .calls()
        .into_iter()
        .find(|call| call.0 == "bash")
        .unwrap();
    assert_eq!(bash.1.as_deref(), Some("refused"), "{bash:?}");
}

#[test]
fn check_19_forks_are_two_deep_and_the_chain_is_named() {
    let world = World::new();
    let model = minded(|skill, length, body| match (skill, length) {
        ("a", 1) => call("b"),
        ("b", 1) => call("c"),
        ("c", 1) => call("d"),
        _ => finish(&newest(body)),
    });
    world.listens_to(&model);
    for name in ["a", "b", "c", "d"] {
        world.skill(name, "context: fork\n", "Go on.");
    }
    let seen = world.artel(["run", "a"]).run().expect(0);
    let chain = "Maximum sub-agent depth (2) exceeded. Skill chain: a -> b -> c -> d";
    assert!(seen.out.contains(chain), "{}", seen.out);
    assert_eq!(seen.out.matches("a -> b -> c -> d").count(), 1);
    assert_eq!(world.events("run.started").len(), 3, "d never began");
}

#[test]
fn check_19_no_skill_is_twice_in_a_chain() {
    let world = World::new();
    let model = minded(|skill, length, body| match (skill, length) {
        ("a", 1) => call("b"),
        ("b", 1) => call("a"),
        _ => finish(&newest(body)),
    });
    world.listens_to(&model);
    world.skill("a", "", "Go on.");
    world.skill("b", "", "Go on.");
    let seen = world.artel(["run", "a"]).run().expect(0);
    seen.says("`a` is at work already. Skill chain: a -> b -> a");
}

/// Returns how many turns each run was given, by its skill.
fn given(world: &World, skill: &str) -> Vec<u64> {
    let started = world.events("run.started");
    let runs = started
        .iter()
        .filter(|event| event["payload"]["skill"] == skill);
    let runs: Vec<&Value> = runs.map(|event| &event["run"]).collect();
    let prepared = world.events("run.prepared");
    let own = prepared
        .iter()
        .filter(|event| runs.contains(&&event["run"]));
    own.map(|event| event["payload"]["turns"].as_u64().unwrap())
        .collect()
}

#[test]
fn check_20_a_called_skill_has_its_own_turns_and_a_fork_half_of_the_rest() {
    let world = World::new();
    let model = minded(|skill, length, _| match (skill, length) {
        ("outer", 1) => call("nested"),
        ("outer", 3) => call("forked"),
        _ => finish("done"),
    });
    world.listens_to(&model);
    world.skill("outer", "max-iterations: 10\n", "Go on.");
    world.skill("nested", "max-iterations: 15\n", "Go on.");
    world.skill("forked", "max-iterations: 15\ncontext: fork\n", "Go on.");
    world.artel(["run", "outer"]).run().expect(0);
    assert_eq!(given(&world, "outer"), [10]);
    assert_eq!(given(&world, "nested"), [15]);
    assert_eq!(
        given(&world, "forked"),
        [4],
        "half of the eight that were left"
    );
}

#[test]
fn check_20_all_together_take_a_hundred_turns() {
    let world = World::new();
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    fs::write(world.project.join("long.txt"), lines).unwrap();
    // Neither of them ever comes to an end, and nothing is done twice.
    let model = minded(|skill, length, _| match (skill, length) {
        ("outer", 1) => call("inner"),
        _ => calls(
            "read",
            json!({"path": "long.txt", "offset": length, "limit": 1}),
        ),
    });
    world.listens_to(&model);
    world.skill("outer", "max-iterations: 100\n", "Go on.");
    world.skill("inner", "max-iterations: 60\n", "Go on.");
    let seen = world.artel(["run", "outer"]).run().expect(1);
    seen.says("global iteration limit (100) exceeded");
    let finished = world.events("run.finished");
    let turns: Vec<u64> = finished
        .iter()
        .map(|event| event["payload"]["metrics"]["turns"].as_u64().unwrap())
        .collect();
    assert_eq!(turns, [60, 40]);
}

#[test]
fn check_20_the_sixth_skill_of_a_chain_is_refused() {
    let world = World::new();
    let model = minded(|skill, length, body| {
        let number: u32 = skill[1..].parse().unwrap();
        match length {
            1 => call(&format!("s{}", number + 1)),
            _ => finish(&newest(body)),
        }
    });
    world.listens_to(&model);
    for number in 1..=6 {
        world.skill(&format!("s{number}"), "", "Go on.");
    }
    let seen = world.artel(["run", "s1"]).run().expect(0);
    let words = "Skill chain depth limit (5) exceeded. Skill chain: \
                 s1 -> s2 -> s3 -> s4 -> s5 -> s6";
    assert!(seen.out.contains(words), "{}", seen.out);
    assert_eq!(world.events("run.started").len(), 5);
}
