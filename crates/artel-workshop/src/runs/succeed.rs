//! Successor runs take over the work of a run whose conversation is used up: with the same
//! instructions, in the same files, with the remaining turns and money.

use std::sync::Arc;

use artel_engine::{Begin, RunHandoverOutcome, RunJournal, RunSuccessor, prepared};
use artel_journal::EventBatch;
use artel_rules::tally::of_run;
use artel_rules::turn::AgentRunEnding;
use artel_types::{
    BudgetLevel, BudgetLimited, Event, EventDraft, EventVisibility, Fact, Failure, FailureCode,
    Money, RecordedInheritance, RunHandedOver, RunId, RunOutcome, RunPrepared, RunStarted,
    SpendAmount, StreamName,
};

use super::child::RunLineage;
use super::house::RunEnvironment;
use super::inheritance::ChildTerms;
use super::order::RunDriveOutcome;
use super::start::ReadyRun;
use crate::caller::random_run;

impl RunEnvironment {
    /// Returns the run that would take over from a run.
    pub(super) fn succession(self: &Arc<Self>, stage: &ReadyRun) -> Result<RunSuccessor, Failure> {
        let house = Arc::clone(self);
        let from = stage.outfit.chronicle.clone();
        let kin = stage.kin.clone();
        let heir = RunLineage {
            parent: Some(from.run()),
            call: Some(RunStarted::HANDOVER.to_owned()),
            root_run: Some(kin.root_run.unwrap_or_else(|| from.run())),
            ground: Some(Arc::clone(&stage.ground)),
            inherits: kin.inherits.for_child(ChildTerms {
                parent: Some(from.run()),
                ..ChildTerms::default()
            }),
            share: None,
            told: None,
            ..kin
        };
        let begin: Arc<Begin> = Arc::new(move |to, left| {
            let (house, from, heir) = (Arc::clone(&house), from.clone(), heir.clone());
            Box::pin(async move { house.succeed(&from, heir, (to, left)).await })
        });
        Ok(RunSuccessor {
            fresh: random_run()?,
            begin,
        })
    }

    /// Starts the successor, or resumes it if it has started, and drives it.
    async fn succeed(
        self: &Arc<Self>,
        from: &RunJournal,
        heir: RunLineage,
        (to, left): (RunId, u32),
    ) -> Result<RunHandoverOutcome, Failure> {
        if self.workshop.started(to).is_err() {
            self.begin_heir(from, to, left).await?;
        }
        followed(self.take_up(to, Some(heir)).await?)
    }

    /// Records the start of the successor. It starts like the first run, apart from its
    /// opening message.
    async fn begin_heir(&self, from: &RunJournal, to: RunId, left: u32) -> Result<(), Failure> {
        let (started, trace) = self.workshop.started(from.run())?;
        let events = from.events()?;
        let (Some(facts), Some(handed)) = (prepared(&events), handed_over(&events)) else {
            let what = "nothing is on record of what was handed over";
            return Err(Failure::new(FailureCode::J001, what).advise("`artel journal verify`"));
        };
        let taken = of_run(&from.own_events()?);
        let cost = facts.cost.map(|cost| {
            let spent = taken.cost.map_or(0, |spent| spent.0);
            Money(cost.0.saturating_sub(spent))
        });
        let calls = u32::try_from(taken.tool_calls).unwrap_or(u32::MAX);
        let facts = RunPrepared {
            system: from.keep(from.text(&facts.system)?)?,
            opening: handed.opening.clone(),
            turns: left,
            cost,
            calls_limit: facts.calls_limit.map(|most| most.saturating_sub(calls)),
            ..facts.clone()
        };
        let begun = RunStarted {
            id: to,
            parent: Some(from.run()),
            call: Some(RunStarted::HANDOVER.to_owned()),
            inherits: started.inherits.map(|inherits| RecordedInheritance {
                privacy: self.privacy(inherits.privacy),
                ..inherits
            }),
            ..started
        };
        let draft = |fact: Fact, visibility| {
            EventDraft::new(StreamName::run(to), trace, self.person(), fact)
                .in_run(to)
                .shown(visibility)
        };
        let mut drafts = vec![
            draft(begun.into(), EventVisibility::Summary),
            draft(facts.into(), EventVisibility::Full),
        ];
        if let Some(cost) = cost {
            let limit = BudgetLimited {
                level: BudgetLevel::Run(to.to_string()),
                limit: SpendAmount::new(artel_rules::budget::UNLIMITED, cost.0),
            };
            drafts.push(draft(limit.into(), EventVisibility::Full));
        }
        self.journal.append(EventBatch::of(drafts)).await?;
        Ok(())
    }
}

/// Returns whether a run has started but done nothing yet.
pub(super) fn is_fresh(events: &[Event]) -> bool {
    let is_beginning = |event: &Event| {
        matches!(
            event.fact,
            Fact::RunStarted(_) | Fact::RunPrepared(_) | Fact::BudgetLimited(_)
        )
    };
    events.iter().all(is_beginning)
}

fn handed_over(events: &[Event]) -> Option<&RunHandedOver> {
    events.iter().find_map(|event| match &event.fact {
        Fact::RunHandedOver(handed) => Some(handed),
        _ => None,
    })
}

/// Converts the outcome of the successor.
fn followed(done: RunDriveOutcome) -> Result<RunHandoverOutcome, Failure> {
    let Some(finished) = done.finished else {
        let lost = || Failure::new(FailureCode::X001, "a run was neither left nor ended");
        return done.left.map(RunHandoverOutcome::Left).ok_or_else(lost);
    };
    let why = || finished.why.clone().unwrap_or_default();
    let state = finished.state.as_deref().and_then(|word| word.parse().ok());
    let ending = match state {
        Some(RunOutcome::Complete) | None => AgentRunEnding::Complete {
            answer: done.answer.unwrap_or_default(),
        },
        Some(RunOutcome::Partial) => AgentRunEnding::Partial {
            why: why(),
            answer: done.answer,
        },
        Some(RunOutcome::Failed) => AgentRunEnding::Failed { why: why() },
        Some(RunOutcome::Cancelled) => AgentRunEnding::Cancelled,
    };
    Ok(RunHandoverOutcome::Over {
        ending,
        objectives: finished.objectives.unwrap_or_default(),
    })
}
