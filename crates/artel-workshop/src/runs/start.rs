//! Starts runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use artel_engine::{
    CallLog, ModelHandle, OpeningPrompt, RunDriver, RunDriverOutcome, RunDriverSetup, RunJournal,
    RunJournalEntry, RunStartKind, RunSuccessor, RunToolEnvironment, RunTreeHandle,
    RunTreeLocation, hooks::RunHooks, rules_of,
};
use artel_git::RunTreeLimits;
use artel_journal::LeaseFence;
use artel_model::{ChosenModel, Model, ModelCallContext};
use artel_rules::turn::AgentRun;
use artel_skills::Skill;
use artel_tools::{ProcessStartReason, ToolRegistry, ToolViewer};
use artel_types::model::{ModelCallAttribution, PrivacyLabel};
use artel_types::{
    Actor, BudgetLevel, BudgetLimited, Failure, FailureCode, RunId, RunPrepared, RunStarted,
    SpendAmount, TraceId,
};

use super::child::RunLineage;
use super::furnish::{RunToolingContext, skill_rules};
use super::house::{RunEnvironment, RunObservers};
use super::inject::SkillCommandRunner;
use super::order::{RunDriveOutcome, RunStartOptions};
use super::prepare::{PreparedRunLimits, RunPromptInputs, calls_of, prepared, variables};
use crate::caller::random_run;
use crate::works::WorkshopNotesPlacement;
use crate::workshop::Workshop;

/// Lifetime of a lease on a run; below, the interval at which it is renewed.
pub(crate) const LEASE: Duration = Duration::from_secs(60);
pub(crate) const RENEW: Duration = Duration::from_secs(20);

/// Maximum wait for cancelled model calls to be settled.
pub(crate) const LAST_REST: Duration = Duration::from_secs(1);

/// A run that is about to start.
pub(crate) struct RunStartSpec {
    pub(crate) run: RunId,
    pub(crate) trace: TraceId,
    pub(crate) skill: Option<Arc<Skill>>,
    pub(crate) order: RunStartOptions,
    pub(crate) kin: RunLineage,
}

impl Workshop {
    /// Returns the limits on what the trees of runs and steps keep.
    pub(crate) fn tree_bounds(&self) -> RunTreeLimits {
        let runs = &self.settings.runs;
        RunTreeLimits {
            files: usize::try_from(runs.most_files.value).unwrap_or(usize::MAX),
            file_bytes: runs.largest_file.value.saturating_mul(1 << 20),
        }
    }

    /// Starts a run and drives it until it ends or has to be suspended.
    pub async fn start_run(
        self: &Arc<Self>,
        order: &RunStartOptions,
        company: RunObservers,
    ) -> Result<RunDriveOutcome, Failure> {
        let folder = self.run_folder(order.folder.as_deref())?;
        if let Some(why) = self.why_closed_by_itself(&folder) {
            let what = format!("agents cannot work on `{}`", folder.display());
            return Err(Failure::new(FailureCode::F003, what)
                .because(why)
                .advise("go to the folder of one project, or name it with `--folder DIR`"));
        }
        let says = |words: &String| !words.trim().is_empty();
        if order.skill.is_none() && !order.arguments.iter().any(says) {
            return Err(Failure::new(FailureCode::C004, "the task is empty")
                .advise("say what is to be done: `artel run --task \"…\"`"));
        }
        self.refuse_secret_in(&order.arguments.join(" "))?;
        let house = RunEnvironment::open(self, &folder, order.model.as_deref(), company).await?;
        let skill = match &order.skill {
            Some(name) => Some(Arc::new(house.skills.get(name)?.clone())),
            None => None,
        };
        if let Some(skill) = &skill {
            house.ensure_trust(skill).await?;
            for remark in &skill.remarks {
                house.company.audience.notice(&remark.to_string());
            }
        }
        let run = random_run()?;
        let names = skill.iter().map(|skill| skill.name.clone());
        let kin = RunLineage::root(names.collect(), house.ordered_now());
        let beginning = RunStartSpec {
            run,
            trace: self.trace_id(),
            skill,
            order: order.clone(),
            kin,
        };
        let company = house.company.clone();
        let done = house.begin(beginning).await;
        house.gateway.rest(LAST_REST).await;
        let mut patience = self.patience(&folder).until(&company.stop);
        let done = match done {
            // A run that has started is resumed once there is disk space again.
            Err(failure) if self.started(run).is_ok() && patience.again(&failure).await => {
                self.resume_run(run, order.model.as_deref(), company).await
            }
            done => done,
        };
        done.inspect(|done| self.tidy_run(done))
    }

