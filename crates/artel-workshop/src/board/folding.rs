//! Feeds records to an index, and decodes only those that the index needs.
//!
//! Decoding takes as long as folding. A whole journal is therefore read on one thread and
//! folded on another. Records that arrive one by one take the same path without threads.

use std::sync::mpsc::{SyncSender, sync_channel};

use artel_journal::{EventQuery, JournalReader, JournalRecordRef};
use artel_model::GatewayState;
use artel_types::{Event, Failure, FailureCode, RunId, Timestamp, TraceId};

use super::WorkshopIndex;

/// Records per batch that the reading thread hands to the folding thread.
const BATCH: usize = 256;

/// Maximum number of batches that wait to be folded.
const BATCHES: usize = 8;

/// The part of the journal that an index covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum IndexCoverage {
    #[default]
    Whole,
    /// Pending decisions and their outcomes. Leaves out the events of models and tools, which
    /// are most of a journal.
    Waits,
    /// The statistics of skills.
    Skills,
}

impl IndexCoverage {
    /// Returns whether an event of this kind has to be decoded.
    pub(super) fn wants(self, kind: &str) -> bool {
        if self == Self::Skills {
            return ["run.started", "run.prepared", "run.finished"].contains(&kind);
        }
        match kind {
            "report.written" | "tool.asked" | "tool.answered" => true,
            "run.started" | "run.continued" | "run.steered" | "run.asked" | "run.answered"
            | "run.finished" | "run.applied" | "request.created" | "request.settled" => true,
            _ if kind.starts_with("plan.") || kind.starts_with("changeset.") => is_known(kind),
            "run.prepared" | "run.said" | "session.ended" | "model.requested" | "model.replied"
            | "model.failed" | "tool.requested" | "tool.finished" => self == Self::Whole,
            _ => self == Self::Whole && GatewayState::concerns(kind) && is_known(kind),
        }
    }
}

/// A newer build may have written kinds that this one does not know. They do not count as
/// damage.
fn is_known(kind: &str) -> bool {
    artel_types::Fact::PAGES
        .iter()
        .any(|page| page.kind == kind)
}

/// A record, reduced to the parts that an index needs.
pub(super) struct IndexInputRecord {
    pub(super) seq: u64,
    /// The time and the piece of work, or `None` if they are damaged.
    pub(super) place: Option<(Timestamp, TraceId)>,
    pub(super) run: Option<RunId>,
    pub(super) is_of_work: bool,
    /// The event, or why it cannot be read; `None` if the index does not need it.
    pub(super) event: Option<Result<Event, String>>,
}

impl IndexInputRecord {
    pub(super) fn of(row: &JournalRecordRef<'_>, depth: IndexCoverage) -> Self {
        let is_wanted = row.kind().is_none_or(|kind| depth.wants(kind));
        let event = || row.event().map_err(|error| error.to_string());
        Self {
            seq: row.seq(),
            place: row.at().zip(row.trace()),
            run: row.run(),
            is_of_work: row.stream().is_some_and(|name| name.starts_with("work/")),
            event: is_wanted.then(event),
        }
    }
}

/// Folds the whole journal.
pub(super) fn fold_all(
    reader: &JournalReader,
    depth: IndexCoverage,
) -> Result<WorkshopIndex, Failure> {
    let (sender, batches) = sync_channel::<Vec<IndexInputRecord>>(BATCHES);
    std::thread::scope(|scope| {
        let folding = scope.spawn(move || {
            let mut board = WorkshopIndex {
                depth,
                ..WorkshopIndex::default()
            };
            batches.into_iter().flatten().for_each(|it| board.put(it));
            board.settle();
            board
        });
        let read = send_all(reader, depth, sender);
        let folded = folding.join();
        read?;
        folded.map_err(|_| {
            Failure::new(FailureCode::X001, "the board could not be folded")
                .advise("`artel journal verify` shows whether the journal is intact")
        })
    })
}

fn send_all(
    reader: &JournalReader,
    depth: IndexCoverage,
    sender: SyncSender<Vec<IndexInputRecord>>,
) -> Result<(), Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    // Sending fails only after the folding thread has failed, and that thread reports the
    // error.
    reader.visit_rows(&EventQuery::all(), |row| {
        batch.push(IndexInputRecord::of(row, depth));
        if batch.len() == BATCH {
            drop(sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))));
        }
    })?;
    drop(sender.send(batch));
    Ok(())
}
