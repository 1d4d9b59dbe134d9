//! Lists runs with their status.

use std::collections::BTreeSet;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_types::{
    Event, Fact, Failure, Money, RunAsked, RunFinished, RunId, RunStarted, StreamName, Timestamp,
    TraceId,
};
use serde::Serialize;

use crate::board::{DriverProcesses, WorkshopIndex};
use crate::workshop::Workshop;

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    Paused,
    /// It is waiting for an answer.
    Waiting,
    /// The process that drove it is gone; the run can be resumed.
    Left,
    Complete,
    /// It ended before it was done.
    Partial,
    /// It ended without a result.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl RunStatus {
    pub const ALL: [Self; 8] = [
        Self::Running,
        Self::Paused,
        Self::Waiting,
        Self::Left,
        Self::Complete,
        Self::Partial,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            _ => self.words(),
        }
    }

    /// Returns the status of a run with this recorded ending. Old records without a word mean
    /// that the run was complete.
    pub(crate) fn of_ending(state: Option<&str>) -> Self {
        match state {
            Some("partial") => Self::Partial,
            Some("failed") => Self::Failed,
            Some("cancelled") => Self::Cancelled,
            _ => Self::Complete,
        }
    }

    /// Returns the words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Waiting => "waiting for you",
            Self::Left => "left",
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether nothing more happens in the run.
    pub fn is_over(self) -> bool {
        !matches!(
            self,
            Self::Running | Self::Paused | Self::Waiting | Self::Left
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    pub run: RunId,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    pub state: RunStatus,
    /// Its purpose, in one line.
    pub title: String,
    /// The skill that it carries out.
    pub skill: Option<String>,
    pub role: Option<String>,
    pub turns: u64,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// Its cost, or `None` if a price is unknown.
    pub cost: Option<Money>,
    /// When it started.
    pub at: Timestamp,
    /// When it got its status.
    pub since: Timestamp,
    /// A remark about its status.
    pub note: Option<String>,
    /// The run that started it, if any.
    pub parent: Option<RunId>,
    /// The number of changed files that wait to be applied.
    pub files: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunListScope {
    /// Open runs, and the latest of the others.
    Recent,
    /// All runs, child runs included.
    All,
}

/// All recorded events of one run, and the process that drives it.
#[derive(Debug)]
pub(crate) struct RecordedRun {
    pub(crate) started: RunStarted,
    pub(crate) trace: TraceId,
    pub(crate) events: Vec<Event>,
    /// The process that drives it, or `None`.
    pub(crate) driver: Option<String>,
}

impl RecordedRun {
    pub(crate) fn finished(&self) -> Option<&RunFinished> {
        self.events.iter().find_map(|event| match &event.fact {
            Fact::RunFinished(finished) => Some(finished),
            _ => None,
        })
    }

    /// Returns the open question. A plan run can have several; then this is the oldest.
    pub(crate) fn question(&self) -> Option<&RunAsked> {
        self.question_at().map(|(_, asked)| asked)
    }

    /// Returns the open question with its sequence number.
    pub(crate) fn question_at(&self) -> Option<(u64, &RunAsked)> {
        self.questions().into_iter().next()
    }

    /// Returns the unanswered questions, each with its sequence number.
    pub(crate) fn questions(&self) -> Vec<(u64, &RunAsked)> {
        let mut open: Vec<(u64, &RunAsked)> = Vec::new();
        for event in &self.events {
            match &event.fact {
                Fact::RunAsked(asked) => {
                    open.retain(|(_, it)| it.question != asked.question);
                    open.push((event.seq, asked));
                }
                Fact::RunAnswered(done) => open.retain(|(_, it)| it.question != done.question),
                _ => {}
            }
        }
        open
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused_at().is_some()
    }

    /// Returns the sequence number of the event that paused the run, or `None` if it is not
    /// paused.
    pub(crate) fn paused_at(&self) -> Option<u64> {
        let last = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::RunSteered(it) if it.act != "hint" => Some((event.seq, it.act.as_str())),
                _ => None,
            });
        last.filter(|(_, act)| *act == "pause").map(|(seq, _)| seq)
    }

    /// Returns whether a call waits for approval.
    fn is_asking(&self) -> bool {
        let mut open = BTreeSet::new();
        for event in &self.events {
            match &event.fact {
                Fact::ToolRequested(asked) if asked.decision == "ask" => {
                    open.insert(asked.call.as_str());
                }
                Fact::ToolAnswered(answered) => {
                    open.remove(answered.call.as_str());
                }
                Fact::ToolFinished(finished) => {
                    open.remove(finished.call.as_str());
                }
                _ => {}
            }
        }
        !open.is_empty()
    }

    pub(crate) fn standing(&self) -> RunStatus {
        if let Some(finished) = self.finished() {
            return RunStatus::of_ending(finished.state.as_deref());
        }
        let is_driven = self.driver.is_some();
        if self.question().is_some() || (is_driven && self.is_asking()) {
            return RunStatus::Waiting;
        }
        match (is_driven, self.is_paused()) {
            (_, true) => RunStatus::Paused,
            (true, false) => RunStatus::Running,
            (false, false) => RunStatus::Left,
        }
    }
}

