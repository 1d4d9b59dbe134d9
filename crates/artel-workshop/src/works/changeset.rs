//! Changesets: the branches that plans leave, shown with their proofs and decisions.
//!
//! The journal holds the state of each changeset. A person's order is recorded before git
//! is touched, with everything that git needs to repeat it, so the next process completes
//! what a crash cut short.

mod decide;
mod desk;
mod refusal;
mod reject;
mod shown;
mod turn;

use artel_journal::{EventFilter, EventQuery};
use artel_rules::plan::state::ChangesetState;
use artel_types::{
    Actor, ChangesetCreated, Failure, FileChange, Money, ProofRecorded, RunId, Timestamp, TraceId,
};
use serde::Serialize;

pub use decide::{ChangesetMergeOptions, ChangesetReceipt};
pub use shown::put_in_place;
pub(crate) use shown::{
    approval, changeset_row, decisions, next, proof_line, row, title_of, waivers, word,
};

use super::Work;
use super::carry::open_line;
use super::crew::git_failed;
use crate::workshop::Workshop;
use shown::{of_work, shown};

/// A row of the list of changesets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangesetRow {
    /// The changeset's id: the beginning of its trace.
    pub id: String,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// The run that made it.
    pub run: RunId,
    /// The time when it was made.
    pub at: Timestamp,
    /// The subject of the change, on one line.
    pub title: String,
    pub portal: Option<String>,
    /// Its branch, or `None` if the folder is not in a repository.
    pub branch: Option<String>,
    /// The branch that it started from.
    pub into: Option<String>,
    /// `open`, `merging`, `merged`, `undoing`, `undone`, `redoing` or `rejected`.
    pub state: &'static str,
    /// Number of commits.
    pub commits: u64,
    /// Number of changed files.
    pub files: u64,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
    /// Whether every proof holds on a clean checkout.
    pub proven: bool,
    /// Whether all steps passed.
    pub complete: bool,
}

/// A changeset in detail.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetDetail {
    /// The row that stands for it in the list.
    #[serde(flatten)]
    pub row: ChangesetRow,
    /// The person's folder.
    pub folder: String,
    /// The commit that it started from.
    pub base: String,
    /// Its last commit. For a changeset that awaits a decision, the commit that would be
    /// merged.
    pub head: String,
    /// Its commits, oldest first.
    pub log: Vec<ChangesetCommit>,
    /// The changed files.
    pub changed: Vec<FileChange>,
    /// The patch of a changeset without a branch.
    pub patch: Option<String>,
    /// All proofs, in the order in which they were made.
    pub proofs: Vec<ProofRecorded>,
    /// The result of the last check on a clean checkout, on one line.
    pub proof: String,
    /// Checks that did not hold on the clean checkout.
    pub unproven: Vec<String>,
    /// Waivers and unfinished items, a line each.
    pub deferred: Vec<String>,
    /// The decisions of people, oldest first.
    pub decisions: Vec<ChangesetDecision>,
    /// Tokens used.
    pub tokens: u64,
    /// The cost, or `None` if a price is unknown.
    pub cost: Option<Money>,
    /// Milliseconds from the request to the end of the last step.
    pub millis: u64,
    /// The report, relative to the workshop.
    pub report: Option<String>,
    /// Whether a person already brought its commits into the branch: `merged` or `moved`.
    pub by_hand: Option<String>,
    /// Commands that can come next.
    pub next: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangesetCommit {
    /// The commit's id.
    pub commit: String,
    /// The first line of the commit's message.
    pub subject: String,
}

impl From<artel_git::BranchLogEntry> for ChangesetCommit {
    fn from(logged: artel_git::BranchLogEntry) -> Self {
        Self {
            commit: logged.commit,
            subject: logged.subject,
        }
    }
}

/// A person's decision about a changeset.
#[derive(Debug, Clone, Serialize)]
pub struct ChangesetDecision {
    /// `approve`, `undo`, `redo` or `reject`, with `refused` added if it could not be carried
    /// out.
    pub act: String,
    /// The person who decided.
    pub by: Actor,
    /// The time of the decision.
    pub at: Timestamp,
    /// The branch that moved.
    pub into: Option<String>,
    /// The resulting commit.
    pub commit: Option<String>,
    /// The waiver, the reason for a rejection, or the obstacle.
    pub reason: Option<String>,
}

impl Workshop {
    /// Returns all changesets, newest first.
    pub fn changesets(&self) -> Result<Vec<ChangesetRow>, Failure> {
        Ok(self.board_of_waits()?.changesets())
    }

    /// Returns one changeset in detail.
    pub fn changeset(&self, id: &str) -> Result<ChangesetDetail, Failure> {
        let work = self.work_named(id)?;
        let (mut row, mut created) = of_work(&work)?;
        let by_hand = self.brought_by_hand(&work, &created, None);
        let past = self.past(work, created.run)?;
        let tip = self.tip_to_show(&created, row.state);
        let mut told = if tip == created.head {
            shown(row, created, &past)
        } else {
            let line = self.changeset_line(&created)?;
            let log = line.log(&created.base, &tip).map_err(git_failed)?;
            created.head = tip;
            created.proven = false;
            row.proven = false;
            let mut told = shown(row, created, &past);
            told.log = log.into_iter().map(ChangesetCommit::from).collect();
            told.unproven.push(decide::MOVED.to_owned());
            told
        };
        if let Some((_, found)) = by_hand {
            told.by_hand = Some(found.way.as_str().to_owned());
            told.next = vec![format!("artel changeset approve {}", told.row.id)];
        }
        Ok(told)
    }

    /// Returns the last commit to show. For a changeset that awaits a decision, this is the
    /// commit that would be merged.
    fn tip_to_show(&self, created: &ChangesetCreated, state: &str) -> String {
        match state {
            "open" => self.tip_of(created),
            _ => created.head.clone(),
        }
    }

    /// Returns the diff of a changeset as text.
    pub fn changeset_diff(&self, id: &str) -> Result<String, Failure> {
        let work = self.work_named(id)?;
        let (row, created) = of_work(&work)?;
        let line = self.changeset_line(&created)?;
        let tip = self.tip_to_show(&created, row.state);
        let diff = line.diff(&created.base, &tip, &[]);
        let diff = diff.map_err(git_failed)?;
        let text = String::from_utf8_lossy(&diff);
        Ok(self.redactor().redact(&text).into_owned())
    }

    /// Opens the plan branch of a changeset. If it was cleaned away, it is made again, since
    /// the person's repository holds the commits.
    fn changeset_line(&self, created: &ChangesetCreated) -> Result<artel_git::PlanBranch, Failure> {
        let at = self.run_place(created.run).join("line");
        open_line(self, &at, created.folder.as_ref())
    }

    /// Returns the pieces of work with an event of this kind, ordered by their newest such
    /// event, newest first.
    fn works_with(&self, kind: &str) -> Result<Vec<Work>, Failure> {
        let filter = EventFilter {
            kind: Some(kind.to_owned()),
            ..EventFilter::default()
        };
        let query = EventQuery::of(filter).few().newest_first();
        let records = self.reader()?.records(&query)?;
        let mut traces: Vec<TraceId> = Vec::new();
        for trace in records.iter().filter_map(|it| it.trace.parse().ok()) {
            if !traces.contains(&trace) {
                traces.push(trace);
            }
        }
        traces.into_iter().map(|trace| self.work(trace)).collect()
    }

    /// Returns the runs whose folders are still needed because nobody has decided about their
    /// changesets.
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
