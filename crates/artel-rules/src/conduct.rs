//! A plan being carried out: which step may begin, what comes next in each, when a person has to
//! decide, when it is over.
//!
//! The machine is folded from the events of the plan's run. [`Conduct::next`] names everything that
//! can be done now; the driver does what is not under way yet, appends what came of it, and folds
//! that. Asking twice gives the same orders, so a process that takes over goes on where the last
//! event left off.

mod fold;
mod next;
mod order;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{BaselineTaken, RunAsked};

pub use order::{Judge, Order, Part};
pub use step::{Step, Waiver};

/// How often a step is tried before a person decides.
pub const LOOPS: u32 = 3;

/// How often what does not hold on the whole branch is mended.
pub const MENDS: u32 = 2;

/// How the reason begins for which a proposal came to nothing though nobody turned it down.
pub const LAPSED: &str = "lapsed";

/// What holds for one run of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How many steps are under way at once.
    pub at_once: usize,
    /// What the failure of one step means for those that do not need it.
    pub failure: Failure,
}

/// What the failure of one step means for those that do not need it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Failure {
    /// They go on.
    #[default]
    Continue,
    /// Nothing new begins.
    Fast,
}

/// A plan being carried out.
#[derive(Debug, Clone)]
pub struct Conduct {
    /// Shared: whoever carries out an order is handed the state of that moment.
    plan: Arc<Plan>,
    rules: Rules,
    steps: BTreeMap<String, Step>,
    baseline: Baseline,
    branch: Branch,
    /// Questions that nobody has answered.
    questions: BTreeMap<String, RunAsked>,
    proposals: BTreeMap<String, Proposal>,
    wish: Wish,
    /// What people said meanwhile, for everybody who works at it from then on.
    hints: Vec<String>,
    /// Whether a person wants nothing new to begin.
    paused: bool,
    is_over: bool,
}

/// What passes before the first step.
#[derive(Debug, Clone, PartialEq)]
enum Baseline {
    Unknown,
    /// There is none; a person is asked.
    Missing(BaselineTaken),
    /// A person named commands.
    Given(String),
    Taken(BaselineTaken),
}

/// The branch as a whole, at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Branch {
    head: Option<String>,
    /// How many rounds of checks are over, and how the last one went.
    checks: u32,
    passed: bool,
    why: Vec<String>,
    mends: u32,
    /// What a person let mending do beyond the plan.
    agreed: Vec<String>,
}

/// What an agent wants to be different.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Proposal {
    step: String,
    what: String,
    impact: String,
    text: String,
    is_blocking: bool,
    answer: Option<Decision>,
    is_settled: bool,
}

/// What a person said to a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Decision {
    Accept,
    Reject(String),
}

/// What a person wants of the run as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    GoOn,
    /// They do the rest themselves.
    TakeOver,
    Cancel,
}

impl Conduct {
    /// Begins with a plan that was checked.
    pub fn new(plan: Plan, rules: Rules) -> Self {
        let steps = plan.steps.iter();
        let steps = steps.map(|step| (step.id.clone(), Step::default()));
        Self {
            steps: steps.collect(),
            plan: Arc::new(plan),
            rules,
            baseline: Baseline::Unknown,
            branch: Branch::default(),
            questions: BTreeMap::new(),
            proposals: BTreeMap::new(),
            wish: Wish::GoOn,
            hints: Vec::new(),
            paused: false,
            is_over: false,
        }
    }

    /// Returns the plan as it is now.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns what holds for this run.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns how far a step has come.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.get(id)
    }

    /// Returns the steps with how far they have come, in the order of the plan.
    pub fn steps(&self) -> impl Iterator<Item = (&artel_types::plan::PlanStep, &Step)> {
        let of = |step: &artel_types::plan::PlanStep| self.steps.get(&step.id);
        self.plan
            .steps
            .iter()
            .filter_map(move |step| Some((step, of(step)?)))
    }

    /// Returns what passes before the first step, once it is known.
    pub fn baseline(&self) -> Option<&BaselineTaken> {
        match &self.baseline {
            Baseline::Taken(taken) => Some(taken),
            _ => None,
        }
    }

    /// Returns the last commit of the branch, once a step has passed.
    pub fn head(&self) -> Option<&str> {
        self.branch.head.as_deref()
    }

    /// Tells whether every proof held on a clean checkout, and what did not.
    pub fn proven(&self) -> (bool, &[String]) {
        (
            self.branch.checks > 0 && self.branch.passed,
            &self.branch.why,
        )
    }

    /// Returns what a person let mending do beyond the plan, a line each.
    pub fn agreed(&self) -> &[String] {
        &self.branch.agreed
    }

    /// Returns the questions that nobody has answered.
    pub fn questions(&self) -> impl Iterator<Item = &RunAsked> {
        self.questions.values()
    }

    /// Returns what people said while it ran, oldest first.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Tells whether a person called the run off.
    pub fn is_cancelled(&self) -> bool {
        self.wish == Wish::Cancel
    }

    /// Tells whether a person wants nothing new to begin. What they end does not wait for that.
    pub fn is_paused(&self) -> bool {
        self.paused && self.wish == Wish::GoOn
    }

    /// Tells whether the run is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns how many steps passed, and how many there are.
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
        // In the order of the plan: a later value of the same name wins.
        let steps = self.steps();
        let steps = steps.filter(|(step, _)| before.contains(&step.id.as_str()));
        steps.flat_map(|(_, step)| step.outputs.clone()).collect()
    }

    /// Returns what steps had made that did not pass, in the order of the plan, where a person took
    /// over: each with the commit that it began on and the tree that it left.
    pub fn taken_over(&self) -> Vec<(&artel_types::plan::PlanStep, &Step)> {
        let is_left = |step: &Step| {
            let is_over = matches!(step.state, StepState::Done | StepState::Skipped);
            !is_over && step.tree.is_some() && step.base.is_some()
        };
        match self.wish {
            Wish::TakeOver => self.steps().filter(|(_, step)| is_left(step)).collect(),
            Wish::GoOn | Wish::Cancel => Vec::new(),
        }
    }

    /// Says how the plan would end if it ended now.
    pub fn outcome(&self) -> (PlanState, Option<String>) {
        match self.wish {
            Wish::Cancel => return (PlanState::Cancelled, Some("it was cancelled".to_owned())),
            Wish::TakeOver => {
                let why = "a person took over".to_owned();
                return (PlanState::Failed, Some(why));
            }
            Wish::GoOn => {}
        }
        let said = |state: StepState| {
            let (step, it) = self.steps().find(|(_, it)| it.state == state)?;
            let number = self.plan.number(&step.id).unwrap_or(0);
            Some(format!("step {number} ({}): {}", step.title, it.why))
        };
        if let Some(why) = said(StepState::Failed) {
            return (PlanState::Failed, Some(why));
        }
        // Without a step that failed, what is left out is so because a person wants it.
        match (said(StepState::Skipped), self.progress().0) {
            (None, _) => (PlanState::Done, None),
            (Some(why), 0) => (PlanState::Cancelled, Some(why)),
            (Some(why), _) => (PlanState::Done, Some(why)),
        }
    }
}

#[cfg(test)]
mod tests;
