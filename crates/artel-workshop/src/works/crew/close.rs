//! The end of a plan's run: the changeset, the report, and the last events.

use std::sync::Arc;

use artel_engine::PlanOrderOutcome;
use artel_git::{CommitOutcome, CommitSpec, FileDiffKind, FileDiffStat};
use artel_rules::conduct::{PlanRun, StepRun, StepWaiver};
use artel_rules::plan::names::unfinished_message;
use artel_rules::tally::RunMetricsBuilder;
use artel_types::plan::{PlanState, StepState};
use artel_types::{
    ChangesetCreated, Fact, Failure, FileChange, FileChangeKind, PlanEnded, RunFinished,
    RunOutcome, counted,
};

use super::{AgentExecutor, blocking, facts, git_failed, unfinished_branch};
use crate::runs::left_out_line;

impl AgentExecutor {
    /// Ends the run: puts its result up for review and records what happened.
    pub(super) async fn close(
        self: &Arc<Self>,
        end: PlanState,
        why: Option<String>,
        state: Arc<PlanRun>,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        let (changeset, finished) = blocking(move || {
            let changeset = this.changeset(&state, end)?;
            let left = this.leave_unfinished(&state)?;
            let why = match (why, left) {
                (Some(why), Some(left)) => Some(format!("{why}: {left}")),
                (why, _) => why,
            };
            let finished = this.finished(&state, (end, why.as_deref()), changeset.as_ref())?;
            Ok((changeset.map(|made| (made, why)), finished))
        })
        .await?;
        let work = self.house.workshop.work(self.trace())?;
        let run = self.run();
        let mut told: Vec<Fact> = Vec::new();
        let (made, why) = match changeset {
            Some((made, why)) => (Some(made), why),
            None => (None, finished.why.clone()),
        };
        let is_there = work.changeset.as_ref().is_some_and(|it| it.run == run);
        if let Some(made) = made
            && !is_there
        {
            told.push(made.into());
        }
        let is_ended = work
            .events
            .iter()
            .any(|event| matches!(&event.fact, Fact::PlanEnded(it) if it.run == run));
        if !is_ended {
            told.push(
                PlanEnded {
                    run,
                    state: end,
                    why,
                }
                .into(),
            );
        }
        // This comes first, because no process returns for the trees once the plan's end is on
        // record.
        let this = Arc::clone(self);
        blocking(move || this.tidy()).await?;
        if !told.is_empty() {
            self.tell(told).await?;
        }
        self.report().await;
        Ok(facts([finished.into()]))
    }

    /// Writes the report. A failure to write it does not fail the run, since it can be written
    /// at any time.
    async fn report(self: &Arc<Self>) {
        let this = Arc::clone(self);
        let written = blocking(move || {
            let house = &this.house;
            house
                .workshop
                .write_report_in(&house.journal, this.trace(), this.run())
        })
        .await;
        if let Err(failure) = written {
            let audience = &self.house.company.audience;
            audience.notice(&format!("the report was not written: {}", failure.what));
        }
    }

    /// Returns the changeset, if anything was committed.
    fn changeset(
        &self,
        state: &PlanRun,
        end: PlanState,
    ) -> Result<Option<ChangesetCreated>, Failure> {
        let head = self.head()?;
        if head == self.base {
            return Ok(None);
        }
        let stat = self.line.stat(&self.base, &head).map_err(git_failed)?;
        let commits = self.line.log(&self.base, &head).map_err(git_failed)?.len();
        let files = stat.files.iter().map(|file| FileChange {
            path: file.path.to_string_lossy().into_owned(),
            from: from_of(file),
            kind: match file.kind {
                FileDiffKind::Made => FileChangeKind::Made,
                FileDiffKind::Deleted => FileChangeKind::Deleted,
                FileDiffKind::Mode => FileChangeKind::Mode,
                FileDiffKind::Changed => FileChangeKind::Changed,
                FileDiffKind::Renamed => FileChangeKind::Renamed,
            },
            added: file.added,
            removed: file.removed,
            bytes: 0,
        });
        let (proven, _) = state.proven();
        let patch = if self.line.is_private() {
            Some(self.write_patch(&head, "change.patch")?)
        } else {
            None
        };
        Ok(Some(ChangesetCreated {
            run: self.run(),
            portal: self.portal.clone(),
            folder: self.house.folder.display().to_string(),
            branch: patch.is_none().then(|| self.branch.clone()),
            into: self.into.clone(),
            base: self.base.clone(),
            head,
            commits: commits as u64,
            files: files.collect(),
            added: stat.added,
            removed: stat.removed,
            proven,
            complete: end == PlanState::Done,
            deferred: deferred(state),
            patch,
        }))
    }

