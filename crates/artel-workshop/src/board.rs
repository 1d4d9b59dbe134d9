//! The workshop index: an overview of all runs, all work and all metrics, folded once from
//! the journal and kept current record by record.
//!
//! A list that folds the journal at every view costs as much as the journal is long. The
//! index pays that once; after that, a view costs what it shows. The index holds only what
//! lists and sums need: a few hundred bytes per finished run. Everything else stays in the
//! journal.
//!
//! The index is a pure fold: the same records give the same index, whether they arrive one
//! by one or all at once. Which process drives what is not in the journal's events but in
//! its leases, and is passed in as [`DriverProcesses`].

mod card;
mod drivers;
mod folding;
mod lists;
mod meter;
mod skills;
mod spending;
mod waits;
mod works;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use artel_journal::{EventFilter, EventQuery, JournalReader, JournalRecord, JournalRecordRef};
use artel_model::GatewayState;
use artel_types::{Event, Fact, Failure, FailureCode, RunFinished, RunId, RunStarted, TraceId};

pub use drivers::DriverProcesses;
pub use lists::{
    ChildRunFilter, PagedRows, RunCompletionFilter, RunIndexQuery, WorkIndexQuery, WorkRow,
};
pub use meter::{BUCKETS, DurationHistogram, ModelTimes, WorkshopMetrics};
pub use skills::SkillSums;

use card::RunSummary;
use folding::{IndexCoverage, IndexInputRecord};
use works::WorkSummary;

use crate::workshop::Workshop;

/// An in-memory overview of all runs, work and metrics, folded once and kept current
/// record by record.
#[derive(Debug, Clone, Default)]
pub struct WorkshopIndex {
    position: u64,
    depth: IndexCoverage,
    /// Every run that an event names, in the order of their first events.
    cards: Vec<RunSummary>,
    by_run: HashMap<RunId, usize>,
    /// The runs that have started, in that order.
    begun: Vec<usize>,
    /// The started runs that are not child runs.
    top: Vec<usize>,
    /// The started runs that are not over.
    open: BTreeSet<usize>,
    /// The open runs that have an unanswered question.
    asking: BTreeSet<usize>,
    works: Vec<WorkSummary>,
    by_trace: HashMap<TraceId, usize>,
    /// The requests, in the order in which they were made.
    asked: Vec<usize>,
    /// The pieces of work that may need a person. No other piece of work does.
    unsettled: BTreeSet<usize>,
    meter: WorkshopMetrics,
    account: GatewayState,
    names: NameInterner,
    damage: Option<UnreadableRecords>,
}

/// The records that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRecords {
    /// The sequence number of the first of them.
    pub first: u64,
    /// The reason why the first of them cannot be read.
    pub what: String,
    /// The number of unreadable records.
    pub records: u64,
}

/// Stores each repeated name once.
#[derive(Debug, Clone, Default)]
struct NameInterner(HashSet<Arc<str>>);

impl Workshop {
    /// Folds the current journal. An unreadable record is skipped and reported by
    /// [`WorkshopIndex::damage`], so a workshop with one bad record still has something to show.
    pub fn board(&self) -> Result<WorkshopIndex, Failure> {
        self.board_to(IndexCoverage::Whole)
    }

    /// Folds only what is needed to tell who has to decide what, without the events of models
    /// and tools.
    pub(crate) fn board_of_waits(&self) -> Result<WorkshopIndex, Failure> {
        self.board_to(IndexCoverage::Waits)?.undamaged()
    }

    /// Folds only what is needed for the statistics of skills.
    pub(crate) fn board_of_skills(&self) -> Result<WorkshopIndex, Failure> {
        self.board_to(IndexCoverage::Skills)?.undamaged()
    }

    /// Folds the journal, and fails if any record cannot be read: a one-off caller would not
    /// learn of the damage otherwise.
    pub(crate) fn whole_board(&self) -> Result<WorkshopIndex, Failure> {
        self.board()?.undamaged()
    }

    fn board_to(&self, depth: IndexCoverage) -> Result<WorkshopIndex, Failure> {
        folding::fold_all(&*self.reader()?, depth)
    }
}

impl WorkshopIndex {
    /// Folds all records of a few runs.
    pub(crate) fn of_runs(reader: &JournalReader, runs: &[RunId]) -> Result<Self, Failure> {
        let mut records = Vec::new();
        for run in runs {
            let filter = EventFilter {
                run: Some(run.to_string()),
                ..EventFilter::default()
            };
            records.extend(reader.records(&EventQuery::of(filter))?);
        }
        records.sort_by_key(|record| record.seq);
        let mut board = Self::default();
        records.iter().for_each(|record| board.take(record));
        board.undamaged()
    }

    /// Folds one more record. Unknown kinds are skipped. A record that was folded already is
    /// skipped too, because a follower may deliver the last one again.
    pub fn take(&mut self, record: &JournalRecord) {
        if record.seq <= self.position {
            return;
        }
        let seen = IndexInputRecord::of(&JournalRecordRef::of(record), self.depth);
        let trace = seen.place.map(|(_, trace)| trace);
        self.put(seen);
        if let Some(work) = trace.and_then(|trace| self.by_trace.get(&trace)) {
            self.leave_settled(&[*work]);
        }
    }

