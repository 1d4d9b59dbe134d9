//! Carries out the orders of a plan's run, with agents in trees of their own, Artel's
//! checks, and the branch.

mod advise;
mod branch;
mod check;
mod close;
mod gauges;
mod kept;
mod linked;
mod mend;
mod parts;
mod rights;
mod share;

use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::{Doing, PlanExecutor, PlanOrderOutcome, RunJournal, RunJournalEntry};
use artel_git::{GitIdentity, PlanBranch, RunTree, RunTreeError};
use artel_rules::conduct::{AttemptPart, PlanRun, PlanRunOrder};
use artel_types::model::PrivacyLabel;
use artel_types::plan::PlanStep;
use artel_types::{EventDraft, Fact, Failure, FailureCode, RunId, StreamName, TraceId};

pub(crate) use close::deferred;

use super::named::WorkPlanVocabulary;
use super::prover::{ProjectCheckRunner, done_with};
use crate::runs::{RunEnvironment, SteeringCommand};

/// The agent executor, which carries out one plan.
pub(crate) struct AgentExecutor {
    pub(crate) house: Arc<RunEnvironment>,
    /// The journal of the plan's run.
    pub(crate) chronicle: RunJournal,
    pub(crate) line: Arc<PlanBranch>,
    pub(crate) at: PathBuf,
    /// The commit that the branch starts from.
    pub(crate) base: String,
    /// The branch to merge into later.
    pub(crate) into: Option<String>,
    pub(crate) branch: String,
    pub(crate) author: GitIdentity,
    /// The request's words, for the agents' prompts.
    pub(crate) request: String,
    pub(crate) portal: Option<String>,
    /// The roles, tools and scripts that a changed plan may name.
    pub(crate) named: WorkPlanVocabulary,
    /// Commands that check the project, if the person named any.
    pub(crate) checks: Vec<String>,
    pub(crate) privacy: PrivacyLabel,
    /// Held while the branch moves, so that parallel steps are committed one by one.
    pub(crate) branch_turn: Arc<std::sync::Mutex<()>>,
    /// The budget set aside for the steps under way.
    pub(crate) shares: share::StepBudgetShares,
}

/// The step, round, part and plan state that an order belongs to.
#[derive(Clone)]
pub(super) struct StepContext {
    pub(super) spec: PlanStep,
    pub(super) round: u32,
    pub(super) part: AttemptPart,
    pub(super) state: Arc<PlanRun>,
}

impl StepContext {
    /// Returns the tree that the present attempt left, and the tree it started from.
    pub(super) fn left_by(&self, workers: &AgentExecutor) -> (String, String) {
        let step = self.state.step(&self.spec.id);
        let left = step.and_then(|it| Some((it.tree.clone()?, it.base.clone()?)));
        left.unwrap_or_else(|| (workers.base.clone(), workers.base.clone()))
    }
}

impl AgentExecutor {
    pub(super) fn trace(&self) -> TraceId {
        self.chronicle.trace()
    }

    pub(super) fn run(&self) -> RunId {
        self.chronicle.run()
    }

    /// Returns the head of the branch.
    pub(super) fn head(&self) -> Result<String, Failure> {
        let head = self.line.head(&self.branch).map_err(git_failed)?;
        Ok(head.unwrap_or_else(|| self.base.clone()))
    }

    pub(super) fn prover(&self, state: &PlanRun) -> ProjectCheckRunner {
        let named = state.baseline().map(|taken| taken.commands.clone());
        let is_detected = |command: &String| command.starts_with(DETECTED);
        let named = named.unwrap_or_default();
        let commands = if named.iter().any(is_detected) {
            Vec::new()
        } else {
            named
        };
        ProjectCheckRunner::new(&self.house, &self.chronicle, commands)
    }

    /// Opens a checkout, or makes it.
    pub(super) fn checkout(
        &self,
        treeish: &str,
        at: &std::path::Path,
    ) -> Result<Arc<RunTree>, Failure> {
        let git = self.house.workshop.caller.program("git");
        if let Some(git) = git {
            match RunTree::open(&git, at) {
                Ok(tree) => {
                    tree.clear_unfinished().map_err(git_failed)?;
                    return Ok(Arc::new(tree));
                }
                Err(RunTreeError::NotMade { .. }) => {}
                // The process may have been killed while making or removing it.
                Err(_) => done_with(at),
            }
        }
        let share = &self.house.workshop.settings.runs.share.value;
        let tree = self.line.checkout(treeish, at, share);
        Ok(Arc::new(tree.map_err(git_failed)?))
    }

