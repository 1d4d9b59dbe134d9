//! Hooks that have a say: around the model, before questions, at the end.

use std::fs;

use serde_json::json;

use super::{declare, log, ran};
use crate::omniforge::world::{World, calls, conversations, finish, speaks};

#[test]
fn a_hook_before_the_model_can_end_the_run() {
    let world = World::new();
    declare(
        &world,
        "[[hooks.PreModel]]\ncommand = \"echo 'no budget today' >&2; exit 2\"\n",
    );
    let model = speaks([finish("never asked")]);
    world.listens_to(&model);
    world.skill("look", "", "Look.");
    let seen = world.artel(["run", "look"]).run().expect(1);
    assert!(
        seen.err.contains("a hook ended it: no budget today"),
        "{}",
        seen.err
    );
    assert_eq!(model.seen().len(), 0, "nothing was sent");
    assert_eq!(world.finished()["state"], "partial");
}

#[test]
fn words_of_hooks_reach_the_model() {
    let world = World::new();
    let context = |event: &str, words: &str| {
        let said = json!({"hookSpecificOutput": {
            "hookEventName": event,
            "additionalContext": words,
        }});
        format!("[[hooks.{event}]]\ncommand = '''echo '{said}''''\n")
    };
    declare(
        &world,
        &format!(
            "{}{}[[hooks.SessionStart]]\ncommand = \"echo MARK-START\"\n",
            context("PostModel", "MARK-MODEL"),
            context("PostToolUse", "MARK-TOOL"),
        ),
    );
    let model = speaks([calls("read", json!({"path": "sales.csv"})), finish("done")]);
    world.listens_to(&model);
    world.skill("look", "", "Look.");
    world.artel(["run", "look"]).run().expect(0);
    let told = conversations(&model);
    assert!(told[0].contains("MARK-START"), "{}", told[0]);
    assert!(!told[0].contains("MARK-MODEL"));
    assert!(
        told[1].contains("MARK-MODEL") && told[1].contains("MARK-TOOL"),
        "{}",
        told[1]
    );
}

#[test]
fn a_hook_can_refuse_a_question_and_never_say_yes_to_it() {
    for (behaviour, expected) in [("deny", "a hook: not today"), ("allow", "nobody")] {
        let world = World::new();
        let said = json!({"hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": behaviour, "message": "not today"},
        }});
        declare(
            &world,
            &format!(
                "[[hooks.PermissionRequest]]\nmatcher = \"Bash\"\ncommand = '''echo '{said}''''\n"
            ),
        );
        let model = speaks([
            calls("bash", json!({"command": "echo made > made.txt"})),
            finish("tried"),
        ]);
        world.listens_to(&model);
        world.skill("look", "", "Look.");
        let run = world.artel(["run", "look", "--apply", "--set", "policy.commands=ask"]);
        run.run().expect(0);
        assert!(!world.project.join("made.txt").exists(), "{behaviour}");
        let told = &conversations(&model)[1];
        assert!(told.contains(expected), "{behaviour}: {told}");
        assert_eq!(ran(&world)[0].0, "PermissionRequest", "{behaviour}");
    }
}

#[test]
fn a_run_goes_on_as_a_hook_wants_but_not_for_ever() {
    // A hook that looks whether it is heard for the first time, and one that never has enough.
    let polite =
        "grep -q '\\\"stop_hook_active\\\":true' && exit 0; echo 'MARK: test it' >&2; exit 2";
    let never = "echo 'MARK: more' >&2; exit 2";
    for (command, held) in [(polite, 1), (never, 5)] {
        let world = World::new();
        declare(
            &world,
            &format!("[[hooks.Stop]]\ncommand = \"{command}\"\n"),
        );
        let model = speaks((0..=held).map(|turn| finish(&format!("answer {turn}"))));
        world.listens_to(&model);
        world.skill("look", "", "Look.");
        let seen = world.artel(["run", "look"]).run().expect(0);
        assert_eq!(seen.out, format!("answer {held}\n"), "{command}");
        let told = conversations(&model);
        assert_eq!(told.len(), held + 1, "{command}");
        assert!(told[1].contains("MARK: "), "{}", told[1]);
        let is_bounded = seen.err.contains("hooks had the run go on 5 times");
        assert_eq!(is_bounded, held == 5, "{}", seen.err);
    }
}

#[test]
fn a_called_run_goes_on_as_its_hook_wants() {
    let world = World::new();
    declare(
        &world,
        "[[hooks.SubagentStop]]\nmatcher = \"explore\"\ncommand = '''\
         grep -q '\"stop_hook_active\":true' && exit 0; echo 'name the file' >&2; exit 2'''\n",
    );
    world.skill("outer", "", "Have it counted.");
    world.skill(
        "counting",
        "context: fork\nagent: explore\n",
        "Count the rows.",
    );
    let model = speaks([
        calls("skill", json!({"skill": "counting"})),
        finish("two rows"),
        finish("two rows in sales.csv"),
        finish("done"),
    ]);
    world.listens_to(&model);
    world.artel(["run", "outer"]).run().expect(0);
    let told = conversations(&model);
    assert!(told[2].contains("name the file"), "{}", told[2]);
    assert!(told[3].contains("two rows in sales.csv"), "{}", told[3]);
}

#[test]
fn a_hook_of_the_person_reaches_what_its_profile_says_and_no_more() {
    let world = World::new();
    let log = log(&world);
    let outside = world.house.root().join("outside");
    fs::create_dir_all(&outside).unwrap();
    declare(
        &world,
        &format!(
            "[[hooks.SessionStart]]\nwrite = [\"{log}\"]\n\
             command = \"echo in > {log}/in; echo out > {outside}/out; true\"\n",
            log = log.display(),
            outside = outside.display()
        ),
    );
    world.skill("look", "", "Look.");
    let script = "lines:\n  - call: { finish: { answer: done } }\n";
    world.rehearsed(script, ["look"]).run().expect(0);
    assert!(log.join("in").exists());
    assert!(!outside.join("out").exists());
}
