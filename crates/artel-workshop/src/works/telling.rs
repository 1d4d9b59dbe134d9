//! Sorts the events of runs for readers, by step, attempt, agent and turn. The console's
//! page of a run and `artel trace` both use this.

mod evidence;

use std::collections::BTreeMap;

use artel_journal::JournalRecord;
use artel_types::{Event, Fact, RunId};
use serde::Serialize;

pub use self::evidence::{TimelineEvidence, TimelineVerdict};
use super::picture::ProgressRemark;
use crate::runs::{
    ReplyTextMode, RunTimelineBuilder, RunVisibility, TimelineLine, TimelineLineKind,
    TimelineRecords, seen,
};
use crate::workshop::Workshop;

/// Longest part of an output that is shown, in characters.
const LONGEST: usize = 20_000;

#[derive(Debug, Clone, Default, Serialize)]
pub struct AttemptTimeline {
    /// The number of the attempt, from 1.
    pub round: u32,
    /// The activity of each agent in it.
    pub agents: Vec<AgentTimeline>,
    /// The findings in it, in order.
    pub evidence: Vec<TimelineEvidence>,
    /// The resulting commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The activity of one agent.
#[derive(Debug, Clone, Serialize)]
pub struct AgentTimeline {
    pub run: RunId,
    /// The subject of the run.
    pub title: String,
    /// The part of the step that the agent was called for: `work`, `tests`, `inspector`.
    pub part: Option<String>,
    pub role: Option<String>,
    /// The first model that was called.
    pub model: Option<String>,
    /// The activity turn by turn. Turn 0 holds what came before the first.
    pub turns: Vec<TurnTimeline>,
}

#[derive(Debug, Clone, Serialize)]
pub struct TurnTimeline {
    pub number: u32,
    pub lines: Vec<ProgressRemark>,
}

/// The state of an agent's run while its events are read.
#[derive(Debug, Default)]
struct AgentTimelineState {
    title: String,
    part: Option<String>,
    role: Option<String>,
    model: Option<String>,
    /// The step that the run belongs to, and the index of the attempt.
    place: Option<(String, usize)>,
    turns: Vec<TurnTimeline>,
    answer: Option<String>,
    files: usize,
    is_applied: bool,
    is_placed: bool,
}

/// The timeline under construction.
pub struct WorkTimelineBuilder {
    narrator: RunTimelineBuilder,
    order: Vec<RunId>,
    runs: BTreeMap<RunId, AgentTimelineState>,
    steps: BTreeMap<String, Vec<AttemptTimeline>>,
    milestones: Vec<ProgressRemark>,
}

impl Workshop {
    /// Sorts events for a reader, as far as this viewer may see them.
    pub fn telling(&self, records: &[JournalRecord], eyes: &RunVisibility) -> WorkTimelineBuilder {
        let narrator = self.narrator(eyes.clone(), ReplyTextMode::Told);
        self.told_by(narrator, records, eyes)
    }

    /// Like `telling`, for a timeline with some turns left out.
    pub fn excerpt_told(
        &self,
        excerpt: &TimelineRecords,
        eyes: &RunVisibility,
    ) -> WorkTimelineBuilder {
        let mut narrator = self.narrator(eyes.clone(), ReplyTextMode::Told);
        for (run, turns) in &excerpt.replies {
            narrator.pass_over(*run, *turns);
        }
        self.told_by(narrator, &excerpt.records, eyes)
    }

    fn told_by(
        &self,
        narrator: RunTimelineBuilder,
        records: &[JournalRecord],
        eyes: &RunVisibility,
    ) -> WorkTimelineBuilder {
        let mut telling = WorkTimelineBuilder {
            narrator,
            order: Vec::new(),
            runs: BTreeMap::new(),
            steps: BTreeMap::new(),
            milestones: Vec::new(),
        };
        for record in records {
            for line in telling.narrator.tell(record) {
                telling.line(line);
            }
            if let Some(Ok(event)) = seen(eyes, record).as_ref().map(JournalRecord::event) {
                telling.take(self, event);
            }
        }
        telling
    }
}

impl WorkTimelineBuilder {
    fn take(&mut self, workshop: &Workshop, event: Event) {
        match event.fact {
            Fact::RunStarted(it) => {
                let place = match (&it.step, it.parent) {
                    (Some(step), _) => Some((step.clone(), self.attempts(step).max(1) - 1)),
                    (None, Some(parent)) => self.known(parent).place.clone(),
                    (None, None) => None,
                };
                let part = it.call.as_deref().and_then(|call| call.rsplit_once('/'));
                let part = part.filter(|_| it.step.is_some());
                let known = self.known(it.id);
                known.part = part.map(|(_, part)| part.to_owned());
                known.title = it.title;
                known.place = place;
            }
            Fact::RunPrepared(it) => {
                if let Some(run) = event.run {
                    self.known(run).role = Some(it.role);
                }
            }
            Fact::ModelRequested(it) => {
                if let Some(run) = event.run {
                    let model = format!("{}:{}", it.provider, it.model);
                    self.known(run).model.get_or_insert(model);
                }
            }
            Fact::RunFinished(it) => {
                let answer = it.answer.as_ref();
                let answer = answer.map(|text| evidence::read(workshop, text));
                let files = it.changed.as_ref().map_or(0, Vec::len);
                let known = self.known(it.id);
                known.answer = answer;
                known.files = files;
            }
            Fact::RunApplied(it) => self.known(it.id).is_applied = true,
            Fact::StepStarted(it) => self.attempt(&it.step, it.round),
            Fact::StepPassed(it) => {
                let made = evidence::passed(&it);
                self.find(&it.step, made);
                if let Some(last) = self.steps.get_mut(&it.step).and_then(|it| it.last_mut()) {
                    last.commit = it.commit;
                }
            }
            fact => {
                if let Some((step, found)) = evidence::of(workshop, fact) {
                    self.find(&step, found);
                }
            }
        }
    }

