//! The timeline of a piece of work, from the request to the merge: decisions of people,
//! steps with their attempts, proofs, and what became of the branch.

use artel_journal::JournalRecord;
use artel_rules::conduct::LAPSED;
use artel_types::plan::StepState;
use artel_types::{
    Actor, ChangesetCreated, Event, Fact, Failure, FailureCode, Timestamp, TraceId, counted,
};
use serde::Serialize;

use super::acts::LOOKING;
use super::changeset::{proof_line, title_of};
use super::picture::StepRow;
use super::telling::{AgentTimeline, AttemptTimeline, TimelineVerdict, WorkTimelineBuilder};
use super::work::Work;
use crate::runs::{ReplyTextMode, RunVisibility, TimelineDetailLevel, TimelineLineKind};
use crate::workshop::Workshop;

/// The timeline of a piece of work.
#[derive(Debug, Clone, Serialize)]
pub struct WorkTimeline {
    pub trace: TraceId,
    /// The subject of the work, on one line.
    pub title: String,
    /// The status of the request.
    pub status: &'static str,
    /// Milestones before the steps: the request, versions of the plan, decisions.
    pub before: Vec<WorkMilestone>,
    /// The steps in their present state.
    pub steps: Vec<StepTimeline>,
    /// Agents outside the steps: those that planned, answered, or mended the whole branch.
    pub beside: Vec<AgentTimeline>,
    /// Milestones after the steps: proofs, the changeset, the decisions about it, the report.
    pub after: Vec<WorkMilestone>,
}

/// A decision or a result.
#[derive(Debug, Clone, Serialize)]
pub struct WorkMilestone {
    /// The subject, in one word.
    pub label: &'static str,
    /// Whether the milestone is good news.
    pub mark: TimelineLineKind,
    pub text: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The actor behind the event.
    pub by: Actor,
}

/// A step with everything done at it.
#[derive(Debug, Clone, Serialize)]
pub struct StepTimeline {
    /// The step's present state.
    #[serde(flatten)]
    pub row: StepRow,
    /// Checks that failed in earlier attempts, if the step passed in the end.
    pub recovered: Vec<String>,
    /// The resulting commit.
    pub commit: Option<String>,
    pub attempts: Vec<AttemptTimeline>,
}

impl Workshop {
    /// Returns the timeline of a piece of work, as far as this viewer may see it.
    pub fn work_story(&self, work: &Work, eyes: &RunVisibility) -> Result<WorkTimeline, Failure> {
        let records = self.run_records(&work.trace.to_string())?;
        let mut telling = self.telling(&records, eyes);
        let events: Vec<Event> = records.iter().filter_map(|it| it.event().ok()).collect();
        let run = work.course.run();
        let is_told = |it: &&Event| it.run.is_none() || it.run == run;
        let approved = |event: &Event| matches!(event.fact, Fact::PlanApproved(_));
        let begun = events.iter().rposition(approved);
        let (before, after) = events.split_at(begun.map_or(events.len(), |at| at + 1));
        let steps = match begun {
            Some(_) => self.steps_told(work, eyes, &mut telling)?,
            None => Vec::new(),
        };
        let mut ends: Vec<WorkMilestone> = self.proofs_told(work, &records)?.into_iter().collect();
        ends.extend(after.iter().filter(is_told).filter_map(chapter));
        Ok(WorkTimeline {
            trace: work.trace,
            title: title_of(work),
            status: work.status().as_str(),
            before: before.iter().filter(is_told).filter_map(chapter).collect(),
            steps,
            beside: telling.rest(),
            after: ends,
        })
    }

    fn steps_told(
        &self,
        work: &Work,
        eyes: &RunVisibility,
        telling: &mut WorkTimelineBuilder,
    ) -> Result<Vec<StepTimeline>, Failure> {
        let eyes = RunVisibility {
            view: TimelineDetailLevel::Summary,
            ..eyes.clone()
        };
        let picture = self.picture(work, LOOKING, self.narrator(eyes, ReplyTextMode::Told))?;
        let rows = picture.rows(self.caller.clock().now()).into_iter();
        let told = rows.map(|row| {
            let attempts = telling.attempts_of(&row.id);
            StepTimeline {
                recovered: match row.state {
                    StepState::Done => recovered(&attempts),
                    _ => Vec::new(),
                },
                commit: attempts.iter().rev().find_map(|it| it.commit.clone()),
                attempts,
                row,
            }
        });
        Ok(told.collect())
    }

    /// Returns the result of the last check of the whole branch.
    fn proofs_told(
        &self,
        work: &Work,
        records: &[JournalRecord],
    ) -> Result<Option<WorkMilestone>, Failure> {
        let Some(run) = work.course.run() else {
            return Ok(None);
        };
        let mut records = records.iter().rev();
        let Some(record) = records.find(|it| it.kind == "branch.checked") else {
            return Ok(None);
        };
        let event = record.event()?;
        let past = self.past(work.clone(), run)?;
        let Some(checked) = past.last_check() else {
            return Ok(None);
        };
        let mut text = proof_line(&past.last_proofs());
        if let Some(why) = checked.why.first().filter(|_| !checked.passed) {
            text = format!("{text}; {}", why.lines().next().unwrap_or_default());
        }
        Ok(Some(WorkMilestone {
            label: "proofs",
            mark: mark(checked.passed.into()),
            text,
            at: event.at,
            by: event.actor,
        }))
    }
}

