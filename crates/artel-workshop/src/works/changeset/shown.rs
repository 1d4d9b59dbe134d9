//! The state of a changeset, read from the journal.

use artel_rules::plan::state::{ChangesetOrder, ChangesetState};
use artel_types::{
    ChangesetCreated, Event, Fact, Failure, FailureCode, ProofRecorded, Timestamp, TraceId,
};

use super::refusal::apply_by_hand;
use super::{ChangesetCommit, ChangesetDecision, ChangesetDetail, ChangesetRow};
use crate::works::Work;
use crate::works::report::PastPlanRun;

/// Describes the result of a check on a clean checkout, on one line.
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
    let mut coverage = proofs.iter().filter_map(|it| it.coverage.as_deref());
    if let Some(coverage) = coverage.next() {
        parts.push(format!("{coverage} of the code covered"));
    }
    format!("re-run on a clean checkout: {}", parts.join(", "))
}

/// Returns all decisions about a changeset, oldest first.
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
                if let Some(way) = &it.by_hand {
                    made.act = format!("{} ({way} by hand)", it.act);
                }
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

/// Returns the word for a changeset's state.
pub(crate) fn word(state: ChangesetState) -> &'static str {
    match state {
        ChangesetState::Open => "open",
        ChangesetState::Ordered(ChangesetOrder::Approve) => "merging",
        ChangesetState::Ordered(ChangesetOrder::Undo) => "undoing",
        ChangesetState::Ordered(ChangesetOrder::Redo) => "redoing",
        ChangesetState::Merged => "merged",
        ChangesetState::Undone => "undone",
        ChangesetState::Rejected => "rejected",
    }
}

/// Returns the title of a piece of work: its plan's title, or else that of its request.
pub(crate) fn title_of(work: &Work) -> String {
    let approved = work.course.approved().map(|it| it.version.number);
    let version = work.versions.iter().rev();
    let mut version = version.filter(|it| approved.is_none_or(|wanted| it.fact.version == wanted));
    version
        .next()
        .map_or(&work.request.title, |it| &it.fact.title)
        .clone()
}

/// Returns the list row for the changeset of a piece of work.
pub(crate) fn row(work: &Work) -> Option<ChangesetRow> {
    let created = work.changeset.as_ref()?;
    let is_it = |event: &&Event| matches!(event.fact, Fact::ChangesetCreated(_));
    let at = work.events.iter().rfind(is_it).map(|event| event.at)?;
    let mut row = changeset_row(work.trace, at, title_of(work), created);
    row.state = word(work.course.changeset()?.state);
    Some(row)
}

/// Returns the list row for a new changeset.
pub(crate) fn changeset_row(
    trace: TraceId,
    at: Timestamp,
    title: String,
    created: &ChangesetCreated,
) -> ChangesetRow {
    ChangesetRow {
        id: trace.short(),
        trace,
        run: created.run,
        at,
        title,
        portal: created.portal.clone(),
        branch: created.branch.clone(),
        into: created.into.clone(),
        state: word(ChangesetState::Open),
        commits: created.commits,
        files: created.files.len() as u64,
        added: created.added,
        removed: created.removed,
        proven: created.proven,
        complete: created.complete,
    }
}

/// Returns the changeset of a piece of work, or a failure if it has none.
pub(super) fn of_work(work: &Work) -> Result<(ChangesetRow, ChangesetCreated), Failure> {
    row(work).zip(work.changeset.clone()).ok_or_else(|| {
        let short = work.trace.short();
        let state = work.course.state();
        let why = state.map_or("there is no plan yet".to_owned(), |state| {
            format!("its plan is in state `{state}`")
        });
        Failure::new(FailureCode::R004, format!("{short} has no changeset"))
            .because(why)
            .advise("`artel changeset list` shows those there are")
    })
}