    fn line(&mut self, line: TimelineLine) {
        let made = ProgressRemark {
            mark: line.mark,
            text: evidence::cut(line.text),
            call: line.call,
        };
        let is_milestone = matches!(
            line.mark,
            TimelineLineKind::Head
                | TimelineLineKind::Done
                | TimelineLineKind::Bad
                | TimelineLineKind::Waits
                | TimelineLineKind::Plain
        );
        if is_milestone {
            self.milestones.push(made.clone());
        }
        // The heading of a turn comes before its reply is counted.
        let number = line.turn + u32::from(line.mark == TimelineLineKind::Turn);
        let turns = &mut self.known(line.run).turns;
        match turns.last_mut() {
            Some(turn) if turn.number == number => turn.lines.push(made),
            _ => turns.push(TurnTimeline {
                number,
                lines: vec![made],
            }),
        }
    }

    fn known(&mut self, run: RunId) -> &mut AgentTimelineState {
        if !self.runs.contains_key(&run) {
            self.order.push(run);
        }
        self.runs.entry(run).or_default()
    }

    fn attempts(&self, step: &str) -> usize {
        self.steps.get(step).map_or(0, Vec::len)
    }

    fn attempt(&mut self, step: &str, round: u32) {
        let attempts = self.steps.entry(step.to_owned()).or_default();
        attempts.push(AttemptTimeline {
            round,
            ..AttemptTimeline::default()
        });
    }

    fn find(&mut self, step: &str, found: TimelineEvidence) {
        if self.attempts(step) == 0 {
            self.attempt(step, 1);
        }
        let attempts = self.steps.entry(step.to_owned()).or_default();
        if let Some(last) = attempts.last_mut() {
            last.evidence.push(found);
        }
    }

    /// Returns the title of a run.
    pub fn title_of(&self, run: Option<RunId>) -> Option<String> {
        let known = self.runs.get(&run?)?;
        Some(known.title.clone()).filter(|title| !title.is_empty())
    }

    /// Returns the answer of a run.
    pub fn answer_of(&self, run: Option<RunId>) -> Option<String> {
        let answer = self.runs.get(&run?)?.answer.clone()?;
        Some(answer).filter(|answer| !answer.trim().is_empty())
    }

    /// Returns the number of a run's files that wait to be applied.
    pub fn files_of(&self, run: Option<RunId>) -> Option<usize> {
        let known = self.runs.get(&run?)?;
        Some(known.files).filter(|files| *files > 0 && !known.is_applied)
    }

    /// Returns the latest milestones, newest last.
    pub fn milestones(&self, most: usize) -> &[ProgressRemark] {
        let from = self.milestones.len().saturating_sub(most);
        &self.milestones[from..]
    }

    /// Returns the attempts at a step, with the agents' activity in each.
    pub fn attempts_of(&mut self, step: &str) -> Vec<AttemptTimeline> {
        let mut attempts = self.steps.remove(step).unwrap_or_default();
        for run in &self.order {
            let Some(known) = self.runs.get_mut(run) else {
                continue;
            };
            let Some((_, at)) = known.place.as_ref().filter(|(of, _)| of == step) else {
                continue;
            };
            if let Some(attempt) = attempts.get_mut(*at) {
                known.is_placed = true;
                attempt.agents.push(tale(*run, known));
            }
        }
        attempts
    }

    /// Returns the agents that belong to no step.
    pub fn rest(&mut self) -> Vec<AgentTimeline> {
        let mut rest = Vec::new();
        for run in &self.order {
            if let Some(known) = self.runs.get_mut(run)
                && !known.is_placed
                && !known.turns.is_empty()
            {
                rest.push(tale(*run, known));
            }
        }
        rest
    }
}

fn tale(run: RunId, known: &mut AgentTimelineState) -> AgentTimeline {
    AgentTimeline {
        run,
        title: if known.title.is_empty() {
            "run".to_owned()
        } else {
            known.title.clone()
        },
        part: known.part.clone(),
        role: known.role.clone(),
        model: known.model.clone(),
        turns: std::mem::take(&mut known.turns),
    }
}
