//! Forks that only read, and what they try with a repository.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use crate::omniforge::world::{World, calls, command, finish, words_of};

fn is_fork(body: &Value) -> bool {
    words_of(&body["system"]).contains("executing the 'outer'")
}

fn length(body: &Value) -> usize {
    body["messages"].as_array().unwrap().len()
}

/// The first skill calls the other one, which makes these calls one after the other.
fn model(tries: Vec<(&'static str, Value)>) -> StandIn {
    StandIn::minded(Format::Anthropic, move |body| -> Answer {
        let turn = length(body) / 2;
        if is_fork(body) {
            match tries.get(turn) {
                Some((tool, input)) => calls(tool, input.clone()),
                None => finish("over"),
            }
        } else {
            match turn {
                0 => calls("skill", json!({ "skill": "outer", "arguments": "go" })),
                _ => finish("done"),
            }
        }
    })
}

/// A project with a commit, and words of the person that are in none.
fn world(fork: &str) -> World {
    let world = World::new();
    let git = |words: &[&str]| {
        let own = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"];
        command(&world.project, &[&own, words].concat());
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    fs::write(world.project.join("sales.csv"), "the person's own\n").unwrap();
    world.skill("first", "", "Begin.");
    world.skill("outer", fork, "Go on.");
    world
}

#[test]
fn a_fork_that_only_reads_does_nothing_with_git() {
    for agent in ["Explore", "Plan"] {
        let model = model(vec![
            ("git_stash", json!({})),
            ("git_add", json!({ "all": true })),
            (
                "git_commit",
                json!({ "message": "chore: planted by a fork" }),
            ),
            ("bash", json!({ "command": "git commit -qam planted" })),
            ("bash", json!({ "command": "git checkout -- sales.csv" })),
        ]);
        let world = world(&format!("context: fork\nagent: {agent}\n"));
        world.listens_to(&model);
        world
            .artel(["run", "first", "go", "--apply"])
            .run()
            .expect(0);
        let asked = world.events("tool.requested");
        let asked = asked.iter().map(|event| &event["payload"]);
        let asked: Vec<_> = asked.filter(|it| it["tool"] != "skill").collect();
        let let_through = |it: &&&Value| {
            let tool = it["tool"].as_str().unwrap();
            tool.starts_with("git_") && it["decision"] != "deny"
        };
        assert_eq!(asked.iter().filter(let_through).count(), 0, "{asked:#?}");
        let kept = fs::read_to_string(world.project.join("sales.csv")).unwrap();
        assert_eq!(kept, "the person's own\n", "{agent}");
        let log = std::process::Command::new("git")
            .args(["log", "--all", "--format=%s"])
            .current_dir(&world.project)
            .output()
            .unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        assert!(!log.contains("planted"), "{agent}: {log}");
    }
}

/// A skill is called by its name, and a name is no path.
#[test]
fn a_skill_that_is_called_by_a_path_is_none() {
    for name in [
        "../outer",
        "./outer",
        "outer/",
        "outer/../outer",
        "Skills/outer",
        "outer\n",
        "outer\0",
        "OUTER ",
    ] {
        let model = StandIn::minded(Format::Anthropic, move |body| match length(body) / 2 {
            0 => calls("skill", json!({ "skill": name, "arguments": "go" })),
            _ => finish("done"),
        });
        let world = world("");
        world.listens_to(&model);
        world.artel(["run", "first", "go"]).run().expect(0);
        assert_eq!(world.events("run.started").len(), 1, "{name:?}");
    }
}