    /// Leaves the unchecked work of steps to the person who took over, and says where it is.
    /// It is not part of the changeset, because no check has passed on it.
    fn leave_unfinished(&self, state: &PlanRun) -> Result<Option<String>, Failure> {
        let head = self.head()?;
        let mut top = head.clone();
        let mut titles = Vec::new();
        for (spec, step) in state.taken_over() {
            let (Some(tree), Some(base)) = (&step.tree, &step.base) else {
                continue;
            };
            let message = unfinished_message(spec, self.trace());
            let order = CommitSpec {
                tree,
                base,
                onto: &top,
                message: &message,
                when: self.when(&spec.id, step.round)?,
                author: &self.author,
            };
            let mut committed = self.line.commit(&order).map_err(git_failed)?;
            // If it conflicts with other work, the commit sits on the step's own base instead.
            if matches!(committed, CommitOutcome::Conflict(_)) && top == head {
                let order = CommitSpec {
                    onto: base,
                    ..order
                };
                committed = self.line.commit(&order).map_err(git_failed)?;
            }
            if let CommitOutcome::Done { commit, .. } = committed {
                titles.push(format!("`{}`", spec.title));
                top = commit;
            }
        }
        if titles.is_empty() {
            return Ok(None);
        }
        let titles = titles.join(", ");
        if self.line.is_private() {
            let file = self.write_patch(&top, "unfinished.patch")?;
            return Ok(Some(format!("`{file}` has what was made of {titles}")));
        }
        let branch = unfinished_branch(&self.branch);
        self.line.advance(&branch, &top, &top).map_err(git_failed)?;
        self.line.publish(&branch).map_err(git_failed)?;
        Ok(Some(format!(
            "`git switch {branch}` has what was made of {titles}, unchecked"
        )))
    }

    fn write_patch(&self, head: &str, name: &str) -> Result<String, Failure> {
        let bytes = self.line.patch(&self.base, head).map_err(git_failed)?;
        let file = self.at.join(name);
        artel_files::write_atomic(&file, &bytes, 0o600).map_err(|error| {
            crate::trouble::file_failure(artel_types::FailureCode::W008, &error)
        })?;
        Ok(file.display().to_string())
    }

    fn finished(
        &self,
        state: &PlanRun,
        (end, why): (PlanState, Option<&str>),
        changeset: Option<&ChangesetCreated>,
    ) -> Result<RunFinished, Failure> {
        let (done, all) = state.progress();
        let summary = match changeset {
            Some(made) => format!(
                "{done} of {all} steps, {}, +{} -{}",
                counted(made.files.len() as u64, "file"),
                made.added,
                made.removed
            ),
            None => format!("{done} of {all} steps, nothing changed"),
        };
        let run_state = match end {
            PlanState::Done => RunOutcome::Complete,
            PlanState::Cancelled => RunOutcome::Cancelled,
            _ if done > 0 => RunOutcome::Partial,
            _ => RunOutcome::Failed,
        };
        let events = self.whole_story()?;
        let mut tally = RunMetricsBuilder::default();
        events.iter().for_each(|event| tally.fold(event));
        let metrics = tally.metrics(Some(run_state));
        Ok(RunFinished {
            state: Some(run_state.to_string()),
            why: why.map(str::to_owned),
            changed: changeset.map(|made| made.files.clone()),
            metrics: Some(metrics),
            ..RunFinished::new(self.run(), summary)
        })
    }

    /// Returns all events of the run's trace, including those of its children.
    fn whole_story(&self) -> Result<Vec<artel_types::Event>, Failure> {
        let filter = artel_journal::EventFilter {
            trace: Some(self.trace().to_string()),
            ..artel_journal::EventFilter::default()
        };
        let records = self
            .house
            .journal
            .reader()
            .records(&artel_journal::EventQuery::of(filter))?;
        let events = records.iter().map(|record| record.event());
        Ok(events.collect::<Result<_, _>>()?)
    }

    /// Removes the trees of steps. The plan branch stays until the changeset is decided.
    fn tidy(&self) -> Result<(), Failure> {
        for part in ["steps", "judges", "proofs"] {
            crate::works::prover::done_with(&self.at.join(part));
        }
        Ok(())
    }
}

/// Lists what was waived, left out, failed or skipped, and what the person agreed to.
pub(crate) fn deferred(state: &PlanRun) -> Vec<String> {
    let mut lines = Vec::new();
    for (spec, step) in state.steps() {
        let waived = step.waived.iter();
        lines.extend(waived.map(|waiver| format!("{}: {}", spec.title, waived_line(step, waiver))));
        if step.state == StepState::Done {
            let left_out = left_out_line(&step.left_out);
            lines.extend(left_out.map(|line| format!("{}: {line}", spec.title)));
        }
        if matches!(step.state, StepState::Failed | StepState::Skipped) {
            lines.push(format!(
                "{}: {} ({})",
                spec.title,
                step.state,
                first_line(&step.why)
            ));
        }
    }
    let agreed = state.agreed().iter();
    lines.extend(agreed.map(|what| format!("the person agreed: {what}")));
    lines
}

/// Describes on one line what a person waived, what was found there, and their reason.
fn waived_line(step: &StepRun, waiver: &StepWaiver) -> String {
    let found = match &waiver.finding {
        Some(finding) => vec![finding.told()],
        None => {
            let texts = step.let_pass_by(waiver).into_iter();
            texts.map(|text| first_line(text).to_owned()).collect()
        }
    };
    let what = &waiver.what;
    let found = if found.is_empty() {
        String::new()
    } else {
        format!(", {}", found.join("; "))
    };
    format!(
        "the person waived {what}{found} ({})",
        first_line(&waiver.reason)
    )
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn from_of(file: &FileDiffStat) -> Option<String> {
    let from = file.from.as_ref()?;
    Some(from.to_string_lossy().into_owned())
}
