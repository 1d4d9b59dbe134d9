//! A run that is killed around the hand-over to a fresh one: they go on as one piece of work.

use std::collections::BTreeMap;
use std::fs;

use artel_testkit::figure;
use artel_testkit::shim::{Action, Counts, Fault, Op};
use artel_testkit::standin::StandIn;
use artel_testkit::{Random, is_long};

use crate::context::{Mood, worker, world};
use crate::omniforge::world::{World, words_of};

/// From the last turns of the first run to the end of both.
const LAST_SYNCS: u64 = 24;

const WORDS: [&str; 6] = ["run", "survey", "the parts", "--max-turns", "50", "--apply"];

/// Runs to the end, or to the sync at which it is killed, and returns whether it ended.
fn is_over(world: &World, fault: &Fault) -> bool {
    let mut command = world.artel(WORDS).command();
    fault.arm(&mut command);
    let output = command.output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, None | Some(0)), "{output:?}");
    code.is_some()
}

/// Each question was answered once, and the one in flight at the kill was asked twice at most.
fn assert_paid_once(model: &StandIn) {
    let mut asked: BTreeMap<String, u32> = BTreeMap::new();
    for seen in model.seen() {
        *asked.entry(words_of(&seen.body["messages"])).or_default() += 1;
    }
    let twice = asked.values().filter(|times| **times > 1).count();
    assert!(twice <= 1 && asked.values().all(|times| *times <= 2));
}

fn assert_ended_as_one(world: &World, at: &str) {
    let report = fs::read_to_string(world.project.join("report.md")).unwrap();
    assert_eq!(report, "rows: two\n", "{at}");
    assert_eq!(world.events("run.handed_over").len(), 1, "{at}");
    let finished = world.events("run.finished");
    assert_eq!(finished.len(), 2, "{at}");
    for fact in finished.iter().map(|it| &it["payload"]) {
        assert_eq!(fact["state"], "complete", "{at}");
        assert_eq!(fact["answer"], "two rows, all looked at", "{at}");
    }
    let written = world.events("tool.finished");
    let written = written.iter().map(|it| &it["payload"]);
    assert_eq!(written.filter(|it| it["tool"] == "write").count(), 1);
    world.ok(["journal", "verify"]);
}

#[test]
fn proof_resume_killed_around_the_hand_over_both_runs_end_as_one() {
    let journal = || Fault::on("journal.db-wal");
    let model = worker(Mood::Willing);
    let whole = world(&model);
    let counts = whole.house.root().join("counts");
    assert!(is_over(&whole, &journal().count_into(&counts)));
    assert_ended_as_one(&whole, "nobody killed it");
    let syncs = Counts::read(&counts).of(Op::Sync);
    assert!(syncs > LAST_SYNCS, "{syncs}");

    let mut random = Random::for_test("killed_heir");
    let (mut kills, mut resumed) = (0, 0);
    for nth in syncs - LAST_SYNCS..=syncs {
        for action in [Action::KillBefore, Action::KillAfter] {
            if !is_long() && random.below(10) != 0 {
                continue;
            }
            let at = format!("killed {action:?} sync {nth} of {syncs}");
            let model = worker(Mood::Willing);
            let world = world(&model);
            kills += u32::from(!is_over(&world, &journal().nth(Op::Sync, nth, action)));
            let first = world.events("run.started")[0]["payload"]["id"].clone();
            let run = first.as_str().unwrap();
            if !world.project.join("report.md").exists() {
                match world.events("run.finished").len() {
                    2 => world.artel(["apply", run, "--yes"]).run().expect(0),
                    _ => world.artel(["resume", run, "--apply"]).run().expect(0),
                };
                resumed += 1;
            }
            assert_ended_as_one(&world, &at);
            assert_paid_once(&model);
        }
    }
    figure(&format!(
        "kills around a hand-over | {kills} of {} points | {resumed} taken up, all the same",
        2 * (LAST_SYNCS + 1)
    ));
}
