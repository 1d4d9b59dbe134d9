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
use super::telling::{AgentTale, Attempt, Telling, Verdict};
use super::work::Work;
use crate::runs::{Eyes, Mark, View, Words};
use crate::workshop::Workshop;

/// The timeline of a piece of work.
#[derive(Debug, Clone, Serialize)]
pub struct WorkStory {
    pub trace: TraceId,
    /// The subject of the work, on one line.
    pub title: String,
    /// The status of the request.
    pub status: &'static str,
    /// Milestones before the steps: the request, versions of the plan, decisions.
    pub before: Vec<Chapter>,
    /// The steps in their present state.
    pub steps: Vec<StepStory>,
    /// Agents outside the steps: those that planned, answered, or mended the whole branch.
    pub beside: Vec<AgentTale>,
    /// Milestones after the steps: proofs, the changeset, the decisions about it, the report.
    pub after: Vec<Chapter>,
}

/// A decision or a result.
#[derive(Debug, Clone, Serialize)]
pub struct Chapter {
    /// The subject, in one word.
    pub label: &'static str,
    /// Whether the milestone is good news.
    pub mark: Mark,
    pub text: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The actor behind the event.
    pub by: Actor,
}

/// A step with everything done at it.
#[derive(Debug, Clone, Serialize)]
pub struct StepStory {
    /// The step's present state.
    #[serde(flatten)]
    pub row: StepRow,
    /// Checks that failed in earlier attempts, if the step passed in the end.
    pub recovered: Vec<String>,
    /// The resulting commit.
    pub commit: Option<String>,
    pub attempts: Vec<Attempt>,
}

impl Workshop {
    /// Returns the timeline of a piece of work, as far as this viewer may see it.
    pub fn work_story(&self, work: &Work, eyes: &Eyes) -> Result<WorkStory, Failure> {
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
        let mut ends: Vec<Chapter> = self.proofs_told(work, &records)?.into_iter().collect();
        ends.extend(after.iter().filter(is_told).filter_map(chapter));
        Ok(WorkStory {
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
        eyes: &Eyes,
        telling: &mut Telling,
    ) -> Result<Vec<StepStory>, Failure> {
        let eyes = Eyes {
            view: View::Summary,
            ..eyes.clone()
        };
        let picture = self.picture(work, LOOKING, self.narrator(eyes, Words::Told))?;
        let rows = picture.rows(self.caller.clock().now()).into_iter();
        let told = rows.map(|row| {
            let attempts = telling.attempts_of(&row.id);
            StepStory {
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
    ) -> Result<Option<Chapter>, Failure> {
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
        Ok(Some(Chapter {
            label: "proofs",
            mark: mark(checked.passed.into()),
            text,
            at: event.at,
            by: event.actor,
        }))
    }
}

impl WorkStory {
    /// Finds a step by its number or its name.
    pub fn step(&self, named: &str) -> Result<&StepStory, Failure> {
        let mut steps = self.steps.iter();
        let is_it = |it: &&StepStory| it.row.id == named || it.row.number.to_string() == named;
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
fn recovered(attempts: &[Attempt]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let before = attempts.len().saturating_sub(1);
    for evidence in attempts.iter().take(before).flat_map(|it| &it.evidence) {
        let counts = !matches!(evidence.by.as_str(), "proof" | "attempt" | "step");
        let is_new = !found.contains(&evidence.by);
        if evidence.verdict == Verdict::Failed && counts && is_new {
            found.push(evidence.by.clone());
        }
    }
    found
}

fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Passed => Mark::Done,
        Verdict::Failed => Mark::Bad,
        Verdict::Waived => Mark::Waits,
    }
}

/// Returns the milestone that an event of the work's stream adds.
fn chapter(event: &Event) -> Option<Chapter> {
    let (label, mark, text) = match &event.fact {
        Fact::RequestCreated(it) => ("request", Mark::Plain, it.title.clone()),
        Fact::RequestSettled(it) => {
            let mark = match it.state.as_str() {
                "failed" => Mark::Bad,
                _ => Mark::Done,
            };
            ("request", mark, it.state.clone())
        }
        Fact::ChangesetCreated(it) => ("changes", Mark::Done, changes(it)),
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
            (label, Mark::Done, text)
        }
        Fact::ChangesetRefused(it) => ("refused", Mark::Bad, format!("{}: {}", it.act, it.why)),
        Fact::ChangesetRejected(it) => ("rejected", Mark::Bad, it.reason.clone()),
        Fact::RunAsked(it) => ("question", Mark::Waits, it.text.clone()),
        Fact::RunAnswered(it) => ("answer", Mark::Plain, it.answer.clone()),
        Fact::ReportWritten(it) => ("report", Mark::Plain, it.path.clone()),
        fact => {
            let (mark, text) = of_plan(fact)?;
            ("plan", mark, text)
        }
    };
    Some(Chapter {
        label,
        mark,
        text,
        at: event.at,
        by: event.actor.clone(),
    })
}

fn of_plan(fact: &Fact) -> Option<(Mark, String)> {
    Some(match fact {
        Fact::PlanDrafted(it) => (Mark::Plain, format!("v{} {}", it.version, it.title)),
        Fact::PlanFailed(it) => (Mark::Bad, format!("none came of it: {}", it.why)),
        Fact::PlanCommented(it) => {
            let said = it.comments.join("; ");
            (
                Mark::Waits,
                format!("v{} to be different: {said}", it.version),
            )
        }
        Fact::PlanApproved(it) => (Mark::Done, format!("v{} approved", it.version)),
        Fact::PlanRejected(it) => {
            let text = format!("v{} rejected: {}", it.version, it.reason);
            (Mark::Bad, text)
        }
        Fact::PlanCancelled(it) => (Mark::Bad, format!("cancelled: {}", it.reason)),
        Fact::PlanEnded(it) => {
            let why = it.why.as_deref()?;
            (Mark::Bad, format!("{}: {why}", it.state))
        }
        Fact::PlanProposed(it) => {
            let text = format!("step {} needs a change: {}", it.step, it.what);
            (Mark::Waits, text)
        }
        Fact::PlanDecided(it) => match it.version {
            Some(version) => (Mark::Done, format!("the change is accepted as v{version}")),
            None if it.reason.starts_with(LAPSED) => {
                (Mark::Plain, format!("the change {}", it.reason))
            }
            None => (
                Mark::Bad,
                format!("the change is turned down: {}", it.reason),
            ),
        },
        Fact::PlanAdopted(it) => (Mark::Plain, format!("goes on by v{}", it.version)),
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