/// Collects everything that is known about a changeset.
pub(super) fn shown(
    row: ChangesetRow,
    created: ChangesetCreated,
    past: &PastPlanRun,
) -> ChangesetDetail {
    let log = past.commits().into_iter();
    let check = past.last_check().filter(|it| !it.passed);
    let by_hand = past.work.events.iter().rev();
    let by_hand = by_hand.filter(|_| row.state == "merged");
    let by_hand = by_hand.into_iter().find_map(|event| match &event.fact {
        Fact::ChangesetMerged(it) => Some(it.by_hand.clone()),
        _ => None,
    });
    let report = past.work.events.iter().find_map(|event| match &event.fact {
        Fact::ReportWritten(it) if it.run == past.run => Some(it.path.clone()),
        _ => None,
    });
    let mut deferred = created.deferred.clone();
    deferred.extend(waivers(&past.work));
    ChangesetDetail {
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
        by_hand: by_hand.flatten(),
        row,
    }
}

/// Returns the waivers with which people merged a changeset.
pub(crate) fn waivers(work: &Work) -> Vec<String> {
    let approved = decisions(work).into_iter();
    let approved = approved.filter(|decision| decision.act == "approve");
    let line = |decision: ChangesetDecision| {
        let reason = decision.reason?;
        Some(format!(
            "{} merged it all the same: {reason}",
            decision.by.label()
        ))
    };
    approved.filter_map(line).collect()
}

/// Returns the command that applies the changeset of a piece of work, if it has one.
pub fn put_in_place(work: &Work) -> Option<String> {
    row(work).map(|row| approval(&row))
}

pub(crate) fn approval(row: &ChangesetRow) -> String {
    let mut approve = format!("artel changeset approve {}", row.id);
    // A patch goes into the folder that it was made from.
    if row.into.is_none() && row.branch.is_some() {
        approve.push_str(" --into BRANCH");
    }
    if !(row.proven && row.complete) {
        approve.push_str(" --waive \"…\"");
    }
    approve
}

/// Returns the commands that can come next.
pub(crate) fn next(row: &ChangesetRow, created: &ChangesetCreated) -> Vec<String> {
    let id = &row.id;
    if let (Some(patch), "open") = (&created.patch, row.state) {
        return vec![
            approval(row),
            apply_by_hand(&created.folder, patch),
            format!("artel changeset reject {id} --reason \"…\""),
        ];
    }
    match row.state {
        "open" => vec![
            approval(row),
            format!("artel changeset show {id} --diff"),
            format!("artel changeset reject {id} --reason \"…\""),
        ],
        "merged" if created.patch.is_some() => vec![format!("artel trace {id}")],
        "merged" => vec![format!("artel changeset undo {id}")],
        "undone" => vec![format!("artel changeset redo {id}")],
        "rejected" => vec!["artel ask \"…\"".to_owned()],
        _ => vec![format!("artel changeset show {id}")],
    }
}

#[cfg(test)]
mod tests {
    use artel_types::plan::ProofStage;

    use super::*;

    fn proof(exit: Option<i64>, tests: Option<(u64, u64, u64)>) -> ProofRecorded {
        ProofRecorded {
            id: "x".to_owned(),
            place: ProofStage::Final,
            step: None,
            round: 1,
            sort: "command".to_owned(),
            what: "make".to_owned(),
            exit,
            passed: tests.map(|(passed, _, _)| passed),
            failed: tests.map(|(_, failed, _)| failed),
            skipped: tests.map(|(_, _, skipped)| skipped),
            failures: Vec::new(),
            tree: "t".to_owned(),
            output: "".into(),
            holds: exit.is_none(),
            millis: 1,
            tests: None,
            findings: None,
            coverage: None,
            hash: None,
        }
    }

    #[test]
    fn proofs_are_counted_in_a_line() {
        let line = |proofs: &[ProofRecorded]| proof_line(&proofs.iter().collect::<Vec<_>>());
        assert_eq!(line(&[]), "nothing was run on a clean checkout");
        let all = [
            proof(Some(0), Some((6, 0, 0))),
            proof(Some(1), Some((2, 1, 4))),
            proof(Some(0), None),
            proof(Some(2), None),
            proof(None, None),
        ];
        assert_eq!(
            line(&all),
            "re-run on a clean checkout: 8 of 9 tests, 4 skipped, 2 of 3 commands"
        );
        assert_eq!(
            line(&all[2..3]),
            "re-run on a clean checkout: 1 of 1 commands"
        );
    }
}
