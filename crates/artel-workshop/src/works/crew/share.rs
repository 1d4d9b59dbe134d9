//! What the steps under way are expected to take, set aside for them: while one is at work nobody
//! else takes it, and at its end what is left of it goes back.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_model::Context;
use artel_rules::conduct::Conduct;
use artel_types::plan::{PlanStep, StepState};
use artel_types::{Actor, Failure};

use super::Workers;
use crate::works::estimate::amount_of;

/// The steps of which this process knows how it stands with their share.
#[derive(Default)]
pub(crate) struct Shares(Mutex<Known>);

#[derive(Default)]
struct Known {
    open: BTreeSet<String>,
    over: BTreeSet<String>,
}

impl Shares {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Sets aside what a step is expected to take, once.
    pub(super) async fn hold(&self, spec: &PlanStep) -> Result<(), Failure> {
        let is_new = {
            let mut known = self.shares.lock();
            known.over.remove(&spec.id);
            known.open.insert(spec.id.clone())
        };
        if !is_new {
            return Ok(());
        }
        let house = &self.house;
        let by_role = match &house.named {
            Some(named) => Some(named.clone()),
            None => house.model_of_role(&spec.role)?,
        };
        // Without a model nothing can be asked, which whoever asks is told.
        let chosen = house.models.choose(by_role.as_deref()).ok();
        let amount = amount_of(spec, chosen.as_ref());
        let step = self.level_of(&spec.id);
        house.gateway.hold(&step, amount, &self.spender()).await
    }

    /// Gives back what is left for the steps that are over.
    pub(super) async fn let_go_over(&self, state: &Conduct) -> Result<(), Failure> {
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

    /// Gives back what is left for all steps: nobody goes on with them for now.
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

    /// Names a step as budgets do.
    fn level_of(&self, step: &str) -> String {
        format!("{}/{step}", self.run())
    }

    fn spender(&self) -> Context {
        Context {
            trace: self.trace(),
            actor: Actor::system("plan"),
            session: None,
            run: Some(self.run()),
            step_of: None,
        }
    }
}
