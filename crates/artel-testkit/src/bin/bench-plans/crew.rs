//! A plan executor whose work is done as soon as it is ordered.

use std::sync::Arc;

use artel_engine::{Doing, PlanExecutor, PlanOrderOutcome, RunJournalEntry};
use artel_rules::conduct::{AttemptPart, PlanRun, PlanRunOrder};
use artel_types::{
    BaselineTaken, BranchChecked, Fact, RunFinished, RunId, StepChecked, StepJudged, StepPassed,
    StepStarted, StepWorked,
};

/// The plan executor of one run.
pub(crate) struct Ready(pub(crate) RunId);

impl PlanExecutor for Ready {
    fn carry_out(self: Arc<Self>, order: PlanRunOrder, _: Arc<PlanRun>) -> Doing<PlanOrderOutcome> {
        Box::pin(async move {
            Ok(PlanOrderOutcome::Facts(vec![RunJournalEntry::shown(
                self.outcome(&order),
            )]))
        })
    }

    fn call_off(self: Arc<Self>) -> Doing<()> {
        Box::pin(async { Ok(()) })
    }

    fn wake(self: Arc<Self>, _: String) -> Doing<()> {
        Box::pin(async { Ok(()) })
    }
}

impl Ready {
    /// Returns the result of an order.
    pub(crate) fn outcome(&self, order: &PlanRunOrder) -> Fact {
        match order {
            PlanRunOrder::Baseline { .. } => BaselineTaken {
                commit: "c0".to_owned(),
                commands: vec!["make test".to_owned()],
                holds: true,
                why: None,
            }
            .into(),
            PlanRunOrder::Final { round } => BranchChecked {
                round: *round,
                head: "head".to_owned(),
                passed: true,
                why: Vec::new(),
            }
            .into(),
            PlanRunOrder::Close { .. } => RunFinished::new(self.0, "over").into(),
            PlanRunOrder::Do { step, round, part } => self.part(step.clone(), *round, *part),
            other => panic!("nothing goes wrong, so `{other}` is not ordered"),
        }
    }

    fn part(&self, step: String, round: u32, part: AttemptPart) -> Fact {
        match part {
            AttemptPart::Start => StepStarted {
                base: "c0".to_owned(),
                step,
                round,
            }
            .into(),
            AttemptPart::Work | AttemptPart::Criteria | AttemptPart::Tests => StepWorked {
                part: part.as_str().to_owned(),
                run: self.0,
                state: "complete".to_owned(),
                summary: "What was asked for is done, and its tests pass.".into(),
                criteria: Vec::new(),
                tree: format!("t-{step}"),
                left_out: None,
                step,
                round,
            }
            .into(),
            AttemptPart::Red | AttemptPart::Green => StepChecked {
                phase: part.as_str().to_owned(),
                passed: true,
                why: Vec::new(),
                step,
                round,
            }
            .into(),
            AttemptPart::Judge(judge) => StepJudged {
                by: judge.as_str().to_owned(),
                run: self.0,
                passed: true,
                feedback: "It holds.".into(),
                findings: Vec::new(),
                evidence: vec!["6 tests passed".to_owned()],
                outputs: "{}".into(),
                fault: None,
                step,
                round,
            }
            .into(),
            AttemptPart::Commit => StepPassed {
                outputs: format!("{{\"{step}\":\"1\"}}").as_str().into(),
                commit: Some(format!("c-{step}")),
                head: format!("c-{step}"),
                files: vec![format!("src/{step}.rs")],
                waived: Vec::new(),
                step,
                round,
            }
            .into(),
            AttemptPart::Advise => panic!("every step passes, so nobody is asked why not"),
        }
    }
}
