//! Resumes runs that another process left.

use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::{
    RunJournal, RunStartKind, RunSuspendReason, RunToolEnvironment, RunTreeHandle, TurnAllowance,
    fold, prepared, settle,
};
use artel_journal::{EventFilter, EventQuery, LeaseFence, TraceLookupKey};
use artel_skills::{Skill, SkillAgentKind, SkillOrigin, SkillSizeEnforcement};
use artel_types::{
    Actor, Event, Fact, Failure, FailureCode, RunFinished, RunId, RunPrepared, RunStarted, TraceId,
    TreeMade,
};

use super::child::{DEFAULT_ROLE, RunLineage};
use super::furnish::bound_of_skill;
use super::house::{RunEnvironment, RunObservers};
use super::inheritance::RunInheritance;
use super::order::RunDriveOutcome;
use super::start::LAST_REST;
use super::succeed::is_fresh;
use crate::workshop::Workshop;

impl Workshop {
    /// Goes on with a run from its last event, after whoever drives it now.
    pub async fn resume_run(
        self: &Arc<Self>,
        run: RunId,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<RunDriveOutcome, Failure> {
        let (started, trace) = self.started(run)?;
        let folder = started.folder.clone().map(PathBuf::from);
        let folder = self.run_folder(folder.as_deref())?;
        let mut patience = self.patience(&folder).until(&company.stop);
        loop {
            if let Some(left) = self.attend(trace, run, &company).await?.left() {
                return Ok(RunDriveOutcome::left(run, trace, left));
            }
            let house = RunEnvironment::open(self, &folder, model, company.clone()).await?;
            let done = house.take_up_in_turn(run).await;
            house.gateway.rest(LAST_REST).await;
            match done {
                Err(failure) if patience.again(&failure).await => {}
                done => return done.inspect(|done| self.tidy_run(done)),
            }
        }
    }

    /// Returns the run whose id starts with the given text, or the latest run of the piece of
    /// work whose id does.
    pub fn run_named(&self, id: &str) -> Result<RunId, Failure> {
        let prefix = id.to_ascii_lowercase();
        let is_plain = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        if prefix.is_empty() || !prefix.chars().all(is_plain) {
            return Err(no_such_run(id));
        }
        let filter = EventFilter {
            run: Some(prefix.clone()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        let found = self.reader()?.records(&EventQuery::of(filter).limit(6))?;
        let runs: Vec<_> = found
            .iter()
            .filter_map(|record| record.run.clone())
            .collect();
        match runs.as_slice() {
            [] => self.run_of_work(&prefix)?.ok_or_else(|| no_such_run(id)),
            [only] => only.parse().map_err(|_| no_such_run(id)),
            several => Err(
                Failure::new(FailureCode::W006, format!("`{id}` is not unique"))
                    .because(format!("it could be {}", several.join(", ")))
                    .advise("type more characters"),
            ),
        }
    }

    /// Returns the latest top-level run of a piece of work.
    fn run_of_work(&self, prefix: &str) -> Result<Option<RunId>, Failure> {
        let reader = self.reader()?;
        let [trace] = &reader.traces(TraceLookupKey::Trace, prefix, 2)?[..] else {
            return Ok(None);
        };
        let filter = EventFilter {
            trace: Some(trace.clone()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        let mut latest = None;
        for record in reader.records(&EventQuery::of(filter))? {
            if let Fact::RunStarted(started) = record.event()?.fact
                && started.parent.is_none()
            {
                latest = Some(started.id);
            }
        }
        Ok(latest)
    }

    /// Returns the start fact of a run and its trace.
    pub(crate) fn started(&self, run: RunId) -> Result<(RunStarted, TraceId), Failure> {
        let filter = EventFilter {
            run: Some(run.to_string()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        let found = self.reader()?.records(&EventQuery::of(filter).limit(1))?;
        let record = found.first().ok_or_else(|| no_such_run(&run.to_string()))?;
        let event = record.event()?;
        match event.fact {
            Fact::RunStarted(started) => Ok((started, event.trace)),
            _ => Err(no_such_run(&run.to_string())),
        }
    }
}

/// Returns the model that a fork was given, if it was given another one.
fn forked_to(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| match &event.fact {
        Fact::RunForked(forked) => forked.model.as_deref(),
        _ => None,
    })
}

pub(crate) fn no_such_run(id: &str) -> Failure {
    Failure::new(FailureCode::R004, format!("there is no run `{id}`"))
        .advise("`artel runs` shows what there is")
}

impl RunEnvironment {
    /// Resumes a run where it was left.
    pub(crate) async fn take_up(
        self: &Arc<Self>,
        run: RunId,
        kin: Option<RunLineage>,
    ) -> Result<RunDriveOutcome, Failure> {
        let fence = self.lease(run).await?;
        self.take_up_leased(run, kin, &fence).await
    }

    /// Takes a run up that nobody called, after whoever drives it; it is left where the person does
    /// not want to wait any longer.
    async fn take_up_in_turn(self: &Arc<Self>, run: RunId) -> Result<RunDriveOutcome, Failure> {
        match self.lease_in_turn(run).await? {
            Some(fence) => self.take_up_leased(run, None, &fence).await,
            None => {
                let (_, trace) = self.workshop.started(run)?;
                Ok(RunDriveOutcome::left(
                    run,
                    trace,
                    RunSuspendReason::Interrupted,
                ))
            }
        }
    }

    async fn take_up_leased(
        self: &Arc<Self>,
        run: RunId,
        kin: Option<RunLineage>,
        fence: &LeaseFence,
    ) -> Result<RunDriveOutcome, Failure> {
        let done = match self.workshop.started(run) {
            Ok(begun) => self.take_up_as(run, begun, kin, fence).await,
            Err(failure) => Err(failure),
        };
        if done.is_err() {
            // The next process to drive the run, perhaps this one, need not wait for the lease to
            // expire.
            drop(self.journal.release_lease(fence).await);
        }
        done
    }

    async fn take_up_as(
        self: &Arc<Self>,
        run: RunId,
        (started, trace): (RunStarted, TraceId),
        kin: Option<RunLineage>,
        fence: &LeaseFence,
    ) -> Result<RunDriveOutcome, Failure> {
        let bare = RunJournal::new(
            self.journal.clone(),
            run,
            trace,
            None,
            Actor::agent("default"),
        );
        let events = bare.events()?;
        if let Some(finished) = finished(&events) {
            drop(self.journal.release_lease(fence).await);
            if let Some(skill) = started.skill.as_ref().filter(|_| !started.takes_over()) {
                self.learn(&bare, skill, finished).await;
            }
            return over(run, trace, finished, &bare);
        }
        let facts = prepared(&events).cloned().ok_or_else(|| {
            Failure::new(
                FailureCode::R008,
                "the run ended before its first turn was ready",
            )
            .advise("begin it anew: nothing was done yet")
        })?;
        let mut kin = match kin {
            Some(kin) => kin,
            None => self.kin_of(&started, &facts)?,
        };
        let chronicle = RunJournal::new(
            self.journal.clone(),
            run,
            trace,
            None,
            Actor::agent(&facts.role),
        )
        .fenced(fence.clone());
        kin.role.clone_from(&facts.role);
        kin.inherits = held_to_its_list(kin.inherits, &started, &facts);
        let words = started.task.as_ref().map(|task| chronicle.text(task));
        let words: Vec<_> = words.transpose()?.into_iter().collect();
        let skill = self.skill_again(&started, &facts).await?;
        let stage = self.stage(chronicle.clone(), kin, skill, &words)?;
        if stage.ground.tree().is_none() && self.has_tree(trace, &events)? {
            let newest = newest_snapshot(&events).unwrap_or("start");
            stage.ground.reopen(newest)?;
        } else if let Some(newest) = newest_snapshot(&events) {
            stage.ground.count_from(newest);
        }
        stage.ground.openings().fold(&events);
        self.fold_openings(trace, stage.kin.root_run.unwrap_or(run), &stage.ground)?;
        let outfit = &stage.outfit;
        let hooks = self.hooks(outfit, &stage.kin).await?;
        let ground = Some(Arc::clone(&stage.ground));
        let mut workplace = RunToolEnvironment::new(outfit.reading()?, ground, outfit.furnish());
        workplace.furnished()?;
        let mut turn = fold(&chronicle, &events, &workplace)?;
        if !(started.takes_over() && is_fresh(&events)) {
            let after = events.last().map_or(0, |event| event.seq);
            for entry in settle(&mut turn, after, &workplace)? {
                let fact = entry.fact.clone();
                chronicle.append(vec![entry]).await?;
                turn.fold(&fact)
                    .map_err(|error| Failure::new(FailureCode::X001, error.to_string()))?;
            }
        }
        let wanted = self.named.as_deref().or(forked_to(&events));
        let (chosen, model) = self.connect(wanted.or(facts.model.as_deref()))?;
        let voice = self.voice(model, chosen, outfit);
        let succession = self.succession(&stage)?;
        let mut setup = self.setup(stage, turn, workplace, voice)?;
        setup.system = chronicle.text(&facts.system)?;
        setup.window = facts.window;
        let begins = if started.takes_over() {
            RunStartKind::TakenOver
        } else {
            RunStartKind::Resume
        };
        Box::pin(self.drive(setup, (hooks, begins), succession, fence)).await
    }

    /// Adds what the runs on the same files were earlier allowed through the walls of their
    /// tree.
    fn fold_openings(
        &self,
        trace: TraceId,
        top: RunId,
        ground: &RunTreeHandle,
    ) -> Result<(), Failure> {
        let filter = |kind: &str, run: Option<RunId>| EventFilter {
            trace: Some(trace.to_string()),
            kind: Some(kind.to_owned()),
            run: run.map(|run| run.to_string()),
            ..EventFilter::default()
        };
        let reader = self.journal.reader();
        let mut below = vec![top];
        for record in reader.records(&EventQuery::of(filter("run.started", None)))? {
            if let Fact::RunStarted(started) = record.event()?.fact
                && started.parent.is_some_and(|parent| below.contains(&parent))
            {
                below.push(started.id);
            }
        }
        for run in below {
            let calls = reader.records(&EventQuery::of(filter("tool.", Some(run))))?;
            let calls: Vec<Event> = calls
                .into_iter()
                .map(|record| record.event())
                .collect::<Result<_, _>>()?;
            ground.openings().fold(&calls);
        }
        Ok(())
    }

    /// Returns the lineage of a run that is resumed on its own.
    fn kin_of(&self, started: &RunStarted, facts: &RunPrepared) -> Result<RunLineage, Failure> {
        let inherits = self.inheritance_of(started)?;
        let is_custom = facts.role != DEFAULT_ROLE;
        Ok(RunLineage {
            parent: started.parent,
            call: started.call.clone(),
            root_run: started.parent.map(|parent| self.root_of(parent)),
            is_called: self.is_called(started),
            depth: started.depth.unwrap_or(0),
            family: TurnAllowance::with(self.turns_of(started.id)),
            agent: is_custom.then(|| SkillAgentKind::Custom(facts.role.clone())),
            ..RunLineage::root(started.chain.clone().unwrap_or_default(), inherits)
        })
    }

    /// Returns whether the run, or the first run whose work it took over, was called by
    /// another run.
    fn is_called(&self, started: &RunStarted) -> bool {
        let mut first = started.clone();
        // The loop is bounded, because no chain is longer than the number of turns.
        for _ in 0..TurnAllowance::MOST_TURNS {
            let earlier = first.parent.filter(|_| first.takes_over());
            match earlier.and_then(|run| self.workshop.started(run).ok()) {
                Some((earlier, _)) => first = earlier,
                None => break,
            }
        }
        first.parent.is_some()
    }

    /// Returns the top-level run above a run.
    fn root_of(&self, run: RunId) -> RunId {
        let mut top = run;
        // The loop is bounded, in case a damaged journal contains a cycle.
        for _ in 0..TurnAllowance::MOST_TURNS {
            match self
                .workshop
                .started(top)
                .ok()
                .and_then(|(it, _)| it.parent)
            {
                Some(parent) => top = parent,
                None => break,
            }
        }
        top
    }

    /// Returns the number of model replies so far, which is at least the number of turns of
    /// the run and the runs below it.
    fn turns_of(&self, run: RunId) -> u32 {
        let Ok((_, trace)) = self.workshop.started(run) else {
            return 0;
        };
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            kind: Some("model.replied".to_owned()),
            ..EventFilter::default()
        };
        let replies = self.journal.reader().records(&EventQuery::of(filter));
        replies.map_or(0, |replies| {
            u32::try_from(replies.len()).unwrap_or(u32::MAX)
        })
    }

    /// Returns whether a tree exists, made by this run or by one that shares it.
    fn has_tree(&self, trace: TraceId, events: &[Event]) -> Result<bool, Failure> {
        if events
            .iter()
            .any(|event| matches!(event.fact, Fact::TreeMade(TreeMade { .. })))
        {
            return Ok(true);
        }
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            kind: Some("tree.made".to_owned()),
            ..EventFilter::default()
        };
        let made = self
            .journal
            .reader()
            .records(&EventQuery::of(filter).limit(1))?;
        Ok(!made.is_empty())
    }

    /// Returns the skill that a run started with. Its text is recorded; its files must be
    /// unchanged, or trusted as they are now.
    async fn skill_again(
        &self,
        started: &RunStarted,
        facts: &RunPrepared,
    ) -> Result<Option<Arc<Skill>>, Failure> {
        let (Some(name), Some(folder)) = (&started.skill, &facts.skill_folder) else {
            return Ok(None);
        };
        let same = |skill: &&Skill| skill.folder.display().to_string() == *folder;
        let skill = match self.skills.skills.iter().find(same) {
            Some(skill) => skill.clone(),
            None => artel_skills::load(
                folder.as_ref(),
                SkillOrigin::User,
                SkillSizeEnforcement::Warn,
            )
            .map_err(|_| {
                Failure::new(
                    FailureCode::R001,
                    format!("the skill `{name}` is no longer in `{folder}`"),
                )
                .advise("put it back, or begin anew")
            })?,
        };
        if facts
            .skill_hash
            .as_ref()
            .is_some_and(|hash| *hash != skill.hash)
        {
            let notice = format!("the skill `{name}` has changed since the run began");
            self.company.audience.notice(&notice);
            self.ensure_trust(&skill).await?;
        }
        Ok(Some(Arc::new(skill)))
    }
}

/// Bounds the run by the skill's list of tools as recorded at the start, whatever the
/// skill says now.
fn held_to_its_list(
    inherits: RunInheritance,
    started: &RunStarted,
    facts: &RunPrepared,
) -> RunInheritance {
    match &facts.allowed_tools {
        Some(list) => {
            let name = started.skill.as_deref().unwrap_or_default();
            inherits.bounded(bound_of_skill(name, list))
        }
        None => inherits,
    }
}

fn finished(events: &[Event]) -> Option<&RunFinished> {
    events.iter().find_map(|event| match &event.fact {
        Fact::RunFinished(finished) => Some(finished),
        _ => None,
    })
}

fn newest_snapshot(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| match &event.fact {
        Fact::TreeMade(made) => Some(made.snapshot.as_str()),
        Fact::TreeSnapped(snapped) => Some(snapped.snapshot.as_str()),
        _ => None,
    })
}

/// Returns the outcome of a run that is over.
fn over(
    run: RunId,
    trace: TraceId,
    finished: &RunFinished,
    chronicle: &RunJournal,
) -> Result<RunDriveOutcome, Failure> {
    let answer = finished
        .answer
        .as_ref()
        .map(|answer| chronicle.text(answer));
    Ok(RunDriveOutcome {
        run,
        trace,
        answer: answer.transpose()?,
        finished: Some(Box::new(finished.clone())),
        left: None,
    })
}
