//! Changesets: the branches that plans leave, shown with their proofs, and what becomes of them.
//!
//! The journal says how each stands. What a person orders is on record before git is touched, with
//! all that git needs to do it again: whoever comes next completes what a crash cut short.

mod decide;
mod desk;
mod refusal;
mod reject;
mod shown;
mod turn;

use artel_journal::{Filter, Query};
use artel_rules::plan::state::ChangesetState;
use artel_types::{
    Actor, ChangesetCreated, Failure, FileChange, Money, ProofRecorded, RunId, Timestamp, TraceId,
};
use serde::Serialize;

pub use decide::{ChangesetDone, Merging};
pub use shown::put_in_place;
pub(crate) use shown::{
    approval, changeset_row, decisions, next, proof_line, row, title_of, waivers, word,
};

use super::Work;
use super::carry::open_line;
use super::crew::git_failed;
use crate::workshop::Workshop;
use shown::{of_work, shown};

/// A changeset in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    /// Its last commit; of one that is to be decided about, the commit that would be merged.
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
    /// Whether its commits are in the branch already, by hand: `merged` or `moved`.
    pub by_hand: Option<String>,
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

impl From<artel_git::Logged> for ChangesetCommit {
    fn from(logged: artel_git::Logged) -> Self {
        Self {
            commit: logged.commit,
            subject: logged.subject,
        }
    }
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
        Ok(self.board_of_waits()?.changesets())
    }

    /// Returns one changeset with all that is known about it.
    pub fn changeset(&self, id: &str) -> Result<ChangesetShown, Failure> {
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

    /// Returns the last commit of what is shown: for a changeset that is to be decided about, the
    /// one that would be merged.
    fn tip_to_show(&self, created: &ChangesetCreated, state: &str) -> String {
        match state {
            "open" => self.tip_of(created),
            _ => created.head.clone(),
        }
    }

    /// Returns the difference that a changeset makes, as text.
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
        let query = Query::of(filter).few().newest_first();
        let records = self.reader()?.records(&query)?;
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
