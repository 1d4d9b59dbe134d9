//! Positions: every receipt is what a count of events per stream says, also for streams that were
//! archived, and an expected position is kept or refused accordingly.

use std::collections::HashMap;
use std::time::Duration;

use artel_journal::{EventBatch, Journal, JournalAppendError};
use artel_testkit::{ManualClock, Scratch};
use artel_types::{Actor, EventDraft, Fact, StreamName};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cases;
use crate::events::{STREAMS, draft};

#[derive(Debug, Clone)]
enum Step {
    Append {
        drafts: Vec<EventDraft>,
        /// A stream, and by how much the expectation is off.
        expected: Option<(&'static str, i64)>,
    },
    Reopen,
    Prune,
}

fn step() -> impl Strategy<Value = Step> {
    let offset = prop_oneof![3 => Just(0), 1 => -2..3_i64];
    let expected = option::of((select(&STREAMS[..]), offset));
    prop_oneof![
        8 => (vec(draft(), 1..8), expected)
            .prop_map(|(drafts, expected)| Step::Append { drafts, expected }),
        1 => Just(Step::Reopen),
        1 => Just(Step::Prune),
    ]
}

/// What the journal should know.
#[derive(Default)]
struct Model {
    events: u64,
    positions: HashMap<String, u64>,
    /// The streams with events in the journal file, and whether the last one ends them.
    is_ended: HashMap<String, bool>,
}

impl Model {
    fn position(&self, stream: &str) -> u64 {
        self.positions.get(stream).copied().unwrap_or(0)
    }

    fn add(&mut self, stream: &str, kind: &str) -> u64 {
        self.events += 1;
        let ends = Fact::ends_stream(kind);
        self.is_ended.insert(stream.to_owned(), ends);
        let position = self.positions.entry(stream.to_owned()).or_default();
        *position += 1;
        *position
    }

    /// Forgets what is moved out of the file; tells whether there was anything.
    fn prune(&mut self) -> bool {
        let before = self.is_ended.len();
        self.is_ended.retain(|_, is_ended| !*is_ended);
        self.is_ended.len() < before
    }
}

fn append(
    journal: &Journal,
    model: &mut Model,
    drafts: Vec<EventDraft>,
    expected: Option<(&str, i64)>,
) -> Result<(), TestCaseError> {
    let mut batch = EventBatch::of(drafts.clone());
    let mut conflict = None;
    if let Some((stream, offset)) = expected {
        let found = model.position(stream);
        let wanted = found.saturating_add_signed(offset);
        batch = batch.expecting(StreamName::new(stream).unwrap(), wanted);
        conflict = (wanted != found).then_some((wanted, found));
    }
    let answer = journal.append(batch).wait();
    if let Some(conflict) = conflict {
        let refused = matches!(
            &answer,
            Err(JournalAppendError::Conflict { expected, found, .. }) if (*expected, *found) == conflict
        );
        prop_assert!(refused, "{:?} instead of {:?}", answer, conflict);
        return Ok(());
    }
    let first = model.events + 1;
    let positions: Vec<u64> = drafts
        .iter()
        .map(|draft| model.add(draft.stream.as_str(), draft.fact.kind()))
        .collect();
    let receipt = answer.unwrap();
    prop_assert_eq!(receipt.seqs, first..=model.events);
    prop_assert_eq!(receipt.stream_seqs, positions);
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_count_per_stream_predicts_every_receipt(steps in vec(step(), 1..30)) {
        let clock = ManualClock::at("2026-01-01T00:00:00Z");
        let scratch = Scratch::with_clock(clock.clock());
        let mut journal = scratch.create();
        let mut model = Model::default();
        for step in steps {
            clock.pass(Duration::from_secs(1));
            match step {
                Step::Append { drafts, expected } => {
                    append(&journal, &mut model, drafts, expected)?;
                }
                Step::Reopen => {
                    drop(journal);
                    journal = scratch.open();
                }
                Step::Prune => {
                    let now = scratch.options.clock.now();
                    let by = Actor::system("test");
                    let pruned = journal.prune(now, Fact::ends_stream, &by).unwrap();
                    prop_assert_eq!(pruned.is_some(), model.prune());
                    if pruned.is_some() {
                        model.add("journal", "journal.pruned");
                    }
                }
            }
            prop_assert_eq!(journal.reader().head().unwrap(), model.events);
        }
        drop(journal);
        let verified = scratch.verify();
        prop_assert!(verified.ok, "{:?}", verified);
    }
}
