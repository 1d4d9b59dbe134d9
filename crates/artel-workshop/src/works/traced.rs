//! Trace views of a piece of work or a run: all of it, one step, or one turn.

use artel_journal::JournalRecord;
use artel_types::{Failure, FailureCode, TraceId};

use super::story::{StepTimeline, WorkTimeline};
use super::telling::AttemptTimeline;
use super::work::Work;
use crate::runs::{ReplyTextMode, RunVisibility, TimelineLine, TimelineLineKind};
use crate::workshop::Workshop;

/// Longest part of a typed id that a message repeats, in characters.
const LONGEST: usize = 80;

/// The part of a trace to show.
#[derive(Debug, Clone, Default)]
pub struct TraceViewQuery {
    /// Only this step of the plan, given by its number or name.
    pub step: Option<String>,
    /// Only this turn.
    pub turn: Option<u32>,
}

/// The content of a trace view.
#[derive(Debug, Clone)]
pub enum TraceView {
    /// A piece of work, from the request to the merge.
    Work(Box<WorkTimeline>),
    /// One step of a piece of work.
    Step(TraceId, Box<StepTimeline>),
    /// A run, line by line.
    Lines(Vec<TimelineLine>),
}

impl Workshop {
    /// Returns the piece of work that an id names, by its trace or by the run that carries out
    /// its plan. The run of a single agent has a view of its own.
    pub fn work_meant(&self, id: &str) -> Result<Option<Work>, Failure> {
        let Ok(work) = self.work_named(id) else {
            return Ok(None);
        };
        let id = id.trim_start_matches("request-").to_ascii_lowercase();
        let run = work.course.run().map(|run| run.to_string());
        let is_run = run.is_some_and(|run| run.starts_with(&id));
        let is_work = work.trace.to_string().starts_with(&id);
        Ok(Some(work).filter(|_| is_work || is_run))
    }

    /// Returns the requested part of what an id names, as far as this viewer may see it.
    pub fn traced(
        &self,
        id: &str,
        wanted: &TraceViewQuery,
        eyes: &RunVisibility,
    ) -> Result<TraceView, Failure> {
        let Some(work) = self.work_meant(id)? else {
            if let Some(step) = &wanted.step {
                return Err(no_steps(id, step));
            }
            return self.lines_of(&self.run_records(id)?, wanted.turn, eyes);
        };
        let story = self.work_story(&work, eyes)?;
        if let Some(named) = &wanted.step {
            let step = of_turn(story.step(named)?, wanted.turn)?;
            return Ok(TraceView::Step(story.trace, Box::new(step)));
        }
        match wanted.turn {
            None => Ok(TraceView::Work(Box::new(story))),
            Some(_) if story.steps.is_empty() => {
                self.lines_of(&self.run_records(id)?, wanted.turn, eyes)
            }
            Some(_) => Err(
                Failure::new(FailureCode::C005, "a turn of a plan needs its step, too")
                    .because("each agent of a plan has turns of its own")
                    .advise(format!(
                        "`artel trace {} --step 1 --turn 1`",
                        work.trace.short()
                    )),
            ),
        }
    }

    fn lines_of(
        &self,
        records: &[JournalRecord],
        turn: Option<u32>,
        eyes: &RunVisibility,
    ) -> Result<TraceView, Failure> {
        let mut narrator = self.narrator(eyes.clone(), ReplyTextMode::Told);
        let mut lines: Vec<TimelineLine> =
            records.iter().flat_map(|it| narrator.tell(it)).collect();
        refuse_unknown_turn(turn, lines.iter().map(turn_of))?;
        lines.retain(|line| turn.is_none_or(|wanted| wanted == turn_of(line)));
        Ok(TraceView::Lines(lines))
    }
}

fn no_steps(id: &str, step: &str) -> Failure {
    let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
    let (id, step) = (cut(id), cut(step));
    Failure::new(FailureCode::R004, format!("`{id}` has no step `{step}`"))
        .because("it carries out no plan")
        .advise(format!("`artel trace {id} --full` shows it turn by turn"))
}

/// Returns the turn that a line belongs to. The heading of a turn comes before its reply
/// is counted.
fn turn_of(line: &TimelineLine) -> u32 {
    line.turn + u32::from(line.mark == TimelineLineKind::Turn)
}

/// Refuses a turn that does not exist, and says which turns do.
fn refuse_unknown_turn(
    wanted: Option<u32>,
    there: impl Iterator<Item = u32>,
) -> Result<(), Failure> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let mut there: Vec<u32> = there.filter(|turn| *turn > 0).collect();
    there.sort_unstable();
    there.dedup();
    if there.contains(&wanted) {
        return Ok(());
    }
    let failure = Failure::new(FailureCode::R004, format!("there is no turn {wanted}"));
    Err(match there.as_slice() {
        [] => failure
            .because("no turn is over yet")
            .advise("leave `--turn` out"),
        [only] => failure
            .because(format!("there is turn {only} alone"))
            .advise(format!("`--turn {only}`")),
        [first, .., last] => failure
            .because(format!("there are turns {first} to {last}"))
            .advise(format!("`--turn {last}` is the last one")),
    })
}

/// Reduces a step to one turn of each agent, if a turn is wanted.
fn of_turn(step: &StepTimeline, wanted: Option<u32>) -> Result<StepTimeline, Failure> {
    let mut step = step.clone();
    let Some(turn) = wanted else {
        return Ok(step);
    };
    let agents = step.attempts.iter().flat_map(|it| &it.agents);
    let numbers = agents.flat_map(|it| it.turns.iter().map(|turn| turn.number));
    refuse_unknown_turn(wanted, numbers)?;
    for attempt in &mut step.attempts {
        only(attempt, turn);
    }
    step.attempts.retain(|it| !it.agents.is_empty());
    Ok(step)
}

fn only(attempt: &mut AttemptTimeline, turn: u32) {
    attempt.evidence.clear();
    for agent in &mut attempt.agents {
        agent.turns.retain(|it| it.number == turn);
    }
    attempt.agents.retain(|it| !it.turns.is_empty());
}
