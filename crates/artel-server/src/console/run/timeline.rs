//! The timeline of a run: its events, and the points at which it can be forked.

use std::collections::BTreeMap;

use artel_journal::JournalRecord;
use artel_types::{Failure, RunId};
use artel_workshop::{RunVisibility, Workshop, brief, seen};

use super::subject::RunPageSubject;
use crate::console::words;

/// Number of events on a page of the timeline.
pub(super) const EVENTS: usize = 150;

/// An event in the timeline.
#[derive(Debug, Clone)]
pub(in crate::console) struct RunPageEventRow {
    pub(in crate::console) seq: u64,
    pub(in crate::console) at: String,
    pub(in crate::console) kind: String,
    pub(in crate::console) actor: String,
    /// A few words about the event.
    pub(in crate::console) what: String,
    /// Whether the run can be forked at this event.
    pub(in crate::console) is_point: bool,
}

/// The events at which a run can be forked.
pub(super) struct RunForkPoints {
    /// The run that a fork request names. Its event number says which of the called runs is
    /// meant.
    pub(super) run: RunId,
    /// The first event that can be forked and the end of the range, by run.
    spans: BTreeMap<String, (u64, u64)>,
}

impl RunForkPoints {
    /// Finds the fork points of a run, or `None` if there are none.
    ///
    /// A run that no other run called can be forked from its first turn until it is
    /// finished. A run that carries out a plan can be forked in the runs that worked at its
    /// steps, while their files exist.
    pub(super) fn of(subject: &RunPageSubject, workshop: &Workshop) -> Option<Self> {
        let run = subject.run?;
        let forkable = workshop.forkable_runs(subject.records());
        let mut spans = BTreeMap::new();
        let prepared = |it: &&JournalRecord| it.kind == "run.prepared";
        for record in subject.records().iter().filter(prepared) {
            let Some(name) = record.run.clone() else {
                continue;
            };
            let is_meant = name == run.to_string() || subject.planned().is_some();
            if is_meant && name.parse().is_ok_and(|run| forkable.contains(&run)) {
                let mut own = subject.records().iter();
                let over = own.find(|it| it.kind == "run.finished" && it.run == record.run);
                let to = over.map_or(u64::MAX, |it| it.seq);
                spans.insert(name, (record.seq, to));
            }
        }
        (!spans.is_empty()).then_some(Self { run, spans })
    }

    /// Removes the points that need files, if the files were put in place or cleaned up.
    pub(super) fn without_files(mut self, subject: &RunPageSubject) -> Self {
        for (name, (_, to)) in &mut self.spans {
            let mut own = subject.records().iter();
            let is_made =
                |it: &&JournalRecord| it.kind == "tree.made" && it.run.as_ref() == Some(name);
            *to = own.find(is_made).map_or(*to, |made| made.seq.min(*to));
        }
        self
    }

    fn has(&self, record: &JournalRecord) -> bool {
        let span = record.run.as_ref().and_then(|run| self.spans.get(run));
        span.is_some_and(|(from, to)| (*from..*to).contains(&record.seq))
    }
}

/// Returns the latest events that are visible, newest first. For long runs, events that the
/// page left out are read from the journal when the viewer goes back to them.
pub(super) fn events(
    subject: &RunPageSubject,
    workshop: &Workshop,
    eyes: &RunVisibility,
    points: Option<&RunForkPoints>,
    before: Option<u64>,
) -> Result<Vec<RunPageEventRow>, Failure> {
    let shown = if subject.is_long() {
        workshop.run_records_before(&subject.id, before, eyes, EVENTS)?
    } else {
        let shown = subject.records().iter().rev();
        let shown = shown.filter(|record| before.is_none_or(|before| record.seq < before));
        let shown = shown.filter_map(|record| seen(eyes, record));
        shown.take(EVENTS).collect()
    };
    let row = |record: JournalRecord| RunPageEventRow {
        seq: record.seq,
        at: words::moment(record.at),
        is_point: points.is_some_and(|points| points.has(&record)),
        what: brief(eyes, &record),
        kind: record.kind,
        actor: record.actor,
    };
    Ok(shown.into_iter().map(row).collect())
}
