//! The run of a plan: which steps may begin, what comes next in each, when a person has to
//! decide, and when the run is over.
//!
//! The state machine is folded from the events of the plan's run. [`PlanRun::next`] names
//! everything that can be done now. The driver does what is not under way yet, appends the
//! results, and folds them. Asking twice gives the same orders, so a process that takes
//! over resumes after the last event.

mod fold;
mod next;
mod order;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{BaselineTaken, RunAsked};

pub use order::{AttemptPart, PlanRunOrder, StepVerifier};
pub use step::{StepRun, StepWaiver};

/// Number of attempts at a step before a person decides.
pub const LOOPS: u32 = 3;

/// Number of times that failures on the whole branch are mended.
pub const MENDS: u32 = 2;

/// Prefix of the reason for a proposal that lapsed without being turned down.
pub const LAPSED: &str = "lapsed";

/// The rules for one run of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRunRules {
    /// Most steps under way at once.
    pub at_once: usize,
    /// The effect of a failed step on steps that do not depend on it.
    pub failure: StepFailurePolicy,
}

/// The effect of a failed step on steps that do not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepFailurePolicy {
    /// They continue.
    #[default]
    Continue,
    /// No further step begins.
    Fast,
}

/// The state of a plan being carried out.
#[derive(Debug, Clone)]
pub struct PlanRun {
    /// Shared, because each order is carried out with the state of its moment.
    plan: Arc<Plan>,
    rules: PlanRunRules,
    steps: BTreeMap<String, StepRun>,
    baseline: BaselineState,
    branch: BranchCheckState,
    /// Questions without an answer.
    questions: BTreeMap<String, RunAsked>,
    proposals: BTreeMap<String, PlanRunProposal>,
    wish: PlanRunIntent,
    /// Hints that people gave during the run, for all agents that work on it from then on.
    hints: Vec<String>,
    /// Whether a person wants nothing new to begin.
    paused: bool,
    is_over: bool,
}

/// The baseline: what passes before the first step.
#[derive(Debug, Clone, PartialEq)]
enum BaselineState {
    Unknown,
    /// No baseline was found; a person is asked.
    Missing(BaselineTaken),
    /// A person named commands.
    Given(String),
    Taken(BaselineTaken),
}

/// The final checks of the whole branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct BranchCheckState {
    head: Option<String>,
    /// Number of finished rounds of checks; `passed` and `why` are from the last one.
    checks: u32,
    passed: bool,
    why: Vec<String>,
    mends: u32,
    /// Changes beyond the plan that a person allowed for mending.
    agreed: Vec<String>,
}

/// A change that an agent proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlanRunProposal {
    step: String,
    what: String,
    impact: String,
    text: String,
    is_blocking: bool,
    answer: Option<ProposalDecision>,
    is_settled: bool,
}

/// A person's decision about a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProposalDecision {
    Accept,
    Reject(String),
}

/// What a person wants of the run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanRunIntent {
    GoOn,
    /// The person does the rest.
    TakeOver,
    Cancel,
}

impl PlanRun {
    /// Begins with a plan that was checked.
    pub fn new(plan: Plan, rules: PlanRunRules) -> Self {
        let steps = plan.steps.iter();
        let steps = steps.map(|step| (step.id.clone(), StepRun::default()));
        Self {
            steps: steps.collect(),
            plan: Arc::new(plan),
            rules,
            baseline: BaselineState::Unknown,
            branch: BranchCheckState::default(),
            questions: BTreeMap::new(),
            proposals: BTreeMap::new(),
            wish: PlanRunIntent::GoOn,
            hints: Vec::new(),
            paused: false,
            is_over: false,
        }
    }

