//! What is on record of runs, in order, as far as it is to be shown: while it comes, and later.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_journal::{Filter, Query, Reader, Record};
use artel_types::{Fact, Failure, RunId, TraceId};

use crate::workshop::Workshop;

/// Reads the events of one trace as they come.
pub struct Follower {
    reader: Arc<Reader>,
    trace: TraceId,
    position: u64,
}

impl Workshop {
    /// Follows a trace from the last event there is now.
    pub fn follow(&self, trace: TraceId) -> Result<Follower, Failure> {
        let reader = self.reader()?;
        let position = reader.head()?;
        Ok(Follower {
            reader,
            trace,
            position,
        })
    }

    /// Returns the trace that a run belongs to.
    pub fn trace_of_run(&self, run: RunId) -> Result<TraceId, Failure> {
        Ok(self.started(run)?.1)
    }

    /// Returns the events of a run and all that it called, with what was said and done about it
    /// later. An id that names several is refused; one of a trace means all of its runs.
    pub fn run_records(&self, id: &str) -> Result<Vec<Record>, Failure> {
        let trace = self.resolve(id)?;
        let filter = Filter {
            trace: Some(trace.clone()),
            ..Filter::default()
        };
        let records = self.reader()?.records(&Query::of(filter))?;
        Ok(self.narrowed(id, &trace, records))
    }

    /// Leaves the events of a run and all that it called, if it is a run that is named.
    pub(super) fn narrowed(&self, id: &str, trace: &str, mut records: Vec<Record>) -> Vec<Record> {
        if trace.starts_with(&id.to_ascii_lowercase()) {
            return records;
        }
        let Ok(run) = self.run_named(id) else {
            return records;
        };
        let family = family(run, &records);
        records.retain(|record| belongs(&family, record));
        records
    }

    /// Returns a run with all that it called.
    pub(super) fn family_of(&self, run: RunId, trace: &str) -> Result<BTreeSet<RunId>, Failure> {
        let filter = Filter {
            trace: Some(trace.to_owned()),
            kind: Some("run.started".to_owned()),
            ..Filter::default()
        };
        Ok(family(run, &self.reader()?.records(&Query::of(filter))?))
    }
}

impl Follower {
    /// Returns what has come since.
    pub fn news(&mut self) -> Result<Vec<Record>, Failure> {
        if self.reader.head()? <= self.position {
            return Ok(Vec::new());
        }
        let filter = Filter {
            trace: Some(self.trace.to_string()),
            ..Filter::default()
        };
        let records = self
            .reader
            .records(&Query::of(filter).after(self.position))?;
        if let Some(last) = records.last() {
            self.position = last.seq;
        }
        Ok(records)
    }
}

/// Returns a run with all that it called.
fn family(run: RunId, records: &[Record]) -> BTreeSet<RunId> {
    let mut family = BTreeSet::from([run]);
    for record in records.iter().filter(|record| record.kind == "run.started") {
        if let Ok(event) = record.event()
            && let Fact::RunStarted(started) = event.fact
            && started
                .parent
                .is_some_and(|parent| family.contains(&parent))
        {
            family.insert(started.id);
        }
    }
    family
}

/// Tells whether an event is one of these runs, or speaks of one of them.
pub(super) fn belongs(family: &BTreeSet<RunId>, record: &Record) -> bool {
    match &record.run {
        Some(named) => named.parse().is_ok_and(|run| family.contains(&run)),
        None => of_run(record).is_some_and(|run| family.contains(&run)),
    }
}

/// Returns the run that an event outside of runs speaks of.
pub(super) fn of_run(record: &Record) -> Option<RunId> {
    match record.event().ok()?.fact {
        Fact::RunApplied(applied) => Some(applied.id),
        Fact::FeedbackGiven(given) => Some(given.id),
        _ => None,
    }
}
