//! Rejects a changeset.

use artel_git::{PlanBranch, PlanBranchError};
use artel_rules::plan::state::WorkAction;
use artel_types::{ChangesetCreated, ChangesetRejected, Failure, FailureCode};

use super::decide::ChangesetReceipt;
use super::desk::ChangesetDecider;
use super::shown::of_work;
use crate::works::carry::refused;
use crate::works::crew::unfinished_branch;
use crate::works::prover::done_with;
use crate::workshop::{OutcomeWithNotes, Workshop};

impl Workshop {
    /// Rejects a changeset. Its branch and its run's folder are removed; the record stays.
    pub fn reject_changeset(
        &self,
        id: &str,
        reason: &str,
    ) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> {
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(
                Failure::new(FailureCode::C005, "a rejection needs a reason")
                    .because("the next one who plans this reads it")
                    .advise(format!("`artel changeset reject {id} --reason \"…\"`")),
            );
        }
        self.refuse_secret_in(reason)?;
        let mut desk = ChangesetDecider::open(self)?;
        let work = self.work_named(id)?;
        of_work(&work)?;
        desk.complete(&work)?;
        let work = self.work(work.trace)?;
        let (row, created) = of_work(&work)?;
        work.course.may(WorkAction::Discard).map_err(refused)?;
        // The run's own repository keeps the commits until the rejection is on record. If the
        // process is killed in between, the changeset can still be decided.
        let removed = self.remove_branch(&created, &mut desk.notes);
        let fact = ChangesetRejected {
            reason: reason.to_owned(),
            branch: removed.clone(),
            head: created.head.clone(),
        };
        desk.tell(&work, &self.caller.actor(), fact)?;
        done_with(&self.run_place(created.run));
        let work = self.work(work.trace)?;
        let mut notes = std::mem::take(&mut desk.notes);
        notes.extend(desk.rewrite_report(&work));
        let done = ChangesetReceipt {
            id: row.id,
            trace: work.trace,
            act: "reject",
            into: None,
            commit: None,
            files: Vec::new(),
            kept: Vec::new(),
            outside: Vec::new(),
            removed,
            report: self.report_path(&work, created.run),
        };
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Removes the changeset's branch from the person's repository if nobody changed it, and
    /// the branch with unchecked work.
    fn remove_branch(&self, created: &ChangesetCreated, notes: &mut Vec<String>) -> Option<String> {
        let branch = created.branch.clone()?;
        let line = self.changeset_line(created);
        let line = line.map_err(|failure| notes.push(failure.what)).ok()?;
        let unfinished = unfinished_branch(&branch);
        if let Ok(Some(head)) = line.head(&unfinished) {
            take_away(&line, (&unfinished, &head), notes);
        }
        take_away(&line, (&branch, &created.head), notes).then_some(branch)
    }
}

/// Removes a branch that is still at this commit. Returns whether it did, and adds a note
/// if not.
fn take_away(line: &PlanBranch, (branch, head): (&str, &str), notes: &mut Vec<String>) -> bool {
    let Err(error) = line.unpublish(branch, head) else {
        return true;
    };
    let why = match error {
        PlanBranchError::Moved { .. } => "there are commits on it that are not Artel's".to_owned(),
        other => other.to_string(),
    };
    notes.push(format!(
        "the branch `{branch}` stays: {why}; `git branch -D {branch}` removes it"
    ));
    false
}
