//! Which runs there are, and how each of them stands.

use std::collections::{BTreeMap, BTreeSet};

use artel_journal::{Filter, Query, Reader};
use artel_rules::tally::Tally;
use artel_types::{
    Event, Fact, Failure, Money, RunAsked, RunFinished, RunId, RunStarted, Stream, Timestamp,
    TraceId,
};
use serde::Serialize;

use super::view::grouped;
use crate::workshop::Workshop;

/// So many runs that are over are shown, if not all are wanted.
const MOST_OVER: usize = 20;

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
#[derive(Debug, Clone, Serialize)]
pub struct RunRow {
    /// Which run.
    pub run: RunId,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// How it stands.
    pub state: Standing,
    /// What it does, in a line.
    pub title: String,
    /// How many turns it took.
    pub turns: u64,
    /// What it cost; nothing if a price is not known.
    pub cost: Option<Money>,
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
        self.questions().into_iter().map(|(_, asked)| asked).next()
    }

    /// Returns the questions that nobody has answered, each with when it was asked.
    pub(crate) fn questions(&self) -> Vec<(Timestamp, &RunAsked)> {
        let mut open: Vec<(Timestamp, &RunAsked)> = Vec::new();
        for event in &self.events {
            match &event.fact {
                Fact::RunAsked(asked) => {
                    open.retain(|(_, it)| it.question != asked.question);
                    open.push((event.at, asked));
                }
                Fact::RunAnswered(done) => open.retain(|(_, it)| it.question != done.question),
                _ => {}
            }
        }
        open
    }

    pub(crate) fn is_paused(&self) -> bool {
        let act = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::RunSteered(steered) if steered.act != "hint" => Some(steered.act.as_str()),
                _ => None,
            });
        act == Some("pause")
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
            return match finished.state.as_deref() {
                Some("partial") => Standing::Partial,
                Some("failed") => Standing::Failed,
                Some("cancelled") => Standing::Cancelled,
                _ => Standing::Complete,
            };
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
    /// Lists runs, the latest first.
    pub fn runs(&self, which: Which) -> Result<Vec<RunRow>, Failure> {
        let reader = self.reader()?;
        let drivers = self.drivers(&reader)?;
        let applied = applied(&reader)?;
        let mut rows = Vec::new();
        let mut over = 0;
        for (started, trace) in started_runs(&reader)?.into_iter().rev() {
            if which == Which::Recent && started.parent.is_some() {
                continue;
            }
            if which == Which::Recent && over >= MOST_OVER && !drivers.contains_key(&started.id) {
                // What is older and not over is found by `--all`; nobody reads a list without end.
                continue;
            }
            let state = self.state(&reader, started, trace, &drivers)?;
            over += usize::from(state.standing().is_over());
            let mut row = row(&state);
            if applied.contains(&row.run) {
                row.files = 0;
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns all that is on record of a run.
    pub(crate) fn state_of(&self, run: RunId) -> Result<State, Failure> {
        let (started, trace) = self.started(run)?;
        let reader = self.reader()?;
        let drivers = self.drivers(&reader)?;
        self.state(&reader, started, trace, &drivers)
    }

    fn state(
        &self,
        reader: &Reader,
        started: RunStarted,
        trace: TraceId,
        drivers: &BTreeMap<RunId, String>,
    ) -> Result<State, Failure> {
        let filter = Filter {
            run: Some(started.id.to_string()),
            ..Filter::default()
        };
        let records = reader.records(&Query::of(filter))?;
        let events: Result<_, _> = records.iter().map(artel_journal::Record::event).collect();
        Ok(State {
            driver: drivers.get(&started.id).cloned(),
            started,
            trace,
            events: events?,
        })
    }

    /// Returns the runs that processes are at work on.
    fn drivers(&self, reader: &Reader) -> Result<BTreeMap<RunId, String>, Failure> {
        let now = self.caller.clock.now();
        let mut drivers = BTreeMap::new();
        for lease in reader.leases()? {
            let Some(owner) = lease.owner.filter(|owner| !owner.is_dead()) else {
                continue;
            };
            let name = lease.name.strip_prefix("run/");
            if let Some(run) = name.and_then(|name| name.parse().ok())
                && lease.expires > now
            {
                drivers.insert(run, owner.to_string());
            }
        }
        Ok(drivers)
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
    for record in reader.records(&Query::of(filter))? {
        if let Fact::RunApplied(applied) = record.event()?.fact {
            runs.insert(applied.id);
        }
    }
    Ok(runs)
}

fn row(state: &State) -> RunRow {
    let mut tally = Tally::default();
    state.events.iter().for_each(|event| tally.fold(event));
    let metrics = tally.metrics(None);
    // What a plan's run made waits as a changeset, not as files.
    let files = state
        .finished()
        .filter(|_| state.started.plan.is_none())
        .and_then(|finished| finished.changed.as_ref());
    let files = files.map_or(0, |files| files.len() as u64);
    RunRow {
        run: state.started.id,
        trace: state.trace,
        state: state.standing(),
        title: state.started.title.clone(),
        turns: metrics.turns,
        cost: metrics.cost,
        since: since(state),
        note: note(state),
        parent: state.started.parent,
        files,
    }
}

/// Returns when a run came to stand as it does.
fn since(state: &State) -> Timestamp {
    let of = |wanted: &dyn Fn(&Fact) -> bool| {
        let mut events = state.events.iter().rev();
        events
            .find(|event| wanted(&event.fact))
            .map(|event| event.at)
    };
    let first = state.events.first().map(|event| event.at);
    let last = state.events.last().map(|event| event.at);
    let began = |fact: &Fact| matches!(fact, Fact::RunStarted(_) | Fact::RunContinued(_));
    let at = match state.standing() {
        Standing::Running => of(&began),
        Standing::Paused => of(&|fact| matches!(fact, Fact::RunSteered(_))),
        _ => last,
    };
    at.or(first).unwrap_or(Timestamp::from_micros(0))
}

fn note(state: &State) -> Option<String> {
    if let Some(asked) = state.question() {
        return Some(asked.text.clone());
    }
    if state.finished().is_some() {
        return None;
    }
    let after = state
        .events
        .iter()
        .rev()
        .find_map(|event| match &event.fact {
            Fact::RunContinued(continued) => Some(continued.after),
            _ => None,
        });
    match (state.driver.is_some(), after) {
        (true, Some(after)) => Some(format!(
            "picked up after the process ended at event {}",
            grouped(after)
        )),
        (true, None) => None,
        (false, _) => {
            let last = state.events.last().map_or(0, |event| event.seq);
            Some(format!("the process ended at event {}", grouped(last)))
        }
    }
}
