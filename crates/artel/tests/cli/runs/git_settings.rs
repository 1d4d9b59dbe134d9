//! Tokens in the settings of a repository, where commands of a skill's text and hooks read it.

use std::fs;

use serde_json::{Value, json};

use super::bans::script_of;
use super::world::World;
use crate::support::lowered;

/// What a person's tools write into the settings of a repository.
const SETTINGS: &str = "# key 4711-in-words\n[http]\n\textraheader = X-Forge: 4711-of-header\n\
    [remote \"origin\"]\n\turl = https://example.org/a.git\n\
    \tfetch = +refs/heads/*:refs/remotes/origin/*\n\
    [remote \"own\"]\n\turl = https://4711-of-url@example.org/a.git\n\
    [alias]\n\tup = !curl -H 4711-of-alias\n[include]\n\tpath = more\n";

const COMMANDS: [&str; 6] = [
    "git config --list",
    "git remote -v",
    "git status --short --branch",
    "git log --oneline",
    "grep -rhs 4711 .",
    "grep -rhs 4711 .git lib/.git",
];

/// A project with tokens in the settings of its repository and of one in it, and a skill that looks.
fn world() -> World {
    world_of(&[("git_status", json!({}))])
}

/// The same, where the agent makes these calls.
fn world_of(calls: &[(&'static str, Value)]) -> World {
    let world = World::new(&script_of(calls));
    world.git();
    let at = |path: &str| world.project.join(path);
    let inner = std::process::Command::new("git")
        .args(["init", "-q", "lib"])
        .current_dir(&world.project)
        .status();
    assert!(inner.unwrap().success());
    for config in [".git/config", "lib/.git/config"] {
        let text = fs::read_to_string(at(config)).unwrap();
        fs::write(at(config), format!("{text}{SETTINGS}")).unwrap();
    }
    fs::write(at(".git/more"), "[core]\n\tpager = less 4711-of-include\n").unwrap();
    let folder = world.house.workshop.join("Skills/look");
    fs::create_dir_all(&folder).unwrap();
    let lines = COMMANDS.map(|command| format!("- !`{command}`\n")).concat();
    let front = "name: look\ndescription: Looks.\nallowed-tools: Bash, Read";
    fs::write(
        folder.join("SKILL.md"),
        format!("---\n{front}\n---\n{lines}"),
    )
    .unwrap();
    let settings = world.house.home.join(".config/artel");
    fs::create_dir_all(&settings).unwrap();
    let hook = "git config --list; cat .git/config lib/.git/config; git status; echo mark";
    let hook = format!("[[hooks.SessionStart]]\ncommand = \"{hook}\"\n");
    fs::write(settings.join("artel.toml"), hook).unwrap();
    world
}

#[test]
fn skills_and_hooks_print_no_token_of_a_repositorys_settings() {
    let world = world();
    world.artel(["run", "look"]).run().expect(0);
    let whole = world.ok(["journal", "export"]).out;
    assert!(!whole.contains("4711-"), "{whole}");
    let injected = world.events("skill.injected");
    assert_eq!(injected.len(), COMMANDS.len());
    let ran = world.events("hook.ran");
    assert!(ran[0].to_string().contains("mark"), "{ran:#?}");
    // What git reads the repository by is there.
    let injected = json!(injected).to_string();
    for words in [
        "core.repositoryformatversion=0",
        "remote.origin.url=https://example.org/a.git",
        "https://example.org/a.git (fetch)",
        "## main",
    ] {
        assert!(injected.contains(words), "no `{words}`: {injected}");
    }
}

/// Commands of an agent see a repository of the run's own, and of those of dependencies nothing.
#[test]
fn commands_print_no_token_of_a_repositorys_settings() {
    let command =
        "grep -rs 4711 .; git config --list; git -C vendor/lib log; cat vendor/lib/code; echo mark";
    let world = world_of(&[("bash", json!({ "command": command }))]);
    let at = |path: &str| world.project.join(path);
    fs::create_dir(at("vendor")).unwrap();
    fs::rename(at("lib"), at("vendor/lib")).unwrap();
    fs::write(at("vendor/lib/code"), "code of the library\n").unwrap();
    fs::write(at(".gitignore"), "vendor/\n").unwrap();
    world.task([]).run().expect(0);
    let whole = world.ok(["journal", "export"]).out;
    assert!(!whole.contains("4711-"), "{whole}");
    assert!(whole.contains("code of the library"), "{whole}");
}

/// Where nothing can be put in the place of a file, it is absent.
#[test]
fn at_level_partial_settings_with_a_token_are_absent() {
    let world = world();
    let words = ["run", "look", "--set", "sandbox.accept=partial"];
    let output = lowered(world.artel(words)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let whole = world.ok(["journal", "export"]).out;
    assert!(!whole.contains("4711-"), "{whole}");
    assert_eq!(world.events("skill.injected").len(), COMMANDS.len());
}
