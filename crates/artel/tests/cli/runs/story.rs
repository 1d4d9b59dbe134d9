//! What is shown of a run, to whom, and how it ends.

use std::fs;

use serde_json::Value;

use super::world::{REPORT, World};

#[test]
fn a_run_tells_what_it_did_and_what_it_took() {
    let world = World::new(REPORT);
    let seen = world.task([]).run().expect(0);
    assert_eq!(seen.out, "Two rows, see report.md.\n");
    let told: Vec<&str> = seen.err.lines().collect();
    let run = world.run();
    assert!(
        told[0].starts_with(&format!("run {}", &run[..8])),
        "{}",
        seen.err
    );
    assert!(told[1].contains("task · rehearsal:"), "{}", seen.err);
    for line in [
        "  step 1 of 2 (0 %)",
        "  read sales.csv",
        "  ran wc -l sales.csv",
        "  wrote report.md (3 lines)",
        "    + report.md  +3 −0",
    ] {
        assert!(told.contains(&line), "no `{line}` in:\n{}", seen.err);
    }
    assert!(
        seen.err
            .contains("✓ wrote report.md (3 lines) · 3 turns · "),
        "{}",
        seen.err
    );
    let last = format!(
        "it stays in the run; `artel apply {}` puts it in place",
        &run[..8]
    );
    assert_eq!(told.last().unwrap(), &last);
    // A failure that was got over is no news in a summary.
    assert!(!seen.err.contains("sale.csv"), "{}", seen.err);
    assert!(!seen.err.contains('\u{1b}'), "no terminal, no spinner");
}

#[test]
fn developers_see_turns_and_users_see_what_came_of_them() {
    let world = World::new(REPORT);
    let user = world.task([]).run().expect(0).err;
    let developer = world
        .task(["--set", "visibility.role=developer"])
        .run()
        .expect(0)
        .err;
    let asked = world.task(["--view", "full"]).run().expect(0).err;
    for full in [&developer, &asked] {
        assert!(full.contains("[turn 1/15]\n  I look at it.\n"), "{full}");
        assert!(
            full.contains("→ bash {\"command\":\"wc -l sales.csv\"}"),
            "{full}"
        );
        assert!(full.contains("✗ there is no `sale.csv`"), "{full}");
    }
    assert!(developer.contains("jan,1") && !asked.contains("jan,1"));
    assert!(!user.contains("[turn") && !user.contains("→"), "{user}");
}

#[test]
fn a_hidden_tool_shows_neither_input_nor_output() {
    let script = r#"
lines:
  - call: { bash: { command: "echo salt; echo pepper" } }
  - call: { finish: { answer: seasoned } }
"#;
    let world = World::new(script);
    let hide = "visibility.hidden_tools=bash";
    let admin = "visibility.role=admin";
    for words in [
        vec!["--set", hide],
        vec!["--set", hide, "--view", "full"],
        vec!["--set", hide, "--set", admin],
        vec!["--set", hide, "--set", admin, "--json"],
    ] {
        let seen = world.task([]).words(&words).run().expect(0);
        let all = format!("{}{}", seen.out, seen.err);
        assert!(
            !all.contains("salt") && !all.contains("pepper"),
            "{words:?}\n{all}"
        );
        assert!(all.contains("[bash hidden]"), "{words:?}\n{all}");
    }
    let run = world.run();
    for words in [
        vec!["--full"],
        vec!["--full", "--json"],
        vec!["--full", "--events"],
    ] {
        let trace = world.artel(["trace", &run, "--set", hide]).words(&words);
        let out = trace.run().expect(0).out;
        assert!(!out.contains("pepper"), "{words:?}\n{out}");
    }
}

