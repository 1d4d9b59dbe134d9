//! How records come to a board: looked at first, decoded only if it needs them.
//!
//! Decoding takes as long as folding. A whole journal is therefore read on one thread and folded on
//! another; records that come one by one take the same way without threads.

use std::sync::mpsc::{SyncSender, sync_channel};

use artel_journal::{Query, Reader, Row};
use artel_model::Account;
use artel_types::{Code, Event, Failure, RunId, Timestamp, TraceId};

use super::Board;

/// So many records go from one thread to the other at once.
const BATCH: usize = 256;

/// So many batches may wait for the one that folds.
const BATCHES: usize = 8;

/// How much a board knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Depth {
    /// Everything.
    #[default]
    Whole,
    /// Who has to decide what, and what came of it: nothing of what models and tools did, which is
    /// most of a journal.
    Waits,
    /// How skills do.
    Skills,
}

impl Depth {
    /// Tells whether an event of this kind has to be decoded.
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
            _ => self == Self::Whole && Account::concerns(kind) && is_known(kind),
        }
    }
}

/// A newer build may have written kinds that this one does not know; they are no damage.
fn is_known(kind: &str) -> bool {
    artel_types::Fact::PAGES
        .iter()
        .any(|page| page.kind == kind)
}

/// A record as far as a board needs it.
pub(super) struct Seen {
    pub(super) seq: u64,
    /// When and in which piece of work, unless that is damaged.
    pub(super) place: Option<(Timestamp, TraceId)>,
    pub(super) run: Option<RunId>,
    pub(super) is_of_work: bool,
    /// The event, or why it cannot be read; nothing where the board does not need it.
    pub(super) event: Option<Result<Event, String>>,
}

impl Seen {
    pub(super) fn of(row: &Row<'_>, depth: Depth) -> Self {
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

/// Folds everything that a journal holds.
pub(super) fn fold_all(reader: &Reader, depth: Depth) -> Result<Board, Failure> {
    let (sender, batches) = sync_channel::<Vec<Seen>>(BATCHES);
    std::thread::scope(|scope| {
        let folding = scope.spawn(move || {
            let mut board = Board {
                depth,
                ..Board::default()
            };
            batches.into_iter().flatten().for_each(|it| board.put(it));
            board.settle();
            board
        });
        let read = send_all(reader, depth, sender);
        let folded = folding.join();
        read?;
        folded.map_err(|_| {
            Failure::new(Code::X001, "the board could not be folded")
                .advise("`artel journal verify` shows whether the journal is intact")
        })
    })
}

fn send_all(reader: &Reader, depth: Depth, sender: SyncSender<Vec<Seen>>) -> Result<(), Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    // Nobody takes a batch any more only where folding has failed, which is told by its thread.
    reader.visit_rows(&Query::all(), |row| {
        batch.push(Seen::of(row, depth));
        if batch.len() == BATCH {
            drop(sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))));
        }
    })?;
    drop(sender.send(batch));
    Ok(())
}
