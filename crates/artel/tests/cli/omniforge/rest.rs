//! Checks 22 to 24: missed events, the model with what it costs, and what a turn takes.

use std::io::{BufRead as _, BufReader};

use artel_testkit::shim::{Counts, Fault, Op};
use artel_testkit::standin::{Format, StandIn, Usage};
use serde_json::{Value, json};

use super::world::{World, calls, finish, speaks};
use crate::support::entry;

#[test]
fn check_22_whoever_comes_back_gets_what_was_missed_once_and_in_order() {
    let world = World::new();
    world.skill("look", "", "Look.");
    let script = "lines:\n  - call: { read: { path: sales.csv } }\n  \
                  - call: { grep: { pattern: jan } }\n  - call: { finish: { answer: done } }\n";
    world.rehearsed(script, ["look"]).run().expect(0);
    let numbers = |out: &str| -> Vec<u64> {
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    let all = numbers(&world.ok(["journal", "export"]).out);
    assert!(all.len() > 10, "{all:?}");
    let run = world.events("run.started")[0]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let of_run = |after: u64| {
        let after = after.to_string();
        let tail = [
            "journal", "tail", "--json", "--run", &run, "--after", &after,
        ];
        numbers(&world.ok(tail).out)
    };
    let own = of_run(0);
    for (index, seq) in own.iter().enumerate() {
        assert_eq!(of_run(*seq), own[index + 1..], "after {seq}");
    }
    let after = all[4].to_string();
    let query = ["journal", "query", "--json", "--after", &after];
    let query = world.ok(query).json();
    let found = query.as_array().unwrap().iter();
    let found: Vec<u64> = found.map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(found, all[5..]);
    // Who stays gets what was missed, and then what comes.
    let follow = ["journal", "tail", "--json", "--follow", "--after", &after];
    let mut child = world.artel(follow).command().spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    world.rehearsed(script, ["look"]).run().expect(0);
    let all = numbers(&world.ok(["journal", "export"]).out);
    let came = lines.by_ref().take(all.len() - 5).map(Result::unwrap);
    let came: Vec<String> = came.collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(numbers(&came.join("\n")), all[5..]);
}

fn used(input: u64) -> Usage {
    Usage {
        input,
        output: 100,
        cache_read: 0,
        cache_write: 0,
        thinking: 0,
    }
}

/// Two models with their prices in dollars for a million tokens.
fn two_models(world: &World, usual: &StandIn, fast: &StandIn) {
    let named = |text: String, name: &str| text.replace("\"tiny\"", &format!("{name:?}"));
    let text = [
        named(entry("default", Format::Anthropic, usual), "usual"),
        named(entry("fast", Format::Anthropic, fast), "quick"),
        "[prices.\"usual\"]\ninput = 1\noutput = 1\n".to_owned(),
        "[prices.\"quick\"]\ninput = 0.5\noutput = 0.5\n".to_owned(),
    ];
    world.house.settings(&text.concat());
}

#[test]
fn check_23_the_model_that_a_skill_names_is_asked_and_paid() {
    let world = World::new();
    let answers = || finish("done").usage(used(900)).repeating();
    let usual = speaks([answers()]);
    let fast = speaks([answers()]);
    two_models(&world, &usual, &fast);
    world.skill("quick", "model: haiku\n", "Be quick.");
    world.artel(["run", "quick"]).run().expect(0);
    assert_eq!((usual.seen().len(), fast.seen().len()), (0, 1));
    let metrics = world.finished()["metrics"].clone();
    let by_model = metrics["cost_by_model"].as_object().unwrap();
    assert_eq!(by_model.len(), 1, "{metrics}");
    let (model, cost) = by_model.iter().next().unwrap();
    assert!(model.contains("quick"), "{metrics}");
    assert_eq!(cost, 500, "1,000 tokens at half a dollar: {metrics}");
    // What is said at the call wins.
    let named = world.artel(["run", "quick", "--model", "default"]);
    named.run().expect(0);
    assert_eq!((usual.seen().len(), fast.seen().len()), (1, 1));
    let report = world.ok(["usage", "--model", "--json"]).json();
    let rows = report["rows"].as_array().unwrap();
    let costs: Vec<&Value> = rows.iter().map(|row| &row["cost_microusd"]).collect();
    assert_eq!(rows.len(), 2, "{report}");
    assert!(
        costs.contains(&&json!(500)) && costs.contains(&&json!(1_000)),
        "{report}"
    );
    world.skill("odd", "model: gigantic\n", "Be odd.");
    let seen = world.artel(["run", "odd"]).run();
    assert_ne!(seen.code, 0);
    seen.says("gigantic");
}

#[test]
fn check_23_money_ends_a_run_and_half_a_dollar_is_spoken_of() {
    let world = World::new();
    let look = |number: u64, usage: Usage| {
        calls("grep", json!({"pattern": format!("row{number}")})).usage(usage)
    };
    let cheap = || (1..20).map(|number| look(number, used(1_000)));
    let usual = speaks(cheap());
    let fast = speaks([]);
    two_models(&world, &usual, &fast);
    world.skill("cheap", "max_cost_usd: 0.01\n", "Spend little.");
    let seen = world.artel(["run", "cheap"]).run().expect(1);
    let finished = world.finished();
    assert_eq!(finished["state"], "partial", "{finished}");
    assert!(
        seen.err.contains("budget") || seen.err.contains("cost"),
        "{}",
        seen.err
    );
    assert!(
        usual.seen().len() < 15,
        "it was stopped by money, not by turns"
    );
    let cost = finished["metrics"]["cost"].as_u64().unwrap();
    assert!(cost <= 10_000, "{finished}");
    assert!(
        world
            .events("budget.warned")
            .iter()
            .all(|event| event["run"] == finished["id"])
    );

    let dear = speaks([
        look(1, used(600_000)),
        look(2, used(1_000)),
        finish("dear").usage(used(1_000)),
    ]);
    two_models(&world, &dear, &fast);
    world.skill("dear", "", "Spend.");
    let before = world.events("budget.warned").len();
    let seen = world.artel(["run", "dear"]).run().expect(0);
    let warned = world.events("budget.warned");
    assert_eq!(warned.len(), before + 1, "once: {warned:?}");
    assert!(seen.err.contains("$0.50"), "{}", seen.err);
}

#[test]
fn check_24_a_turn_waits_for_the_disk_three_times_and_runs_leave_each_other_alone() {
    let script = |turns: u32| {
        let line = |turn: u32| format!("  - call: {{ grep: {{ pattern: row{turn} }} }}\n");
        let lines: String = (0..turns).map(line).collect();
        format!("lines:\n{lines}  - call: {{ finish: {{ answer: done }} }}\n")
    };
    let syncs = |turns: u32| {
        let world = World::new();
        world.skill("look", "", "Look.");
        let counts = world.house.root().join("counts");
        let mut command = world.rehearsed(&script(turns), ["look"]).command();
        let journal = Fault::on("journal.db-wal").count_into(&counts);
        journal.arm(&mut command);
        assert!(command.output().unwrap().status.success());
        assert_eq!(world.finished()["metrics"]["turns"], turns);
        Counts::read(&counts).of(Op::Sync)
    };
    let (few, many) = (syncs(5), syncs(15));
    assert!(many - few < 4 * 10, "{few} for 5 turns, {many} for 15");
    let world = World::new();
    world.skill("look", "", "Look.");
    let at_once = 12;
    world.rehearsed(&script(15), ["look"]).run().expect(0);
    let model = format!(
        "rehearsal:{}",
        world.house.root().join("script.yaml").display()
    );
    let start = |_| {
        let run = world.artel(["run", "look"]).env("ARTEL_MODEL", &model);
        run.command().spawn().unwrap()
    };
    let running: Vec<_> = (0..at_once).map(start).collect();
    for child in running {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let finished = world.events("run.finished");
    let complete = finished
        .iter()
        .filter(|event| event["payload"]["state"] == "complete");
    assert_eq!(complete.count(), at_once + 1);
    world.ok(["journal", "verify"]);
}
