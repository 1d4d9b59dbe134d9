//! Changesets: the branches that plans leave, shown with their proofs, and what becomes of them.
//!
//! The journal says how each stands. What a person orders is on record before git is touched, with
//! all that git needs to do it again: whoever comes next completes what a crash cut short.

mod decide;
mod desk;
mod refusal;

use artel_journal::{Filter, Query};
use artel_rules::plan::state::{ChangesetState, Order};
use artel_types::{
    Actor, ChangesetCreated, Code, Event, Fact, Failure, FileChange, Money, ProofRecorded, RunId,
    Timestamp, TraceId,
};
use serde::Serialize;

pub use decide::ChangesetDone;

use super::Work;
use super::carry::open_line;
use super::crew::git_failed;
use super::report::Past;
use crate::workshop::Workshop;

/// A changeset in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetRow {
    /// What it is called: the trace, cut short.
    pub id: String,
    /// The piece of work.
    pub trace: TraceId,
    /// The run that made it.
    pub run: RunId,
    /// When it was made.
    pub at: Timestamp,
    /// What it does, in a line.
    pub title: String,
    /// The portal.
    pub portal: Option<String>,
    /// Its branch; nothing where the folder is in no repository.
    pub branch: Option<String>,
    /// The branch that it started from.
    pub into: Option<String>,
    /// open, merging, merged, undoing, undone, redoing or rejected.
    pub state: &'static str,
    /// How many commits it has.
    pub commits: u64,
    /// How many files differ.
    pub files: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Whether every proof holds on a clean checkout.
    pub proven: bool,
    /// Whether all steps passed.
    pub complete: bool,
}

/// A changeset with all that is known about it.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetShown {
    /// What stands in the list.
    #[serde(flatten)]
    pub row: ChangesetRow,
    /// The person's folder.
    pub folder: String,
    /// The commit that it started from.
    pub base: String,
    /// Its last commit.
    pub head: String,
    /// Its commits, oldest first.
    pub log: Vec<ChangesetCommit>,
    /// The files.
    pub changed: Vec<FileChange>,
    /// The patch, where there is no branch.
    pub patch: Option<String>,
    /// Every proof, in the order in which they were made.
    pub proofs: Vec<ProofRecorded>,
    /// What the last check on a clean checkout gave, in a line.
    pub proof: String,
    /// What did not hold there.
    pub unproven: Vec<String>,
    /// What was waived or left for later.
    pub deferred: Vec<String>,
    /// What a person decided, oldest first.
    pub decisions: Vec<ChangesetDecision>,
    /// Tokens that it took.
    pub tokens: u64,
    /// What it cost; nothing if a price is not known.
    pub cost: Option<Money>,
    /// Milliseconds from the request to the end of the last step.
    pub millis: u64,
    /// The report, relative to the workshop.
    pub report: Option<String>,
    /// Commands that come next.
    pub next: Vec<String>,
}

/// A commit of a changeset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangesetCommit {
    /// Its id.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}

/// What a person decided about a changeset.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetDecision {
    /// approve, undo, redo, reject, or the same with `refused` where it could not be done.
    pub act: String,
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// The branch that moved.
    pub into: Option<String>,
    /// The commit that came of it.
    pub commit: Option<String>,
    /// Why: the waiver, the reason of a rejection, what stood in the way.
    pub reason: Option<String>,
}

impl Workshop {
    /// Returns every changeset, the newest first.
    pub fn changesets(&self) -> Result<Vec<ChangesetRow>, Failure> {
        let works = self.works_with("changeset.created")?;
        Ok(works.iter().filter_map(row).collect())
    }

    /// Returns one changeset with all that is known about it.
    pub fn changeset(&self, id: &str) -> Result<ChangesetShown, Failure> {
        let work = self.work_named(id)?;
        let (row, created) = of_work(&work)?;
        let past = self.past(work, created.run)?;
        Ok(shown(row, created, &past))
    }

    /// Returns the difference that a changeset makes, as text.
    pub fn changeset_diff(&self, id: &str) -> Result<String, Failure> {
        let work = self.work_named(id)?;
        let (_, created) = of_work(&work)?;
        let line = self.changeset_line(&created)?;
        let diff = line.diff(&created.base, &created.head, &[]);
        let diff = diff.map_err(git_failed)?;
        let text = String::from_utf8_lossy(&diff);
        Ok(self.redactor().redact(&text).into_owned())
    }

