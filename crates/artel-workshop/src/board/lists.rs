//! Lists of runs and of work: filtered, newest first, a page at a time.

use std::collections::BTreeMap;

use artel_types::plan::{PlanState, RequestSize, Urgency};
use artel_types::{Money, RunId, Timestamp, TraceId};
use serde::Serialize;

use super::card::RunSummary;
use super::works::WorkSummary;
use super::{DriverProcesses, WorkshopIndex};
use crate::RequestStatus;
use crate::runs::{RunListScope, RunRow, RunStatus};
use crate::works::{AttentionKind, status_of};

/// Maximum number of finished runs in a list, unless all are wanted.
const MOST_OVER: usize = 20;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PagedRows<T> {
    pub rows: Vec<T>,
    /// The `before` of the next page, or `None` on the last page.
    pub next: Option<u64>,
    /// The number of matching rows on all pages together.
    pub total: u64,
}

/// Filters a list of runs by whether they are over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunCompletionFilter {
    /// Open runs and finished runs.
    #[default]
    Any,
    /// Runs in which something may still happen.
    Open,
    /// Runs in which nothing more happens.
    Over,
}

/// Filters a list of runs by whether they are child runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChildRunFilter {
    /// Only runs that no other run called.
    #[default]
    TopLevel,
    /// All runs, child runs included.
    All,
}

/// A query for a list of runs. Fields that are `None` do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunIndexQuery {
    pub stage: RunCompletionFilter,
    pub state: Option<RunStatus>,
    /// The piece of work.
    pub trace: Option<TraceId>,
    pub skill: Option<String>,
    pub kinship: ChildRunFilter,
    /// Text that the title contains, ignoring case.
    pub text: Option<String>,
    /// Only runs that started before this sequence number: the `next` of the previous page.
    pub before: Option<u64>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// A query for a list of work. Fields that are `None` do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkIndexQuery {
    /// The status of the request.
    pub status: Option<RequestStatus>,
    /// The state of the plan.
    pub state: Option<PlanState>,
    /// Only work that has a plan.
    pub planned: bool,
    pub portal: Option<String>,
    /// Text that the title contains, ignoring case.
    pub text: Option<String>,
    /// Only work requested before this sequence number: the `next` of the previous page.
    pub before: Option<u64>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// One piece of work in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkRow {
    /// The short form of the trace.
    pub id: String,
    /// The id that joins everything about it.
    pub trace: TraceId,
    /// When it was requested.
    pub at: Timestamp,
    /// The person who requested it.
    pub by: String,
    /// The title of the plan, or the beginning of the request.
    pub title: String,
    pub portal: Option<String>,
    /// cli, file, interactive, api or console.
    pub source: String,
    pub urgency: Urgency,
    pub size: RequestSize,
    /// The status of the request.
    pub status: &'static str,
    /// The state of the plan, or `None` if planning has not begun.
    pub plan: Option<PlanState>,
    /// The newest version of the plan.
    pub version: Option<u32>,
    /// The state of the changeset.
    pub changeset: Option<&'static str>,
    /// Why it failed or was cancelled.
    pub why: Option<String>,
    /// The kind of attention that it needs from a person.
    pub waits: Option<AttentionKind>,
    /// Whether a process is at work on it.
    pub driven: bool,
    /// The number of its runs.
    pub runs: u64,
    /// Tokens that it used.
    pub tokens: u64,
    /// Its cost, or `None` if a price is unknown.
    pub cost: Option<Money>,
    /// The time of its latest event.
    pub since: Timestamp,
    /// The number of its events. While it stays the same, the work has not changed.
    #[serde(skip)]
    pub events: u64,
}

/// Search text, matched without regard to case.
struct TitleSearchText(Option<String>);

impl WorkshopIndex {
    pub fn runs(&self, wanted: &RunIndexQuery, drivers: &DriverProcesses) -> PagedRows<RunRow> {
        let needle = TitleSearchText::new(wanted.text.as_deref());
        let fits = |card: &&RunSummary| wanted.fits(card, &needle, drivers);
        let row = |card: &RunSummary| self.row(card, drivers);
        let seq = |card: &RunSummary| card.seq;
        let cards = |index: &usize| &self.cards[*index];
        let cut = PagedRowsWindow::of(wanted.before, wanted.limit);
        let is_over = wanted.state.is_some_and(RunStatus::is_over);
        if wanted.stage == RunCompletionFilter::Open && !is_over {
            // However many runs there were, few are open, so only those are examined.
            let mut open: Vec<&RunSummary> = self.open.iter().map(cards).filter(fits).collect();
            open.sort_by_key(|card| card.seq);
            return cut.page(open.into_iter().rev(), seq, row);
        }
        let all = match wanted.kinship {
            ChildRunFilter::TopLevel => &self.top,
            ChildRunFilter::All => &self.begun,
        };
        if wanted.is_plain() {
            let open = self.open.iter().map(cards);
            let open = open.filter(|card| wanted.is_kin(card)).count();
            let total = match wanted.stage {
                RunCompletionFilter::Any => all.len(),
                RunCompletionFilter::Open => open,
                RunCompletionFilter::Over => all.len() - open,
            };
            let rest = cut.rest(all, |index| self.cards[*index].seq);
            let fitting = rest.iter().rev().map(cards).filter(fits);
            return cut.of_total(total).page(fitting, seq, row);
        }
        cut.page(all.iter().rev().map(cards).filter(fits), seq, row)
    }

