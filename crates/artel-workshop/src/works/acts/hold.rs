//! Holding one step of a plan, letting it go on, ending it: the others are not touched.

use artel_journal::Batch;
use artel_rules::conduct::Step;
use artel_types::plan::PlanStep;
use artel_types::{Code, Fact, Failure, RunId, StepSettled, StepSteered};

use super::LOOKING;
use super::steps::step_named;
use crate::runs::{Steer, Steered};
use crate::works::work::Work;
use crate::workshop::{Noted, Open, Workshop};

impl Workshop {
    /// Holds a step, lets it go on, or ends it, and with it whoever is at work on it. Returns its
    /// title, and where that arrived.
    pub async fn steer_step(
        &self,
        work: &Work,
        step: &str,
        steer: &Steer,
        why: Option<&str>,
    ) -> Result<Noted<(String, Steered)>, Failure> {
        let (run, conduct) = self.under_way(work)?;
        let spec = step_named(&conduct, step)?.clone();
        let stands = conduct.step(&spec.id).cloned().unwrap_or_default();
        refuse_out_of_place(work, &spec, &stands, steer)?;
        let mut facts: Vec<Fact> = match steer {
            Steer::Cancel => {
                let why = why.map(str::trim).filter(|why| !why.is_empty());
                let settled = StepSettled {
                    step: spec.id.clone(),
                    state: "cancelled".to_owned(),
                    why: self
                        .redactor()
                        .redact(why.unwrap_or("a person ended it"))
                        .into_owned(),
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
        if *steer == Steer::Cancel {
            facts.extend(self.answers_of(run, &spec.id, "cancelled")?);
        }
        let (_, driver) = self.standing_of(run)?;
        let agents = self.agents_at(run, &spec.id)?;
        let Open { journal, notes } = self.open()?;
        let own = facts
            .into_iter()
            .map(|fact| self.steering(run, work.trace, fact));
        let theirs = agents
            .iter()
            .map(|agent| self.steering(*agent, work.trace, steer.fact()));
        journal.append(Batch::of(own.chain(theirs))).await?;
        let steered = match driver {
            Some(driver) => Steered::Heard(driver),
            None => {
                if *steer == Steer::Cancel {
                    for agent in agents.into_iter().rev() {
                        self.end_left(&journal, agent).await?;
                    }
                }
                Steered::Kept
            }
        };
        self.refresh_sheets(work.trace, LOOKING);
        Ok(Noted {
            done: (spec.title, steered),
            notes,
        })
    }

    /// Returns the runs that are at work on a step, with those that they called.
    fn agents_at(&self, run: RunId, step: &str) -> Result<Vec<RunId>, Failure> {
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
    stands: &Step,
    steer: &Steer,
) -> Result<(), Failure> {
    let why = match steer {
        _ if stands.is_over() => format!("it is {} already", stands.state),
        Steer::Pause if stands.is_paused => "it is paused already".to_owned(),
        Steer::Resume if !stands.is_paused => "it is not paused".to_owned(),
        _ => return Ok(()),
    };
    let title = &spec.title;
    let what = format!("`{title}` cannot be steered like that");
    Err(Failure::new(Code::R008, what)
        .because(why)
        .advise(format!("`artel plan show {}`", work.trace.short())))
}
