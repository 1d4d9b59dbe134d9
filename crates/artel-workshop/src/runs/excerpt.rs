//! Selects what one page of a very long timeline consists of: all events that give it its
//! shape, and the latest of the others. The rest stays in the journal until somebody asks
//! for it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use artel_journal::{
    EventFilter, EventQuery, JournalError, JournalReader, JournalRecord, JournalRecordRef,
};
use artel_types::{Fact, Failure, RunId};

use super::story::{belongs, of_run};
use super::view::{RunVisibility, seen};
use crate::workshop::Workshop;

/// Maximum number of events of a timeline that is shown whole.
const WHOLE: usize = 4_000;

/// Number of turn-by-turn events that are shown of a longer timeline.
const LATEST: usize = 1_000;

/// Prefixes of the kinds of events that become more the longer a run continues.
const TURN_BY_TURN: [&str; 10] = [
    "model.",
    "tool.",
    "budget.",
    "hook.ran",
    "tree.snapped",
    "run.said",
    "sandbox.",
    "context.",
    "secret.",
    "note.",
];

/// The records that make up one page of a timeline.
#[derive(Debug, Default)]
pub struct TimelineRecords {
    /// The records, in order.
    pub records: Vec<JournalRecord>,
    /// The number of events left out.
    pub left_out: u64,
    /// The number of model replies among those, by run. Each is one turn.
    pub(crate) replies: BTreeMap<RunId, u32>,
}

/// A scan of a long timeline. It can be continued later, because events are only ever
/// added.
#[derive(Debug)]
pub(crate) struct TimelineRecordScan {
    /// The last event scanned.
    position: u64,
    /// The selected runs, or `None` for all.
    family: Option<BTreeSet<RunId>>,
    /// The events that give the timeline its shape.
    shape: Vec<JournalRecord>,
    /// The latest other events, each with its run if it is a model reply.
    latest: VecDeque<(u64, Option<RunId>)>,
    left_out: u64,
    replies: BTreeMap<RunId, u32>,
    /// The first record that could not be read.
    damaged: Option<JournalError>,
}

impl Workshop {
    /// Returns the events of a run like [`Workshop::run_records`]. If there are very many,
    /// returns those that give the timeline its shape and the latest of the others.
    pub fn run_excerpt(&self, id: &str) -> Result<TimelineRecords, Failure> {
        let trace = self.resolve(id)?;
        let of_trace = EventQuery::of(EventFilter {
            trace: Some(trace.clone()),
            ..EventFilter::default()
        });
        let reader = self.reader()?;
        let is_trace = trace.starts_with(&id.to_ascii_lowercase());
        let run = (!is_trace).then(|| self.run_named(id).ok()).flatten();
        let kept = match &self.kept {
            Some(kept) => Some((kept, reader.sight()?)),
            None => None,
        };
        let key = (trace.clone(), run);
        let known = kept.and_then(|(kept, sight)| kept.take_story(&key, sight));
        let mut finding = match known {
            Some(finding) => finding,
            None => {
                let some = of_trace.clone().limit(WHOLE as u64 + 1);
                let records = reader.records(&some)?;
                if records.len() <= WHOLE {
                    return Ok(TimelineRecords {
                        records: self.narrowed(id, &trace, records),
                        ..TimelineRecords::default()
                    });
                }
                TimelineRecordScan::of(run)
            }
        };
        let since = of_trace.clone().after(finding.position);
        reader.visit_rows(&since, |row| finding.take(row))?;
        let excerpt = finding.excerpt(&reader, of_trace)?;
        if let Some((kept, sight)) = kept {
            kept.keep_story(key, sight, finding);
        }
        Ok(excerpt)
    }