impl Workshop {
    /// Lists runs, latest first. For [`RunListScope::Recent`], the events of models and tools, which
    /// are most of a journal, are read only for the listed runs.
    pub fn runs(&self, which: RunListScope) -> Result<Vec<RunRow>, Failure> {
        let drivers = self.drivers_now()?;
        if which == RunListScope::All {
            return Ok(self.whole_board()?.run_rows(which, &drivers));
        }
        let (board, reader) = (self.board_of_waits()?, self.reader()?);
        let rows = board.run_rows(which, &drivers).into_iter();
        rows.map(|row| {
            let whole = WorkshopIndex::of_runs(&reader, &board.chain(row.run))?;
            // Whether files were applied is not recorded in the run's own stream.
            let files = row.files;
            Ok(match whole.run(row.run, &drivers) {
                Some(whole) => RunRow { files, ..whole },
                None => row,
            })
        })
        .collect()
    }

    /// Reads all recorded events of a run.
    pub(crate) fn state_of(&self, run: RunId) -> Result<RecordedRun, Failure> {
        let (started, trace) = self.started(run)?;
        let reader = self.reader()?;
        let drivers = DriverProcesses::read(&reader, self.caller.clock.now())?;
        self.state(&reader, started, trace, &drivers)
    }

    fn state(
        &self,
        reader: &JournalReader,
        started: RunStarted,
        trace: TraceId,
        drivers: &DriverProcesses,
    ) -> Result<RecordedRun, Failure> {
        let filter = EventFilter {
            run: Some(started.id.to_string()),
            ..EventFilter::default()
        };
        let records = reader.records(&EventQuery::of(filter))?;
        let events: Result<_, _> = records
            .iter()
            .map(artel_journal::JournalRecord::event)
            .collect();
        Ok(RecordedRun {
            driver: drivers.run(started.id).map(str::to_owned),
            started,
            trace,
            events: events?,
        })
    }

    /// Returns the open runs below a run: its child runs, their child runs and so on.
    pub(crate) fn open_below(&self, run: RunId) -> Result<Vec<RunId>, Failure> {
        let reader = self.reader()?;
        let all = started_runs(&reader)?;
        let mut family = BTreeSet::from([run]);
        // Children start after their parents, so one pass is enough.
        for (started, _) in &all {
            if started
                .parent
                .is_some_and(|parent| family.contains(&parent))
            {
                family.insert(started.id);
            }
        }
        family.remove(&run);
        let mut open = Vec::new();
        for id in family {
            let filter = EventFilter {
                stream: Some(StreamName::run(id).to_string()),
                kind: Some("run.finished".to_owned()),
                ..EventFilter::default()
            };
            if reader.records(&EventQuery::of(filter).limit(1))?.is_empty() {
                open.push(id);
            }
        }
        Ok(open)
    }
}

/// Returns the start facts of all runs, in order. Unknown kinds of events are skipped.
pub(crate) fn started_runs(reader: &JournalReader) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    started(reader, EventFilter::default())
}

/// Returns the start facts of the runs of one piece of work.
pub(crate) fn started_runs_of(
    reader: &JournalReader,
    trace: TraceId,
) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    let filter = EventFilter {
        trace: Some(trace.to_string()),
        ..EventFilter::default()
    };
    started(reader, filter)
}

fn started(
    reader: &JournalReader,
    filter: EventFilter,
) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    let filter = EventFilter {
        kind: Some("run.started".to_owned()),
        ..filter
    };
    let mut runs = Vec::new();
    for record in reader.records(&EventQuery::of(filter))? {
        let event = record.event()?;
        if let Fact::RunStarted(started) = event.fact {
            runs.push((started, event.trace));
        }
    }
    Ok(runs)
}

/// Returns the runs whose changes were applied.
pub(crate) fn applied(reader: &JournalReader) -> Result<BTreeSet<RunId>, Failure> {
    let filter = EventFilter {
        kind: Some("run.applied".to_owned()),
        ..EventFilter::default()
    };
    let mut runs = BTreeSet::new();
    for record in reader.records(&EventQuery::of(filter).few())? {
        if let Fact::RunApplied(applied) = record.event()?.fact {
            runs.insert(applied.id);
        }
    }
    Ok(runs)
}
