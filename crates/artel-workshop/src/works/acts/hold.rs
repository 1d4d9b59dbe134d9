//! Pauses, resumes or cancels one step of a plan. The other steps are not affected.

use artel_journal::{EventBatch, Journal};
use artel_rules::conduct::StepRun;
use artel_types::plan::PlanStep;
use artel_types::{Fact, Failure, FailureCode, RunId, StepSettled, StepSteered};

use super::LOOKING;
use super::steps::step_named;
use crate::runs::{SteeredStep, SteeringCommand, SteeringDelivery};
use crate::works::work::Work;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

impl Workshop {
    /// Pauses, resumes or cancels a step, together with the agents that work on it.
    pub async fn steer_step(
        &self,
        work: &Work,
        step: &str,
        steer: &SteeringCommand,
        why: Option<&str>,
    ) -> Result<OutcomeWithNotes<SteeredStep>, Failure> {
        self.refuse_secret_in(why.unwrap_or_default())?;
        let (run, conduct) = self.under_way(work)?;
        let spec = step_named(&conduct, step)?.clone();
        let stands = conduct.step(&spec.id).cloned().unwrap_or_default();
        refuse_out_of_place(work, &spec, &stands, steer)?;
        let mut facts: Vec<Fact> = match steer {
            SteeringCommand::Cancel => {
                let why = why.map(str::trim).filter(|why| !why.is_empty());
                let settled = StepSettled {
                    step: spec.id.clone(),
                    state: "cancelled".to_owned(),
                    why: why.unwrap_or("a person ended it").to_owned(),
                };
                vec![settled.into()]
            }
            _ => vec![
                StepSteered {
                    step: spec.id.clone(),
                    act: steer.word().to_owned(),
                }
                .into(),
            ],
        };
        if *steer == SteeringCommand::Cancel {
            facts.extend(self.answers_of(run, &spec.id, "cancelled")?);
        }
        let (_, driver) = self.standing_of(run)?;
        let agents = match (steer, &driver) {
            // The run's driver wakes the agents, once there is room for the step.
            (SteeringCommand::Resume, Some(_)) => Vec::new(),
            _ => self.agents_at(run, &spec.id)?,
        };
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let own = facts
            .into_iter()
            .map(|fact| self.steering(run, work.trace, fact));
        let theirs = agents
            .iter()
            .map(|agent| self.steering(*agent, work.trace, steer.fact()));
        journal.append(EventBatch::of(own.chain(theirs))).await?;
        let arrived = match driver {
            Some(driver) => SteeringDelivery::Sent(driver),
            None => {
                if *steer == SteeringCommand::Cancel {
                    self.end_agents(&journal, agents).await?;
                }
                // Another process may have taken up the run just now.
                let (_, driver) = self.standing_of(run)?;
                driver.map_or(SteeringDelivery::Kept, SteeringDelivery::Sent)
            }
        };
        self.refresh_sheets(work.trace, LOOKING);
        Ok(OutcomeWithNotes {
            done: SteeredStep {
                title: spec.title,
                arrived,
            },
            notes,
        })
    }

    /// Ends the agents of a step that no process drives. The agents called last end first.
    async fn end_agents(&self, journal: &Journal, agents: Vec<RunId>) -> Result<(), Failure> {
        for agent in agents.into_iter().rev() {
            match self.end_left(journal, agent).await {
                // Another process took up the agent just now and finds the cancellation on record.
                Err(failure) if failure.code == FailureCode::J011 => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Returns the agents below a plan's run whose steps a person has paused.
    pub(crate) fn held_agents(&self, work: &Work, run: RunId) -> Result<Vec<RunId>, Failure> {
        let mut held = Vec::new();
        if work.course.run() == Some(run)
            && let Some(conduct) = self.conduct_of(work, LOOKING)?
        {
            for step in conduct.paused_steps() {
                held.extend(self.agents_at(run, &step.id)?);
            }
        }
        Ok(held)
    }

    /// Refuses to resume an agent on its own while its step is paused.
    pub(crate) fn refuse_held(&self, run: RunId) -> Result<(), Failure> {
        let Ok(work) = self.work(self.trace_of_run(run)?) else {
            return Ok(());
        };
        let Some(plan) = work.course.run().filter(|plan| *plan != run) else {
            return Ok(());
        };
        let Some(conduct) = self.conduct_of(&work, LOOKING)? else {
            return Ok(());
        };
        for step in conduct.paused_steps() {
            if self.agents_at(plan, &step.id)?.contains(&run) {
                let (title, short) = (&step.title, work.trace.short());
                let number = conduct.plan().number(&step.id).unwrap_or(0);
                let what = format!("the step `{title}` is paused, and with it whoever is at it");
                return Err(Failure::new(FailureCode::R008, what)
                    .advise(format!("`artel plan resume {short} {number}`")));
            }
        }
        Ok(())
    }

    /// Returns the open runs that work on a step, and the runs that they called.
    pub(crate) fn agents_at(&self, run: RunId, step: &str) -> Result<Vec<RunId>, Failure> {
        let open = self.open_below(run)?.into_iter();
        let open: Result<Vec<_>, _> = open
            .map(|it| Ok::<_, Failure>(self.started(it)?.0))
            .collect();
        let open = open?;
        let mut agents: Vec<RunId> = Vec::new();
        loop {
            let more = open.iter().find(|it| {
                let is_called = it.parent.is_some_and(|parent| agents.contains(&parent));
                let is_at_work = it.step.as_deref() == Some(step) || is_called;
                is_at_work && !agents.contains(&it.id)
            });
            match more {
                Some(more) => agents.push(more.id),
                None => return Ok(agents),
            }
        }
    }
}

fn refuse_out_of_place(
    work: &Work,
    spec: &PlanStep,
    stands: &StepRun,
    steer: &SteeringCommand,
) -> Result<(), Failure> {
    let why = match steer {
        _ if stands.is_over() => format!("it is {} already", stands.state),
        SteeringCommand::Pause if stands.is_paused => "it is paused already".to_owned(),
        SteeringCommand::Resume if !stands.is_paused => "it is not paused".to_owned(),
        _ => return Ok(()),
    };
    let title = &spec.title;
    let what = format!("`{title}` cannot be steered like that");
    Err(Failure::new(FailureCode::R008, what)
        .because(why)
        .advise(format!("`artel plan show {}`", work.trace.short())))
}