    /// Opens the line of a changeset. One that was cleaned away is made anew: the person's
    /// repository holds its commits.
    fn changeset_line(&self, created: &ChangesetCreated) -> Result<artel_git::Line, Failure> {
        let at = self.run_place(created.run).join("line");
        open_line(self, &at, created.folder.as_ref())
    }

    /// Returns the pieces of work with an event of a kind, those with the newest first.
    fn works_with(&self, kind: &str) -> Result<Vec<Work>, Failure> {
        let filter = Filter {
            kind: Some(kind.to_owned()),
            ..Filter::default()
        };
        let records = self.reader()?.records(&Query::of(filter).newest_first())?;
        let mut traces: Vec<TraceId> = Vec::new();
        for trace in records.iter().filter_map(|it| it.trace.parse().ok()) {
            if !traces.contains(&trace) {
                traces.push(trace);
            }
        }
        traces.into_iter().map(|trace| self.work(trace)).collect()
    }

    /// Returns the runs whose folders a changeset still needs: nobody has decided about it.
    pub(crate) fn undecided_runs(&self) -> Result<Vec<RunId>, Failure> {
        let works = self.works_with("changeset.created")?;
        let is_open = |work: &&Work| {
            let state = work.course.changeset().map(|it| it.state);
            matches!(
                state,
                Some(ChangesetState::Open | ChangesetState::Ordered(_))
            )
        };
        let open = works.iter().filter(is_open);
        Ok(open
            .filter_map(|work| Some(work.changeset.as_ref()?.run))
            .collect())
    }
}

/// Says what a check on a clean checkout gave, in a line.
pub(crate) fn proof_line(proofs: &[&ProofRecorded]) -> String {
    if proofs.is_empty() {
        return "nothing was run on a clean checkout".to_owned();
    }
    let mut parts = Vec::new();
    let counted: Vec<_> = proofs.iter().filter(|it| it.passed.is_some()).collect();
    if !counted.is_empty() {
        let sum = |count: fn(&ProofRecorded) -> Option<u64>| -> u64 {
            counted.iter().filter_map(|it| count(it)).sum()
        };
        let (passed, failed) = (sum(|it| it.passed), sum(|it| it.failed));
        parts.push(format!("{passed} of {} tests", passed + failed));
        let skipped = sum(|it| it.skipped);
        if skipped > 0 {
            parts.push(format!("{skipped} skipped"));
        }
    }
    let others: Vec<_> = proofs.iter().filter(|it| it.passed.is_none()).collect();
    let is_good = |proof: &&&&ProofRecorded| proof.exit.map_or(proof.holds, |exit| exit == 0);
    if !others.is_empty() {
        let good = others.iter().filter(is_good).count();
        parts.push(format!("{good} of {} commands", others.len()));
    }
    format!("re-run on a clean checkout: {}", parts.join(", "))
}

/// Returns everything that a person decided about a changeset, oldest first.
pub(crate) fn decisions(work: &Work) -> Vec<ChangesetDecision> {
    let mut waiver = None;
    let mut by = None;
    let mut found = Vec::new();
    for event in &work.events {
        match &event.fact {
            Fact::ChangesetOrdered(it) => {
                waiver.clone_from(&it.waiver);
                by = Some(event.actor.clone());
            }
            Fact::ChangesetMerged(it) => {
                let mut made = decision(event, it.act.clone(), waiver.take());
                made.by = by.take().unwrap_or(made.by);
                made.into = Some(it.into.clone());
                made.commit = Some(it.commit.clone());
                found.push(made);
            }
            Fact::ChangesetRefused(it) => {
                let mut made = decision(event, format!("{} refused", it.act), Some(it.why.clone()));
                made.by = by.take().unwrap_or(made.by);
                found.push(made);
            }
            Fact::ChangesetRejected(it) => {
                found.push(decision(
                    event,
                    "reject".to_owned(),
                    Some(it.reason.clone()),
                ));
            }
            _ => {}
        }
    }
    found
}

fn decision(event: &Event, act: String, reason: Option<String>) -> ChangesetDecision {
    ChangesetDecision {
        act,
        by: event.actor.clone(),
        at: event.at,
        into: None,
        commit: None,
        reason,
    }
}

/// Returns the word for how a changeset stands.
fn word(state: ChangesetState) -> &'static str {
    match state {
        ChangesetState::Open => "open",
        ChangesetState::Ordered(Order::Approve) => "merging",
        ChangesetState::Ordered(Order::Undo) => "undoing",
        ChangesetState::Ordered(Order::Redo) => "redoing",
        ChangesetState::Merged => "merged",
        ChangesetState::Undone => "undone",
        ChangesetState::Rejected => "rejected",
    }
}