    /// Returns the folder that a run works on, with links resolved.
    pub(crate) fn run_folder(&self, named: Option<&std::path::Path>) -> Result<PathBuf, Failure> {
        let folder = self
            .caller
            .absolute(named.unwrap_or(std::path::Path::new(".")));
        folder.canonicalize().map_err(|error| {
            Failure::new(
                FailureCode::W010,
                format!("there is no folder `{}`", folder.display()),
            )
            .because(error.to_string())
        })
    }
}

/// Everything that is needed to drive a run, whether it was started or resumed.
pub(super) struct ReadyRun {
    pub(super) outfit: Arc<RunToolingContext>,
    pub(super) ground: Arc<RunTreeHandle>,
    pub(super) left: Arc<AtomicU32>,
    pub(super) kin: RunLineage,
}

impl RunEnvironment {
    /// Prepares a run and drives it.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        beginning: RunStartSpec,
    ) -> Result<RunDriveOutcome, Failure> {
        let by_skill = beginning.skill.as_ref();
        let by_skill = by_skill.and_then(|skill| skill.front.model.clone());
        let wanted = match beginning.order.model.clone().or(by_skill) {
            Some(wanted) => Some(wanted),
            None => self.model_of_role(&beginning.kin.role)?,
        };
        // Nothing is recorded for a run whose model cannot be used.
        let connected = self.connect(wanted.as_deref())?;
        let fence = self.lease(beginning.run).await?;
        let done = self.begin_as(beginning, (wanted, connected), &fence).await;
        if done.is_err() {
            // The next process to drive the run, perhaps this one, need not wait for the lease to
            // expire.
            drop(self.journal.release_lease(&fence).await);
        }
        done
    }

    async fn begin_as(
        self: &Arc<Self>,
        beginning: RunStartSpec,
        (wanted, (chosen, model)): (Option<String>, (ChosenModel, Arc<dyn Model>)),
        fence: &LeaseFence,
    ) -> Result<RunDriveOutcome, Failure> {
        let RunStartSpec {
            run,
            trace,
            skill,
            order,
            mut kin,
        } = beginning;
        // The label of the portal is recorded with the run: when the run is resumed or forked, the
        // portal may be closed or have another label.
        kin.inherits = kin.inherits.labelled(self.privacy(PrivacyLabel::Any));
        let wanted = wanted.as_deref();
        let chronicle = RunJournal::new(
            self.journal.clone(),
            run,
            trace,
            None,
            Actor::agent(&kin.role),
        )
        .fenced(fence.clone());
        // If a process was killed before the run was ready, the start is recorded already, and
        // nothing else.
        if kin.contract.is_none() || self.workshop.started(run).is_err() {
            let words = order.arguments.join(" ");
            let mut started = self.started(run, skill.as_deref(), &words, &kin);
            // A person's request may be longer than an event can hold.
            started.task = Some(chronicle.keep(words)?);
            let started = RunJournalEntry::shown(started).by(self.person());
            chronicle.append(vec![started]).await?;
        }
        let stage = self.stage(chronicle, kin, skill, &order.arguments)?;
        let (facts, prompt) = self
            .prepare(&stage, &order, wanted, chosen.card.context)
            .await?;
        let outfit = &stage.outfit;
        let hooks = self.hooks(outfit, &stage.kin).await?;
        let ground = Some(Arc::clone(&stage.ground));
        let workplace = RunToolEnvironment::new(outfit.reading()?, ground, outfit.furnish());
        let turn = AgentRun::new(rules_of(&facts, &outfit.registry), prompt.opening);
        let voice = self.voice(model, chosen, outfit);
        let succession = self.succession(&stage)?;
        let mut setup = self.setup(stage, turn, workplace, voice)?;
        setup.system = prompt.system;
        setup.window = facts.window;
        let begins = RunStartKind::Startup {
            prompt: order.arguments.join(" "),
        };
        self.drive(setup, (hooks, begins), succession, fence).await
    }

    /// Builds what is needed to drive a run.
    pub(super) fn stage(
        self: &Arc<Self>,
        chronicle: RunJournal,
        kin: RunLineage,
        skill: Option<Arc<Skill>>,
        arguments: &[String],
    ) -> Result<ReadyRun, Failure> {
        let (run, trace) = (chronicle.run(), chronicle.trace());
        let at = match &kin.place {
            Some(place) => place.clone(),
            None => self.tree_of(kin.root_run.unwrap_or(run)),
        };
        let left = Arc::new(AtomicU32::new(0));
        let ground = kin.ground.clone();
        let ground = ground.unwrap_or_else(|| self.ground(&at, arguments));
        let mut outfit = RunToolingContext {
            house: Arc::clone(self),
            log: Arc::new(CallLog::new(chronicle.clone())),
            chronicle,
            registry: ToolRegistry::default(),
            role: kin.role.clone(),
            skill,
            variables: None,
            inherits: kin.inherits.clone(),
            contract: kin.contract.clone(),
            at,
            marks: self.marks_of(trace)?,
            started_for: ProcessStartReason::Agent,
        };
        let below = (&left, outfit.terms_for_child()?);
        outfit.registry = self.registry(&kin, (run, trace), &ground, below)?;
        if let Some(skill) = &outfit.skill {
            let session = run.to_string();
            let values = variables(self, &outfit.files(), skill, &session, arguments);
            outfit.variables = Some(Arc::new(values));
        }
        Ok(ReadyRun {
            outfit: Arc::new(outfit),
            ground,
            left,
            kin,
        })
    }

    /// Builds the prompt, determines the limits, and records both.
    async fn prepare(
        self: &Arc<Self>,
        stage: &ReadyRun,
        order: &RunStartOptions,
        model: Option<&str>,
        window: Option<u64>,
    ) -> Result<(RunPrepared, OpeningPrompt), Failure> {
        let outfit = &stage.outfit;
        let skill = outfit.skill.as_deref();
        let limits = stage.kin.bounded(PreparedRunLimits::of(self, order, skill));
        let injected = self.inject(outfit).await?;
        let viewer = self.viewer(&outfit.role)?;
        let brings = outfit.contract.as_ref().map(|it| it.brings);
        let standing = match brings.unwrap_or_default() {
            WorkshopNotesPlacement::Nothing => self.workshop.standing_context(&self.folder),
            WorkshopNotesPlacement::Context => Workshop::project_context(&self.folder),
        };
        let calls = calls_of(self);
        let prompt = RunPromptInputs {
            house: self,
            skill,
            variables: outfit.variables.as_deref(),
            injected: &injected,
            arguments: &order.arguments,
            registry: &outfit.registry,
            viewer: &viewer,
            calls,
            standing: &standing,
            persona: self.workshop.caller.persona(&outfit.role),
            from_parent: stage.kin.told.clone(),
        }
        .prompt()?;
        let facts = prepared(outfit, &prompt, &limits, calls, model, window, &standing)?;
        let mut entries = vec![RunJournalEntry::quiet(facts.clone())];
        entries.extend(self.begun_with(skill, outfit.chronicle.trace())?);
        entries.extend(limits.cost.map(|cost| {
            let limit = BudgetLimited {
                level: BudgetLevel::Run(outfit.chronicle.run().to_string()),
                limit: SpendAmount::new(artel_rules::budget::UNLIMITED, cost.0),
            };
            RunJournalEntry::quiet(limit)
        }));
        outfit.chronicle.append(entries).await?;
        Ok((facts, prompt))
    }

    /// Builds the setup of the run driver. The system prompt is still missing.
    pub(super) fn setup(
        &self,
        stage: ReadyRun,
        turn: AgentRun,
        workplace: RunToolEnvironment,
        voice: ModelHandle,
    ) -> Result<RunDriverSetup, Failure> {
        let ReadyRun {
            outfit, left, kin, ..
        } = stage;
        let skill = outfit.skill.as_deref();
        Ok(RunDriverSetup {
            turn,
            voice,
            workplace,
            log: Arc::clone(&outfit.log),
            viewer: self.viewer(&outfit.role)?,
            system: String::new(),
            window: 0,
            steering: self
                .wheel
                .steer(outfit.chronicle.run(), self.company.stop.clone()),
            audience: Arc::clone(&self.company.audience),
            person: self.company.person.clone(),
            family: kin.family.clone(),
            left,
            patience: skill.and_then(|skill| skill.front.timeout_per_iteration),
            all_tokens: skill.map(|skill| artel_skills::savings::SkillTokenSizes::of(skill).all()),
            is_root: kin.root_run.is_none(),
            waits: kin.contract.is_some(),
            clock: self.workshop.caller.clock.clone(),
            chronicle: outfit.chronicle.clone(),
        })
    }

    /// Drives a run and keeps its lease renewed.
    pub(super) async fn drive(
        &self,
        setup: RunDriverSetup,
        (hooks, begins): (RunHooks, RunStartKind),
        succession: RunSuccessor,
        fence: &LeaseFence,
    ) -> Result<RunDriveOutcome, Failure> {
        let (run, trace) = (setup.chronicle.run(), setup.chronicle.trace());
        let chronicle = setup.chronicle.clone();
        // Lessons of a successor are learned by the run whose work it took over.
        let skill = setup.voice.account.skill.clone();
        let skill = skill.filter(|_| begins != RunStartKind::TakenOver);
        let driving = RunDriver::new(setup)
            .with_hooks(hooks, begins)
            .with_succession(succession)
            .drive();
        let mut driving = std::pin::pin!(driving);
        let mut renewal = tokio::time::interval(RENEW);
        renewal.tick().await;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut driving => break ended,
                _ = renewal.tick() => self.journal.renew_lease(fence, LEASE).await?,
            }
        };
        // If the lease cannot be released, the next process takes it over when it expires.
        drop(self.journal.release_lease(fence).await);
        let done = match ended? {
            RunDriverOutcome::Over(finished) => {
                if let Some(skill) = &skill {
                    self.learn(&chronicle, skill, &finished).await;
                }
                let answer = finished
                    .answer
                    .as_ref()
                    .map(|answer| chronicle.text(answer));
                RunDriveOutcome {
                    run,
                    trace,
                    answer: answer.transpose()?,
                    finished: Some(finished),
                    left: None,
                }
            }
            RunDriverOutcome::Left(left) => RunDriveOutcome::left(run, trace, left),
        };
        Ok(done)
    }

    /// Returns the model that a role asks for, if any. A model that is unknown here is
    /// refused.
    pub(crate) fn model_of_role(&self, role: &str) -> Result<Option<String>, Failure> {
        let known = self.workshop.caller.role(role);
        let Some(model) = known.map_err(|problems| problems.first())?.model else {
            return Ok(None);
        };
        match self.models.choose(Some(&model)) {
            Ok(_) => Ok(Some(model)),
            Err(failure) => {
                let asks = format!("the role `{role}` asks for the model `{model}`");
                let why = match &failure.why {
                    Some(why) => format!("{asks}: {why}"),
                    None => asks,
                };
                Err(failure.because(why))
            }
        }
    }

    pub(super) fn connect(
        &self,
        wanted: Option<&str>,
    ) -> Result<(ChosenModel, Arc<dyn Model>), Failure> {
        let chosen = self.models.choose(wanted)?;
        let model = self.models.connect(&chosen, &self.workshop)?;
        Ok((chosen, model))
    }

    fn started(
        &self,
        run: RunId,
        skill: Option<&Skill>,
        words: &str,
        kin: &RunLineage,
    ) -> RunStarted {
        let contract = kin.contract.as_deref();
        let title = match (skill, contract) {
            (_, Some(contract)) => contract.title.clone(),
            (Some(skill), None) => format!("{} {words}", skill.name),
            (None, None) => words.to_owned(),
        };
        RunStarted {
            skill: skill.map(|skill| skill.name.clone()),
            folder: Some(self.folder.display().to_string()),
            parent: kin.parent,
            call: kin.call.clone(),
            chain: Some(kin.chain.clone()),
            depth: Some(kin.depth),
            step: contract.and_then(|contract| contract.step.clone()),
            inherits: Some(kin.inherits.recorded()),
            ..RunStarted::new(run, title.trim().chars().take(120).collect::<String>())
        }
    }

    /// Runs the commands in a skill's text.
    async fn inject(
        self: &Arc<Self>,
        outfit: &Arc<RunToolingContext>,
    ) -> Result<std::collections::BTreeMap<String, String>, Failure> {
        let (Some(skill), Some(variables)) = (&outfit.skill, &outfit.variables) else {
            return Ok(Default::default());
        };
        if artel_skills::prepare::commands(&skill.body).is_empty() {
            return Ok(Default::default());
        }
        let room = outfit.reading_room()?;
        let situation = outfit.reading_situation(&room);
        let mut bench = outfit.reading()?.bench;
        bench.workroom = Some(Arc::new(room));
        let injection = SkillCommandRunner {
            skill: Arc::clone(skill),
            variables: Arc::clone(variables),
            rules: skill_rules(skill),
            policy: outfit.policy()?,
            situation,
            bench,
        };
        injection.run(&outfit.chronicle).await
    }

    pub(super) fn viewer(&self, role: &str) -> Result<ToolViewer, Failure> {
        let viewer = self.workshop.caller.viewer(role);
        viewer.map_err(|problems| problems.first())
    }

    /// Returns the tree handle of a run with its own tree.
    pub(super) fn ground(&self, at: &std::path::Path, arguments: &[String]) -> Arc<RunTreeHandle> {
        let named = arguments.iter().map(|word| self.folder.join(word));
        let plot = RunTreeLocation {
            git: self.workshop.caller.program("git"),
            origin: self.folder.clone(),
            at: at.to_owned(),
            named: named.filter(|path| path.exists()).collect(),
            share: self.workshop.settings.runs.share.value.clone(),
            bounds: self.workshop.tree_bounds(),
        };
        Arc::new(RunTreeHandle::new(plot, self.workshop.caller.clock.clone()))
    }

    pub(super) fn voice(
        &self,
        model: Arc<dyn Model>,
        chosen: ChosenModel,
        outfit: &RunToolingContext,
    ) -> ModelHandle {
        let chronicle = &outfit.chronicle;
        let contract = outfit.contract.as_deref();
        let inherits = &outfit.inherits;
        // Calls of a step's agent are attributed to the step.
        let of_step = inherits.step_budget().and_then(|it| it.split_once('/'));
        let of_step = of_step.map(|(_, step)| step.to_owned());
        ModelHandle {
            gateway: self.gateway.clone(),
            model,
            chosen,
            priority: inherits.urgency(),
            least_priority: inherits.least_urgency(),
            privacy: self.privacy(inherits.privacy()),
            account: ModelCallAttribution {
                step: contract.and_then(|it| it.step.clone()).or(of_step),
                role: Some(outfit.role.clone()),
                skill: outfit.skill.as_ref().map(|skill| skill.name.clone()),
                portal: self.portal.as_ref().map(|portal| portal.name.clone()),
                person: Some(self.person().id),
            },
            context: ModelCallContext {
                trace: chronicle.trace(),
                actor: Actor::agent(&outfit.role),
                session: None,
                run: Some(chronicle.run()),
                above: inherits.ancestors().to_vec(),
                step: inherits.step_budget().map(str::to_owned),
            },
            temperature: None,
        }
    }
}