    /// Returns the latest events of a run before an event, newest first, as far as the viewer
    /// may see them.
    pub fn run_records_before(
        &self,
        id: &str,
        before: Option<u64>,
        eyes: &RunVisibility,
        most: usize,
    ) -> Result<Vec<JournalRecord>, Failure> {
        let trace = self.resolve(id)?;
        let is_trace = trace.starts_with(&id.to_ascii_lowercase());
        let run = (!is_trace).then(|| self.run_named(id).ok()).flatten();
        let family = match run {
            Some(run) => Some(self.family_of(run, &trace)?),
            None => None,
        };
        let mut query = EventQuery::of(EventFilter {
            trace: Some(trace),
            ..EventFilter::default()
        })
        .newest_first();
        query.before = before;
        let mut found = Vec::new();
        self.reader()?.visit(&query, |record| {
            if family
                .as_ref()
                .is_none_or(|family| belongs(family, &record))
            {
                found.extend(seen(eyes, &record));
            }
            if found.len() < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(found)
    }
}

impl TimelineRecordScan {
    fn of(run: Option<RunId>) -> Self {
        Self {
            position: 0,
            family: run.map(|run| BTreeSet::from([run])),
            shape: Vec::new(),
            latest: VecDeque::new(),
            left_out: 0,
            replies: BTreeMap::new(),
            damaged: None,
        }
    }

    /// Returns the selected records. The latest events are read again, because they are too
    /// large to keep.
    fn excerpt(
        &mut self,
        reader: &JournalReader,
        of_trace: EventQuery,
    ) -> Result<TimelineRecords, Failure> {
        if let Some(error) = self.damaged.take() {
            return Err(error.into());
        }
        let mut records = self.shape.clone();
        if let Some((first, _)) = self.latest.front() {
            let mut latest = self.latest.iter().map(|(seq, _)| *seq).peekable();
            let mut damaged = None;
            reader.visit_rows(&of_trace.after(first - 1), |row| {
                if latest.next_if(|seq| *seq == row.seq()).is_some() {
                    match row.record() {
                        Ok(record) => records.push(record),
                        Err(error) => damaged = damaged.take().or(Some(error)),
                    }
                }
            })?;
            if let Some(error) = damaged {
                return Err(error.into());
            }
        }
        records.sort_by_key(|record| record.seq);
        Ok(TimelineRecords {
            records,
            left_out: self.left_out,
            replies: self.replies.clone(),
        })
    }

    fn keep(&mut self, row: &JournalRecordRef<'_>) {
        match row.record() {
            Ok(record) => self.shape.push(record),
            Err(error) => self.damaged = self.damaged.take().or(Some(error)),
        }
    }

    fn take(&mut self, row: &JournalRecordRef<'_>) {
        self.position = row.seq();
        let kind = row.kind().unwrap_or_default();
        let is_shape = !TURN_BY_TURN.iter().any(|begin| kind.starts_with(begin));
        let run = row.run();
        if is_shape {
            self.take_shape(row, kind, run);
            return;
        }
        let is_meant = match (&self.family, run) {
            (None, _) => true,
            (Some(family), Some(run)) => family.contains(&run),
            (Some(_), None) => false,
        };
        if !is_meant {
            return;
        }
        let replied = run.filter(|_| kind == "model.replied");
        self.latest.push_back((row.seq(), replied));
        if self.latest.len() > LATEST
            && let Some((_, replied)) = self.latest.pop_front()
        {
            self.left_out += 1;
            if let Some(run) = replied {
                *self.replies.entry(run).or_default() += 1;
            }
        }
    }

    /// Keeps the event if it belongs to a selected run. Child runs start after their parent,
    /// so one pass finds them all.
    fn take_shape(&mut self, row: &JournalRecordRef<'_>, kind: &str, run: Option<RunId>) {
        let Some(family) = &mut self.family else {
            return self.keep(row);
        };
        let started = match kind {
            "run.started" => row.event().ok(),
            _ => None,
        };
        if let Some(Fact::RunStarted(started)) = started.map(|event| event.fact)
            && started
                .parent
                .is_some_and(|parent| family.contains(&parent))
        {
            family.insert(started.id);
        }
        let run = match run {
            Some(run) => Some(run),
            None => row.record().ok().as_ref().and_then(of_run),
        };
        if run.is_some_and(|run| family.contains(&run)) {
            self.keep(row);
        }
    }
}