    /// Returns the sequence number of the last record that was folded. A follower continues
    /// after it.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn meter(&self) -> &WorkshopMetrics {
        &self.meter
    }

    /// Returns the statistics of all skills, to be combined with their files in
    /// [`Workshop::skill_reports`].
    pub fn skills(&self) -> SkillSums {
        self.meter.skill_sums()
    }

    /// Returns the unreadable records, or `None` if there are none.
    pub fn damage(&self) -> Option<&UnreadableRecords> {
        self.damage.as_ref()
    }

    fn undamaged(self) -> Result<Self, Failure> {
        let Some(damage) = &self.damage else {
            return Ok(self);
        };
        Err(Failure::new(
            FailureCode::J001,
            format!("event {} cannot be read", damage.first),
        )
        .because(damage.what.clone())
        .advise("`artel journal verify` shows what is damaged"))
    }

    fn put(&mut self, seen: IndexInputRecord) {
        if seen.seq <= self.position {
            return;
        }
        self.position = seen.seq;
        self.touch(&seen);
        match seen.event {
            Some(Ok(event)) => self.fold(&event),
            Some(Err(what)) => {
                let damage = self.damage.get_or_insert(UnreadableRecords {
                    first: seen.seq,
                    what,
                    records: 0,
                });
                damage.records += 1;
            }
            None => {}
        }
    }

    /// Records that something happened to a run or a piece of work, whatever the event is.
    fn touch(&mut self, seen: &IndexInputRecord) {
        let Some((at, trace)) = seen.place else {
            return;
        };
        if let Some(run) = seen.run {
            let index = self.card(run, trace);
            self.cards[index].last = (seen.seq, at);
            self.stir(self.cards[index].trace);
        }
        if seen.is_of_work {
            let index = self.work_card(trace);
            let work = &mut self.works[index];
            work.last = at;
            work.events += 1;
        }
        self.stir(trace);
    }

    /// Discards what a piece of work was waiting for, because any event may change that.
    fn stir(&mut self, trace: TraceId) {
        if let Some(work) = self.by_trace.get(&trace) {
            self.works[*work].waits.take();
            self.unsettled.insert(*work);
        }
    }

    /// Removes those of the given pieces of work that need nobody from the unsettled set.
    fn leave_settled(&mut self, works: &[usize]) {
        for work in works {
            if self.own_waits(&self.works[*work]).is_empty() {
                self.unsettled.remove(work);
            }
        }
    }

    /// Frees spare capacity, since records arrive slowly from now on, and drops settled work.
    fn settle(&mut self) {
        self.cards.shrink_to_fit();
        self.begun.shrink_to_fit();
        self.top.shrink_to_fit();
        self.works.shrink_to_fit();
        let unsettled: Vec<usize> = self.unsettled.iter().copied().collect();
        self.leave_settled(&unsettled);
    }

    fn fold(&mut self, event: &Event) {
        self.meter.fold(event);
        self.account.fold(event);
        match &event.fact {
            Fact::RunStarted(started) => self.started(event, started),
            Fact::RunApplied(applied) => {
                let index = self.card(applied.id, event.trace);
                self.cards[index].is_applied = true;
            }
            Fact::ModelReplied(it) => self.charge(event.trace, it.charged, it.paid()),
            Fact::ModelFailed(it) => self.charge(event.trace, it.charged, it.paid()),
            _ => {}
        }
        if event.stream.as_str().starts_with("work/") {
            self.work_event(event);
        }
        if let Some(run) = event.run {
            let index = self.card(run, event.trace);
            self.cards[index].fold(event, &mut self.names);
            if let Fact::RunFinished(finished) = &event.fact {
                self.finished(index, finished);
            }
            self.listen(index);
        }
    }

    /// Updates whether a run has an unanswered question.
    fn listen(&mut self, index: usize) {
        if self.cards[index].questions.is_empty() || !self.open.contains(&index) {
            self.asking.remove(&index)
        } else {
            self.asking.insert(index)
        };
    }

    fn started(&mut self, event: &Event, started: &RunStarted) {
        let index = self.card(started.id, event.trace);
        let card = &mut self.cards[index];
        if card.seq > 0 {
            return;
        }
        card.begin(event, started, &mut self.names);
        self.meter.run_began(card);
        self.begun.push(index);
        if card.parent.is_none() {
            self.top.push(index);
        }
        if card.end.is_none() {
            self.open.insert(index);
        }
        let from = card.parent.filter(|_| card.takes_over);
        if let Some(from) = from {
            let from = self.card(from, event.trace);
            self.cards[from].heir = Some(index);
        }
        if let Some(work) = self.by_trace.get(&event.trace) {
            self.works[*work].began(index, started);
        }
    }

    fn finished(&mut self, index: usize, finished: &RunFinished) {
        self.open.remove(&index);
        let card = &self.cards[index];
        if let Some(work) = self.by_trace.get(&card.trace) {
            self.works[*work].roots.retain(|root| *root != index);
        }
        self.meter.run_ended(card, finished);
    }

    fn work_event(&mut self, event: &Event) {
        let index = self.work_card(event.trace);
        let is_new = self.works[index].seq == 0;
        self.works[index].fold(event, &mut self.names);
        if is_new && self.works[index].seq > 0 {
            self.asked.push(index);
        }
    }

    fn card(&mut self, run: RunId, trace: TraceId) -> usize {
        *self.by_run.entry(run).or_insert_with(|| {
            self.cards.push(RunSummary::new(run, trace));
            self.cards.len() - 1
        })
    }

    fn work_card(&mut self, trace: TraceId) -> usize {
        *self.by_trace.entry(trace).or_insert_with(|| {
            self.works.push(WorkSummary::new(trace));
            self.works.len() - 1
        })
    }
}

impl NameInterner {
    fn keep(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.0.insert(Arc::clone(&name));
        name
    }
}
