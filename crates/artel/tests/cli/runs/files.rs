//! What becomes of the files of a run: nothing without a person's word, and all or nothing with it.

use std::fs;

use rustix::process::Signal;

use super::world::{REPORT, Running, World};
use crate::terminal::in_terminal;

/// Changes a file, makes one and removes one.
const EDIT: &str = r##"
lines:
  - call:
      - edit: { path: a.txt, old: one, new: two }
      - write: { path: new.txt, content: "new\n" }
  - call: { bash: { command: rm gone.txt } }
  - call: { finish: { answer: done } }
"##;

fn edited() -> World {
    let world = World::new(EDIT);
    fs::write(world.project.join("a.txt"), "one\n").unwrap();
    fs::write(world.project.join("gone.txt"), "x\n").unwrap();
    world
}

fn is_untouched(world: &World) -> bool {
    let names = ["a.txt", "gone.txt", "new.txt"];
    let there = names.map(|name| fs::read_to_string(world.project.join(name)).ok());
    there == [Some("one\n".to_owned()), Some("x\n".to_owned()), None]
}

#[test]
fn a_whole_home_is_never_worked_on_and_no_task_is_none() {
    let world = edited();
    for folder in [world.house.home.clone(), "/".into()] {
        let run = world
            .artel(["run", "--task", "tidy up"])
            .standing_in(&folder);
        run.run().fails(3, "F003").says("your whole home folder");
    }
    world.artel(["run", "--task", " "]).run().fails(2, "C004");
    assert_eq!(world.ok(["runs", "--json"]).json(), serde_json::json!([]));
}

#[test]
fn files_stay_in_the_run_until_a_person_puts_them_in_place() {
    let world = edited();
    // A yes to first-use questions is none to this one.
    let seen = world.task(["--yes"]).run().expect(0);
    assert!(is_untouched(&world));
    let run = world.run();
    assert!(seen.err.ends_with("puts them in place\n"), "{}", seen.err);
    world.artel(["apply", &run]).run().fails_last(3, "C006");
    let diff = world.ok(["apply", &run, "--diff"]).out;
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    assert!(is_untouched(&world));
    for name in ["spool", "layers"] {
        let folder = world.house.state("worktrees").join(&run).join(name);
        assert!(!folder.exists(), "temporary folders are gone");
    }
    world
        .ok(["apply", &run, "--yes"])
        .says("put 3 files in place");
    assert_eq!(
        fs::read_to_string(world.project.join("a.txt")).unwrap(),
        "two\n"
    );
    assert!(!world.project.join("gone.txt").exists());
    assert!(!world.house.state("worktrees").join(&run).exists());
    let applied = &world.events("run.applied")[0];
    assert_eq!(applied["actor"]["kind"], "human");
    assert_eq!(applied["payload"]["files"].as_array().unwrap().len(), 3);
    world.artel(["apply", &run, "--yes"]).run().fails(3, "R008");
    let trace = world.ok(["trace", &run]).out;
    assert!(trace.contains("✓ put in place: "), "{trace}");
}

#[test]
fn apply_answers_the_question() {
    let world = edited();
    world
        .task(["--apply"])
        .run()
        .expect(0)
        .says("put 3 files in place");
    assert_eq!(
        fs::read_to_string(world.project.join("new.txt")).unwrap(),
        "new\n"
    );
}

#[test]
fn files_touched_meanwhile_are_refused_by_name_and_nothing_is_written() {
    let world = edited();
    world.task([]).run().expect(0);
    fs::write(world.project.join("a.txt"), "mine\n").unwrap();
    let seen = world.artel(["apply", &world.run(), "--yes"]).run();
    let seen = seen.fails_last(3, "R006");
    assert!(seen.err.contains("a.txt"), "{}", seen.err);
    assert_eq!(
        fs::read_to_string(world.project.join("a.txt")).unwrap(),
        "mine\n"
    );
    assert!(
        !world.project.join("new.txt").exists(),
        "nothing is half-applied"
    );
    assert!(world.events("run.applied").is_empty());
    // Once the person put theirs aside, it works.
    fs::write(world.project.join("a.txt"), "one\n").unwrap();
    world.ok(["apply", &world.run(), "--yes"]);
}

