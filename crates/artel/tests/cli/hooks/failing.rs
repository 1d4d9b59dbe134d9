//! Hooks that crash, hang or talk nonsense: said, and blocking only where that was wanted.

use serde_json::json;

use super::declare;
use crate::omniforge::world::{World, calls, conversations, finish, speaks};

#[test]
fn a_hook_that_fails_warns_or_blocks_as_declared() {
    for (command, why) in [
        ("exit 1", "exit code 1"),
        ("no-such-program-here", "exit code 127"),
        ("sleep 600", "it took longer than 300ms"),
        ("echo '{\\\"decision\\\": 7}'", "is not the JSON of a hook"),
    ] {
        for (on_failure, is_done) in [("warn", true), ("block", false)] {
            let world = World::new();
            declare(
                &world,
                &format!(
                    "[[hooks.PreToolUse]]\nmatcher = \"Write\"\ncommand = \"{command}\"\n\
                     timeout = \"300ms\"\non_failure = \"{on_failure}\"\n"
                ),
            );
            let model = speaks([
                calls("write", json!({"path": "new.txt", "content": "new\n"})),
                finish("tried"),
            ]);
            world.listens_to(&model);
            world.skill("change", "", "Change it.");
            let seen = world.artel(["run", "change", "--apply"]).run().expect(0);
            let what = format!("{command} {on_failure}\n{}", seen.err);
            assert!(seen.err.contains(why), "{what}");
            assert_eq!(world.project.join("new.txt").exists(), is_done, "{what}");
            let is_told = conversations(&model)[1].contains("a hook denies this");
            assert_eq!(is_told, !is_done, "{what}");
        }
    }
}

#[test]
fn a_guard_of_the_beginning_that_fails_ends_the_run_where_it_must_not() {
    for (on_failure, code) in [("warn", 0), ("block", 1)] {
        let world = World::new();
        declare(
            &world,
            &format!(
                "[[hooks.SessionStart]]\ncommand = \"exit 1\"\non_failure = \"{on_failure}\"\n"
            ),
        );
        let model = speaks([finish("done")]);
        world.listens_to(&model);
        world.skill("look", "", "Look.");
        world.artel(["run", "look"]).run().expect(code);
        assert_eq!(model.seen().is_empty(), code == 1, "{on_failure}");
    }
}
