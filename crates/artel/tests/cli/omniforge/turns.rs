//! Checks 1 to 5: modes, budgets of turns, the stream, recovery, the cap on retries.

use std::fs;

use super::world::World;

/// Two lookups and an answer.
const TWO_LOOKUPS: &str = r#"
lines:
  - call: { read: { path: sales.csv } }
  - call: { grep: { pattern: jan } }
  - call: { finish: { answer: two rows } }
"#;

/// One plan, its tools, and an answer where no tool can be called any more.
const ONE_PASS: &str = r#"
lines:
  - call: { read: { path: sales.csv } }
  - expect: { says: That was the last turn }
    say: two rows
"#;

#[test]
fn check_01_turn_after_turn_unless_it_is_simple() {
    let world = World::new();
    let table = [
        ("", None, "autonomous"),
        ("execution_mode: autonomous\n", None, "autonomous"),
        ("execution-mode: autonomous\n", None, "autonomous"),
        ("execution-mode: simple\n", None, "simple"),
        ("execution_mode: simple\n", None, "simple"),
        ("", Some("simple"), "simple"),
        ("execution-mode: simple\n", Some("autonomous"), "autonomous"),
    ];
    for (front, said, mode) in table {
        world.skill("look", front, "Look at $ARGUMENTS.");
        let (script, turns, asked) = match mode {
            "simple" => (ONE_PASS, 1, 2),
            _ => (TWO_LOOKUPS, 2, 3),
        };
        let run = world.rehearsed(script, ["look", "sales.csv"]);
        let run = said
            .into_iter()
            .fold(run, |run, mode| run.words(["--mode", mode]));
        run.run().expect(0).says("two rows");
        let prepared = world.events("run.prepared");
        assert_eq!(prepared.last().unwrap()["payload"]["mode"], mode, "{front}");
        let metrics = &world.finished()["metrics"];
        assert_eq!(metrics["turns"], turns, "{front} {said:?}");
        assert_eq!(metrics["model_calls"], asked, "{front} {said:?}");
    }
}

/// A model that never finishes, and never repeats itself.
fn endless() -> String {
    let line = |number: u32| format!("  - call: {{ grep: {{ pattern: row{number} }} }}\n");
    let lines: String = (0..40).map(line).collect();
    format!("lines:\n{lines}")
}

#[test]
fn check_02_the_turns_end_and_the_rest_is_said() {
    let world = World::new();
    for (front, turns) in [
        ("", 15),
        ("max_iterations: 3\n", 3),
        ("max-iterations: 1\n", 1),
    ] {
        world.skill("look", front, "Look.");
        let before = world.events("run.finished").len();
        let seen = world.rehearsed(&endless(), ["look"]).run().expect(1);
        let why = format!("reached maximum iterations ({turns})");
        assert!(seen.err.contains(&why), "{}", seen.err);
        let finished = world.events("run.finished");
        assert_eq!(finished.len(), before + 1, "one end");
        let payload = &finished.last().unwrap()["payload"];
        assert_eq!(payload["state"], "partial");
        assert_eq!(payload["metrics"]["turns"], turns);
        assert_eq!(payload["metrics"]["model_calls"], turns + 1);
        let looked = world.calls().iter().filter(|call| call.1.is_none()).count();
        assert!(looked >= turns, "{looked}");
    }
    for wrong in ["0", "101"] {
        world.skill("look", &format!("max_iterations: {wrong}\n"), "Look.");
        let seen = world.rehearsed(&endless(), ["look"]).run();
        assert_ne!(seen.code, 0);
        let seen = seen.says("max_iterations").says(wrong);
        seen.says("from 1 to 100");
    }
}

#[test]
fn check_03_the_stream_has_its_shape() {
    let world = World::new();
    world.skill("look", "", "Look.");
    let run = world.rehearsed(TWO_LOOKUPS, ["look", "--json", "--view", "full"]);
    let out = run.run().expect(0).out;
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["kind"].as_str())
        .collect();
    assert_eq!(kinds.first(), Some(&"run.started"));
    assert_eq!(kinds.last(), Some(&"run.finished"));
    let ends = kinds.iter().filter(|kind| **kind == "run.finished");
    assert_eq!(ends.count(), 1);
    let result = &lines.last().unwrap()["result"];
    assert_eq!(result["answer"], "two rows");
    assert_eq!(result["metrics"]["turns"], 2);
    let plain = world.rehearsed(TWO_LOOKUPS, ["look"]).run().expect(0);
    assert_eq!(plain.out, "two rows\n", "the same text without a stream");
    let run = result["run"].as_str().unwrap();
    world.ok(["trace", run]).says("✓ done · 2 turns");
}

#[test]
fn check_04_another_encoding_is_no_news() {
    let world = World::new();
    fs::write(world.project.join("umsatz.csv"), b"ort;summe\nK\xf6ln;42\n").unwrap();
    world.skill("total", "", "Say what $ARGUMENTS sums up to.");
    let script = r#"
lines:
  - call: { read: { path: umsatz.csv, encoding: utf-8 } }
  - expect: { says: windows-1252 }
    call: { read: { path: umsatz.csv, encoding: windows-1252 } }
  - expect: { says: Köln }
    call: { finish: { answer: "Köln: 42" } }
"#;
    let seen = world
        .rehearsed(script, ["total", "umsatz.csv"])
        .run()
        .expect(0);
    assert_eq!(seen.out, "Köln: 42\n");
    assert!(!seen.err.to_lowercase().contains("utf-8"), "{}", seen.err);
    let finished = world.finished();
    assert_eq!(finished["state"], "complete");
    assert_eq!(
        finished["metrics"]["recoveries"]["encoding"], 1,
        "{finished}"
    );
}

#[test]
fn check_05_what_failed_three_times_is_refused() {
    let world = World::new();
    world.skill("look", "", "Look.");
    let script = r#"
lines:
  - call: { read: { path: gone.txt } }
    times: 4
  - expect: { says: "read" }
    call: { read: { path: sales.csv } }
  - call: { finish: { answer: looked } }
"#;
    world.rehearsed(script, ["look"]).run().expect(0);
    let troubles: Vec<_> = world.calls().into_iter().map(|call| call.1).collect();
    let lost = Some("not-found".to_owned());
    let refused = Some("refused".to_owned());
    assert_eq!(
        troubles[..5],
        [lost.clone(), lost.clone(), lost, refused, None]
    );
    let requested = world.events("tool.requested");
    let gone = |event: &&serde_json::Value| event.to_string().contains("gone.txt");
    assert_eq!(
        requested.iter().filter(gone).count(),
        3,
        "the fourth is never begun"
    );
    let (_, _, said) = &world.calls()[3];
    assert!(
        said.contains("gone.txt"),
        "what was tried is listed: {said}"
    );
}
