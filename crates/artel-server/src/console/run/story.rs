//! The story of a run, as its page shows it: by step, attempt, agent and turn.

use artel_workshop::{AgentTimeline, ProgressRemark, TimelineEvidence, TurnTimeline};

use crate::console::evidence::{EVIDENCE, EvidenceTerm, place};
use crate::console::words;

/// A line about something worth mentioning.
#[derive(Debug, Clone)]
pub(in crate::console) struct RunPageLine {
    pub(in crate::console) sign: &'static str,
    pub(in crate::console) class: &'static str,
    pub(in crate::console) text: String,
    /// The event of the call that the line is about, which has a page of its own.
    pub(in crate::console) call: Option<u64>,
}

/// An attempt at a step.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct RunPageAttempt {
    pub(in crate::console) round: u32,
    pub(in crate::console) tales: Vec<RunPageAgent>,
    pub(in crate::console) findings: Vec<RunPageEvidence>,
}

/// The turns of one agent.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct RunPageAgent {
    pub(in crate::console) run: String,
    pub(in crate::console) title: String,
    pub(in crate::console) turns: Vec<RunPageTurn>,
}

/// A turn of an agent.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct RunPageTurn {
    pub(in crate::console) lines: Vec<RunPageLine>,
}

/// A proof, a check or a verdict.
#[derive(Debug, Clone)]
pub(in crate::console) struct RunPageEvidence {
    pub(in crate::console) state: words::StateLabel,
    pub(in crate::console) head: String,
    pub(in crate::console) lines: Vec<String>,
    /// Where the proof was made.
    pub(in crate::console) place: Option<EvidenceTerm>,
    /// The output of the program.
    pub(in crate::console) output: String,
}

impl From<&ProgressRemark> for RunPageLine {
    fn from(it: &ProgressRemark) -> Self {
        let (sign, class) = words::mark(it.mark);
        Self {
            sign,
            class,
            text: it.text.clone(),
            call: it.call,
        }
    }
}

impl From<artel_workshop::AttemptTimeline> for RunPageAttempt {
    fn from(it: artel_workshop::AttemptTimeline) -> Self {
        Self {
            round: it.round,
            tales: it.agents.into_iter().map(RunPageAgent::from).collect(),
            findings: it.evidence.into_iter().map(RunPageEvidence::from).collect(),
        }
    }
}

impl From<AgentTimeline> for RunPageAgent {
    fn from(it: AgentTimeline) -> Self {
        Self {
            run: it.run.short(),
            title: words::short(&it.title, 120),
            turns: it.turns.iter().map(RunPageTurn::from).collect(),
        }
    }
}

impl From<&TurnTimeline> for RunPageTurn {
    fn from(it: &TurnTimeline) -> Self {
        Self {
            lines: it.lines.iter().map(RunPageLine::from).collect(),
        }
    }
}

impl From<TimelineEvidence> for RunPageEvidence {
    fn from(it: TimelineEvidence) -> Self {
        Self {
            state: match it.place {
                // A proof only holds or does not; the check beside it says whether the step
                // passes.
                Some(_) => (it.verdict == artel_workshop::TimelineVerdict::Passed).into(),
                None => it.verdict.into(),
            },
            head: it.head,
            lines: it.lines,
            place: it.place.map(place),
            output: it.output,
        }
    }
}

/// Returns the explanations of the words about evidence in these steps, each once.
pub(super) fn legend(steps: &[super::RunPageStep]) -> Vec<EvidenceTerm> {
    let attempts = steps.iter().flat_map(|step| &step.attempts);
    let mut found = attempts.flat_map(|attempt| &attempt.findings).peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let mut legend = EVIDENCE.to_vec();
    for place in found.filter_map(|it| it.place) {
        if !legend.contains(&place) {
            legend.push(place);
        }
    }
    legend
}
