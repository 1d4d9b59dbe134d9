//! Approves a plan and carries it out, from the start or from where another process left
//! it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use artel_engine::{
    ConductorOutcome, PlanConductor, RunJournal, RunJournalEntry, RunSuspendReason,
};
use artel_git::PlanBranch;
use artel_journal::{Journal, LeaseFence};
use artel_rules::conduct::{PlanRun, PlanRunRules};
use artel_rules::plan::names;
use artel_types::plan::{Plan, PlanState, StepVerification};
use artel_types::{
    Actor, ActorKind, BranchBegun, Event, Fact, Failure, FailureCode, PlanApproved, PlanRunning,
    RunContinued, RunId, RunStarted, StreamName,
};

use super::crew::{AgentExecutor, git_failed};
use super::sheets::FileTextOrigin;
use super::work::{DraftedPlanVersion, Work};
use crate::caller::random_run;
use crate::runs::{LEASE, RENEW, RunEnvironment, RunObservers};
use crate::workshop::Workshop;

/// The outcome of a plan's run.
#[derive(Debug)]
pub struct PlanRunOutcome {
    pub run: RunId,
    /// The state of the plan.
    pub state: PlanState,
    /// The reason why the run was left, or `None` if it is over.
    pub left: Option<RunSuspendReason>,
}

impl Workshop {
    pub(crate) fn approve_version(
        &self,
        journal: &Journal,
        work: &Work,
        drafted: &DraftedPlanVersion,
        by: Actor,
    ) -> Result<RunId, Failure> {
        if by.kind == ActorKind::Program {
            return Err(
                Failure::new(FailureCode::H004, "a plan is approved by a person")
                    .because(format!("`{}` is a program", by.id))
                    .advise("approve it at the console (`artel open`) or in a terminal"),
            );
        }
        // A new version of a plan that is being carried out continues in the same run.
        let run = match (work.course.run(), work.course.state()) {
            (Some(run), Some(PlanState::Running | PlanState::Approved)) => run,
            _ => random_run()?,
        };
        let approved = PlanApproved {
            version: drafted.fact.version,
            hash: drafted.fact.hash.clone(),
            run,
            model: None,
        };
        self.record_for(journal, work, by, vec![approved.into()])?;
        Ok(run)
    }

