//! Hooks that came with the work: listed, shown, trusted once as they are.

use std::fs;

use serde_json::{Value, json};

use super::{declare, declare_here, ran};
use crate::omniforge::world::World;

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.project.join("ci")).unwrap();
    fs::write(world.project.join("ci/check.sh"), "exit 0\n").unwrap();
    declare_here(
        &world,
        &json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "sh ci/check.sh", "timeout": 20},
        ]}]}}),
    );
    declare(
        &world,
        "[[hooks.SessionEnd]]\ncommand = \"true\"\nnetwork = [\"example.org\"]\npriority = 10\n",
    );
    world.skill("look", "", "Look.");
    world
}

fn listed(world: &World) -> Vec<Value> {
    let list = world.ok(["hook", "list", "--json"]).json();
    list["hooks"].as_array().unwrap().clone()
}

#[test]
fn a_list_says_what_runs_from_where_and_how_far_it_reaches() {
    let world = world();
    let rows = listed(&world);
    let [own, theirs] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(own["event"], "SessionEnd");
    assert_eq!((&own["own"], &own["trusted"]), (&json!(true), &json!(true)));
    assert_eq!(own["network"], json!(["example.org"]));
    assert_eq!(own["hash"], Value::Null);
    assert!(
        own["file"]
            .as_str()
            .unwrap()
            .ends_with(".config/artel/artel.toml")
    );
    assert_eq!(theirs["command"], "sh ci/check.sh");
    assert_eq!(
        (&theirs["own"], &theirs["trusted"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(theirs["timeout_ms"], 20_000);
    assert_eq!(theirs["on_failure"], "warn");
    assert!(
        theirs["file"]
            .as_str()
            .unwrap()
            .ends_with(".claude/settings.json")
    );
    let table = world.ok(["hook", "list"]);
    assert!(table.out.contains("network example.org"), "{}", table.out);
    assert!(table.err.contains("artel hook trust"), "{}", table.err);
}

#[test]
fn trust_is_given_once_and_lost_when_a_file_changes() {
    let world = world();
    let run = || world.rehearsed(DONE, ["look"]).run().expect(0);
    let stops = || {
        ran(&world)
            .iter()
            .filter(|(event, _)| event == "Stop")
            .count()
    };
    let seen = run();
    assert!(
        seen.err.contains("`sh ci/check.sh` of") && seen.err.contains("artel hook trust"),
        "{}",
        seen.err
    );
    assert_eq!(stops(), 0);
    // Nobody is there to say yes.
    world.artel(["hook", "trust"]).run().fails(3, "C006");
    world
        .artel(["hook", "trust", "ffff"])
        .run()
        .fails(2, "C004");
    let hash = listed(&world)[1]["hash"].as_str().unwrap()[..8].to_owned();
    let shown = world.ok(["hook", "trust", &hash, "--yes"]);
    for words in [
        "runs      sh ci/check.sh",
        "file      ci/check.sh ",
        "1 of 1 hooks trusted",
    ] {
        assert!(shown.out.contains(words), "{words}\n{}", shown.out);
    }
    world.ok(["hook", "trust"]).says("every hook here is yours");
    assert_eq!(listed(&world)[1]["trusted"], true);
    run();
    assert_eq!(stops(), 1);
    fs::write(world.project.join("ci/check.sh"), "exit 2\n").unwrap();
    assert_eq!(listed(&world)[1]["trusted"], false);
    run();
    assert_eq!(stops(), 1, "what changed does not run");
}

#[test]
fn what_lies_beside_a_script_speaks_as_the_hook_and_is_trusted_with_it() {
    let world = world();
    let helper = world.project.join("ci/lib/common.sh");
    fs::create_dir_all(helper.parent().unwrap()).unwrap();
    fs::write(&helper, "true\n").unwrap();
    fs::write(world.project.join("ci/check.sh"), ". ci/lib/common.sh\n").unwrap();
    let shown = world.ok(["hook", "trust", "--yes"]);
    assert!(shown.out.contains("beside    2 files "), "{}", shown.out);
    assert_eq!(listed(&world)[1]["trusted"], true);
    fs::write(&helper, "exit 2\n").unwrap();
    assert_eq!(listed(&world)[1]["trusted"], false);
    fs::write(&helper, "true\n").unwrap();
    assert_eq!(listed(&world)[1]["trusted"], true);
    fs::write(world.project.join("ci/more.sh"), "").unwrap();
    assert_eq!(listed(&world)[1]["trusted"], false, "a new file beside it");
}

#[test]
fn a_run_that_changes_what_a_hook_loads_is_blocked_by_it() {
    for (change, blocks) in [
        ("bash: { command: \"cp sales.csv ci/lib/common.sh\" }", true),
        ("write: { path: ci/lib/other.sh, content: x }", true),
        ("bash: { command: \"rm ci/lib/unused.sh\" }", true),
        ("write: { path: report.md, content: x }", false),
    ] {
        let world = world();
        let lib = world.project.join("ci/lib");
        fs::create_dir_all(&lib).unwrap();
        for name in ["common.sh", "unused.sh"] {
            fs::write(lib.join(name), "true\n").unwrap();
        }
        fs::write(world.project.join("ci/check.sh"), ". ci/lib/common.sh\n").unwrap();
        // What git ignores is in no run's tree, and changes nothing.
        fs::write(world.project.join(".gitignore"), "*.log\n").unwrap();
        fs::write(world.project.join("ci/last.log"), "x").unwrap();
        crate::omniforge::world::command(&world.project, &["git", "init", "-q"]);
        world.ok(["hook", "trust", "--yes"]);
        // The first call makes the run's tree.
        let script = format!(
            "lines:\n  - call: {{ bash: {{ command: ls }} }}\n  - call: {{ {change} }}\n  \
             - call: {{ finish: {{ answer: done }} }}\n"
        );
        let seen = world.rehearsed(&script, ["look", "--max-turns", "8"]).run();
        let is_blocked = seen
            .err
            .contains("has changed since a person trusted the hook");
        assert_eq!(is_blocked, blocks, "{change}\n{}", seen.err);
        let stops = ran(&world);
        let mut stops = stops.iter().filter(|(event, _)| event == "Stop");
        let said = stops.any(|(_, decision)| decision == "block");
        assert_eq!(said, blocks, "{change}: {stops:?}");
    }
}

/// A project whose hook is this command, with files that it may load.
fn loading(event: &str, command: &str) -> World {
    let world = World::new();
    for (file, text) in [
        ("tools/dry.sh", "exit 0\n"),
        ("tools/check.py", "pass\n"),
        ("Makefile", "guard:\n\t@sh helper.sh\n"),
        ("helper.sh", "exit 0\n"),
    ] {
        let path = world.project.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let hook = json!({"type": "command", "command": command, "on_failure": "block"});
    declare_here(&world, &json!({"hooks": {event: [{"hooks": [hook]}]}}));
    world.skill("look", "", "Look.");
    world
}

#[test]
fn what_a_command_loads_without_naming_it_is_trusted_with_it() {
    for (command, file) in [
        ("make -s guard", "Makefile"),
        ("make -s guard", "helper.sh"),
        ("make -f Makefile guard", "GNUmakefile"),
        ("sh tools/d*", "tools/dry.sh"),
        ("sh tools/d*", "tools/dab.sh"),
        ("sh ${PWD}/tools/dry.sh", "tools/dry.sh"),
        ("sh $HERE/tools/dry.sh", "tools/dry.sh"),
        ("python3 -m tools.check", "tools/check.py"),
        ("find tools -name '*.sh' | xargs sh", "tools/dry.sh"),
        ("run-parts tools", "tools/later"),
        ("python3 -m later", "later.py"),
        ("npm run check", "package.json"),
    ] {
        let world = loading("Stop", command);
        let is_trusted = || listed(&world)[0]["trusted"] == true;
        world.ok(["hook", "trust", "--yes"]);
        assert!(is_trusted(), "{command}");
        fs::write(world.project.join("notes.md"), "prose\n").unwrap();
        assert!(is_trusted(), "{command}: prose");
        fs::write(world.project.join(file), "exit 2\n").unwrap();
        assert!(!is_trusted(), "{command}: {file}");
    }
    let world = loading("Stop", "echo '{}'; exit 0");
    world.ok(["hook", "trust", "--yes"]);
    fs::write(world.project.join("helper.sh"), "exit 2\n").unwrap();
    assert_eq!(listed(&world)[0]["trusted"], true, "it loads nothing");
}

#[test]
fn a_guard_that_names_no_file_is_not_switched_off_by_the_run() {
    for (command, file) in [
        ("make -s guard", "Makefile"),
        ("make -s guard", "helper.sh"),
        ("sh tools/d*", "tools/dry.sh"),
        ("python3 -m tools.check", "tools/check.py"),
    ] {
        let world = loading("PreToolUse", command);
        crate::omniforge::world::command(&world.project, &["git", "init", "-q"]);
        world.ok(["hook", "trust", "--yes"]);
        // The first call makes the run's tree.
        let script = format!(
            "lines:\n  - call: {{ bash: {{ command: ls }} }}\n  - call: {{ bash: {{ command: \"echo x > {file}\" }} }}\n  \
             - call: {{ bash: {{ command: \"echo PASSED > passed.txt\" }} }}\n  \
             - call: {{ finish: {{ answer: done }} }}\n"
        );
        let seen = world.rehearsed(&script, ["look", "--max-turns", "8"]).run();
        assert!(
            seen.err
                .contains("has changed since a person trusted the hook"),
            "{command}: {}",
            seen.err
        );
        let ran = ran(&world);
        let said = |word: &str| ran.iter().filter(|(_, decision)| decision == word).count();
        assert!(said("deny") + said("block") > 0, "{command}: {ran:?}");
    }
}