#[test]
fn secrets_are_in_no_view() {
    let script = r#"
lines:
  - call: { bash: { command: "printf 'api_key=%s%s\\n' abcdef0123456789 abcdef0123456789" } }
  - call: { finish: { answer: done } }
"#;
    let world = World::new(script);
    let secret = "abcdef0123456789abcdef0123456789";
    let admin = "visibility.role=admin";
    let shown = world.task(["--set", admin]).run().expect(0);
    let json = world.task(["--set", admin, "--json"]).run().expect(0);
    let trace = world.ok(["trace", &world.run(), "--full", "--json"]);
    let all = [
        &shown.out,
        &shown.err,
        &json.out,
        &trace.out,
        &world.ok(["journal", "export"]).out,
    ]
    .map(String::as_str)
    .concat();
    assert!(all.contains("api_key="), "the output is there");
    assert!(!all.contains(secret), "and the key is not");
}

#[test]
fn programs_get_records_from_the_first_to_the_result() {
    let world = World::new(REPORT);
    let full = world.task(["--json", "--view", "full"]).run().expect(0);
    let lines: Vec<serde_json::Value> = full
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (result, events) = lines.split_last().unwrap();
    assert_eq!(events[0]["kind"], "run.started");
    assert_eq!(events.last().unwrap()["kind"], "run.finished");
    assert_eq!(
        events.last().unwrap()["payload"]["answer"],
        "Two rows, see report.md."
    );
    assert!(
        events
            .windows(2)
            .all(|pair| pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64())
    );
    assert_eq!(result["result"]["state"], "complete");
    assert_eq!(result["result"]["answer"], "Two rows, see report.md.");
    assert_eq!(result["result"]["metrics"]["turns"], 3);
    assert_eq!(result["result"]["changed"][0]["path"], "report.md");
    assert_eq!(full.err, "");
}

#[test]
fn programs_get_the_milestones_that_people_read() {
    let world = World::new(REPORT);
    let people = world.task([]).run().expect(0).err;
    let summary = world.task(["--json"]).run().expect(0);
    let lines: Vec<serde_json::Value> = summary
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["kind"], "run.started");
    assert_eq!(lines.last().unwrap()["result"]["state"], "complete");
    let told: Vec<_> = lines
        .iter()
        .filter_map(|line| line.get("milestone"))
        .collect();
    let find = |text: &str| told.iter().find(|it| it["text"] == text);
    for text in [
        "step 1 of 2 (0 %)",
        "read sales.csv",
        "ran wc -l sales.csv",
        "wrote report.md (3 lines)",
    ] {
        assert!(
            people.contains(text) && find(text).is_some(),
            "no `{text}` in {told:?}"
        );
    }
    let step = find("step 1 of 2 (0 %)").unwrap();
    assert_eq!(step["progress"]["percent"], 0);
    assert_eq!(step["progress"]["all"], 2);
    assert_eq!(find("ran wc -l sales.csv").unwrap()["turn"], 2);
    // Calls and their results are for those who ask for more.
    let is_of_tools = |line: &&serde_json::Value| {
        line["kind"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("tool."))
    };
    assert_eq!(lines.iter().filter(is_of_tools).count(), 0);
}

#[test]
fn whoever_is_said_to_be_a_user_sees_summaries_alone() {
    let world = World::new(REPORT);
    let user = ["--set", "visibility.role=user"];
    let told = world.task(user).run().expect(0).err;
    assert!(told.contains("ran wc -l sales.csv"), "{told}");
    let run = world.run();
    let before = world.house.kinds();
    for words in [
        &["run", "--task", "begin the work", "--view", "full"][..],
        &[
            "run",
            "--task",
            "begin the work",
            "--view",
            "full",
            "--json",
        ],
        &["trace", &run, "--full"],
        &["trace", &run, "--turn", "1"],
        &["trace", &run, "--full", "--json"],
        &["replay", &run, "--full"],
    ] {
        let seen = world.artel([]).words(words).words(user).run().expect(2);
        assert!(!seen.out.contains("wc -l"), "{words:?}\n{}", seen.out);
        assert!(
            seen.err
                .contains("the full view is not for the role `user`"),
            "{words:?}\n{}",
            seen.err
        );
    }
    assert_eq!(world.house.kinds(), before, "nothing begins");
    // Who is not said to be anything gets what they ask for.
    world
        .task(["--view", "full"])
        .run()
        .expect(0)
        .says("[turn 1/15]");
}

