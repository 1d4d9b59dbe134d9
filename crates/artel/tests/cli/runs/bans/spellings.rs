//! A ban holds however it is written and however the call spells what it is about.

use std::fs;

use serde_json::json;

use super::{Called, script_of, with_private_files};
use crate::runs::world::World;

/// A run that is refused again and again ends: so many calls it has at least.
const AT_ONCE: usize = 6;

#[test]
fn a_ban_on_a_host_holds_in_every_spelling_of_it() {
    let network = |host: &str| {
        let input = json!({ "command": "true", "network": [host] });
        ("bash", input)
    };
    let fetch = |url: &str| ("fetch", json!({ "url": url }));
    let calls = [
        network("runsc.invalid"),
        network("RUNSC.invalid"),
        network("runsc.INVALID."),
        network("runsc.invalid:443"),
        network("runsc.invalid:8080"),
        fetch("http://runsc.invalid/"),
        fetch("http://RUNSC.invalid./"),
        fetch("http://runsc.invalid:8080/"),
        network("127.0.0.1:8099"),
        network("[::ffff:127.0.0.1]:8099"),
        network("Other.invalid."),
    ];
    let banned = "\"Fetch(Runsc.invalid)\", \"Fetch(127.0.0.1)\", \"Fetch(other.invalid:443)\"";
    for (list, answer) in [("deny", "deny"), ("ask", "ask")] {
        for calls in calls.chunks(AT_ONCE) {
            let world = World::new(&script_of(calls));
            for rule in ["Fetch(*)", "Bash(true)"] {
                world.ok(["policy", "grant", rule, "--reason", "we look"]);
            }
            world.bans(&format!("{list} = [{banned}]\n"));
            world.task([]).run();
            let decided = world.all_decided();
            assert_eq!(decided.len(), calls.len(), "{decided:#?}");
            for it in &decided {
                assert_eq!(it.answer, answer, "{it:?}");
                assert!(it.rule.starts_with("Fetch("), "{it:?}");
            }
        }
    }
}

/// What a run showed of the folder that may not be read, and which files that may not be changed it
/// made or changed.
#[derive(Debug, PartialEq, Eq)]
struct Passed {
    shown: Vec<String>,
    changed: Vec<&'static str>,
}

/// Looks at `private` and writes to `kept`, with tools and with commands.
fn passed(rules: &str) -> Passed {
    let bash = |command: &str| ("bash", json!({ "command": command }));
    let calls = |_: &str| -> Vec<Called> {
        vec![
            ("read", json!({ "path": "private/key" })),
            ("grep", json!({ "pattern": "value" })),
            bash("cat private/key"),
            bash("sh look.sh"),
            ("git_show", json!({})),
            ("write", json!({ "path": "kept/by_tool", "content": "x" })),
            bash("sh change.sh"),
        ]
    };
    let world = with_private_files(calls);
    let file = |name: &str, text: &str| {
        let path = world.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("kept/k", "k\n");
    file("look.sh", "cat pri*/k*\ngrep -rh value .\n");
    file("change.sh", "echo a >> kept/k\necho a > kept/by_command\n");
    world.bans(rules);
    world.task([]).run();
    let tree = |name: &str| world.tree(&world.run(), name);
    let mut changed = Vec::new();
    for name in ["kept/by_tool", "kept/by_command"] {
        changed.extend(tree(name).exists().then_some(name));
    }
    // The tree of a run that changed nothing is gone.
    let is_longer = fs::read_to_string(tree("kept/k")).is_ok_and(|text| text != "k\n");
    changed.extend(is_longer.then_some("kept/k"));
    Passed {
        shown: world.showed("4711-plum"),
        changed,
    }
}

#[test]
fn a_ban_on_paths_means_the_same_to_tools_and_to_commands() {
    let all = passed("");
    assert_eq!(all.shown.len(), 5, "{all:?}");
    assert_eq!(all.changed.len(), 3, "{all:?}");
    for rule in [
        "Read(private)",
        "Read(private/)",
        "Glob(private/**)",
        "Read(*)",
    ] {
        let passed = passed(&format!("deny = [\"{rule}\"]\n"));
        assert_eq!(passed.shown, Vec::<String>::new(), "{rule}");
    }
    for rule in ["Edit(kept)", "Write(kept/)", "Edit(*)", "Edit", "Write"] {
        let passed = passed(&format!("deny = [\"{rule}\"]\n"));
        assert_eq!(passed.changed, Vec::<&str>::new(), "{rule}");
        assert_eq!(passed.shown, all.shown, "{rule}");
    }
}

/// Names of the same program, and programs that start what they are told.
#[test]
fn a_ban_on_a_command_holds_under_other_names_of_what_starts_it() {
    let commands = [
        "perl5.36-x86_64-linux-gnu -e 'system(\"rm f\")'",
        "x86_64-linux-gnu-python3.13 -c 'import os; os.system(\"rm f\")'",
        "vim.basic -es -c '!rm f' -c q",
        "editor -es -c '!rm f' -c q",
        "dpkg-architecture -c 'rm f'",
        "pdb3 -c '!import os; os.system(\"rm f\")' -c q x.py",
        "coreutils --coreutils-prog=rm f",
        "pee 'rm f'",
        "mispipe 'rm f' true",
        "concurrently 'rm f'",
        "sg root -c 'rm f'",
        "swipl -g 'shell(\"rm f\")'",
    ];
    for commands in commands.chunks(AT_ONCE) {
        let call = |command: &&'static str| ("bash", json!({ "command": command }));
        let calls: Vec<Called> = commands.iter().map(call).collect();
        let world = World::new(&script_of(&calls));
        world.bans("deny = [\"Bash(rm:*)\"]\n");
        world.task([]).run();
        let decided = world.all_decided();
        assert_eq!(decided.len(), commands.len(), "{decided:#?}");
        for (command, it) in commands.iter().zip(&decided) {
            assert_eq!(it.answer, "deny", "{command}: {it:?}");
        }
    }
}