    /// Lists pieces of work, latest first.
    pub fn works(&self, wanted: &WorkIndexQuery, drivers: &DriverProcesses) -> PagedRows<WorkRow> {
        let needle = TitleSearchText::new(wanted.text.as_deref());
        let works = |index: &usize| &self.works[*index];
        let fits = |work: &&WorkSummary| wanted.fits(work, &needle);
        let row = |work: &WorkSummary| self.work_row(work, drivers);
        let seq = |work: &WorkSummary| work.seq;
        let cut = PagedRowsWindow::of(wanted.before, wanted.limit);
        if wanted.is_plain() {
            let rest = cut.rest(&self.asked, |index| self.works[*index].seq);
            let cut = cut.of_total(self.asked.len());
            return cut.page(rest.iter().rev().map(works), seq, row);
        }
        let all = self.asked.iter().rev().map(works);
        cut.page(all.filter(fits), seq, row)
    }

    pub fn run(&self, run: RunId, drivers: &DriverProcesses) -> Option<RunRow> {
        let card = &self.cards[*self.by_run.get(&run)?];
        (card.seq > 0).then(|| self.row(card, drivers))
    }

    /// Returns the row of a run. It includes what its successors used: to the person who
    /// started the run, it is one run.
    fn row(&self, card: &RunSummary, drivers: &DriverProcesses) -> RunRow {
        let mut row = card.row(drivers);
        for heir in self.heirs(card) {
            let taken = heir.taken();
            row.turns = row.turns.saturating_add(taken.turns);
            row.tokens = row.tokens.saturating_add(taken.tokens);
            row.cost = row.cost.zip(taken.cost).map(|(one, other)| one + other);
        }
        row
    }

    /// Returns a run followed by its successors.
    pub(crate) fn chain(&self, run: RunId) -> Vec<RunId> {
        let card = self.by_run.get(&run).map(|index| &self.cards[*index]);
        let heirs = card.into_iter().flat_map(|card| self.heirs(card));
        std::iter::once(run)
            .chain(heirs.map(|heir| heir.run))
            .collect()
    }

    /// Returns the successors of a run, in order.
    fn heirs<'b>(&'b self, card: &'b RunSummary) -> impl Iterator<Item = &'b RunSummary> {
        let next = |card: &&'b RunSummary| -> Option<&'b RunSummary> {
            let heir = &self.cards[card.heir?];
            // A run starts before the run that takes over from it.
            (heir.seq > card.seq).then_some(heir)
        };
        std::iter::successors(next(&card), next)
    }

    pub fn work(&self, trace: TraceId, drivers: &DriverProcesses) -> Option<WorkRow> {
        let work = &self.works[*self.by_trace.get(&trace)?];
        (work.seq > 0).then(|| self.work_row(work, drivers))
    }

    /// Counts the open runs by status.
    pub fn standings(&self, drivers: &DriverProcesses) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for index in &self.open {
            let standing = self.cards[*index].standing(drivers);
            *counts.entry(standing.as_str()).or_default() += 1;
        }
        counts
    }

    /// Lists runs for a person at a terminal, latest first.
    pub(crate) fn run_rows(&self, which: RunListScope, drivers: &DriverProcesses) -> Vec<RunRow> {
        let cards = self.begun.iter().rev().map(|index| &self.cards[*index]);
        let mut over = 0;
        let is_shown = |card: &&RunSummary| {
            if which == RunListScope::All {
                return true;
            }
            // Older runs that are still open are found with `--all`: nobody reads an endless list.
            let is_shown =
                card.parent.is_none() && (over < MOST_OVER || drivers.run(card.run).is_some());
            over += usize::from(is_shown && card.end.is_some());
            is_shown
        };
        cards
            .filter(is_shown)
            .map(|card| self.row(card, drivers))
            .collect()
    }

    fn work_row(&self, work: &WorkSummary, drivers: &DriverProcesses) -> WorkRow {
        let named = |name: &Option<std::sync::Arc<str>>| name.as_deref().map(str::to_owned);
        WorkRow {
            id: work.trace.short(),
            trace: work.trace,
            at: work.at,
            by: named(&work.by).unwrap_or_default(),
            title: work.title().to_owned(),
            portal: named(&work.portal),
            source: named(&work.source).unwrap_or_default(),
            urgency: work.urgency,
            size: work.size,
            status: status_of(&work.course).as_str(),
            plan: work.course.state(),
            version: work.course.newest().map(|it| it.number),
            changeset: work.changeset_state(),
            why: work.course.why().map(str::to_owned),
            waits: self.wait_of(work, drivers),
            driven: self.is_driven(work, drivers),
            runs: work.runs,
            tokens: work.tokens,
            cost: work.cost,
            since: work.last,
            events: work.events,
        }
    }
}