impl WorkTimeline {
    /// Finds a step by its number or its name.
    pub fn step(&self, named: &str) -> Result<&StepTimeline, Failure> {
        let mut steps = self.steps.iter();
        let is_it = |it: &&StepTimeline| it.row.id == named || it.row.number.to_string() == named;
        steps.find(is_it).ok_or_else(|| {
            let short = self.trace.short();
            let failure = Failure::new(FailureCode::R004, format!("{short} has no step `{named}`"));
            let list = self.steps.iter();
            let list = list.map(|it| format!("{} ({})", it.row.number, it.row.id));
            if self.steps.is_empty() {
                failure
                    .because("none of its steps has begun")
                    .advise(format!("`artel trace {short}` shows how far it is"))
            } else {
                failure
                    .because(format!("there are {}", list.collect::<Vec<_>>().join(", ")))
                    .advise(format!("`artel trace {short} --step 1`"))
            }
        })
    }
}

/// Names the checks and verifiers that failed in attempts before the last one.
fn recovered(attempts: &[AttemptTimeline]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let before = attempts.len().saturating_sub(1);
    for evidence in attempts.iter().take(before).flat_map(|it| &it.evidence) {
        let counts = !matches!(evidence.by.as_str(), "proof" | "attempt" | "step");
        let is_new = !found.contains(&evidence.by);
        if evidence.verdict == TimelineVerdict::Failed && counts && is_new {
            found.push(evidence.by.clone());
        }
    }
    found
}

fn mark(verdict: TimelineVerdict) -> TimelineLineKind {
    match verdict {
        TimelineVerdict::Passed => TimelineLineKind::Done,
        TimelineVerdict::Failed => TimelineLineKind::Bad,
        TimelineVerdict::Waived => TimelineLineKind::Waits,
    }
}

/// Returns the milestone that an event of the work's stream adds.
fn chapter(event: &Event) -> Option<WorkMilestone> {
    let (label, mark, text) = match &event.fact {
        Fact::RequestCreated(it) => ("request", TimelineLineKind::Plain, it.title.clone()),
        Fact::RequestSettled(it) => {
            let mark = match it.state.as_str() {
                "failed" => TimelineLineKind::Bad,
                _ => TimelineLineKind::Done,
            };
            ("request", mark, it.state.clone())
        }
        Fact::ChangesetCreated(it) => ("changes", TimelineLineKind::Done, changes(it)),
        Fact::ChangesetMerged(it) => {
            let commit: String = it.commit.chars().take(8).collect();
            let label = match it.act.as_str() {
                "undo" => "undone",
                "redo" => "redone",
                _ => "merged",
            };
            let hand = match it.by_hand {
                Some(_) => ", by hand",
                None => "",
            };
            let text = format!("{} is at {commit}{hand}", it.into);
            (label, TimelineLineKind::Done, text)
        }
        Fact::ChangesetRefused(it) => (
            "refused",
            TimelineLineKind::Bad,
            format!("{}: {}", it.act, it.why),
        ),
        Fact::ChangesetRejected(it) => ("rejected", TimelineLineKind::Bad, it.reason.clone()),
        Fact::RunAsked(it) => ("question", TimelineLineKind::Waits, it.text.clone()),
        Fact::RunAnswered(it) => ("answer", TimelineLineKind::Plain, it.answer.clone()),
        Fact::ReportWritten(it) => ("report", TimelineLineKind::Plain, it.path.clone()),
        fact => {
            let (mark, text) = of_plan(fact)?;
            ("plan", mark, text)
        }
    };
    Some(WorkMilestone {
        label,
        mark,
        text,
        at: event.at,
        by: event.actor.clone(),
    })
}

fn of_plan(fact: &Fact) -> Option<(TimelineLineKind, String)> {
    Some(match fact {
        Fact::PlanDrafted(it) => (
            TimelineLineKind::Plain,
            format!("v{} {}", it.version, it.title),
        ),
        Fact::PlanFailed(it) => (
            TimelineLineKind::Bad,
            format!("none came of it: {}", it.why),
        ),
        Fact::PlanCommented(it) => {
            let said = it.comments.join("; ");
            (
                TimelineLineKind::Waits,
                format!("v{} to be different: {said}", it.version),
            )
        }
        Fact::PlanApproved(it) => (TimelineLineKind::Done, format!("v{} approved", it.version)),
        Fact::PlanRejected(it) => {
            let text = format!("v{} rejected: {}", it.version, it.reason);
            (TimelineLineKind::Bad, text)
        }
        Fact::PlanCancelled(it) => (TimelineLineKind::Bad, format!("cancelled: {}", it.reason)),
        Fact::PlanEnded(it) => {
            let why = it.why.as_deref()?;
            (TimelineLineKind::Bad, format!("{}: {why}", it.state))
        }
        Fact::PlanProposed(it) => {
            let text = format!("step {} needs a change: {}", it.step, it.what);
            (TimelineLineKind::Waits, text)
        }
        Fact::PlanDecided(it) => match it.version {
            Some(version) => (
                TimelineLineKind::Done,
                format!("the change is accepted as v{version}"),
            ),
            None if it.reason.starts_with(LAPSED) => {
                (TimelineLineKind::Plain, format!("the change {}", it.reason))
            }
            None => (
                TimelineLineKind::Bad,
                format!("the change is turned down: {}", it.reason),
            ),
        },
        Fact::PlanAdopted(it) => (
            TimelineLineKind::Plain,
            format!("goes on by v{}", it.version),
        ),
        _ => return None,
    })
}

fn changes(it: &ChangesetCreated) -> String {
    let place = it.branch.as_deref().or(it.patch.as_deref());
    format!(
        "{}  {}, {}, +{} −{}",
        place.unwrap_or("no branch"),
        counted(it.commits, "commit"),
        counted(it.files.len() as u64, "file"),
        it.added,
        it.removed
    )
}
