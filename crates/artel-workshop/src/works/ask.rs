//! Requests: recorded in the person's words, sized, and then answered or planned.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::RunSuspendReason;
use artel_journal::{EventBatch, EventFilter, EventQuery, Journal, LeaseFence, LeaseOwner};
use artel_rules::request::file::{RequestOrigin, RequestStatus};
use artel_rules::request::{self, RequestAnalysis};
use artel_types::model::{ModelCallReason, PrivacyLabel};
use artel_types::plan::{
    Plan, PlanStep, RequestSize, Requirement, StepScope, StepVerification, Urgency,
};
use artel_types::{
    Actor, ActorKind, ActorSurface, EventDraft, Fact, Failure, FailureCode, RequestCreated,
    RequestSettled, RunId, RunOutcome, SecretRedactor, StreamName, TraceId,
};

use super::children::{ChildRunOutcome, ChildRunSpec};
use super::contract::RunContract;
use super::sheets::{LONGEST_FILE, keep};
use super::work::Work;
use crate::caller::{CommandContext, fresh_trace};
use crate::portals::{Portal, label_of};
use crate::runs::{LEASE, RENEW, RunEnvironment, RunObservers};
use crate::workshop::Workshop;

/// A person's request.
#[derive(Debug, Clone, Default)]
pub struct RequestSubmission {
    /// The person's words.
    pub words: String,
    /// The folder that the request is about, or `None` for the caller's folder.
    pub folder: Option<PathBuf>,
    /// The name of the portal that the request is about.
    pub portal: Option<String>,
    /// The role that the person asked for.
    pub agent: Option<String>,
    pub urgency: Urgency,
    /// How it came: cli, file, interactive, api or console; as the caller acts if empty.
    pub source: String,
    /// Whether the request is planned.
    pub planning: PlanningMode,
    /// The verification that the person wants for every step.
    pub verify: Option<StepVerification>,
    /// The skill to be planned, with the words as its arguments.
    pub skill: Option<String>,
    pub model: Option<String>,
}

/// Whether a request is planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlanningMode {
    /// The size of the request decides.
    #[default]
    BySize,
    /// The request is planned, regardless of its size.
    Always,
    /// The request is carried out at once.
    Never,
}

/// A request before it is recorded.
#[derive(Debug, Clone)]
pub struct UnrecordedRequest {
    /// The trace that the work will have.
    pub trace: TraceId,
    /// The portal that the request is about.
    pub portal: Option<Portal>,
    /// The event to be recorded.
    pub request: RequestCreated,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum RequestOutcome {
    /// The request was answered.
    Answered {
        /// The run that answered.
        run: RunId,
        answer: String,
    },
    /// A plan awaits a person's decision.
    Planned {
        /// The version of the plan.
        version: u32,
    },
    /// The request itself approved a plan of one step, which is ready to be carried out.
    AtOnce {
        /// The run that will carry it out.
        run: RunId,
    },
    /// The request led to no plan or answer.
    Failed { why: String },
    /// The work waits and can be resumed.
    Left(RunSuspendReason),
}

impl RequestSubmission {
    /// Returns whether the request asks for work, not only for an answer.
    pub fn is_work(&self) -> bool {
        self.planning == PlanningMode::Always
            || self.skill.is_some()
            || request::read(self.words.trim()).size != RequestSize::Question
    }
}

impl CommandContext {
    /// Reads a request from a person's file.
    pub fn words_of(&self, file: &Path) -> Result<String, Failure> {
        let file = self.absolute(file);
        let shown = file.display();
        let bytes = artel_files::read_bounded(&file, LONGEST_FILE).map_err(|error| {
            let is_absent = error.system_kind() == Some(std::io::ErrorKind::NotFound);
            let failure = if is_absent {
                Failure::new(FailureCode::W010, format!("there is no file `{shown}`"))
            } else {
                Failure::new(FailureCode::C004, format!("`{shown}` cannot be read"))
                    .because(error.to_string())
            };
            failure.advise("name a text file with what you want")
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::new(FailureCode::C004, format!("`{shown}` is no text"))
                .advise("name a text file in UTF-8")
        })?;
        if text.trim().is_empty() {
            return Err(
                Failure::new(FailureCode::C005, format!("`{shown}` is empty"))
                    .advise("write into it what you want"),
            );
        }
        Ok(text)
    }
}

impl Workshop {
    /// Returns the request in the person's words.
    pub fn request_words(&self, work: &Work) -> Result<String, Failure> {
        self.whole_text(&work.request.words)
    }

