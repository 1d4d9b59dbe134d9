//! Lets people steer a run from any process: pause, resume, cancel, hint, answer.

use std::collections::BTreeSet;

use artel_engine::answer_first;
use artel_journal::{EventBatch, Journal, LeaseOwner};
use artel_rules::tally::RunMetricsBuilder;
use artel_types::{
    EventDraft, EventOutcome, Fact, Failure, FailureCode, RunAnswered, RunFinished, RunId,
    RunOutcome, RunSteered, StreamName, TraceId,
};

use super::list::{RecordedRun, RunStatus};
use super::start::LEASE;
use crate::works::already_decided;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// A command from a person to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SteeringCommand {
    /// Start nothing new until resumed.
    Pause,
    Resume,
    /// End the run.
    Cancel,
    /// Pass this text on to the agent.
    Hint(String),
}

/// Where a steering command arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SteeringDelivery {
    /// It is recorded for the process that drives the run, named here. Whether that process
    /// has read it is unknown: it holds a lease but may hang.
    Sent(String),
    /// No process drives the run. The command takes effect when the run is resumed.
    Kept,
    /// No process drove the run, and it is over now.
    Ended,
}

/// A plan step that was steered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeredStep {
    pub title: String,
    pub arrived: SteeringDelivery,
}

impl SteeringDelivery {
    /// Returns the process that drives the run or step. Whether it has read the command is
    /// unknown.
    pub fn into_driver(self) -> Option<String> {
        match self {
            Self::Sent(driver) => Some(driver),
            Self::Kept | Self::Ended => None,
        }
    }
}

impl SteeringCommand {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Hint(_) => "hint",
        }
    }

    /// Describes for people what became of the command. A command that was sent is not
    /// described as read.
    pub fn told(&self, run: RunId, steered: &SteeringDelivery) -> String {
        let (word, short) = (self.word(), run.short());
        let then = match self {
            Self::Pause => "pause",
            Self::Resume => "go on",
            Self::Cancel => "end",
            Self::Hint(_) => "be given your hint",
        };
        match steered {
            SteeringDelivery::Sent(driver) => self.told_sent(driver, &short),
            SteeringDelivery::Kept => format!(
                "{word} saved: {short} is not running. It will {then} when you run \
                 `artel resume {short}`."
            ),
            SteeringDelivery::Ended => format!("{short} was not running; it is cancelled now"),
        }
    }

    /// Describes for people what became of a command about one plan step.
    pub fn told_of_step(&self, trace: TraceId, steered: &SteeredStep) -> String {
        let (word, short, title) = (self.word(), trace.short(), &steered.title);
        let then = match (self, &steered.arrived) {
            (_, SteeringDelivery::Sent(driver)) => {
                return self.told_sent(driver, &format!("`{title}`"));
            }
            (Self::Cancel, _) => {
                return format!("nobody is carrying the plan out; `{title}` is cancelled now");
            }
            (Self::Pause, _) => "stay paused",
            (Self::Resume | Self::Hint(_), _) => "go on",
        };
        format!(
            "{word} saved: nobody is carrying the plan out. `{title}` will {then} when you run \
             `artel resume {short}`."
        )
    }

    fn told_sent(&self, driver: &str, whom: &str) -> String {
        let word = self.word();
        let effect = match self {
            Self::Pause => "begins nothing new",
            Self::Resume => "goes on",
            Self::Cancel => "ends",
            Self::Hint(_) => "is given your hint before its next turn",
        };
        format!("{word} sent to {driver}; {whom} {effect} once it has been read")
    }

    pub(crate) fn fact(&self) -> RunSteered {
        let text = match self {
            Self::Hint(text) => text.clone(),
            _ => String::new(),
        };
        RunSteered {
            act: self.word().to_owned(),
            text,
        }
    }
}

