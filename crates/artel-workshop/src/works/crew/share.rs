//! Budget set aside for the steps under way. While a step is at work, no other spender can
//! use the budget it is expected to need. At its end, the rest is returned. The most that
//! a step may cost is a separate limit, and a step that needs more asks for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_engine::RunJournalEntry;
use artel_model::ModelCallContext;
use artel_rules::budget::UNLIMITED;
use artel_rules::conduct::PlanRun;
use artel_rules::plan::{check, widened};
use artel_types::plan::{PlanStep, StepState};
use artel_types::{
    Actor, BudgetLevel, BudgetLimited, Fact, Failure, FailureCode, Money, SpendAmount,
};

use super::{AgentExecutor, StepContext};
use crate::runs::RunDriveOutcome;
use crate::works::estimate::amount_of;
use crate::works::propose::{ProposalText, proposed};

/// The steps whose share this process knows about.
#[derive(Default)]
pub(crate) struct StepBudgetShares(Mutex<StepBudgetState>);

#[derive(Default)]
struct StepBudgetState {
    open: BTreeSet<String>,
    over: BTreeSet<String>,
    /// The recorded cost limits of the steps.
    limits: BTreeMap<String, u64>,
}

impl StepBudgetShares {
    fn lock(&self) -> MutexGuard<'_, StepBudgetState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentExecutor {
    /// Sets aside the expected usage of a step, once, and limits its cost to what the plan
    /// says.
    pub(super) async fn hold(&self, spec: &PlanStep) -> Result<(), Failure> {
        self.limit(spec).await?;
        let is_new = {
            let mut known = self.shares.lock();
            known.over.remove(&spec.id);
            known.open.insert(spec.id.clone())
        };
        if !is_new {
            return Ok(());
        }
        let amount = self.expected(spec)?;
        let step = self.level_of(&spec.id);
        let gateway = &self.house.gateway;
        gateway.hold(&step, amount, &self.spender()).await
    }

    /// Returns the expected usage of a step.
    fn expected(&self, spec: &PlanStep) -> Result<SpendAmount, Failure> {
        let house = &self.house;
        let by_role = match &house.named {
            Some(named) => Some(named.clone()),
            None => house.model_of_role(&spec.role)?,
        };
        // Without a model no call is possible, and the caller of the model gets that error.
        let chosen = house.models.choose(by_role.as_deref()).ok();
        Ok(amount_of(spec, chosen.as_ref()))
    }

    /// Records the cost limit of a step if it differs from the recorded one.
    async fn limit(&self, spec: &PlanStep) -> Result<(), Failure> {
        let cost = spec.scope.cost().map_or(UNLIMITED, |cost| cost.0);
        if self.shares.lock().limits.get(&spec.id) == Some(&cost) {
            return Ok(());
        }
        let level = BudgetLevel::Step(self.level_of(&spec.id));
        let events = self.chronicle.own_events()?;
        let last = events.iter().rev().find_map(|event| match &event.fact {
            Fact::BudgetLimited(it) if it.level == level => Some(it.limit.money.0),
            _ => None,
        });
        if cost != last.unwrap_or(UNLIMITED) {
            let limit = BudgetLimited {
                level,
                limit: SpendAmount::new(UNLIMITED, cost),
            };
            self.chronicle
                .append(vec![RunJournalEntry::quiet(limit)])
                .await?;
        }
        self.shares.lock().limits.insert(spec.id.clone(), cost);
        Ok(())
    }

    /// Proposes a higher limit to the person if the money of a step did not suffice.
    pub(super) fn short_of_money(
        &self,
        spot: &StepContext,
        done: &RunDriveOutcome,
    ) -> Result<Option<Fact>, Failure> {
        let why = done.finished.as_ref().and_then(|it| it.why.as_deref());
        let why = why.unwrap_or_default();
        let level = BudgetLevel::Step(self.level_of(&spot.spec.id));
        let (true, Some(cost)) = (why.contains(&level.to_string()), spot.spec.scope.cost_usd)
        else {
            return Ok(None);
        };
        let mut step = spot.spec.clone();
        step.scope.cost_usd = Some(more_than(cost, self.expected(&spot.spec)?.money));
        let words = ProposalText {
            id: format!("{}-{}-{}-cost", step.id, spot.round, spot.part.as_str()),
            what: widened(&spot.spec, &step).join("; "),
            why: format!(
                "what the plan lets it cost does not suffice for the next call: {}",
                why.lines().nth(1).unwrap_or(why).trim()
            ),
            impact: "the step goes on with the files as they are".to_owned(),
        };
        if self.is_turned_down(&words, &step.id)? {
            return Ok(None);
        }
        let known = self.house.workshop.known();
        let fact = proposed(
            spot.state.plan(),
            step,
            Vec::new(),
            |next| check(next, &known),
            words,
        );
        let fact = fact.map_err(|why| Failure::new(FailureCode::X001, why))?;
        Ok(Some(fact.into()))
    }

    /// Releases the remaining budget of the steps that are over.
    pub(super) async fn let_go_over(&self, state: &PlanRun) -> Result<(), Failure> {
        let is_over = |step: StepState| {
            matches!(
                step,
                StepState::Done | StepState::Failed | StepState::Skipped
            )
        };
        let over = state.steps().filter(|(_, step)| is_over(step.state));
        let over: Vec<String> = over.map(|(spec, _)| spec.id.clone()).collect();
        for step in over {
            let is_known = {
                let mut known = self.shares.lock();
                known.open.remove(&step);
                !known.over.insert(step.clone())
            };
            if !is_known {
                self.let_go(&step).await?;
            }
        }
        Ok(())
    }

    /// Releases the remaining budget of all steps, since none continues for now.
    pub(crate) async fn let_go_all(&self) -> Result<(), Failure> {
        let open = std::mem::take(&mut self.shares.lock().open);
        for step in open {
            self.let_go(&step).await?;
        }
        Ok(())
    }

    async fn let_go(&self, step: &str) -> Result<(), Failure> {
        let step = self.level_of(step);
        self.house.gateway.let_go(&step, &self.spender()).await
    }

    /// Returns the name that budgets use for a step.
    fn level_of(&self, step: &str) -> String {
        format!("{}/{step}", self.run())
    }

    fn spender(&self) -> ModelCallContext {
        ModelCallContext {
            trace: self.trace(),
            actor: Actor::system("plan"),
            session: None,
            run: Some(self.run()),
            above: Vec::new(),
            step: None,
        }
    }
}

/// Returns a sum that should suffice for a step: twice its limit, or its limit plus the
/// expected cost, whichever is more.
#[expect(
    clippy::cast_precision_loss,
    reason = "sums that a plan can name are far below what a double holds"
)]
fn more_than(dollars: f64, expected: Money) -> f64 {
    let expected = expected.0 as f64 / 1e6;
    let more = (dollars * 2.0).max(dollars + expected).max(0.01);
    // Rounded up to whole cents, since a person reads it.
    (more * 100.0).ceil() / 100.0
}
