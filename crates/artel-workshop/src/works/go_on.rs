//! Going on with a piece of work from wherever it stands, as far as it goes without a person.

use std::sync::Arc;

use artel_rules::conduct::Rules;
use artel_types::plan::PlanState;
use artel_types::{Failure, RunId, TraceId};

use super::ask::Settled;
use super::carry::Carried;
use super::work::Work;
use crate::runs::{Company, RunDone, Standing};
use crate::workshop::Workshop;

/// What can be done next for a piece of work without anybody's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// It is answered, planned, or planned anew.
    TakeOn,
    /// Its plan is carried out.
    CarryOut,
}

/// How far it went.
#[derive(Debug)]
pub enum Went {
    /// A request was answered, planned, or could not be.
    Settled(Settled),
    /// A plan was carried out, or left on its way.
    Carried(Carried),
    /// A run that belongs to no plan went on.
    Ran(Box<RunDone>),
    /// There is nothing to do that does not need somebody.
    Nothing,
}

impl Workshop {
    /// Says what can be done next.
    pub fn due(&self, work: &Work) -> Result<Option<Due>, Failure> {
        let state = work.course.state();
        Ok(match state {
            Some(PlanState::Approved | PlanState::Running) => Some(Due::CarryOut),
            Some(PlanState::Exploring | PlanState::Drafting) => Some(Due::TakeOn),
            _ if work.course.is_awaiting_architect() => Some(Due::TakeOn),
            None if work.course.request().is_some_and(|it| it.settled.is_none()) => {
                Some(Due::TakeOn)
            }
            Some(state) if state.is_over() && self.is_cut_short(work)? => Some(Due::CarryOut),
            _ => None,
        })
    }

    /// Goes on with a piece of work, with another model than that of its request if one is named.
    /// What was asked for and is done at once is carried out, too.
    pub async fn go_on(
        self: &Arc<Self>,
        trace: TraceId,
        (rules, model): (Rules, Option<&str>),
        company: Company,
    ) -> Result<Went, Failure> {
        let work = self.work(trace)?;
        // Whoever drives it has it; if they leave it, it is found again.
        let drivers = self.drivers_now()?;
        if work
            .course
            .run()
            .is_some_and(|run| drivers.run(run).is_some())
        {
            return Ok(Went::Nothing);
        }
        match self.due(&work)? {
            Some(Due::CarryOut) => self.carried(trace, (rules, model), company).await,
            Some(Due::TakeOn) => match self.take_on(trace, model, company.clone()).await? {
                Settled::AtOnce { .. } => self.carried(trace, (rules, model), company).await,
                settled => Ok(Went::Settled(settled)),
            },
            None => Ok(Went::Nothing),
        }
    }

    /// Goes on with a run that belongs to no plan, with another model if one is named.
    pub async fn go_on_with_run(
        self: &Arc<Self>,
        run: RunId,
        model: Option<&str>,
        company: Company,
    ) -> Result<Went, Failure> {
        let (standing, driver) = self.standing_of(run)?;
        if standing != Standing::Left || driver.is_some() {
            return Ok(Went::Nothing);
        }
        let done = self.resume_run(run, model, company).await?;
        Ok(Went::Ran(Box::new(done)))
    }

    async fn carried(
        self: &Arc<Self>,
        trace: TraceId,
        (rules, model): (Rules, Option<&str>),
        company: Company,
    ) -> Result<Went, Failure> {
        let id = trace.to_string();
        let carried = self.carry_out(&id, rules, model, company).await?;
        Ok(Went::Carried(carried))
    }
}
