//! Advances a piece of work from its present state, as far as possible without a person.

use std::sync::Arc;

use artel_rules::conduct::PlanRunRules;
use artel_types::plan::PlanState;
use artel_types::{Failure, RunId, TraceId};

use super::ask::RequestOutcome;
use super::carry::PlanRunOutcome;
use super::work::Work;
use crate::runs::{RunDriveOutcome, RunObservers, RunStatus};
use crate::workshop::Workshop;

/// The next action for a piece of work that needs no decision of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextWorkAction {
    /// Answer it, plan it, or revise its plan.
    TakeOn,
    /// Carry out its plan.
    CarryOut,
}

/// The progress that was made.
#[derive(Debug)]
pub enum WorkAdvanceOutcome {
    /// A request was answered or planned, or it failed.
    Settled(RequestOutcome),
    /// A plan was carried out or left unfinished.
    Carried(PlanRunOutcome),
    /// A run outside any plan was continued.
    Ran(Box<RunDriveOutcome>),
    /// No action was possible without a person or the present driver.
    Nothing,
}

impl Workshop {
    /// Returns the next action that needs no decision, if there is one.
    pub fn due(&self, work: &Work) -> Result<Option<NextWorkAction>, Failure> {
        let state = work.course.state();
        Ok(match state {
            Some(PlanState::Approved | PlanState::Running) => Some(NextWorkAction::CarryOut),
            Some(PlanState::Exploring | PlanState::Drafting) => Some(NextWorkAction::TakeOn),
            _ if work.course.is_awaiting_architect() => Some(NextWorkAction::TakeOn),
            None if work.course.request().is_some_and(|it| it.settled.is_none()) => {
                Some(NextWorkAction::TakeOn)
            }
            Some(state) if state.is_over() && self.is_cut_short(work)? => {
                Some(NextWorkAction::CarryOut)
            }
            _ => None,
        })
    }

    /// Advances a piece of work, with the named model if there is one, else with that of its
    /// request. A request that is carried out at once gets its plan carried out, too.
    pub async fn go_on(
        self: &Arc<Self>,
        trace: TraceId,
        (rules, model): (PlanRunRules, Option<&str>),
        company: RunObservers,
    ) -> Result<WorkAdvanceOutcome, Failure> {
        let work = self.work(trace)?;
        // The process that drives the run has it. If it leaves the run, the work is found again.
        let drivers = self.drivers_now()?;
        if work
            .course
            .run()
            .is_some_and(|run| drivers.run(run).is_some())
        {
            return Ok(WorkAdvanceOutcome::Nothing);
        }
        match self.due(&work)? {
            Some(NextWorkAction::CarryOut) => self.carried(trace, (rules, model), company).await,
            Some(NextWorkAction::TakeOn) => match self
                .take_on(trace, model, company.clone())
                .await?
            {
                RequestOutcome::AtOnce { .. } => self.carried(trace, (rules, model), company).await,
                settled => Ok(WorkAdvanceOutcome::Settled(settled)),
            },
            None => Ok(WorkAdvanceOutcome::Nothing),
        }
    }

    /// Continues a run that belongs to no plan, with the named model if there is one.
    pub async fn go_on_with_run(
        self: &Arc<Self>,
        run: RunId,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<WorkAdvanceOutcome, Failure> {
        let (standing, driver) = self.standing_of(run)?;
        if standing != RunStatus::Left || driver.is_some() {
            return Ok(WorkAdvanceOutcome::Nothing);
        }
        let done = self.resume_run(run, model, company).await?;
        Ok(WorkAdvanceOutcome::Ran(Box::new(done)))
    }

    async fn carried(
        self: &Arc<Self>,
        trace: TraceId,
        (rules, model): (PlanRunRules, Option<&str>),
        company: RunObservers,
    ) -> Result<WorkAdvanceOutcome, Failure> {
        let id = trace.to_string();
        let carried = self.carry_out(&id, rules, model, company).await?;
        Ok(WorkAdvanceOutcome::Carried(carried))
    }
}