    /// Returns the request that would be recorded. Writes nothing.
    pub fn prospect(
        &self,
        order: &RequestSubmission,
        portal: Option<Portal>,
    ) -> Result<UnrecordedRequest, Failure> {
        let words = order.words.trim();
        if words.is_empty() {
            return Err(
                Failure::new(FailureCode::C005, "there is nothing asked for")
                    .advise("`artel ask \"Add rate limiting to the login endpoint\"`"),
            );
        }
        self.refuse_secret_in(words)?;
        let agent = order.agent.clone().unwrap_or_else(|| "default".to_owned());
        self.caller
            .role(&agent)
            .map_err(|problems| problems.first())?;
        self.outline(order, portal)
    }

    /// Like `prospect`, for a role that is known to exist.
    pub(crate) fn outline(
        &self,
        order: &RequestSubmission,
        portal: Option<Portal>,
    ) -> Result<UnrecordedRequest, Failure> {
        let words = order.words.trim();
        let agent = order.agent.clone().unwrap_or_else(|| "default".to_owned());
        let RequestAnalysis {
            title,
            constraints,
            criteria,
            size,
            why,
        } = request::read(words);
        let (size, why) = match order.planning {
            PlanningMode::BySize if order.skill.is_some() => {
                (RequestSize::Work, "a skill is to be planned".to_owned())
            }
            PlanningMode::BySize => (size, why),
            PlanningMode::Always => (RequestSize::Work, "you asked for a plan".to_owned()),
            PlanningMode::Never if size == RequestSize::Question => (size, why),
            PlanningMode::Never => (RequestSize::Trivial, "you asked for no plan".to_owned()),
        };
        // A request that is carried out at once is approved by the asker, and a program may not
        // approve anything.
        let is_program = self.caller.actor().kind == ActorKind::Program;
        let (size, why) = if is_program && size == RequestSize::Trivial {
            let why = "a program asked for it, and a person approves the plan";
            (RequestSize::Work, why.to_owned())
        } else {
            (size, why)
        };
        let trace = fresh_trace()?;
        let folder = match &portal {
            Some(portal) => portal.path.clone(),
            None => self.run_folder(order.folder.as_deref())?,
        };
        if let Some(skill) = &order.skill {
            self.find_skills(&folder).get(skill)?;
        }
        if size != RequestSize::Question {
            self.caller.has_a_commit(&folder)?;
            self.can_plan_with(order.model.as_deref())?;
        }
        let source = match order.source.as_str() {
            "" => origin_of(self.caller.via).as_str().to_owned(),
            source => source.to_owned(),
        };
        let request = RequestCreated {
            words: words.into(),
            title,
            portal: portal.as_ref().map(|portal| portal.name.clone()),
            folder: folder.display().to_string(),
            agent,
            urgency: order.urgency,
            source,
            file: format!("Inbox/Requests/request-{}.md", trace.short()),
            size,
            why,
            verify: order.verify,
            constraints,
            criteria,
            skill: order.skill.clone(),
            model: order.model.clone(),
        };
        Ok(UnrecordedRequest {
            trace,
            portal,
            request,
        })
    }

    /// Records a request and writes its file.
    pub fn file_request(&self, prospect: &UnrecordedRequest) -> Result<Work, Failure> {
        let opened = self.open()?;
        self.file_request_as(&opened.journal, prospect, self.caller.actor())
    }

    /// Records a request on behalf of `by`.
    fn file_request_as(
        &self,
        journal: &Journal,
        prospect: &UnrecordedRequest,
        by: Actor,
    ) -> Result<Work, Failure> {
        let draft = self.request_draft(journal, prospect, by, &self.redactor())?;
        let batch = EventBatch::of([draft]).expecting(StreamName::work(prospect.trace), 0);
        journal.append(batch).wait()?;
        let work = self.work(prospect.trace)?;
        let mut patience = self.patience(&self.root);
        while let Err(failure) = self.write_request(&work, RequestStatus::Pending) {
            if !patience.again_blocking(&failure) {
                return Err(failure);
            }
        }
        Ok(work)
    }

    /// Returns the event that records a request, with secrets redacted.
    pub(crate) fn request_draft(
        &self,
        journal: &Journal,
        prospect: &UnrecordedRequest,
        by: Actor,
        redactor: &SecretRedactor,
    ) -> Result<EventDraft, Failure> {
        let words = self.whole_text(&prospect.request.words)?;
        let request = RequestCreated {
            words: keep(journal, redactor.redact(&words).into_owned())?,
            ..prospect.request.clone()
        };
        let stream = StreamName::work(prospect.trace);
        Ok(EventDraft::new(stream, prospect.trace, by, request))
    }

