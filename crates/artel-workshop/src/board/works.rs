//! One piece of work in the index: its progress, and its use of tokens and money.

use std::sync::{Arc, OnceLock};

use artel_rules::plan::state::WorkState;
use artel_types::plan::{RequestSize, Urgency};
use artel_types::{
    Event, Fact, Money, PlanDrafted, RequestCreated, RunId, RunStarted, SpendAmount, Timestamp,
    TraceId,
};

use super::card::add_cost;
use super::{NameInterner, WorkshopIndex};
use crate::works::{AttentionItem, ChangesetRow, ReportRow, changeset_row, changeset_word};

#[derive(Debug, Clone)]
pub(super) struct WorkSummary {
    pub(super) trace: TraceId,
    /// The sequence number of its request, or 0 while only other events name it.
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) by: Option<Arc<str>>,
    title: Box<str>,
    pub(super) portal: Option<Arc<str>>,
    pub(super) source: Option<Arc<str>>,
    pub(super) urgency: Urgency,
    pub(super) size: RequestSize,
    pub(super) course: WorkState,
    pub(super) versions: Vec<PlanVersionSummary>,
    changeset: Option<Box<IndexedChangeset>>,
    reports: Vec<IndexedReport>,
    /// The run whose steps ended last.
    pub(super) ended: Option<RunId>,
    pub(super) cost: Option<Money>,
    pub(super) tokens: u64,
    /// The number of its runs.
    pub(super) runs: u64,
    /// Its open runs that are not child runs.
    pub(super) roots: Vec<usize>,
    pub(super) last: Timestamp,
    /// The number of its events.
    pub(super) events: u64,
    /// The things it needs a person for, whichever process drives it; computed on demand.
    pub(super) waits: OnceLock<Vec<Arc<AttentionItem>>>,
}

/// One version of its plan.
#[derive(Debug, Clone)]
pub(super) struct PlanVersionSummary {
    pub(super) number: u32,
    pub(super) at: Timestamp,
    pub(super) title: Box<str>,
}

/// The changeset as created, with its sequence number in the journal.
#[derive(Debug, Clone)]
struct IndexedChangeset {
    seq: u64,
    row: ChangesetRow,
}

/// A written report.
#[derive(Debug, Clone)]
struct IndexedReport {
    at: Timestamp,
    run: RunId,
    status: Arc<str>,
    path: Box<str>,
}

impl WorkshopIndex {
    /// Returns all reports, newest first.
    pub fn reports(&self) -> Vec<ReportRow> {
        let works = self.asked.iter().rev().map(|work| &self.works[*work]);
        let mut rows: Vec<ReportRow> = works.flat_map(WorkSummary::reports).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.at));
        rows
    }

    /// Returns all changesets, newest first.
    pub fn changesets(&self) -> Vec<ChangesetRow> {
        let found = self.works.iter().filter_map(WorkSummary::changeset);
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(seq, _)| std::cmp::Reverse(*seq));
        found.into_iter().map(|(_, row)| row).collect()
    }

    /// Adds what was charged for a model call to the piece of work that it belongs to.
    pub(super) fn charge(&mut self, trace: TraceId, charged: SpendAmount, cost: Option<Money>) {
        if let Some(work) = self.by_trace.get(&trace) {
            let work = &mut self.works[*work];
            work.tokens = work.tokens.saturating_add(charged.tokens.0);
            work.cost = add_cost(work.cost, charged, cost);
        }
    }
}

impl WorkSummary {
    pub(super) fn new(trace: TraceId) -> Self {
        let never = Timestamp::from_micros(0);
        Self {
            trace,
            seq: 0,
            at: never,
            by: None,
            title: Box::default(),
            portal: None,
            source: None,
            urgency: Urgency::default(),
            size: RequestSize::default(),
            course: WorkState::default(),
            versions: Vec::new(),
            changeset: None,
            reports: Vec::new(),
            ended: None,
            cost: Some(Money(0)),
            tokens: 0,
            runs: 0,
            roots: Vec::new(),
            last: never,
            events: 0,
            waits: OnceLock::new(),
        }
    }

    pub(super) fn fold(&mut self, event: &Event, names: &mut NameInterner) {
        self.course.fold(&event.fact);
        match &event.fact {
            Fact::RequestCreated(it) => self.created(event, it, names),
            Fact::PlanDrafted(it) => self.drafted(event, it),
            Fact::PlanEnded(it) => self.ended = Some(it.run),
            Fact::ChangesetCreated(it) => {
                let (seq, trace) = (event.seq, event.trace);
                let row = changeset_row(trace, event.at, String::new(), it);
                self.changeset = Some(Box::new(IndexedChangeset { seq, row }));
            }
            Fact::ReportWritten(it) => self.reports.push(IndexedReport {
                at: event.at,
                run: it.run,
                status: names.keep(&it.status),
                path: it.path.as_str().into(),
            }),
            _ => {}
        }
    }

    pub(super) fn began(&mut self, run: usize, started: &RunStarted) {
        self.runs += 1;
        if started.parent.is_none() {
            self.roots.push(run);
        }
    }

    fn created(&mut self, event: &Event, created: &RequestCreated, names: &mut NameInterner) {
        self.seq = event.seq;
        self.at = event.at;
        self.by = Some(names.keep(&event.actor.label()));
        self.title = created.title.as_str().into();
        self.portal = created.portal.as_deref().map(|name| names.keep(name));
        self.source = Some(names.keep(&created.source));
        self.urgency = created.urgency;
        self.size = created.size;
    }

    fn drafted(&mut self, event: &Event, drafted: &PlanDrafted) {
        self.versions.push(PlanVersionSummary {
            number: drafted.version,
            at: event.at,
            title: drafted.title.as_str().into(),
        });
    }

    /// Returns the beginning of the request.
    pub(super) fn request_title(&self) -> &str {
        &self.title
    }

    /// Returns the title of its plan, or the beginning of its request.
    pub(super) fn title(&self) -> &str {
        let approved = self.course.approved().map(|it| it.version.number);
        let mut versions = self.versions.iter().rev();
        let version = versions.find(|it| approved.is_none_or(|wanted| it.number == wanted));
        version.map_or(&self.title, |it| &it.title)
    }

    /// Returns its reports, oldest first.
    fn reports(&self) -> impl Iterator<Item = ReportRow> {
        self.reports.iter().map(|it| ReportRow {
            id: self.trace.short(),
            trace: self.trace,
            run: it.run,
            at: it.at,
            title: self.title().to_owned(),
            status: it.status.to_string(),
            path: it.path.to_string(),
        })
    }

    /// Returns its changeset, with the sequence number of its creation in the journal.
    pub(super) fn changeset(&self) -> Option<(u64, ChangesetRow)> {
        let made = self.changeset.as_deref().filter(|_| self.seq > 0)?;
        let row = ChangesetRow {
            title: self.title().to_owned(),
            state: changeset_word(self.course.changeset()?.state),
            ..made.row.clone()
        };
        Some((made.seq, row))
    }

    pub(super) fn changeset_state(&self) -> Option<&'static str> {
        Some(changeset_word(self.course.changeset()?.state))
    }

    /// Returns the changeset as created; its title and state are not filled in.
    pub(super) fn made(&self) -> Option<&ChangesetRow> {
        self.changeset.as_deref().map(|made| &made.row)
    }
}