#[test]
fn a_run_that_never_ends_stops_after_its_turns_and_says_how_far_it_came() {
    let mut script = "lines:\n  - call: { todo: { tasks: [{ text: first, state: done }, \
                      { text: second, state: pending }] } }\n"
        .to_owned();
    for number in 2..30 {
        script.push_str(&format!(
            "  - call: {{ bash: {{ command: echo {number} }} }}\n"
        ));
    }
    let world = World::new(&script);
    let seen = world.task([]).run().expect(1);
    assert!(
        seen.err
            .contains("✗ partial: reached maximum iterations (15)"),
        "{}",
        seen.err
    );
    assert!(seen.err.contains("Completed 1 of 2\n"), "{}", seen.err);
    assert!(
        seen.err.contains("✓ first\n") && seen.err.contains("· second\n"),
        "{}",
        seen.err
    );
    let finished = &world.events("run.finished")[0]["payload"];
    assert_eq!(finished["state"], "partial");
    assert_eq!(finished["metrics"]["turns"], 15);
    assert_eq!(
        finished["metrics"]["model_calls"], 16,
        "15 turns and a closing call"
    );
}

#[test]
fn what_is_refused_is_said_with_what_to_do() {
    let script = r#"
lines:
  - call: { bash: { command: git push origin v1.2 } }
  - call: { finish: { answer: not pushed } }
"#;
    let world = World::new(script);
    let seen = world.task([]).run().expect(0);
    assert!(
        seen.err
            .contains("⏸ wants to run: git push origin v1.2\n    why not: "),
        "{}",
        seen.err
    );
    assert!(
        seen.err.contains("(built in)\n    you can: "),
        "{}",
        seen.err
    );
}

#[test]
fn a_skill_that_calls_another_is_seen_with_it() {
    let script = r#"
rules:
  - expect: { system: Count the rows }
    call: { finish: { answer: two rows } }
  - expect: { says: two rows }
    call: { finish: { answer: counted } }
  - expect: { says: begin }
    call: { skill: { skill: counting, arguments: sales.csv } }
"#;
    let world = World::new(script);
    let skill = world.house.workshop.join("Skills/counting");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: counting\ndescription: Counts rows.\ncontext: fork\n---\nCount the rows of $ARGUMENTS.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    let seen = world.task([]).run().expect(0);
    assert!(seen.err.contains("  counting begins ("), "{}", seen.err);
    assert!(
        seen.err.contains("  ✓ counting: two rows\n"),
        "{}",
        seen.err
    );
    let all = world.ok(["runs", "--all", "--json"]).json();
    let child = all
        .as_array()
        .unwrap()
        .iter()
        .find(|row| !row["parent"].is_null());
    let child = child.unwrap()["run"].as_str().unwrap().to_owned();
    let trace = world.ok(["trace", &child]).out;
    assert!(
        trace.contains("counting begins") && !trace.contains("begin the work"),
        "{trace}"
    );
    let whole = world.ok(["trace", &world.run()]).out;
    assert!(
        whole.contains("counting begins") && whole.contains("begin the work"),
        "{whole}"
    );
}

#[test]
fn a_trace_is_looked_into_turn_by_turn() {
    let world = World::new(REPORT);
    world.task([]).run().expect(0);
    let run = world.run();
    let summary = world.ok(["trace", &run]).out;
    assert!(
        summary.contains("  ran wc -l sales.csv\n  wrote report.md (3 lines)\n✓ "),
        "{summary}"
    );
    let turn = world.ok(["trace", &run, "--turn", "2"]).out;
    assert!(
        turn.starts_with("[turn 2/15]\n") && turn.contains("wc -l"),
        "{turn}"
    );
    assert!(
        !turn.contains("todo") && !turn.contains("report.md"),
        "{turn}"
    );
    assert!(
        world
            .ok(["trace", &run, "--events"])
            .out
            .contains("run.started")
    );
}

