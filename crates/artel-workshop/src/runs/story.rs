//! Returns the recorded events of runs in order, as far as a viewer may see them, both
//! live and afterwards.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use artel_journal::{EventFilter, EventQuery, JournalReader, JournalRecord};
use artel_types::{Fact, Failure, RunId, Timestamp, TraceId};

use super::view::{ReplyTextMode, RunVisibility, TimelineLine};
use crate::workshop::Workshop;

/// Reads new events of one trace as they arrive.
pub struct TraceFollower {
    reader: Arc<JournalReader>,
    trace: TraceId,
    position: u64,
}

/// The part of a timeline to return.
#[derive(Debug, Clone, Copy)]
pub struct TimelineQuery {
    /// Only lines of events after this one.
    pub after: u64,
    /// Maximum number of lines.
    pub limit: usize,
}

/// One page of a timeline.
#[derive(Debug, Default)]
pub struct TimelinePage {
    pub lines: Vec<TimelineEntry>,
    /// The `after` of the next page, or `None` at the end.
    pub next: Option<u64>,
}

/// One line of a timeline, with its event.
#[derive(Debug)]
pub struct TimelineEntry {
    /// The sequence number of the event.
    pub seq: u64,
    /// The time of the event.
    pub at: Timestamp,
    pub line: TimelineLine,
}

impl Workshop {
    /// Follows a trace from its current last event on.
    pub fn follow(&self, trace: TraceId) -> Result<TraceFollower, Failure> {
        let reader = self.reader()?;
        let position = reader.head()?;
        Ok(TraceFollower {
            reader,
            trace,
            position,
        })
    }

    /// Returns the trace that a run belongs to.
    pub fn trace_of_run(&self, run: RunId) -> Result<TraceId, Failure> {
        Ok(self.started(run)?.1)
    }

    /// Returns the events of a run and the runs below it, including later feedback and applied
    /// changes. An ambiguous id is refused. The id of a trace selects all of its runs.
    pub fn run_records(&self, id: &str) -> Result<Vec<JournalRecord>, Failure> {
        let trace = self.resolve(id)?;
        let filter = EventFilter {
            trace: Some(trace.clone()),
            ..EventFilter::default()
        };
        let records = self.reader()?.records(&EventQuery::of(filter))?;
        Ok(self.narrowed(id, &trace, records))
    }

    /// Returns one page of the timeline of a run and the runs below it. The lines of one event
    /// are always on the same page.
    pub fn run_story(
        &self,
        id: &str,
        eyes: RunVisibility,
        wanted: TimelineQuery,
    ) -> Result<TimelinePage, Failure> {
        let trace = self.resolve(id)?;
        let is_trace = trace.starts_with(&id.to_ascii_lowercase());
        let family = match (is_trace, self.run_named(id)) {
            (false, Ok(run)) => Some(self.family_of(run, &trace)?),
            _ => None,
        };
        let query = EventQuery::of(EventFilter {
            trace: Some(trace),
            ..EventFilter::default()
        });
        let mut narrator = self.narrator(eyes, ReplyTextMode::Told);
        let mut page = TimelinePage::default();
        let mut has_run = false;
        // The timeline builder has to see earlier events too, even if their lines are not
        // requested.
        self.reader()?.visit(&query, |record| {
            if family.as_ref().is_some_and(|it| !belongs(it, &record)) {
                return ControlFlow::Continue(());
            }
            has_run |= record.kind == "run.started";
            let lines = narrator.tell(&record);
            if record.seq <= wanted.after || lines.is_empty() {
                return ControlFlow::Continue(());
            }
            if page.lines.len() >= wanted.limit {
                page.next = page.lines.last().map(|told| told.seq);
                return ControlFlow::Break(());
            }
            page.lines
                .extend(lines.into_iter().map(|line| TimelineEntry {
                    seq: record.seq,
                    at: record.at,
                    line,
                }));
            ControlFlow::Continue(())
        })?;
        if !has_run {
            // A piece of work without runs has no timeline. This reports that the id names no run.
            self.run_named(id)?;
        }
        Ok(page)
    }

    /// Keeps only the events of a run and the runs below it, if the id names a run.
    pub(super) fn narrowed(
        &self,
        id: &str,
        trace: &str,
        mut records: Vec<JournalRecord>,
    ) -> Vec<JournalRecord> {
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

    /// Returns a run with all runs below it.
    pub(super) fn family_of(&self, run: RunId, trace: &str) -> Result<BTreeSet<RunId>, Failure> {
        let filter = EventFilter {
            trace: Some(trace.to_owned()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        Ok(family(
            run,
            &self.reader()?.records(&EventQuery::of(filter))?,
        ))
    }
}

impl TraceFollower {
    /// Returns the events since the last call.
    pub fn news(&mut self) -> Result<Vec<JournalRecord>, Failure> {
        if self.reader.head()? <= self.position {
            return Ok(Vec::new());
        }
        let filter = EventFilter {
            trace: Some(self.trace.to_string()),
            ..EventFilter::default()
        };
        let records = self
            .reader
            .records(&EventQuery::of(filter).after(self.position))?;
        if let Some(last) = records.last() {
            self.position = last.seq;
        }
        Ok(records)
    }
}

/// Returns a run with all runs below it.
fn family(run: RunId, records: &[JournalRecord]) -> BTreeSet<RunId> {
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

/// Returns whether an event belongs to one of these runs or is about one of them.
pub(super) fn belongs(family: &BTreeSet<RunId>, record: &JournalRecord) -> bool {
    match &record.run {
        Some(named) => named.parse().is_ok_and(|run| family.contains(&run)),
        None => of_run(record).is_some_and(|run| family.contains(&run)),
    }
}

/// Returns the run that an event outside of any run is about.
pub(super) fn of_run(record: &JournalRecord) -> Option<RunId> {
    match record.event().ok()?.fact {
        Fact::RunApplied(applied) => Some(applied.id),
        Fact::FeedbackGiven(given) => Some(given.id),
        _ => None,
    }
}
