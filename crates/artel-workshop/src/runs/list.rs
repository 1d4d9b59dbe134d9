//! Which runs there are, and how each of them stands.

use std::collections::BTreeSet;

use artel_journal::{Filter, Query, Reader};
use artel_types::{
    Event, Fact, Failure, Money, RunAsked, RunFinished, RunId, RunStarted, Stream, Timestamp,
    TraceId,
};
use serde::Serialize;

use crate::board::{Board, Drivers};
use crate::workshop::Workshop;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// A process drives it.
    Running,
    /// A person paused it.
    Paused,
    /// It needs an answer.
    Waiting,
    /// The process that drove it is gone; it can be taken up.
    Left,
    /// It is done.
    Complete,
    /// It ended before it was done.
    Partial,
    /// Nothing came of it.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl Standing {
    /// Every one there is.
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

    /// Returns the word that machines read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            _ => self.words(),
        }
    }

    /// Returns how a run stands that ended so; without a word it is an old record of one that was
    /// done.
    pub(crate) fn of_ending(state: Option<&str>) -> Self {
        match state {
            Some("partial") => Self::Partial,
            Some("failed") => Self::Failed,
            Some("cancelled") => Self::Cancelled,
            _ => Self::Complete,
        }
    }

    /// Returns the words that people read.
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

    /// Tells whether nothing more happens in it.
    pub fn is_over(self) -> bool {
        !matches!(
            self,
            Self::Running | Self::Paused | Self::Waiting | Self::Left
        )
    }
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// Which run.
    pub run: RunId,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// How it stands.
    pub state: Standing,
    /// What it does, in a line.
    pub title: String,
    /// The skill it carries out.
    pub skill: Option<String>,
    /// The role that does it.
    pub role: Option<String>,
    /// How many turns it took.
    pub turns: u64,
    /// What models read and wrote for it.
    pub tokens: u64,
    /// What it cost; nothing if a price is not known.
    pub cost: Option<Money>,
    /// When it began.
    pub at: Timestamp,
    /// When it came to stand so.
    pub since: Timestamp,
    /// More about that.
    pub note: Option<String>,
    /// The run that called it.
    pub parent: Option<RunId>,
    /// Files that wait to be put in place.
    pub files: u64,
}

/// Which runs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that are not over, and the latest of the others.
    Recent,
    /// All, with those that runs called.
    All,
}

/// All that is on record of one run, and whether a process is at work on it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) started: RunStarted,
    pub(crate) trace: TraceId,
    pub(crate) events: Vec<Event>,
    /// The process that drives it, if one does.
    pub(crate) driver: Option<String>,
}

impl State {
    pub(crate) fn finished(&self) -> Option<&RunFinished> {
        self.events.iter().find_map(|event| match &event.fact {
            Fact::RunFinished(finished) => Some(finished),
            _ => None,
        })
    }

    /// Returns the question that is open; the oldest, where the run of a plan has several.
    pub(crate) fn question(&self) -> Option<&RunAsked> {
        self.question_at().map(|(_, asked)| asked)
    }

    /// Returns the same with where it was asked.
    pub(crate) fn question_at(&self) -> Option<(u64, &RunAsked)> {
        self.questions().into_iter().next()
    }

    /// Returns the questions that nobody has answered, each with where it was asked.
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

    /// Returns where it was paused, if it is.
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

    /// Tells whether a call waits for a yes.
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

    pub(crate) fn standing(&self) -> Standing {
        if let Some(finished) = self.finished() {
            return Standing::of_ending(finished.state.as_deref());
        }
        let is_driven = self.driver.is_some();
        if self.question().is_some() || (is_driven && self.is_asking()) {
            return Standing::Waiting;
        }
        match (is_driven, self.is_paused()) {
            (_, true) => Standing::Paused,
            (true, false) => Standing::Running,
            (false, false) => Standing::Left,
        }
    }
}

impl Workshop {
    /// Lists runs, the latest first. Of a list of the latest, only what models and tools did in
    /// those is read: it is most of a journal.
    pub fn runs(&self, which: Which) -> Result<Vec<RunRow>, Failure> {
        let drivers = self.drivers_now()?;
        if which == Which::All {
            return Ok(self.whole_board()?.run_rows(which, &drivers));
        }
        let (board, reader) = (self.board_of_waits()?, self.reader()?);
        let rows = board.run_rows(which, &drivers).into_iter();
        rows.map(|row| {
            let whole = Board::of_runs(&reader, &board.chain(row.run))?;
            // Whether files were put in place is not told in the run's own line of events.
            let files = row.files;
            Ok(match whole.run(row.run, &drivers) {
                Some(whole) => RunRow { files, ..whole },
                None => row,
            })
        })
        .collect()
    }

    /// Returns all that is on record of a run.
    pub(crate) fn state_of(&self, run: RunId) -> Result<State, Failure> {
        let (started, trace) = self.started(run)?;
        let reader = self.reader()?;
        let drivers = Drivers::read(&reader, self.caller.clock.now())?;
        self.state(&reader, started, trace, &drivers)
    }

    fn state(
        &self,
        reader: &Reader,
        started: RunStarted,
        trace: TraceId,
        drivers: &Drivers,
    ) -> Result<State, Failure> {
        let filter = Filter {
            run: Some(started.id.to_string()),
            ..Filter::default()
        };
        let records = reader.records(&Query::of(filter))?;
        let events: Result<_, _> = records.iter().map(artel_journal::Record::event).collect();
        Ok(State {
            driver: drivers.run(started.id).map(str::to_owned),
            started,
            trace,
            events: events?,
        })
    }

    /// Returns the runs that a run called and that are not over, with those that they called.
    pub(crate) fn open_below(&self, run: RunId) -> Result<Vec<RunId>, Failure> {
        let reader = self.reader()?;
        let all = started_runs(&reader)?;
        let mut family = BTreeSet::from([run]);
        // Children begin after their parents, so one look is enough.
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
            let filter = Filter {
                stream: Some(Stream::run(id).to_string()),
                kind: Some("run.finished".to_owned()),
                ..Filter::default()
            };
            if reader.records(&Query::of(filter).limit(1))?.is_empty() {
                open.push(id);
            }
        }
        Ok(open)
    }
}

/// Returns how all runs began, in their order. Kinds that this build does not know are no runs.
pub(crate) fn started_runs(reader: &Reader) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    started(reader, Filter::default())
}

/// Returns how the runs of one piece of work began.
pub(crate) fn started_runs_of(
    reader: &Reader,
    trace: TraceId,
) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    let filter = Filter {
        trace: Some(trace.to_string()),
        ..Filter::default()
    };
    started(reader, filter)
}

fn started(reader: &Reader, filter: Filter) -> Result<Vec<(RunStarted, TraceId)>, Failure> {
    let filter = Filter {
        kind: Some("run.started".to_owned()),
        ..filter
    };
    let mut runs = Vec::new();
    for record in reader.records(&Query::of(filter))? {
        let event = record.event()?;
        if let Fact::RunStarted(started) = event.fact {
            runs.push((started, event.trace));
        }
    }
    Ok(runs)
}

/// Returns the runs whose files were put in place.
pub(crate) fn applied(reader: &Reader) -> Result<BTreeSet<RunId>, Failure> {
    let filter = Filter {
        kind: Some("run.applied".to_owned()),
        ..Filter::default()
    };
    let mut runs = BTreeSet::new();
    for record in reader.records(&Query::of(filter).few())? {
        if let Fact::RunApplied(applied) = record.event()?.fact {
            runs.insert(applied.id);
        }
    }
    Ok(runs)
}