    /// Takes a piece of work as far as possible without a decision: processes a request, or
    /// has a plan revised. Only one process at a time does this. If the disk is full, it waits
    /// for free space and continues.
    pub async fn take_on(
        self: &Arc<Self>,
        trace: TraceId,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<RequestOutcome, Failure> {
        let mut patience = self
            .patience(&*self.work(trace)?.request.folder)
            .until(&company.stop);
        loop {
            let settled = self.take_further(trace, model, company.clone()).await;
            match settled {
                Err(failure) if patience.again(&failure).await => {}
                settled => return settled,
            }
        }
    }

    async fn take_further(
        self: &Arc<Self>,
        trace: TraceId,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<RequestOutcome, Failure> {
        let journal = self.open()?.journal;
        let owner = LeaseOwner::this_process("artel ask");
        let name = StreamName::work(trace).to_string();
        let fence = journal.take_lease(&name, owner, LEASE).await?.fence;
        let settled = self.take_leased(trace, model, company, (&journal, &fence));
        let settled = settled.await;
        // If the lease cannot be released, the next process takes it over.
        drop(journal.release_lease(&fence).await);
        settled
    }

    /// Takes a piece of work further while renewing its lease. The caller must release the
    /// lease whatever the outcome.
    async fn take_leased(
        self: &Arc<Self>,
        trace: TraceId,
        model: Option<&str>,
        company: RunObservers,
        (journal, fence): (&Journal, &LeaseFence),
    ) -> Result<RequestOutcome, Failure> {
        let work = self.work(trace)?;
        let model = model.or(work.planning_model());
        let is_revision = work.course.is_awaiting_architect() && !work.versions.is_empty();
        let doing = async {
            if is_revision {
                self.revise_plan(&work, model, company).await
            } else {
                self.pursue(trace, model, company).await
            }
        };
        let mut doing = std::pin::pin!(doing);
        let mut renewal = tokio::time::interval(RENEW);
        renewal.tick().await;
        loop {
            tokio::select! {
                biased;
                settled = &mut doing => return settled,
                _ = renewal.tick() => journal.renew_lease(fence, LEASE).await?,
            }
        }
    }

    /// Processes a request: answers it, plans it, or approves it at once. An interrupted
    /// request resumes where it was left.
    pub async fn pursue(
        self: &Arc<Self>,
        trace: TraceId,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<RequestOutcome, Failure> {
        let work = self.work(trace)?;
        if work.events.len() == 1 && !self.root.join(&work.request.file).exists() {
            // The process that recorded the request was killed before it wrote the file.
            self.write_request(&work, RequestStatus::Pending)?;
        }
        let folder = self.run_folder(Some(work.request.folder.as_ref()))?;
        let model = model.or(work.request.model.as_deref());
        let house = RunEnvironment::open(self, &folder, model, company).await?;
        let settled = match work.request.size {
            RequestSize::Question => house.answer(&work).await,
            RequestSize::Trivial => house.at_once(&work).await,
            RequestSize::Work => house.plan(&work).await,
        };
        house.gateway.rest(crate::runs::LAST_REST).await;
        let settled = settled?;
        let work = self.work(trace)?;
        let status = match &settled {
            RequestOutcome::Answered { .. } => RequestStatus::Answered,
            RequestOutcome::Planned { .. } | RequestOutcome::AtOnce { .. } => {
                RequestStatus::Planned
            }
            RequestOutcome::Failed { .. } => RequestStatus::Failed,
            RequestOutcome::Left(_) => RequestStatus::Processing,
        };
        // If the person removed the request's file, it stays removed.
        if self.root.join(&work.request.file).exists() {
            self.write_request(&work, status)?;
        }
        Ok(settled)
    }
}

impl RunEnvironment {
    /// Answers a question by reading only.
    async fn answer(self: &Arc<Self>, work: &Work) -> Result<RequestOutcome, Failure> {
        let role = match work.request.agent.as_str() {
            "default" => "librarian".to_owned(),
            named => named.to_owned(),
        };
        let words = self.workshop.whole_text(&work.request.words)?;
        let is_awaited = match self.person().kind {
            ActorKind::Program => false,
            _ => self.is_attended() || work.request.source != "file",
        };
        let reason = if is_awaited {
            ModelCallReason::PersonWaits
        } else {
            ModelCallReason::Planning
        };
        let contract = RunContract {
            bound: Some(super::architect::nothing_changes_yet()),
            privacy: self.privacy_of(work),
            ..RunContract::new(work.request.title.clone(), reason)
        };
        let child = ChildRunSpec {
            name: "answer".to_owned(),
            parent: None,
            role,
            task: words,
            told: Some(
                "Answer this question about the project. Name file and line for what you say."
                    .to_owned(),
            ),
            contract,
            tree: None,
        };
        let came = self.child(work.trace, child, |_, _| {}).await?;
        let (done, _) = match came {
            ChildRunOutcome::Left(left) => return Ok(RequestOutcome::Left(left)),
            ChildRunOutcome::Over(done, events) => (done, events),
        };
        let state = done.finished.as_ref().and_then(|it| it.state.clone());
        let is_done = state.as_deref() == Some(RunOutcome::Complete.as_str());
        let settled = RequestSettled {
            run: done.run,
            state: if is_done { "answered" } else { "failed" }.to_owned(),
        };
        let work = self.workshop.work(work.trace)?;
        let is_known = work.course.request().is_some_and(|it| it.settled.is_some());
        if !is_known {
            let actor = Actor::system("guide");
            self.workshop
                .record_for(&self.journal, &work, actor, vec![settled.into()])?;
        }
        let why = done.finished.as_ref().and_then(|it| it.why.clone());
        Ok(if is_done {
            RequestOutcome::Answered {
                run: done.run,
                answer: done.answer.unwrap_or_default(),
            }
        } else {
            RequestOutcome::Failed {
                why: why.unwrap_or_else(|| "no answer came".to_owned()),
            }
        })
    }

    /// Makes a plan of one step, which the request itself approves.
    async fn at_once(self: &Arc<Self>, work: &Work) -> Result<RequestOutcome, Failure> {
        let run = self.workshop.approve_at_once(&self.journal, work)?;
        Ok(RequestOutcome::AtOnce { run })
    }

    pub(super) fn privacy_of(&self, work: &Work) -> PrivacyLabel {
        let portal = work.request.portal.as_deref();
        let portal = portal.and_then(|name| self.workshop.portal(name).ok());
        let folder = portal.map_or_else(|| work.request.folder.clone().into(), |it| it.path);
        let recorded = self.recorded_privacy(work.trace);
        match (self.workshop.portals(), recorded) {
            (Ok(portals), Ok(recorded)) => label_of(&folder, &portals).narrowed(recorded),
            // Without these labels, nobody can say what may leave the machine.
            _ => PrivacyLabel::LocalOnly,
        }
    }

    /// Returns the strictest privacy label of the runs that this piece of work began so far.
    /// Each run has the label of its time on record.
    fn recorded_privacy(&self, trace: TraceId) -> Result<PrivacyLabel, Failure> {
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        let mut privacy = PrivacyLabel::Any;
        for record in self.journal.reader().records(&EventQuery::of(filter))? {
            if let Fact::RunStarted(started) = record.event()?.fact
                && let Some(inherits) = started.inherits
            {
                privacy = privacy.narrowed(inherits.privacy);
            }
        }
        Ok(privacy)
    }
}

impl Workshop {
    fn approve_at_once(&self, journal: &Journal, work: &Work) -> Result<RunId, Failure> {
        if let Some(approved) = work.course.approved() {
            return Ok(approved.run);
        }
        let words = self.whole_text(&work.request.words)?;
        let role = match work.request.agent.as_str() {
            "default" => "engineer",
            named => named,
        };
        let plan = one_step(&work.request, &words, role);
        let checked = artel_rules::plan::check(&plan, &self.known());
        checked.map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
            Failure::new(FailureCode::C004, "it cannot be done at once").because(lines.join("; "))
        })?;
        self.admit_plan(journal, work, &plan)?;
        let actor = self.caller.actor();
        if work.versions.is_empty() {
            self.draft_plan(journal, work, &plan, (Actor::system("guide"), None))?;
        }
        let work = self.work(work.trace)?;
        let (drafted, _) = self.plan_of(&work, None)?;
        self.approve_version(journal, &work, &drafted, actor)
    }
}

/// Returns how a request came that somebody makes through a surface.
fn origin_of(via: ActorSurface) -> RequestOrigin {
    match via {
        ActorSurface::Cli => RequestOrigin::Cli,
        ActorSurface::File => RequestOrigin::File,
        ActorSurface::Web => RequestOrigin::Console,
        ActorSurface::Api => RequestOrigin::Api,
    }
}

fn one_step(request: &RequestCreated, words: &str, role: &str) -> Plan {
    let criteria: Vec<Requirement> = request.criteria.clone();
    let check = format!("See that this was done, and nothing else: {words}");
    let step = PlanStep {
        id: "s1".to_owned(),
        title: request.title.clone(),
        role: role.to_owned(),
        work: words.to_owned(),
        check,
        after: Vec::new(),
        verify: request.verify.unwrap_or(StepVerification::Evaluator),
        scope: StepScope {
            criteria,
            ..StepScope::default()
        },
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
        priority: None,
    };
    Plan {
        title: request.title.clone(),
        kind: artel_rules::plan::names::sort_of(words, &[]),
        overview: words.to_owned(),
        steps: vec![step],
        ..Plan::default()
    }
}