#[test]
fn a_recorded_run_plays_again_as_it_was() {
    let world = World::new(REPORT);
    world.task([]).run().expect(0);
    let run = world.run();
    let before = world.house.kinds();
    let replay = world.ok(["replay", &run]).out;
    assert!(
        replay.contains("of 3 turns: as recorded; policy decides"),
        "{replay}"
    );
    assert_eq!(world.house.kinds(), before, "nothing happens");
    let asks = world
        .ok(["replay", &run, "--set", "policy.commands=ask"])
        .out;
    assert!(asks.contains("bash would be asked now"), "{asks}");
    assert!(
        world
            .ok(["replay", &run, "--full"])
            .out
            .contains("[turn 3/15]")
    );
}

#[test]
fn a_fork_goes_on_differently_from_any_point() {
    let script = r#"
rules:
  - expect: { says: use tabs }
    call: { finish: { answer: with tabs } }
  - expect: { says: begin the work }
    call: { write: { path: one.txt, content: "one\n" } }
  - expect: { says: one.txt }
    call: { bash: { command: cp one.txt two.txt } }
  - expect: { says: no output }
    call: { finish: { answer: without tabs } }
"#;
    let world = World::new(script);
    world.task([]).run().expect(0).says("without tabs");
    let run = world.run();
    let written = world.events("tool.finished");
    let at = written
        .iter()
        .find(|event| event["payload"]["tool"] == "write");
    let at = at.unwrap()["seq"].to_string();
    let seen = world
        .artel(["fork", &run, "--at", &at, "--hint", "use tabs"])
        .run();
    let seen = seen.expect(0);
    assert_eq!(seen.out, "with tabs\n");
    let fork = world.run();
    assert_ne!(fork, run);
    // The files are those of then, and both runs have their own.
    assert!(world.tree(&fork, "one.txt").exists() && !world.tree(&fork, "two.txt").exists());
    assert!(world.tree(&run, "two.txt").exists());
    let finished = world.events("run.finished");
    assert_eq!(
        finished[1]["payload"]["metrics"]["model_calls"], 1,
        "the past is not paid twice"
    );
    let trace = world.ok(["trace", &fork]).out;
    assert!(
        trace.contains(&format!("goes on from run {}", &run[..8])),
        "{trace}"
    );
    world.ok(["replay", &fork]).says("as recorded");
    world.ok(["journal", "verify"]);
    for at in ["1", "999999"] {
        world
            .artel(["fork", &run, "--at", at])
            .run()
            .fails(2, "C004");
    }
}

#[test]
fn a_stored_value_that_was_changed_or_removed_is_found_and_named() {
    let world = World::new(REPORT);
    world.task(["--apply"]).run().expect(0);
    let asked = &world.events("model.requested")[0];
    let address = asked["payload"]["request"]["blob"].as_str().unwrap();
    let (shelf, name) = address.split_at(2);
    let file = world.house.state("blobs").join(shelf).join(name);
    let verified = || world.artel(["journal", "verify", "--json"]).run();
    assert_eq!(verified().expect(0).json()["bad_value"], Value::Null);
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    changed[0] ^= 1;
    fs::write(&file, changed).unwrap();
    let found = verified().expect(1).json();
    assert_eq!(found["first_bad"]["seq"], asked["seq"]);
    assert_eq!(found["bad_value"], address);
    fs::remove_file(&file).unwrap();
    let said = world.artel(["journal", "verify"]).run().expect(1);
    said.says("is missing").says(".artel/blobs");
    fs::write(&file, whole).unwrap();
    verified().expect(0);
}
