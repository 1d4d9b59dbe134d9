//! Compares the index with a plain reading of the events, however the records arrive.

mod facts;
mod hostile;
mod lists;
mod oracle;
mod real;
mod sums;
mod waits;

use artel_journal::JournalRecord;
use artel_types::{
    Actor, ActorSurface, EventDraft, EventOutcome, Fact, RunId, StreamName, Timestamp, TraceId,
};

use super::{DriverProcesses, WorkshopIndex};

/// A sequence of records as a journal would hold them, without a journal.
#[derive(Default)]
pub(super) struct Tape {
    pub(super) records: Vec<JournalRecord>,
}

impl Tape {
    /// Adds an event of a run.
    pub(super) fn run(&mut self, run: RunId, trace: TraceId, fact: impl Into<Fact>) {
        self.add(by_agent(StreamName::run(run), trace, fact.into()).in_run(run));
    }

    /// Adds an event of a piece of work.
    pub(super) fn work(&mut self, trace: TraceId, fact: impl Into<Fact>) {
        let actor = Actor::human("ada", ActorSurface::Cli);
        self.add(EventDraft::new(StreamName::work(trace), trace, actor, fact));
    }

    pub(super) fn add(&mut self, draft: EventDraft) {
        let seq = self.records.len() as u64 + 1;
        let at = Timestamp::from_micros(seq.cast_signed() * 1_000_000);
        self.records.push(record(seq, at, &draft));
    }

    /// Returns the index of all records.
    pub(super) fn board(&self) -> WorkshopIndex {
        let mut board = WorkshopIndex::default();
        self.records.iter().for_each(|record| board.take(record));
        board
    }
}

pub(super) fn by_agent(stream: StreamName, trace: TraceId, fact: Fact) -> EventDraft {
    EventDraft::new(stream, trace, Actor::agent("engineer"), fact)
}

pub(super) fn run_id(number: u8) -> RunId {
    RunId::from_random([number; 16])
}

pub(super) fn trace_id(number: u8) -> TraceId {
    TraceId::from_random([number; 16])
}

/// Returns the time of an event on a tape.
pub(super) fn moment(seq: i64) -> Timestamp {
    Timestamp::from_micros(seq * 1_000_000)
}

pub(super) fn nobody() -> DriverProcesses {
    DriverProcesses::default()
}

fn record(seq: u64, at: Timestamp, draft: &EventDraft) -> JournalRecord {
    JournalRecord {
        seq,
        stream: draft.stream.to_string(),
        stream_seq: seq,
        at,
        trace: draft.trace.to_string(),
        session: None,
        run: draft.run.map(|run| run.to_string()),
        cause: None,
        actor: format!("{}", draft.actor),
        via: draft.actor.via.map(|via| via.as_str().to_owned()),
        kind: draft.fact.kind().to_owned(),
        target: None,
        outcome: draft.outcome.map(EventOutcome::as_str).map(str::to_owned),
        visibility: "summary".to_owned(),
        schema: draft.fact.schema(),
        payload: draft.fact.encode().unwrap(),
        prev: [0; 32],
        hash: [0; 32],
    }
}