impl RunIndexQuery {
    /// Returns whether the number of matches is known without examining each run.
    fn is_plain(&self) -> bool {
        let any = Self {
            stage: self.stage,
            kinship: self.kinship,
            before: self.before,
            limit: self.limit,
            ..Self::default()
        };
        *self == any
    }

    fn is_kin(&self, card: &RunSummary) -> bool {
        self.kinship == ChildRunFilter::All || card.parent.is_none()
    }

    fn fits(&self, card: &RunSummary, needle: &TitleSearchText, drivers: &DriverProcesses) -> bool {
        let is_over = card.end.is_some();
        let in_stage = match self.stage {
            RunCompletionFilter::Any => true,
            RunCompletionFilter::Open => !is_over,
            RunCompletionFilter::Over => is_over,
        };
        in_stage
            && self.is_kin(card)
            && self.trace.is_none_or(|trace| trace == card.trace)
            && (self.skill.is_none() || self.skill.as_deref() == card.skill.as_deref())
            && needle.is_in(&card.title)
            && self
                .state
                .is_none_or(|state| state == card.standing(drivers))
    }
}

impl WorkIndexQuery {
    /// Returns whether everything matches.
    fn is_plain(&self) -> bool {
        let any = Self {
            before: self.before,
            limit: self.limit,
            ..Self::default()
        };
        *self == any
    }

    fn fits(&self, work: &WorkSummary, needle: &TitleSearchText) -> bool {
        (self.portal.is_none() || self.portal.as_deref() == work.portal.as_deref())
            && self.status.is_none_or(|it| it == status_of(&work.course))
            && self.state.is_none_or(|it| Some(it) == work.course.state())
            && (!self.planned || !work.versions.is_empty())
            && (needle.is_in(work.title()) || needle.is_in(work.request_title()))
    }
}

impl TitleSearchText {
    fn new(text: Option<&str>) -> Self {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        Self(text.map(str::to_lowercase))
    }

    fn is_in(&self, text: &str) -> bool {
        let Some(wanted) = &self.0 else { return true };
        // Titles are many and mostly ASCII, which can be searched without lowercasing a copy.
        if text.is_ascii() {
            let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
            let first = wanted.first().copied().unwrap_or_default();
            let mut starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
            return starts.any(|at| {
                let part = text.get(at..at + wanted.len());
                part.is_some_and(|part| part.eq_ignore_ascii_case(wanted))
            });
        }
        text.to_lowercase().contains(wanted.as_str())
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy)]
struct PagedRowsWindow {
    before: Option<u64>,
    limit: usize,
    /// The number of matches, if it is known without examining each row.
    total: Option<u64>,
}

impl PagedRowsWindow {
    fn of(before: Option<u64>, limit: usize) -> Self {
        Self {
            before,
            limit,
            total: None,
        }
    }

    fn of_total(self, total: usize) -> Self {
        let total = u64::try_from(total).ok();
        Self { total, ..self }
    }

    /// Drops the entries that are too new from a list in journal order.
    fn rest<'l>(&self, all: &'l [usize], seq: impl Fn(&usize) -> u64) -> &'l [usize] {
        let is_wanted = |index: &usize| self.before.is_none_or(|before| seq(index) < before);
        &all[..all.partition_point(is_wanted)]
    }

    /// Cuts one page out of the matches, newest first.
    fn page<'b, T: 'b, R>(
        self,
        fitting: impl Iterator<Item = &'b T>,
        seq: impl Fn(&T) -> u64,
        row: impl Fn(&T) -> R,
    ) -> PagedRows<R> {
        let (mut rows, mut next, mut seen) = (Vec::new(), None, 0);
        let mut last = 0;
        for item in fitting {
            seen += 1;
            if self.before.is_some_and(|before| seq(item) >= before) {
                continue;
            }
            if rows.len() < self.limit {
                rows.push(row(item));
                last = seq(item);
                continue;
            }
            next.get_or_insert(last);
            if self.total.is_some() {
                break;
            }
        }
        let total = self.total.unwrap_or(seen);
        PagedRows { rows, next, total }
    }
}