/// Changes, makes and removes so many files that a second process comes in between.
const MANY: &str = r##"
lines:
  - call:
      bash:
        command: >-
          s=$(cat seed); for i in $(seq 1 150); do printf $s > f$i; printf $s > n$i; done; rm gone.txt
  - call: { finish: { answer: done } }
"##;

/// So many.
const FILES: usize = 150;

/// Stops one process while it writes, and has another one put files there: of the same run, or of
/// another one.
#[test]
fn of_two_that_put_files_in_place_at_once_one_does_and_the_other_writes_nothing() {
    for code in ["R006", "R008"] {
        let world = World::new(MANY);
        for number in 1..=FILES {
            fs::write(world.project.join(format!("f{number}")), "before\n").unwrap();
        }
        fs::write(world.project.join("gone.txt"), "x\n").unwrap();
        let begins = |seed: &str| {
            fs::write(world.project.join("seed"), seed).unwrap();
            world.task([]).run().expect(0);
            world.run()
        };
        let one = begins("1");
        let other = match code {
            "R006" => begins("2"),
            _ => one.clone(),
        };
        let applies = |run: &str| Running::start(world.artel(["apply", run, "--yes"]));
        let mut first = applies(&one);
        first.until(|| !world.project.join("gone.txt").exists());
        first.signal(Signal::STOP);
        let mut second = applies(&other);
        second.waits_for_a_lock();
        first.signal(Signal::CONT);
        let ((first, told), (second, refused)) = (first.end(), second.end());
        assert_eq!((first, second), (0, 3), "{told}\n{refused}");
        assert!(refused.contains(code), "{refused}");
        for number in 1..=FILES {
            for name in [format!("f{number}"), format!("n{number}")] {
                let there = fs::read_to_string(world.project.join(&name)).unwrap();
                assert_eq!(there, "1", "{name}");
            }
        }
        assert!(!world.project.join("gone.txt").exists());
        let applied = world.events("run.applied");
        assert_eq!(applied.len(), 1);
        assert_eq!(applied[0]["payload"]["id"], one.as_str());
    }
}

#[test]
fn protected_files_are_never_put_in_place() {
    let world = edited();
    world.task([]).run().expect(0);
    let run = world.run();
    let bad = world.tree(&run, ".claude/settings.json");
    fs::create_dir_all(bad.parent().unwrap()).unwrap();
    fs::write(bad, "{}").unwrap();
    let seen = world.artel(["apply", &run, "--yes"]).run();
    let seen = seen.fails_last(3, "P001");
    assert!(seen.err.contains(".claude/settings.json"), "{}", seen.err);
    assert!(is_untouched(&world));
}

#[test]
fn a_person_is_asked_once_and_can_look_first() {
    let world = World::new(REPORT);
    let (screen, code) = in_terminal(world.task([]), "d\ny\nuse a table\n");
    assert_eq!(code, 0, "{screen}");
    assert_eq!(
        screen.matches("Put this file in place? [y/N/d]iff").count(),
        2,
        "{screen}"
    );
    assert!(screen.contains("+two rows"), "{screen}");
    assert!(
        screen.contains("Feedback for next time (Enter skips): "),
        "{screen}"
    );
    assert!(world.project.join("report.md").exists());
    assert_eq!(
        world.events("feedback.given")[0]["payload"]["text"],
        "use a table"
    );
    let world = World::new(REPORT);
    let (screen, _) = in_terminal(world.task([]), "\n\n");
    assert!(screen.contains("in the run; `artel apply "), "{screen}");
    assert!(world.events("feedback.given").is_empty());
}

#[test]
fn a_run_that_changed_nothing_leaves_nothing() {
    let script = r#"
lines:
  - call: { bash: { command: wc -l sales.csv } }
  - call: { finish: { answer: three } }
"#;
    let world = World::new(script);
    let seen = world.task([]).run().expect(0);
    assert!(!seen.err.contains("artel apply"), "{}", seen.err);
    assert!(!world.house.state("worktrees").join(world.run()).exists());
    world.artel(["apply", &world.run()]).run().fails(3, "R008");
    world.artel(["apply", "0123"]).run().fails(4, "R004");
}