    /// Appends facts to the stream of the piece of work, not to that of the run.
    pub(super) async fn tell(&self, facts: Vec<Fact>) -> Result<(), Failure> {
        let drafts = facts.into_iter().map(|fact| {
            EventDraft::new(
                StreamName::work(self.trace()),
                self.trace(),
                artel_types::Actor::system("plan"),
                fact,
            )
        });
        let batch = artel_journal::EventBatch::of(drafts);
        self.house.journal.append(batch).await?;
        Ok(())
    }

    async fn ordered(
        self: Arc<Self>,
        order: PlanRunOrder,
        state: Arc<PlanRun>,
    ) -> Result<PlanOrderOutcome, Failure> {
        self.let_go_over(&state).await?;
        match order {
            PlanRunOrder::Baseline { given } => self.baseline(given).await,
            PlanRunOrder::Do { step, round, part } => {
                let spec = state.plan().step(&step).cloned();
                let spec = spec.ok_or_else(|| {
                    Failure::new(FailureCode::X001, format!("the plan has no step `{step}`"))
                })?;
                self.hold(&spec).await?;
                let spot = StepContext {
                    spec,
                    round,
                    part,
                    state,
                };
                self.part(spot).await
            }
            PlanRunOrder::Adopt { id } => self.adopt(&id, &state).await,
            PlanRunOrder::Final { round } => self.last_check(round, state).await,
            PlanRunOrder::Mend { round } => self.mend(round, state).await,
            PlanRunOrder::Close { state: end, why } => self.close(end, why, state).await,
            PlanRunOrder::Record(_) | PlanRunOrder::Await(_) => {
                Ok(PlanOrderOutcome::Facts(Vec::new()))
            }
        }
    }

    /// Steers runs below this one.
    async fn steer(&self, runs: Vec<RunId>, steer: &SteeringCommand) -> Result<(), Failure> {
        if runs.is_empty() {
            return Ok(());
        }
        let steered = |run: RunId| {
            let actor = artel_types::Actor::system("plan");
            EventDraft::new(StreamName::run(run), self.trace(), actor, steer.fact()).in_run(run)
        };
        let batch = artel_journal::EventBatch::of(runs.into_iter().map(steered));
        self.house.journal.append(batch).await?;
        Ok(())
    }

    async fn part(self: &Arc<Self>, spot: StepContext) -> Result<PlanOrderOutcome, Failure> {
        match spot.part {
            AttemptPart::Start => self.start(spot).await,
            AttemptPart::Criteria => self.criteria(spot).await,
            AttemptPart::Tests => self.tests(spot).await,
            AttemptPart::Work => self.work(spot).await,
            AttemptPart::Red => self.red(spot).await,
            AttemptPart::Green => self.green(spot).await,
            AttemptPart::Judge(judge) => self.judge(spot, judge).await,
            AttemptPart::Commit => self.commit(spot).await,
            AttemptPart::Advise => self.advise(spot).await,
        }
    }
}

/// Prefix in the baseline of a command that was detected, not named by the person.
pub(super) const DETECTED: &str = "found: ";

impl PlanExecutor for AgentExecutor {
    fn carry_out(
        self: Arc<Self>,
        order: PlanRunOrder,
        state: Arc<PlanRun>,
    ) -> Doing<PlanOrderOutcome> {
        Box::pin(self.ordered(order, state))
    }

    fn call_off(self: Arc<Self>) -> Doing<()> {
        Box::pin(async move {
            let open = self.house.workshop.open_below(self.run())?;
            self.steer(open, &SteeringCommand::Cancel).await
        })
    }

    fn wake(self: Arc<Self>, step: String) -> Doing<()> {
        Box::pin(async move {
            let workshop = &self.house.workshop;
            let mut held = Vec::new();
            for agent in workshop.agents_at(self.run(), &step)? {
                if workshop.state_of(agent)?.is_paused() {
                    held.push(agent);
                }
            }
            self.steer(held, &SteeringCommand::Resume).await
        })
    }
}

/// Makes a failure of a git error, with all its causes.
pub(crate) fn git_failed(error: impl std::error::Error) -> Failure {
    let mut why = Vec::new();
    let mut next = std::error::Error::source(&error);
    while let Some(cause) = next {
        why.push(cause.to_string());
        next = cause.source();
    }
    let failure = Failure::new(FailureCode::W008, error.to_string());
    if why.is_empty() {
        failure
    } else {
        failure.because(why.join(": "))
    }
}

/// Runs blocking disk or process work on a thread where it may wait.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Failure::new(FailureCode::X001, error.to_string())),
    }
}

pub(super) fn facts(facts: impl IntoIterator<Item = Fact>) -> PlanOrderOutcome {
    PlanOrderOutcome::Facts(facts.into_iter().map(RunJournalEntry::shown).collect())
}

/// Returns the name of the branch for work of steps that has passed no check.
pub(crate) fn unfinished_branch(branch: &str) -> String {
    format!("{branch}-unfinished")
}
