//! Projections: a state that is kept live is, to the byte, the one that is folded from the start.

use std::cell::Cell;
use std::collections::BTreeMap;

use artel_journal::{EventBatch, JournalProjection};
use artel_testkit::{Scratch, block_on};
use artel_types::{Event, EventDraft, Fact};
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::cases;
use crate::events::draft;

/// Figures such as `artel` shows.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stats {
    events: u64,
    last: u64,
    kinds: BTreeMap<String, u64>,
    actors: BTreeMap<String, u64>,
    streams: BTreeMap<String, u64>,
    tokens: u64,
}

fn fold(stats: &mut Stats, event: &Event) {
    stats.events += 1;
    stats.last = event.seq;
    *stats.kinds.entry(event.fact.kind().to_owned()).or_default() += 1;
    *stats.actors.entry(event.actor.to_string()).or_default() += 1;
    *stats.streams.entry(event.stream.to_string()).or_default() += event.stream_seq;
    if let Fact::BudgetSettled(settled) = &event.fact {
        stats.tokens = stats.tokens.wrapping_add(settled.amount.tokens.0);
    }
}

const STATS: JournalProjection<Stats> = JournalProjection {
    name: "stats",
    version: 1,
    fold: counted,
};

thread_local! {
    static FOLDED: Cell<u64> = const { Cell::new(0) };
}

fn counted(stats: &mut Stats, event: &Event) {
    FOLDED.set(FOLDED.get() + 1);
    fold(stats, event);
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<EventDraft>),
    Keep,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => vec(draft(), 1..20).prop_map(Step::Append),
        2 => Just(Step::Keep),
        1 => Just(Step::Reopen),
    ]
}

/// Returns the live state and the rebuilt one, as they would be stored.
fn both(scratch: &Scratch) -> (String, String) {
    let reader = scratch.reader();
    let live = STATS.state(&reader).unwrap();
    let rebuilt = STATS.rebuilt(&reader).unwrap();
    (
        serde_json::to_string(&live).unwrap(),
        serde_json::to_string(&rebuilt).unwrap(),
    )
}

/// Returns how many events have to be folded for the live state.
fn folded(scratch: &Scratch, projection: &JournalProjection<Stats>) -> u64 {
    FOLDED.set(0);
    projection.state(&scratch.reader()).unwrap();
    FOLDED.get()
}

/// Fills a journal and keeps its state.
fn fill(scratch: &Scratch, drafts: Vec<EventDraft>) {
    let journal = scratch.create();
    journal.append(EventBatch::of(drafts)).wait().unwrap();
    block_on(journal.keep(&STATS)).unwrap();
}

fn set_snapshot(scratch: &Scratch, sql: &str) {
    let connection = Connection::open(scratch.home.journal()).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_live_state_is_the_rebuilt_one(steps in vec(step(), 1..25)) {
        let scratch = Scratch::new();
        let mut journal = scratch.create();
        for step in steps {
            match step {
                Step::Append(drafts) => {
                    journal.append(EventBatch::of(drafts)).wait().unwrap();
                }
                Step::Keep => {
                    let kept = block_on(journal.keep(&STATS)).unwrap();
                    let (rebuilt, _) = STATS.rebuilt(journal.reader()).unwrap();
                    prop_assert_eq!(kept, rebuilt);
                }
                Step::Reopen => {
                    drop(journal);
                    journal = scratch.open();
                }
            }
            let (live, rebuilt) = both(&scratch);
            prop_assert_eq!(live, rebuilt);
        }
    }

    #[test]
    fn a_snapshot_is_used_with_its_version_and_on_its_chain_alone(
        drafts in vec(draft(), 1..40),
        others in vec(draft(), 1..40),
    ) {
        let (scratch, total) = (Scratch::new(), drafts.len() as u64);
        fill(&scratch, drafts);
        prop_assert_eq!(folded(&scratch, &STATS), 0, "it saves the folding");
        let newer = JournalProjection { version: 2, ..STATS };
        prop_assert_eq!(folded(&scratch, &newer), total);

        // Another journal of the same user, so that only the chain differs.
        let (other, total) = (Scratch::new(), others.len() as u64);
        std::fs::create_dir_all(other.home.data()).unwrap();
        let key = |scratch: &Scratch| scratch.home.data().join("signing.key");
        std::fs::copy(key(&scratch), key(&other)).unwrap();
        fill(&other, others);
        let connection = Connection::open(other.home.journal()).unwrap();
        let path = scratch.home.journal();
        connection.execute("ATTACH ? AS mine", [path.to_str().unwrap()]).unwrap();
        connection
            .execute_batch("INSERT OR REPLACE INTO snapshot SELECT * FROM mine.snapshot")
            .unwrap();
        drop(connection);
        prop_assert_eq!(folded(&other, &STATS), total);
        let (live, rebuilt) = both(&other);
        prop_assert_eq!(live, rebuilt);
    }

    #[test]
    fn a_snapshot_that_is_none_is_passed_over(
        drafts in vec(draft(), 1..40),
        wrong in proptest::sample::select(vec![
            "UPDATE snapshot SET hash = x'00'",
            "UPDATE snapshot SET hash = 'text'",
            "UPDATE snapshot SET hash = zeroblob(32)",
            "UPDATE snapshot SET seq = seq + 1",
            "UPDATE snapshot SET seq = 'text'",
            "UPDATE snapshot SET state = x'7b'",
            // A forged state of the right shape.
            r#"UPDATE snapshot SET state =
               CAST(replace(CAST(state AS TEXT), '"last":', '"last":1') AS BLOB)"#,
            "UPDATE snapshot SET state = 'text'",
            "UPDATE snapshot SET version = 'text'",
        ]),
    ) {
        let scratch = Scratch::new();
        fill(&scratch, drafts);
        set_snapshot(&scratch, wrong);
        let (live, rebuilt) = both(&scratch);
        prop_assert_eq!(live, rebuilt);
    }
}
