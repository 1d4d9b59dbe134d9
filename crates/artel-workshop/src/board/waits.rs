//! Lists the things that need a person, read from the index.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_rules::plan::state::ChangesetState;
use artel_types::plan::PlanState;
use artel_types::{TraceId, counted};

use super::works::WorkSummary;
use super::{DriverProcesses, WorkshopIndex};
use crate::works::{
    AttentionItem, AttentionKind, CallAwaitingApproval, OpenQuestion, answer_settles, approval,
};

impl WorkshopIndex {
    /// Lists what needs a person: questions first, each kind in order of arrival.
    pub fn waiting(&self, drivers: &DriverProcesses) -> Vec<Arc<AttentionItem>> {
        let questions = self.questions(drivers);
        let asking: BTreeSet<TraceId> = questions.iter().map(|it| it.trace).collect();
        let mut waits: Vec<_> = questions.iter().map(|it| Arc::new(question(it))).collect();
        let unsettled = self.unsettled.iter().map(|index| &self.works[*index]);
        // If the request cannot be read, it is unknown what was asked.
        for work in unsettled.filter(|work| work.seq > 0) {
            let own = self.own_waits(work).iter();
            let counts = |it: &&Arc<AttentionItem>| {
                !is_left(it) || !asking.contains(&work.trace) && !self.is_driven(work, drivers)
            };
            waits.extend(own.filter(counts).cloned());
        }
        waits.sort_by(|one, other| one.place().cmp(&other.place()));
        waits
    }

    /// Returns what a piece of work needs a person for, apart from questions. Its last item
    /// says that the work was left, which counts only while no process drives it.
    pub(super) fn own_waits<'w>(&self, work: &'w WorkSummary) -> &'w [Arc<AttentionItem>] {
        work.waits.get_or_init(|| {
            let waits = [
                plan(work),
                changeset(work),
                unplanned(work),
                self.unfinished(work),
                self.left(work),
            ];
            waits.into_iter().flatten().map(Arc::new).collect()
        })
    }

    /// Returns the pieces of work whose plan is not over.
    pub(crate) fn open_plans(&self) -> impl Iterator<Item = TraceId> {
        let asked = self.asked.iter().map(|index| &self.works[*index]);
        let planned = asked.filter(|work| {
            let state = work.course.state();
            !work.versions.is_empty() && state.is_some_and(|state| !state.is_over())
        });
        planned.map(|work| work.trace)
    }

    /// Returns the unanswered questions, including those of child runs.
    pub fn questions(&self, drivers: &DriverProcesses) -> Vec<OpenQuestion> {
        let asking = self.asking.iter().map(|index| &self.cards[*index]);
        let mut asking: Vec<_> = asking.collect();
        asking.sort_by_key(|card| card.run);
        let mut open = Vec::new();
        for card in asking {
            let is_one_of_several = card.questions.len() > 1;
            let questions = card.questions.iter();
            open.extend(questions.map(|it| OpenQuestion {
                run: card.run,
                trace: card.trace,
                title: card.title.to_string(),
                seq: it.seq,
                since: it.since,
                asked: it.asked.clone(),
                driver: drivers.run(card.run).map(str::to_owned),
                is_one_of_several,
            }));
        }
        open.sort_by_key(|it| it.since);
        open
    }

    /// Returns the calls that wait for approval while a process drives their run, oldest
    /// first.
    pub fn calls(&self, drivers: &DriverProcesses) -> Vec<CallAwaitingApproval> {
        let mut open = Vec::new();
        for card in self.open.iter().map(|index| &self.cards[*index]) {
            let Some(driver) = drivers.run(card.run) else {
                continue;
            };
            open.extend(card.calls().map(|it| CallAwaitingApproval {
                run: card.run,
                trace: card.trace,
                title: card.title.to_string(),
                seq: it.seq,
                since: it.since,
                asked: it.asked.clone(),
                driver: driver.to_owned(),
            }));
        }
        open.sort_by_key(|it| it.seq);
        open
    }

    /// Returns the most urgent thing that a piece of work needs a person for, if any.
    pub(super) fn wait_of(
        &self,
        work: &WorkSummary,
        drivers: &DriverProcesses,
    ) -> Option<AttentionKind> {
        let is_of_work = |index: &usize| self.cards[*index].trace == work.trace;
        if self.asking.iter().any(is_of_work) {
            return Some(AttentionKind::Question);
        }
        let own = self.own_waits(work).iter();
        let mut own = own.filter(|it| !is_left(it) || !self.is_driven(work, drivers));
        own.next().map(|it| it.kind)
    }

    /// Returns whether a process is at work on a piece of work.
    pub(super) fn is_driven(&self, work: &WorkSummary, drivers: &DriverProcesses) -> bool {
        let is_driven = |root: &usize| drivers.run(self.cards[*root].run).is_some();
        drivers.work(work.trace).is_some() || work.roots.iter().any(is_driven)
    }

    /// Returns whether the process that carried out the plan died after the plan ended and
    /// before the plan run did.
    fn is_cut_short(&self, work: &WorkSummary) -> bool {
        let run = work.course.run().filter(|run| work.ended == Some(*run));
        let index = run.and_then(|run| self.by_run.get(&run));
        index.is_some_and(|index| self.open.contains(index))
    }

    /// Returns the item for a plan that failed before any step passed. A plan that left
    /// commits is listed with its changeset.
    fn unfinished(&self, work: &WorkSummary) -> Option<AttentionItem> {
        if !has_failed(work) || work.course.changeset().is_some() || self.is_cut_short(work) {
            return None;
        }
        let short = work.trace.short();
        Some(AttentionItem {
            kind: AttentionKind::Unfinished,
            trace: work.trace,
            title: work.request_title().to_owned(),
            text: failure(work),
            choices: Vec::new(),
            suggested: None,
            settling: Vec::new(),
            since: work.last,
            commands: vec![
                format!("artel plan retry {short}"),
                format!("artel report show {short}"),
                format!("artel plan cancel {short}"),
            ],
            id: short,
        })
    }

    /// Returns the item for work that can be resumed because it was left. Whether a process
    /// drives it is checked by the caller.
    fn left(&self, work: &WorkSummary) -> Option<AttentionItem> {
        let text = match work.course.state() {
            Some(PlanState::Approved) => "approved and not begun",
            Some(PlanState::Running) => "left on its way",
            Some(PlanState::Exploring | PlanState::Drafting) => "left while it was planned",
            None if work.course.request().is_some_and(|it| it.settled.is_none()) => {
                "nobody has taken it up"
            }
            Some(state) if state.is_over() && self.is_cut_short(work) => {
                "its end was not written down whole"
            }
            _ => return None,
        };
        let is_resting = |root: &usize| self.cards[*root].is_resting();
        let (kind, text) = if work.roots.iter().any(is_resting) {
            (AttentionKind::Paused, "paused by you")
        } else {
            (AttentionKind::Left, text)
        };
        let short = work.trace.short();
        Some(AttentionItem {
            kind,
            trace: work.trace,
            title: work.request_title().to_owned(),
            text: text.to_owned(),
            choices: Vec::new(),
            suggested: None,
            settling: Vec::new(),
            since: work.last,
            commands: vec![format!("artel resume {short}")],
            id: short,
        })
    }
}