    /// Returns the plan in its current version.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn rules(&self) -> PlanRunRules {
        self.rules
    }

    /// Returns the state of a step.
    pub fn step(&self, id: &str) -> Option<&StepRun> {
        self.steps.get(id)
    }

    /// Returns the steps with their states, in the order of the plan.
    pub fn steps(&self) -> impl Iterator<Item = (&artel_types::plan::PlanStep, &StepRun)> {
        let of = |step: &artel_types::plan::PlanStep| self.steps.get(&step.id);
        self.plan
            .steps
            .iter()
            .filter_map(move |step| Some((step, of(step)?)))
    }

    /// Returns the baseline, once it is known.
    pub fn baseline(&self) -> Option<&BaselineTaken> {
        match &self.baseline {
            BaselineState::Taken(taken) => Some(taken),
            _ => None,
        }
    }

    /// Returns the last commit of the branch, once a step has passed.
    pub fn head(&self) -> Option<&str> {
        self.branch.head.as_deref()
    }

    /// Returns whether every proof held on a clean checkout, and the reasons if not.
    pub fn proven(&self) -> (bool, &[String]) {
        (
            self.branch.checks > 0 && self.branch.passed,
            &self.branch.why,
        )
    }

    /// Returns the changes beyond the plan that a person allowed for mending, one line
    /// each.
    pub fn agreed(&self) -> &[String] {
        &self.branch.agreed
    }

    /// Returns the questions without an answer.
    pub fn questions(&self) -> impl Iterator<Item = &RunAsked> {
        self.questions.values()
    }

    /// Returns the hints that people gave during the run, oldest first.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns whether a person cancelled the run.
    pub fn is_cancelled(&self) -> bool {
        self.wish == PlanRunIntent::Cancel
    }

    /// Returns whether a person wants nothing new to begin. Cancelling and taking over do
    /// not wait for the pause to end.
    pub fn is_paused(&self) -> bool {
        self.paused && self.wish == PlanRunIntent::GoOn
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the number of steps that passed and the number of all steps.
    pub fn progress(&self) -> (usize, usize) {
        let done = self.steps().filter(|(_, it)| it.state == StepState::Done);
        (done.count(), self.plan.steps.len())
    }

    /// Returns the values that a step may use: those of the steps before it that passed.
    pub fn memory(&self, id: &str) -> BTreeMap<String, String> {
        let mut before: Vec<&str> = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let after = self.plan.step(id).map(|step| step.after.iter());
            for id in after.into_iter().flatten() {
                if !before.contains(&id.as_str()) {
                    before.push(id);
                    open.push(id);
                }
            }
        }
        // In the order of the plan, so that a later value of the same name wins.
        let steps = self.steps();
        let steps = steps.filter(|(step, _)| before.contains(&step.id.as_str()));
        steps.flat_map(|(_, step)| step.outputs.clone()).collect()
    }

    /// Returns the unfinished steps whose work a person took over, in the order of the
    /// plan. Each has the commit on which it began and the tree that it left.
    pub fn taken_over(&self) -> Vec<(&artel_types::plan::PlanStep, &StepRun)> {
        let is_left = |step: &StepRun| {
            let is_over = matches!(step.state, StepState::Done | StepState::Skipped);
            !is_over && step.tree.is_some() && step.base.is_some()
        };
        match self.wish {
            PlanRunIntent::TakeOver => self.steps().filter(|(_, step)| is_left(step)).collect(),
            PlanRunIntent::GoOn | PlanRunIntent::Cancel => Vec::new(),
        }
    }

    /// Returns the outcome of the plan if it ended now.
    pub fn outcome(&self) -> (PlanState, Option<String>) {
        match self.wish {
            PlanRunIntent::Cancel => {
                return (PlanState::Cancelled, Some("it was cancelled".to_owned()));
            }
            PlanRunIntent::TakeOver => {
                let why = "a person took over".to_owned();
                return (PlanState::Failed, Some(why));
            }
            PlanRunIntent::GoOn => {}
        }
        let said = |state: StepState| {
            let (step, it) = self.steps().find(|(_, it)| it.state == state)?;
            let number = self.plan.number(&step.id).unwrap_or(0);
            Some(format!("step {number} ({}): {}", step.title, it.why))
        };
        if let Some(why) = said(StepState::Failed) {
            return (PlanState::Failed, Some(why));
        }
        // Without a failed step, steps were skipped only because a person wanted it.
        match (said(StepState::Skipped), self.progress().0) {
            (None, _) => (PlanState::Done, None),
            (Some(why), 0) => (PlanState::Cancelled, Some(why)),
            (Some(why), _) => (PlanState::Done, Some(why)),
        }
    }
}

#[cfg(test)]
mod tests;
