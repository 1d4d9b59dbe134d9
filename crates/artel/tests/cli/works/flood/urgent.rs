//! In which order files are planned: the most urgent first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::Flooded;

/// How many pieces of work are under way side by side, by the settings that are shipped, with the
/// place that is kept for what is urgent.
const AT_ONCE: usize = 5;

/// How urgent each request is, by its trace: a larger number is more urgent.
fn urgency(flooded: &Flooded) -> BTreeMap<String, usize> {
    let requests = flooded.payloads("request.created").into_iter();
    let rank = |(trace, it): (String, serde_json::Value)| {
        let word = it["urgency"].as_str().unwrap().to_owned();
        let words = ["low", "normal", "high", "critical"];
        (trace, words.iter().position(|it| *it == word).unwrap())
    };
    requests.map(rank).collect()
}

/// Returns how many less urgent ones were begun before a more urgent one, at most, since the daemon
/// was last told to go on. Those under way side by side tell in any order that they have begun.
pub(super) fn most_late(flooded: &Flooded) -> usize {
    let urgency = urgency(flooded);
    let resumed = *flooded.numbers("daemon.resumed").last().unwrap();
    let begun = flooded.payloads("plan.explored").into_iter();
    let begun = begun.zip(flooded.numbers("plan.explored"));
    let mut known = BTreeSet::new();
    // What was begun before the kill and again after it had its turn the first time.
    let begun = begun.filter(|((trace, _), seq)| known.insert(trace.clone()) && *seq >= resumed);
    let order: Vec<usize> = begun.map(|((trace, _), _)| urgency[&trace]).collect();
    let (count, all) = (order.len(), urgency.len());
    assert!(count >= all / 2, "{count} of {all}");
    let worst = passed_by(&order);
    assert!(worst < AT_ONCE, "{worst} less urgent ones came before");
    worst
}

/// Returns how many less urgent ones came before a more urgent one, at most.
fn passed_by(order: &[usize]) -> usize {
    let mut passed = [0; 4];
    let mut worst = 0;
    for rank in order {
        worst = worst.max(passed[..*rank].iter().sum());
        passed[*rank] += 1;
    }
    worst
}

#[test]
fn the_most_urgent_are_planned_first() {
    let flooded = Flooded::new();
    let settings = flooded.town.house.workshop.join("artel.toml");
    fs::write(settings, "[server]\nworks_at_once = 1\n").unwrap();
    flooded.town.artel(["daemon", "pause"]).run().expect(0);
    flooded.start();
    for number in 0..12 {
        let priority = ["low", "normal", "high", "critical"][number % 4];
        let text = format!("---\npriority: {priority}\n---\nWrite down number {number}.\n");
        flooded.drop_in(&format!("r{number:05}.md"), &text);
    }
    flooded.until("request.created", 12);
    flooded.town.artel(["daemon", "resume"]).run().expect(0);
    flooded.until("plan.drafted", 12);
    flooded.town.artel(["daemon", "stop"]).run().expect(0);
    let urgency = urgency(&flooded);
    let explored = flooded.payloads("plan.explored");
    let order: Vec<usize> = explored.iter().map(|(trace, _)| urgency[trace]).collect();
    assert_eq!(order.len(), 12);
    // One at a time, and one beside it that is urgent.
    assert!(passed_by(&order) <= 1, "{order:?}");
}

/// Files wait since before it was asked for; it was approved, and the daemon was restarted then.
#[test]
fn what_a_person_approved_still_goes_first_after_a_restart() {
    let flooded = Flooded::new();
    let (town, workshop) = (&flooded.town, &flooded.town.house.workshop);
    fs::write(workshop.join("artel.toml"), "[server]\nworks_at_once = 1\n").unwrap();
    town.artel(["daemon", "pause"]).run().expect(0);
    flooded.start();
    for number in 0..4 {
        let text = format!("Write down number {number}.\n");
        flooded.drop_in(&format!("r{number}.md"), &text);
    }
    flooded.until("request.created", 4);
    let id = town.asked();
    let plan = format!("request-{}_plan.md", &id[..8]);
    fs::rename(
        workshop.join("Inbox/Plans").join(&plan),
        workshop.join("Inbox/Active").join(&plan),
    )
    .unwrap();
    flooded.until("plan.approved", 1);
    town.artel(["daemon", "stop"]).run().expect(0);
    let explored = flooded.records("plan.explored").len();
    flooded.start();
    town.artel(["daemon", "resume"]).run().expect(0);
    flooded.until("plan.explored", explored + 1);
    town.artel(["daemon", "stop"]).run().expect(0);
    let begun = flooded.numbers("branch.begun");
    assert_eq!(begun.len(), 1, "what was approved is being done");
    let next = flooded.numbers("plan.explored")[explored];
    assert!(begun[0] < next, "a file was planned before it: {next}");
}

#[test]
fn what_was_called_off_before_its_turn_is_never_begun() {
    let flooded = Flooded::new();
    let town = &flooded.town;
    town.artel(["daemon", "pause"]).run().expect(0);
    flooded.start();
    flooded.drop_in("a.md", "---\npriority: critical\n---\nWrite down A.\n");
    flooded.until("request.created", 1);
    let off = flooded.payloads("request.created").remove(0).0;
    flooded.drop_in("b.md", "Write down B.\n");
    flooded.until("request.created", 2);
    let said = town.artel(["plan", "cancel", &off]).run().expect(0);
    said.says("cancelled");
    // Nobody calls off what is called off.
    town.artel(["plan", "cancel", &off]).run().expect(3);
    town.artel(["daemon", "resume"]).run().expect(0);
    flooded.until("plan.drafted", 1);
    town.artel(["daemon", "stop"]).run().expect(0);
    // The next start finds nothing to take up either.
    flooded.start();
    town.artel(["daemon", "stop"]).run().expect(0);
    let begun = flooded.payloads("plan.explored");
    assert!(begun.iter().all(|(trace, _)| *trace != off), "{begun:?}");
    let shown = town.artel(["request", "show", &off, "--json"]).run();
    let shown = shown.expect(0).json();
    assert_eq!(shown["plan_state"], "cancelled", "{shown}");
    assert_eq!(flooded.plans(), 1);
}