/// Returns what a piece of work is called: its plan's title, or how its request begins.
pub(crate) fn title_of(work: &Work) -> String {
    let approved = work.course.approved().map(|it| it.version.number);
    let version = work.versions.iter().rev();
    let mut version = version.filter(|it| approved.is_none_or(|wanted| it.fact.version == wanted));
    version
        .next()
        .map_or(&work.request.title, |it| &it.fact.title)
        .clone()
}

/// Returns the changeset of a piece of work as it stands in a list.
pub(crate) fn row(work: &Work) -> Option<ChangesetRow> {
    let created = work.changeset.as_ref()?;
    let is_it = |event: &&Event| matches!(event.fact, Fact::ChangesetCreated(_));
    let at = work.events.iter().rfind(is_it).map(|event| event.at)?;
    Some(ChangesetRow {
        id: work.trace.short(),
        trace: work.trace,
        run: created.run,
        at,
        title: title_of(work),
        portal: created.portal.clone(),
        branch: created.branch.clone(),
        into: created.into.clone(),
        state: word(work.course.changeset()?.state),
        commits: created.commits,
        files: created.files.len() as u64,
        added: created.added,
        removed: created.removed,
        proven: created.proven,
        complete: created.complete,
    })
}

/// Returns the changeset of a piece of work that should have one.
fn of_work(work: &Work) -> Result<(ChangesetRow, ChangesetCreated), Failure> {
    row(work).zip(work.changeset.clone()).ok_or_else(|| {
        let short = work.trace.short();
        let state = work.course.state();
        let why = state.map_or("there is no plan yet".to_owned(), |state| {
            format!("its plan is in state `{state}`")
        });
        Failure::new(Code::R004, format!("{short} has no changeset"))
            .because(why)
            .advise("`artel changeset list` shows those there are")
    })
}

fn shown(row: ChangesetRow, created: ChangesetCreated, past: &Past) -> ChangesetShown {
    let log = past.commits().into_iter();
    let check = past.last_check().filter(|it| !it.passed);
    let report = past.work.events.iter().find_map(|event| match &event.fact {
        Fact::ReportWritten(it) if it.run == past.run => Some(it.path.clone()),
        _ => None,
    });
    let mut deferred = created.deferred.clone();
    deferred.extend(waivers(&past.work));
    ChangesetShown {
        next: next(&row, &created),
        folder: created.folder,
        base: created.base,
        head: created.head,
        log: log
            .map(|(commit, subject)| ChangesetCommit { commit, subject })
            .collect(),
        changed: created.files,
        patch: created.patch,
        proofs: past.proofs().cloned().collect(),
        proof: proof_line(&past.last_proofs()),
        unproven: check.map(|it| it.why.clone()).unwrap_or_default(),
        deferred,
        decisions: decisions(&past.work),
        tokens: past.metrics.tokens_input + past.metrics.tokens_output,
        cost: past.metrics.cost,
        millis: past.metrics.total_ms,
        report,
        row,
    }
}

/// Returns what a person waived when they had it merged.
pub(crate) fn waivers(work: &Work) -> Vec<String> {
    let approved = decisions(work).into_iter();
    let approved = approved.filter(|decision| decision.act == "approve");
    let line = |decision: ChangesetDecision| {
        let reason = decision.reason?;
        Some(format!(
            "{} merged it all the same: {reason}",
            decision.by.id
        ))
    };
    approved.filter_map(line).collect()
}

/// Returns the commands that come next.
pub(crate) fn next(row: &ChangesetRow, created: &ChangesetCreated) -> Vec<String> {
    let id = &row.id;
    if let (Some(patch), "open") = (&created.patch, row.state) {
        return vec![
            refusal::apply_by_hand(&created.folder, patch),
            format!("artel changeset reject {id} --reason \"…\""),
        ];
    }
    let is_sound = created.proven && created.complete;
    let mut approve = format!("artel changeset approve {id}");
    if created.into.is_none() {
        approve.push_str(" --into BRANCH");
    }
    if !is_sound {
        approve.push_str(" --waive \"…\"");
    }
    match row.state {
        "open" => vec![
            approve,
            format!("artel changeset show {id} --diff"),
            format!("artel changeset reject {id} --reason \"…\""),
        ],
        "merged" => vec![format!("artel changeset undo {id}")],
        "undone" => vec![format!("artel changeset redo {id}")],
        "rejected" => vec!["artel ask \"…\"".to_owned()],
        _ => vec![format!("artel changeset show {id}")],
    }
}
