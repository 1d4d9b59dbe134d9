//! Runs that work on the same files share what was let through the walls around them.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use super::world::{World, calls, command, finish, words_of};
use crate::support::KEY;

/// Which of two skills a request is of.
fn is_outer(body: &Value) -> bool {
    words_of(&body["system"]).contains("executing the 'outer'")
}

fn bash(command: &str) -> Answer {
    calls("bash", json!({ "command": command }))
}

fn call_inner() -> Answer {
    calls(
        "skill",
        json!({ "skill": "inner", "arguments": "sales.csv" }),
    )
}

/// Returns the decisions about commands, in the order in which they were made.
fn decided(world: &World) -> Vec<String> {
    let events = world.events("tool.requested");
    let payloads = events.iter().map(|event| &event["payload"]);
    let commands = payloads.filter(|it| it["tool"] == "bash");
    commands
        .map(|it| format!("{} {}", it["decision"], it["decided_by"]).replace('"', ""))
        .collect()
}

/// Makes two skills, a secret, and the rule that hands it to a command.
fn world_with_a_secret() -> World {
    let world = World::new();
    world.skill("outer", "", "Plan.");
    world.skill("inner", "", "Look.");
    let set = world.artel(["auth", "set", "--tool", "github"]);
    set.given(KEY).run().expect(0);
    let grant = ["policy", "grant", "Secret(github)", "--reason", "ours"];
    world.artel(grant).run().expect(0);
    let rules = "[[rule]]\nprefix = [\"printenv\", \"GITHUB_TOKEN\"]\ndecision = \"allow\"\n\
                 secrets = [\"github\"]\n";
    fs::write(world.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    world
}

/// A fork works in the tree of its caller. One whose role only reads leaves that as it is, whatever its
/// commands do; one whose role edits does not.
#[test]
fn a_role_that_only_reads_changes_nothing_in_the_tree_of_its_caller() {
    for (role, is_changed) in [("inspector", false), ("looker", false), ("mender", true)] {
        let world = World::new();
        fs::write(world.project.join(".gitignore"), "node_modules\n").unwrap();
        fs::create_dir(world.project.join("node_modules")).unwrap();
        command(&world.project, &["git", "init", "-q"]);
        for (name, tools) in [("looker", "Read, Bash"), ("mender", "Read, Bash, Edit")] {
            let text =
                format!("---\nname: {name}\ndescription: Looks.\ntools: [{tools}]\n---\nLook.\n");
            fs::write(world.house.workshop.join(format!("Agents/{name}.md")), text).unwrap();
        }
        world.skill("outer", "", "Plan.");
        let front = format!("context: fork\nagent: {role}\n");
        world.skill("inner", &front, "Look.");
        let model = StandIn::minded(Format::Anthropic, |body| {
            let length = body["messages"].as_array().unwrap().len();
            match (is_outer(body), length) {
                (true, 1) => call_inner(),
                (false, 1) => bash("python3 -c \"open('sales.csv', 'w')\"; echo x > new.txt; ls"),
                _ => finish("done"),
            }
        });
        world.listens_to(&model);
        world.artel(["run", "outer", "--apply"]).run().expect(0);
        assert_eq!(decided(&world), ["allow contained"], "{role}");
        let listed = world
            .calls()
            .iter()
            .any(|(tool, _, seen)| tool == "bash" && seen.contains("sales.csv"));
        assert!(listed, "{role}: {:#?}", world.calls());
        let sales = fs::read_to_string(world.project.join("sales.csv")).unwrap();
        assert_eq!(sales.is_empty(), is_changed, "{role}");
        assert_eq!(world.project.join("new.txt").exists(), is_changed, "{role}");
    }
}

#[test]
fn a_secret_of_a_called_skill_ends_it_for_the_caller() {
    let world = world_with_a_secret();
    let model = StandIn::minded(Format::Anthropic, |body| {
        let length = body["messages"].as_array().unwrap().len();
        match (is_outer(body), length) {
            (true, 1) => bash("echo $HOME"),
            (true, 3) => call_inner(),
            (true, 5) => bash("echo $PWD"),
            (false, 1) => bash("printenv GITHUB_TOKEN"),
            _ => finish("done"),
        }
    });
    world.listens_to(&model);
    world.artel(["run", "outer"]).run();
    assert_eq!(
        decided(&world),
        ["allow contained", "allow rule", "ask rule"]
    );
}

#[test]
fn a_secret_of_the_caller_ends_it_for_a_called_skill() {
    let world = world_with_a_secret();
    let model = StandIn::minded(Format::Anthropic, |body| {
        let length = body["messages"].as_array().unwrap().len();
        match (is_outer(body), length) {
            (true, 1) => bash("printenv GITHUB_TOKEN"),
            (true, 3) => call_inner(),
            (false, 1) => bash("echo $PWD"),
            _ => finish("done"),
        }
    });
    world.listens_to(&model);
    world.artel(["run", "outer"]).run();
    assert_eq!(decided(&world), ["allow rule", "ask rule"]);
}
