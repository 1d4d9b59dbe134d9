//! The time line of a run: its events, and those from which it can be gone on with differently.

use artel_journal::Record;
use artel_types::{Fact, RunId};
use artel_workshop::{Eyes, seen};

use super::subject::Subject;
use crate::console::words;

/// So many of the latest events are on the time line.
pub(super) const EVENTS: usize = 150;

/// One event on the time line.
#[derive(Debug, Clone)]
pub(in crate::console) struct EventRow {
    pub(in crate::console) seq: u64,
    pub(in crate::console) at: String,
    pub(in crate::console) kind: String,
    pub(in crate::console) actor: String,
    /// Whether the run can be gone on with differently from here.
    pub(in crate::console) is_point: bool,
}

/// The events from which a run can be gone on with differently.
pub(super) struct Points {
    pub(super) run: RunId,
    /// The first of them.
    from: u64,
    /// The first that is none any more.
    to: u64,
}

impl Points {
    /// Finds them. A run has some from its first turn until it is over, if no other one called it;
    /// the carrying out of a plan has none: its steps are tried again instead.
    pub(super) fn of(subject: &Subject) -> Option<Self> {
        let run = subject.run?;
        let name = run.to_string();
        let own = subject.records.iter();
        let own = own.filter(|record| record.run.as_deref() == Some(name.as_str()));
        let seq = |kind: &str| {
            let mut found = own.clone().filter(|record| record.kind == kind);
            found.next().map(|record| record.seq)
        };
        let started = own
            .clone()
            .find_map(|record| match record.event().ok()?.fact {
                Fact::RunStarted(started) => Some(started),
                _ => None,
            });
        let is_root = started.is_some_and(|started| started.parent.is_none());
        Some(Self {
            run,
            from: seq("run.prepared").filter(|_| is_root)?,
            to: seq("run.finished").unwrap_or(u64::MAX),
        })
    }

    /// Leaves those out that need files, where these were put in place or cleaned.
    pub(super) fn without_files(self, subject: &Subject) -> Self {
        let name = self.run.to_string();
        let mut own = subject.records.iter();
        let made =
            own.find(|it| it.kind == "tree.made" && it.run.as_deref() == Some(name.as_str()));
        Self {
            to: made.map_or(self.to, |made| self.to.min(made.seq)),
            ..self
        }
    }

    fn has(&self, record: &Record) -> bool {
        let is_own = record.run.as_deref() == Some(self.run.to_string().as_str());
        is_own && (self.from..self.to).contains(&record.seq)
    }
}

/// Returns the latest events that these eyes see, the newest first.
pub(super) fn events(
    subject: &Subject,
    eyes: &Eyes,
    points: Option<&Points>,
    before: Option<u64>,
) -> Vec<EventRow> {
    let shown = subject.records.iter().rev();
    let shown = shown.filter(|record| before.is_none_or(|before| record.seq < before));
    let shown = shown.filter_map(|record| seen(eyes, record)).take(EVENTS);
    let row = |record: Record| EventRow {
        seq: record.seq,
        at: words::moment(record.at),
        is_point: points.is_some_and(|points| points.has(&record)),
        kind: record.kind,
        actor: record.actor,
    };
    shown.map(row).collect()
}
