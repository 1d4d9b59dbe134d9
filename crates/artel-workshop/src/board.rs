//! The board: everything at a glance, folded once from the journal and kept current record by
//! record.
//!
//! A list that folds the journal whenever somebody looks costs as much as the journal is long. The
//! board pays that once; then a look costs what it shows. It holds what lists and sums need and
//! nothing else: of a run that is over some hundred bytes stay, the rest is in the journal.
//!
//! It is a fold and nothing else: the same records give the same board, whether they came one by
//! one or all at once. Who drives what is not in the journal's events but in its leases, and is
//! handed in as [`Drivers`].

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

use artel_journal::{Filter, Query, Reader, Record, Row};
use artel_model::Account;
use artel_types::{Code, Event, Fact, Failure, RunFinished, RunId, RunStarted, TraceId};

pub use drivers::Drivers;
pub use lists::{Kinship, Page, RunsWanted, Stage, WorkRow, WorksWanted};
pub use meter::{BUCKETS, Histogram, Meter, ModelTimes};
pub use skills::SkillSums;

use card::Card;
use folding::{Depth, Seen};
use works::WorkCard;

use crate::workshop::Workshop;

/// Everything at a glance, folded once and kept current record by record.
#[derive(Debug, Clone, Default)]
pub struct Board {
    position: u64,
    depth: Depth,
    /// Every run that an event names, in the order of their first events.
    cards: Vec<Card>,
    by_run: HashMap<RunId, usize>,
    /// The runs that began, in that order.
    begun: Vec<usize>,
    /// Of them, those that no other run called.
    top: Vec<usize>,
    /// Of all that began, those that are not over.
    open: BTreeSet<usize>,
    /// Of them, those that ask something.
    asking: BTreeSet<usize>,
    works: Vec<WorkCard>,
    by_trace: HashMap<TraceId, usize>,
    /// The requests, in the order in which they came.
    asked: Vec<usize>,
    /// The pieces of work that may need a person; all others do not.
    unsettled: BTreeSet<usize>,
    meter: Meter,
    account: Account,
    names: Names,
    damage: Option<Damage>,
}

/// Records that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first of them.
    pub first: u64,
    /// What is wrong with it.
    pub what: String,
    /// How many there are.
    pub records: u64,
}

/// Names that come again and again, each kept once.
#[derive(Debug, Clone, Default)]
struct Names(HashSet<Arc<str>>);

impl Workshop {
    /// Folds the journal as it is. A record that cannot be read is passed over, and
    /// [`Board::damage`] says so: a workshop with one bad record still has something to show.
    pub fn board(&self) -> Result<Board, Failure> {
        self.board_to(Depth::Whole)
    }

    /// Folds what tells who has to decide what, without what models and tools did.
    pub(crate) fn board_of_waits(&self) -> Result<Board, Failure> {
        self.board_to(Depth::Waits)?.undamaged()
    }

    /// Folds what tells how skills do.
    pub(crate) fn board_of_skills(&self) -> Result<Board, Failure> {
        self.board_to(Depth::Skills)?.undamaged()
    }

    /// Folds the journal, and refuses one that cannot be read as a whole: whoever asks once has no
    /// other place to be told.
    pub(crate) fn whole_board(&self) -> Result<Board, Failure> {
        self.board()?.undamaged()
    }

    fn board_to(&self, depth: Depth) -> Result<Board, Failure> {
        folding::fold_all(&*self.reader()?, depth)
    }
}

impl Board {
    /// Folds all that is on record of a few runs.
    pub(crate) fn of_runs(reader: &Reader, runs: &[RunId]) -> Result<Self, Failure> {
        let mut records = Vec::new();
        for run in runs {
            let filter = Filter {
                run: Some(run.to_string()),
                ..Filter::default()
            };
            records.extend(reader.records(&Query::of(filter))?);
        }
        records.sort_by_key(|record| record.seq);
        let mut board = Self::default();
        records.iter().for_each(|record| board.take(record));
        board.undamaged()
    }

    /// Takes one more record. Kinds that it does not know are passed over, and so is a record that
    /// it has: a follower may hand the last one over again.
    pub fn take(&mut self, record: &Record) {
        if record.seq <= self.position {
            return;
        }
        let seen = Seen::of(&Row::of(record), self.depth);
        let trace = seen.place.map(|(_, trace)| trace);
        self.put(seen);
        if let Some(work) = trace.and_then(|trace| self.by_trace.get(&trace)) {
            self.leave_settled(&[*work]);
        }
    }

    /// Returns the number of the last record that was taken; a follower goes on from there.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the sums over everything.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns how skills do, to be held against their files: [`Workshop::skill_reports`].
    pub fn skills(&self) -> SkillSums {
        self.meter.skill_sums()
    }

    /// Returns what could not be read, if anything.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    fn undamaged(self) -> Result<Self, Failure> {
        let Some(damage) = &self.damage else {
            return Ok(self);
        };
        Err(
            Failure::new(Code::J001, format!("event {} cannot be read", damage.first))
                .because(damage.what.clone())
                .advise("`artel journal verify` shows what is damaged"),
        )
    }

    fn put(&mut self, seen: Seen) {
        if seen.seq <= self.position {
            return;
        }
        self.position = seen.seq;
        self.touch(&seen);
        match seen.event {
            Some(Ok(event)) => self.fold(&event),
            Some(Err(what)) => {
                let damage = self.damage.get_or_insert(Damage {
                    first: seen.seq,
                    what,
                    records: 0,
                });
                damage.records += 1;
            }
            None => {}
        }
    }

    /// Notes that something happened to a run or a piece of work, whatever it was.
    fn touch(&mut self, seen: &Seen) {
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

    /// Forgets what a piece of work waits for: whatever happens to it may change that.
    fn stir(&mut self, trace: TraceId) {
        if let Some(work) = self.by_trace.get(&trace) {
            self.works[*work].waits.take();
            self.unsettled.insert(*work);
        }
    }

    /// Leaves those pieces of work out that need nobody.
    fn leave_settled(&mut self, works: &[usize]) {
        for work in works {
            if self.own_waits(&self.works[*work]).is_empty() {
                self.unsettled.remove(work);
            }
        }
    }

    /// Gives back the room that was kept for more: what comes from now on comes slowly.
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

    /// Notes whether a run asks something.
    fn listen(&mut self, index: usize) {
        match self.cards[index].questions.is_empty() || !self.open.contains(&index) {
            true => self.asking.remove(&index),
            false => self.asking.insert(index),
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
            self.cards.push(Card::new(run, trace));
            self.cards.len() - 1
        })
    }

    fn work_card(&mut self, trace: TraceId) -> usize {
        *self.by_trace.entry(trace).or_insert_with(|| {
            self.works.push(WorkCard::new(trace));
            self.works.len() - 1
        })
    }
}

impl Names {
    fn keep(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.0.insert(Arc::clone(&name));
        name
    }
}