impl Workshop {
    /// Steers a run, whichever process drives it. Its child runs are steered too, except that
    /// a hint goes only to the run that does the work. For a plan run, all agents at its steps
    /// get the hint now, and later agents get it when they start.
    pub async fn steer_run(
        &self,
        run: RunId,
        steer: &SteeringCommand,
    ) -> Result<OutcomeWithNotes<SteeringDelivery>, Failure> {
        let state = self.state_of(run)?;
        refuse_over(&state)?;
        if let SteeringCommand::Hint(text) = steer {
            self.refuse_secret_in(text)?;
        }
        let is_paused = state.is_paused();
        match steer {
            SteeringCommand::Pause if is_paused => {
                return Err(already(&state, "is paused already"));
            }
            SteeringCommand::Pause if state.driver.is_none() => {
                return Err(already(&state, "is not running"));
            }
            SteeringCommand::Resume if !is_paused => return Err(already(&state, "is not paused")),
            SteeringCommand::Resume => self.refuse_held(run)?,
            _ => {}
        }
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let mut runs = vec![run];
        match steer {
            SteeringCommand::Hint(_) if state.started.plan.is_some() => {
                runs.extend(self.at_steps(run)?)
            }
            SteeringCommand::Hint(_) => runs = vec![self.at_work(run)?],
            SteeringCommand::Cancel => runs.extend(self.open_below(run)?),
            SteeringCommand::Pause | SteeringCommand::Resume => {
                runs.extend(self.concerned(&state, steer)?)
            }
        }
        let drafts = runs
            .iter()
            .map(|run| self.steering(*run, state.trace, steer.fact()));
        journal.append(EventBatch::of(drafts)).await?;
        let done = match (&state.driver, steer) {
            (Some(driver), _) => SteeringDelivery::Sent(driver.clone()),
            (None, SteeringCommand::Cancel) => match self.end_all_left(&journal, runs).await {
                Ok(()) => SteeringDelivery::Ended,
                // Another process has just resumed the run, and will find the cancellation on
                // record.
                Err(failure) if failure.code == FailureCode::J011 => {
                    let driver = self.state_of(run)?.driver;
                    driver.map_or(SteeringDelivery::Ended, SteeringDelivery::Sent)
                }
                Err(failure) => return Err(failure),
            },
            (None, _) => SteeringDelivery::Kept,
        };
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Returns the runs below a run that are paused or resumed with it. Runs that were paused
    /// earlier stay paused, and so do runs whose step is held: those are separate decisions.
    fn concerned(
        &self,
        above: &RecordedRun,
        steer: &SteeringCommand,
    ) -> Result<Vec<RunId>, Failure> {
        let below = self.open_below(above.started.id)?;
        let mut concerned = Vec::new();
        for run in below {
            let paused = self.state_of(run)?.paused_at();
            let is_concerned = match steer {
                SteeringCommand::Resume => paused.is_some() && paused > above.paused_at(),
                _ => paused.is_none(),
            };
            concerned.extend(is_concerned.then_some(run));
        }
        if *steer == SteeringCommand::Resume
            && let Ok(work) = self.work(above.trace)
        {
            let held = self.held_agents(&work, above.started.id)?;
            concerned.retain(|run| !held.contains(run));
        }
        Ok(concerned)
    }

    /// Ends runs that no process drives, child runs first.
    async fn end_all_left(&self, journal: &Journal, runs: Vec<RunId>) -> Result<(), Failure> {
        for run in runs.into_iter().rev() {
            self.end_left(journal, run).await?;
        }
        Ok(())
    }

    /// Records that a person stopped the process that drove a run. The run stays paused until
    /// a person resumes it, and is not mistaken for one whose process died. A run that another
    /// process drives continues.
    pub async fn rest_run(&self, run: RunId) -> Result<(), Failure> {
        // A run that has not started need not be paused.
        if self.started(run).is_err() {
            return Ok(());
        }
        let state = self.state_of(run)?;
        if state.is_paused() || state.driver.is_some() || state.finished().is_some() {
            return Ok(());
        }
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let paused = self.steering(run, state.trace, SteeringCommand::Pause.fact());
        journal.append(EventBatch::of([paused])).await?;
        Ok(())
    }

    /// Pauses all open runs of a piece of work, like [`Self::rest_run`].
    pub async fn rest_work(&self, trace: TraceId) -> Result<(), Failure> {
        for run in self.open_runs(&self.work(trace)?)? {
            self.rest_run(run).await?;
        }
        Ok(())
    }

    /// Records that a piece of work that a person stopped continues. Returns notes for the
    /// person.
    pub async fn wake_work(&self, trace: TraceId) -> Result<Vec<String>, Failure> {
        let mut notes = Vec::new();
        for run in self.open_runs(&self.work(trace)?)? {
            if self.state_of(run)?.is_paused() {
                notes.extend(self.steer_run(run, &SteeringCommand::Resume).await?.notes);
            }
        }
        Ok(notes)
    }

    /// Returns whether a person stopped a piece of work and no process drives it.
    pub fn is_resting(&self, trace: TraceId) -> Result<bool, Failure> {
        for run in self.open_runs(&self.work(trace)?)? {
            let state = self.state_of(run)?;
            if state.is_paused() && state.driver.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Answers the open question of a run, unless somebody else answered first.
    pub fn answer_run(
        &self,
        run: RunId,
        answer: &str,
    ) -> Result<OutcomeWithNotes<SteeringDelivery>, Failure> {
        let run = self.at_work(run)?;
        let state = self.state_of(run)?;
        refuse_over(&state)?;
        let (seq, asked) = state
            .question_at()
            .ok_or_else(|| already(&state, "has no open question"))?;
        if !asked.choices.is_empty() && !asked.choices.iter().any(|choice| choice == answer) {
            let choices = asked.choices.join(", ");
            return Err(
                Failure::new(FailureCode::C004, format!("`{answer}` is no answer to it"))
                    .because(format!("it asks: {}", asked.text))
                    .advise(format!("answer one of: {choices}")),
            );
        }
        self.refuse_secret_in(answer)?;
        let answered = RunAnswered {
            question: asked.question.clone(),
            answer: answer.to_owned(),
        };
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let draft = self.steering(run, state.trace, answered);
        if let Some(first) = answer_first(&journal, run, seq, draft)? {
            return Err(already_decided(&first, run));
        }
        let done = state
            .driver
            .clone()
            .map_or(SteeringDelivery::Kept, SteeringDelivery::Sent);
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Returns the status of a run and the process that drives it.
    pub fn standing_of(&self, run: RunId) -> Result<(RunStatus, Option<String>), Failure> {
        let state = self.state_of(run)?;
        Ok((state.standing(), state.driver.clone()))
    }

    /// Returns the latest successor of a run, or the run itself if it has none.
    fn at_work(&self, run: RunId) -> Result<RunId, Failure> {
        let handed = |run| -> Result<Option<RunId>, Failure> {
            let state = self.state_of(run)?;
            Ok(state.events.iter().find_map(|event| match &event.fact {
                Fact::RunHandedOver(handed) => Some(handed.to),
                _ => None,
            }))
        };
        let mut last = run;
        while let Some(heir) = handed(last)? {
            // The successor may not have started yet.
            if self.started(heir).is_err() {
                break;
            }
            last = heir;
        }
        Ok(last)
    }

    /// Returns the runs at work on the steps of a plan run.
    fn at_steps(&self, run: RunId) -> Result<BTreeSet<RunId>, Failure> {
        let mut runs = BTreeSet::new();
        for open in self.open_below(run)? {
            let (started, _) = self.started(open)?;
            if started.parent == Some(run) {
                runs.insert(self.at_work(open)?);
            }
        }
        Ok(runs)
    }

    pub(crate) fn steering(&self, run: RunId, trace: TraceId, fact: impl Into<Fact>) -> EventDraft {
        EventDraft::new(StreamName::run(run), trace, self.caller.actor(), fact).in_run(run)
    }

    /// Cancels a run that no process drives. Its changes stay in its tree.
    pub(crate) async fn end_left(&self, journal: &Journal, run: RunId) -> Result<(), Failure> {
        let how = (RunOutcome::Cancelled, "it was cancelled");
        self.end_as(journal, run, how).await
    }

    /// Ends a run that will not be resumed as failed, with the reason.
    pub(crate) async fn fail_left(
        &self,
        journal: &Journal,
        run: RunId,
        why: &str,
    ) -> Result<(), Failure> {
        for below in self.open_below(run)?.into_iter().rev() {
            self.end_as(journal, below, (RunOutcome::Failed, why))
                .await?;
        }
        self.end_as(journal, run, (RunOutcome::Failed, why)).await
    }

    async fn end_as(
        &self,
        journal: &Journal,
        run: RunId,
        (ending, why): (RunOutcome, &str),
    ) -> Result<(), Failure> {
        let (command, outcome) = match ending {
            RunOutcome::Cancelled => ("artel cancel", EventOutcome::Cancelled),
            _ => ("artel run", EventOutcome::Failed),
        };
        let owner = LeaseOwner::this_process(command);
        let name = StreamName::run(run).to_string();
        let lease = journal.take_lease(&name, owner, LEASE).await?;
        let state = self.state_of(run)?;
        if state.finished().is_none() {
            let mut tally = RunMetricsBuilder::default();
            state.events.iter().for_each(|event| tally.fold(event));
            let changed = self.left_changes(run);
            let finished = RunFinished {
                state: Some(ending.to_string()),
                why: Some(why.to_owned()),
                changed: Some(changed).filter(|changed| !changed.is_empty()),
                metrics: Some(tally.metrics(Some(ending))),
                ..RunFinished::new(run, why)
            };
            let draft = self.steering(run, state.trace, finished).ending(outcome);
            journal
                .append(EventBatch::of([draft]).fenced(&lease.fence))
                .await?;
        }
        journal.release_lease(&lease.fence).await?;
        Ok(())
    }
}

/// Fails if the run is over and cannot be steered any more.
pub(crate) fn refuse_over(state: &RecordedRun) -> Result<(), Failure> {
    let standing = state.standing();
    if !standing.is_over() {
        return Ok(());
    }
    let run = state.started.id.short();
    Err(already(state, &format!("is over: {}", standing.words()))
        .advise(format!("`artel trace {run}` shows what happened")))
}

/// Fails if the run is not over, because its files must not be touched yet.
pub(crate) fn refuse_running(state: &RecordedRun) -> Result<(), Failure> {
    let standing = state.standing();
    if standing.is_over() {
        return Ok(());
    }
    Err(already(
        state,
        &format!("is not over: {}", standing.words()),
    ))
}

fn already(state: &RecordedRun, what: &str) -> Failure {
    let run = state.started.id.short();
    let advice = match state.standing() {
        RunStatus::Left | RunStatus::Paused | RunStatus::Waiting => {
            format!("`artel resume {run}` goes on with it")
        }
        _ => "`artel runs` shows how runs stand".to_owned(),
    };
    Failure::new(FailureCode::R008, format!("the run {run} {what}")).advise(advice)
}