/// Returns whether an item waits only while no process is at work on it.
fn is_left(waits: &AttentionItem) -> bool {
    matches!(waits.kind, AttentionKind::Left | AttentionKind::Paused)
}

fn question(open: &OpenQuestion) -> AttentionItem {
    let choices = open.asked.choices.iter();
    let settling = choices.filter(|choice| answer_settles(&open.asked, choice));
    AttentionItem {
        settling: settling.cloned().collect(),
        kind: AttentionKind::Question,
        id: open.id(),
        trace: open.trace,
        title: open.title.clone(),
        text: open.asked.text.clone(),
        choices: open.asked.choices.clone(),
        suggested: open.asked.suggested.clone(),
        since: open.since,
        commands: vec![open.command()],
    }
}

fn plan(work: &WorkSummary) -> Option<AttentionItem> {
    let version = work.course.in_review()?;
    let mut versions = work.versions.iter().rev();
    let drafted = versions.find(|it| it.number == version.number)?;
    let short = work.trace.short();
    let beside = match work.course.state() {
        Some(PlanState::Running) => " beside the one that is being done",
        _ => "",
    };
    Some(AttentionItem {
        kind: AttentionKind::Plan,
        trace: work.trace,
        title: drafted.title.to_string(),
        text: format!("version {} is in review{beside}", version.number),
        choices: Vec::new(),
        suggested: None,
        settling: Vec::new(),
        since: drafted.at,
        commands: vec![
            format!("artel plan show {short}"),
            format!("artel plan approve {short}"),
        ],
        id: short,
    })
}

/// Returns the item for a request that got no plan. It waits until a person says what
/// should be different, or cancels it.
fn unplanned(work: &WorkSummary) -> Option<AttentionItem> {
    if !work.course.has_no_plan() {
        return None;
    }
    let short = work.trace.short();
    Some(AttentionItem {
        kind: AttentionKind::Failed,
        trace: work.trace,
        title: work.request_title().to_owned(),
        text: work.course.why().unwrap_or("no plan came of it").to_owned(),
        choices: Vec::new(),
        suggested: None,
        settling: Vec::new(),
        since: work.last,
        commands: vec![
            format!("artel plan revise {short} --comment \"…\""),
            format!("artel plan cancel {short}"),
        ],
        id: short,
    })
}

/// Returns whether steps of an approved plan failed.
fn has_failed(work: &WorkSummary) -> bool {
    work.course.state() == Some(PlanState::Failed) && !work.course.has_no_plan()
}

fn failure(work: &WorkSummary) -> String {
    match work.course.why() {
        Some(why) => format!("the plan failed: {why}"),
        None => "the plan failed".to_owned(),
    }
}

fn changeset(work: &WorkSummary) -> Option<AttentionItem> {
    let changeset = work.course.changeset()?;
    let made = work.made()?;
    if changeset.state != ChangesetState::Open {
        return None;
    }
    let short = work.trace.short();
    let proven = if changeset.is_proven {
        ""
    } else {
        ", its proofs do not hold"
    };
    let mut commands = vec![
        format!("artel changeset show {short} --diff"),
        approval(made),
    ];
    let mut before = String::new();
    if has_failed(work) {
        before = format!("{}; what passed is there: ", failure(work));
        commands.insert(0, format!("artel plan retry {short}"));
        commands.push(format!("artel changeset reject {short} --reason \"…\""));
    }
    Some(AttentionItem {
        kind: AttentionKind::Changeset,
        trace: work.trace,
        title: work.request_title().to_owned(),
        text: format!(
            "{before}{}, +{} -{}{proven}",
            counted(made.files, "file"),
            made.added,
            made.removed
        ),
        choices: Vec::new(),
        suggested: None,
        settling: Vec::new(),
        since: made.at,
        commands,
        id: short,
    })
}