    /// Carries out a run's plan from its present state. If the disk is full, it waits for free
    /// space and continues.
    pub async fn carry_out(
        self: &Arc<Self>,
        id: &str,
        rules: PlanRunRules,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<PlanRunOutcome, Failure> {
        let mut patience = self
            .patience(&*self.work_named(id)?.request.folder)
            .until(&company.stop);
        loop {
            let carried = self.carry_on(id, rules, model, company.clone()).await;
            match carried {
                Err(failure) if patience.again(&failure).await => {}
                carried => return carried,
            }
        }
    }

    async fn carry_on(
        self: &Arc<Self>,
        id: &str,
        rules: PlanRunRules,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<PlanRunOutcome, Failure> {
        let work = self.work_named(id)?;
        let run = work.course.run().ok_or_else(|| {
            Failure::new(FailureCode::C004, "nobody has approved the plan yet")
                .advise(format!("`artel plan show {}`", work.trace.short()))
        })?;
        let stands = |work: &Work| work.course.state().unwrap_or(PlanState::Approved);
        let left = self.attend(work.trace, run, &company).await?.left();
        if left.is_some() {
            let state = stands(&work);
            return Ok(PlanRunOutcome { run, state, left });
        }
        // Another process may have finished the plan while this one watched.
        let work = self.work(work.trace)?;
        if stands(&work).is_over() && !self.is_cut_short(&work)? {
            let (state, left) = (stands(&work), None);
            return Ok(PlanRunOutcome { run, state, left });
        }
        let folder = self.run_folder(Some(work.request.folder.as_ref()))?;
        let model = model.or(work.model_of(run));
        let house = RunEnvironment::open(self, &folder, model, company).await?;
        let Some(fence) = house.lease_in_turn(run).await? else {
            let left = Some(RunSuspendReason::Interrupted);
            let state = work.course.state().unwrap_or(PlanState::Approved);
            return Ok(PlanRunOutcome { run, state, left });
        };
        let led = house.conduct_leased(&work, run, rules, &fence).await;
        house.gateway.rest(crate::runs::LAST_REST).await;
        // If the lease cannot be released, the next process takes it over.
        drop(house.journal.release_lease(&fence).await);
        let left = match led? {
            Some(ConductorOutcome::Left(left)) => Some(left),
            Some(ConductorOutcome::Over(_)) | None => None,
        };
        let work = self.work(work.trace)?;
        let state = work.course.state().unwrap_or(PlanState::Failed);
        Ok(PlanRunOutcome { run, state, left })
    }

    /// Folds the state of a plan's run from its events.
    pub(crate) fn conduct_of(
        &self,
        work: &Work,
        rules: PlanRunRules,
    ) -> Result<Option<PlanRun>, Failure> {
        let Some(approved) = work.course.approved() else {
            return Ok(None);
        };
        let first = first_version(work, approved.run);
        let (_, plan) = self.plan_of(work, first.or(Some(approved.version.number)))?;
        let mut conduct = PlanRun::new(plan, rules);
        for event in self.run_events(approved.run)? {
            conduct.fold(&event.fact);
        }
        Ok(Some(conduct))
    }

    /// Returns the events of a plan's run, with the stored texts that code needs loaded.
    pub(crate) fn run_events(&self, run: RunId) -> Result<Vec<Event>, Failure> {
        let filter = artel_journal::EventFilter {
            stream: Some(StreamName::run(run).to_string()),
            ..artel_journal::EventFilter::default()
        };
        let records = self
            .reader()?
            .records(&artel_journal::EventQuery::of(filter))?;
        let mut events = Vec::with_capacity(records.len());
        for record in records {
            let mut event = record.event()?;
            for text in event.fact.machine_texts() {
                if matches!(text, artel_types::RecordedText::Kept(_)) {
                    *text = artel_types::RecordedText::Inline(self.whole_text(text)?);
                }
            }
            events.push(event);
        }
        Ok(events)
    }
}

/// Returns the version that a run began with.
fn first_version(work: &Work, run: RunId) -> Option<u32> {
    work.events.iter().find_map(|event| match &event.fact {
        Fact::PlanApproved(it) if it.run == run => Some(it.version),
        _ => None,
    })
}

impl RunEnvironment {
    /// Drives a plan's run while renewing its lease. The caller must release the lease
    /// whatever the outcome.
    async fn conduct_leased(
        self: &Arc<Self>,
        work: &Work,
        run: RunId,
        rules: PlanRunRules,
        fence: &LeaseFence,
    ) -> Result<Option<ConductorOutcome>, Failure> {
        // Another process may have finished the plan while this one waited.
        let work = self.workshop.work(work.trace)?;
        let carrying = self.conduct(&work, run, rules, fence);
        let mut carrying = std::pin::pin!(carrying);
        let mut renewal = tokio::time::interval(RENEW);
        renewal.tick().await;
        loop {
            tokio::select! {
                biased;
                led = &mut carrying => return led,
                _ = renewal.tick() => self.journal.renew_lease(fence, LEASE).await?,
            }
        }
    }

    /// Sets up a plan's run and drives it.
    async fn conduct(
        self: &Arc<Self>,
        work: &Work,
        run: RunId,
        rules: PlanRunRules,
        fence: &LeaseFence,
    ) -> Result<Option<ConductorOutcome>, Failure> {
        let version = first_version(work, run).unwrap_or(1);
        let (_, plan) = self.workshop.plan_of(work, Some(version))?;
        let chronicle = RunJournal::new(
            self.journal.clone(),
            run,
            work.trace,
            None,
            Actor::system("plan"),
        )
        .fenced(fence.clone());
        self.ensure_models(&plan)?;
        // This comes before reading the events, so that later decisions either arrive here or are
        // among the events.
        let mut steering = self.wheel.steer(run, self.company.stop.clone());
        let events = self.begin_plan(work, &chronicle, (&plan, version)).await?;
        let mut conduct = PlanRun::new(plan, rules);
        for event in &events {
            conduct.fold(&event.fact);
        }
        let last = events.last().map_or(0, |event| event.seq);
        steering.knows_up_to(last);
        self.wheel.follow(&self.journal, run, last);
        if conduct.is_over() {
            self.learn_from(work, &chronicle).await;
            self.workshop.refresh_sheets(work.trace, rules);
            return Ok(None);
        }
        let workers = Arc::new(self.workers(work, &chronicle, &events)?);
        let conductor = PlanConductor {
            steering,
            audience: Arc::clone(&self.company.audience),
            person: self.company.person.clone(),
            answers_as: self.person(),
            told: self.follower(work.trace),
            chronicle: chronicle.clone(),
            conduct,
            crew: Arc::clone(&workers),
        };
        let led = conductor.conduct().await;
        workers.let_go_all().await?;
        if matches!(led, Ok(ConductorOutcome::Over(_))) {
            self.learn_from(work, &chronicle).await;
        }
        self.workshop.refresh_sheets(work.trace, rules);
        led.map(Some)
    }

    /// Refuses a plan with a role whose model is unknown. The person learns this before the
    /// first step, not from the step that needs the model.
    fn ensure_models(&self, plan: &Plan) -> Result<(), Failure> {
        if self.named.is_some() {
            return Ok(());
        }
        let mut roles: BTreeSet<&str> = plan.steps.iter().map(|step| &*step.role).collect();
        roles.extend(plan.steps.iter().flat_map(|step| match step.verify {
            StepVerification::None => &[][..],
            StepVerification::Evaluator => &["inspector"],
            StepVerification::Tdd => &["inspector", "tester"],
        }));
        for role in roles {
            self.model_of_role(role)?;
        }
        Ok(())
    }

    /// Keeps what a finished plan's run taught about the skill that was planned.
    async fn learn_from(&self, work: &Work, chronicle: &RunJournal) {
        if let Some(skill) = &work.request.skill {
            self.learn_planned(chronicle, skill).await;
        }
    }

    /// Returns an observer that updates the plan's file with each step and takes in a person's
    /// edits of the file, since no other process may be watching it. A failure to update the
    /// file does not fail the run.
    fn follower(self: &Arc<Self>, trace: artel_types::TraceId) -> Arc<artel_engine::Told> {
        let house = Arc::clone(self);
        let said = Mutex::new(String::new());
        Arc::new(move |conduct| {
            let Ok(work) = house.workshop.work(trace) else {
                return;
            };
            if let Ok(FileTextOrigin::Theirs) = house.workshop.write_plan(&work, Some(conduct)) {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                house.take_edit(&work, &mut said);
            }
        })
    }

    /// Takes in a person's edit of the plan's file and reports the result once.
    fn take_edit(&self, work: &Work, said: &mut String) {
        let taken = self.workshop.look_at_plan(&self.journal, work);
        let text = match taken {
            Ok(None) => return,
            Ok(Some(found)) => format!("{} `{}`: {}", found.what, found.file, found.text),
            Err(failure) => failure.to_string(),
        };
        if text != *said {
            self.company.audience.notice(&text);
            *said = text;
        }
    }

    /// Records the beginning of a plan's run as far as it is missing, and returns the run's
    /// events.
    async fn begin_plan(
        self: &Arc<Self>,
        work: &Work,
        chronicle: &RunJournal,
        (plan, version): (&Plan, u32),
    ) -> Result<Vec<Event>, Failure> {
        let events = chronicle.own_events()?;
        let has = |test: fn(&Fact) -> bool| events.iter().any(|event| test(&event.fact));
        let is_known = has(|fact| matches!(fact, Fact::RunStarted(_)));
        if !is_known {
            let started = RunStarted {
                folder: Some(self.folder.display().to_string()),
                task: Some(work.request.words.clone()),
                skill: work.request.skill.clone(),
                plan: Some(version),
                ..RunStarted::new(chronicle.run(), plan.title.clone())
            };
            let entry = RunJournalEntry::shown(started).by(self.person());
            chronicle.append(vec![entry]).await?;
        }
        let fresh = self.workshop.work(work.trace)?;
        let runs = |event: &Event| matches!(&event.fact, Fact::PlanRunning(it) if it.run == chronicle.run());
        if !fresh.events.iter().any(runs) {
            let running = PlanRunning {
                run: chronicle.run(),
                version,
            };
            let actor = Actor::system("plan");
            self.workshop
                .record_for(&self.journal, &fresh, actor, vec![running.into()])?;
        }
        if !has(|fact| matches!(fact, Fact::BranchBegun(_))) {
            let begun = self.branch_of(work, chronicle.run(), plan)?;
            chronicle
                .append(vec![RunJournalEntry::shown(begun)])
                .await?;
        } else if is_known {
            let after = events.last().map_or(0, |event| event.seq);
            let continued = RunContinued {
                after,
                settled: Vec::new(),
            };
            chronicle
                .append(vec![RunJournalEntry::shown(continued)])
                .await?;
        }
        chronicle.own_events()
    }

    /// Decides the name and the starting point of the branch.
    fn branch_of(&self, work: &Work, run: RunId, plan: &Plan) -> Result<BranchBegun, Failure> {
        let line = self.line_of(run)?;
        let base = line.base().map_err(|error| self.no_base(error))?;
        let wanted = names::branch(plan.kind, &plan.title, work.trace);
        let branch = line.free_branch(&wanted).map_err(git_failed)?;
        let dirty = base.dirty.iter().map(|path| path.display().to_string());
        let dirty: Vec<_> = dirty.take(100).collect();
        if !dirty.is_empty() && !line.is_private() {
            let (files, differ, them) = match dirty.len() {
                1 => ("1 file".to_owned(), "differs", "it"),
                count => (format!("{count} files"), "differ", "them"),
            };
            self.company.audience.notice(&format!(
                "{files} of yours {differ} from the last commit; the plan starts from the commit \
                 and leaves {them} alone"
            ));
        }
        Ok(BranchBegun {
            branch,
            base: base.commit,
            into: base.branch,
            dirty,
            patch: line.is_private(),
        })
    }

    fn no_base(&self, error: artel_git::PlanBranchError) -> Failure {
        match error {
            artel_git::PlanBranchError::NoCommit { .. } => {
                crate::repository::no_commit(&self.folder)
            }
            other => git_failed(other),
        }
    }

    fn line_of(&self, run: RunId) -> Result<PlanBranch, Failure> {
        let at = self.tree_of(run).join("line");
        open_line(&self.workshop, &at, &self.folder)
    }

    /// Returns the agent executor for the plan.
    fn workers(
        self: &Arc<Self>,
        work: &Work,
        chronicle: &RunJournal,
        events: &[Event],
    ) -> Result<AgentExecutor, Failure> {
        let begun = events.iter().find_map(|event| match &event.fact {
            Fact::BranchBegun(begun) => Some(begun.clone()),
            _ => None,
        });
        let begun =
            begun.ok_or_else(|| Failure::new(FailureCode::X001, "the run has no branch"))?;
        let line = self.line_of(chronicle.run())?;
        let portal = work.request.portal.as_deref();
        let portal = portal.and_then(|name| self.workshop.portal(name).ok());
        Ok(AgentExecutor {
            house: Arc::clone(self),
            chronicle: chronicle.clone(),
            at: self.tree_of(chronicle.run()),
            author: line.identity(self.workshop.caller.places.home()),
            line: Arc::new(line),
            base: begun.base,
            into: begun.into,
            branch: begun.branch,
            request: self.workshop.whole_text(&work.request.words)?,
            checks: portal
                .as_ref()
                .map(|it| it.checks.clone())
                .unwrap_or_default(),
            portal: portal.map(|it| it.name),
            named: self.workshop.named_for(&work.request),
            privacy: self.privacy_of(work),
            branch_turn: Arc::default(),
            shares: Default::default(),
        })
    }
}

/// Opens the plan branch of a changeset, or makes it.
pub(crate) fn open_line(
    workshop: &Workshop,
    at: &Path,
    folder: &Path,
) -> Result<PlanBranch, Failure> {
    let git: PathBuf = workshop.caller.program("git").ok_or_else(|| {
        Failure::new(FailureCode::W008, "plans need git")
            .because("there is no `git` on the PATH")
            .advise("install git")
    })?;
    PlanBranch::make(&git, at, folder, workshop.tree_bounds()).map_err(git_failed)
}

/// Explains why an act on a piece of work is not possible now.
pub(crate) fn refused(refused: artel_rules::plan::state::WorkActionError) -> Failure {
    Failure::new(FailureCode::R008, refused.what)
        .because(refused.why)
        .advise(refused.instead)
}

impl Workshop {
    /// Writes the files of a piece of work in its present state. A failure to write them is
    /// ignored, since they only show that state.
    pub(crate) fn refresh_sheets(&self, trace: artel_types::TraceId, rules: PlanRunRules) {
        let Ok(work) = self.work(trace) else {
            return;
        };
        let conduct = self.conduct_of(&work, rules).ok().flatten();
        drop(self.write_plan(&work, conduct.as_ref()));
        // If the person removed the request's file, it stays removed.
        if self.root.join(&work.request.file).exists() {
            drop(self.write_request(&work, work.status()));
        }
    }
}
