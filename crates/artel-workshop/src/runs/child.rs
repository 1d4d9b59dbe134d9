//! Child runs: a skill that calls another skill in a conversation of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use artel_engine::{RunTreeHandle, TurnAllowance};
use artel_journal::{EventFilter, EventQuery};
use artel_policy::{BoundAdmission, PolicyAction, PolicyBound, PortalPermission};
use artel_skills::{Skill, SkillAgentKind, SkillContextMode};
use artel_tools::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolError, ToolErrorKind,
    ToolObservation, ToolRegistry, ToolSchemaDelivery, parse,
};
use artel_types::{Fact, Failure, RunId, RunOutcome, TraceId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::house::RunEnvironment;
use super::inheritance::{ChildTerms, RunInheritance};
use super::order::{RunDriveOutcome, RunStartOptions};
use super::prepare::PreparedRunLimits;
use super::start::RunStartSpec;
use crate::caller::random_run;
use crate::works::RunContract;

/// The role of a run that has no specific role.
pub(super) const DEFAULT_ROLE: &str = "default";

/// Returns the bound for a kind of sub-agent.
pub(super) fn bound_of_kind(agent: Option<&SkillAgentKind>) -> Option<PolicyBound> {
    matches!(agent, Some(SkillAgentKind::Explore | SkillAgentKind::Plan)).then(|| PolicyBound {
        name: "read-only agent".to_owned(),
        admits: BoundAdmission::Operations(vec![PortalPermission::Read]),
    })
}

/// Everything that a run has from the runs above it.
#[derive(Clone)]
pub(crate) struct RunLineage {
    pub(crate) parent: Option<RunId>,
    /// The call of the parent that started it.
    pub(crate) call: Option<String>,
    /// The run whose tree it works in, unless it has its own.
    pub(crate) root_run: Option<RunId>,
    /// The skills from the first run down to this one.
    pub(crate) chain: Vec<String>,
    /// Whether another run called it for a part of its work. A successor has the value of the
    /// run that it took over from.
    pub(crate) is_called: bool,
    /// The number of forks above it.
    pub(crate) depth: u32,
    pub(crate) family: TurnAllowance,
    pub(crate) ground: Option<Arc<RunTreeHandle>>,
    pub(crate) role: String,
    pub(crate) agent: Option<SkillAgentKind>,
    /// The bounds and grants that it inherited.
    pub(crate) inherits: RunInheritance,
    /// Maximum number of turns, if it is a fork.
    pub(crate) share: Option<u32>,
    /// The text that the calling run passes on to it.
    pub(crate) told: Option<String>,
    /// The terms that a plan sets for it.
    pub(crate) contract: Option<Arc<RunContract>>,
    /// The folder for its files, unless it is the one named after its tree.
    pub(crate) place: Option<std::path::PathBuf>,
}

impl RunLineage {
    /// Returns the lineage of a top-level run.
    pub(crate) fn root(chain: Vec<String>, inherits: RunInheritance) -> Self {
        Self {
            parent: None,
            call: None,
            root_run: None,
            chain,
            is_called: false,
            depth: 0,
            family: TurnAllowance::default(),
            ground: None,
            role: DEFAULT_ROLE.to_owned(),
            agent: None,
            inherits,
            share: None,
            told: None,
            contract: None,
            place: None,
        }
    }

    /// Limits a fork to its share of turns.
    pub(super) fn bounded(&self, mut limits: PreparedRunLimits) -> PreparedRunLimits {
        if let Some(share) = self.share {
            limits.turns = limits.turns.min(share);
        }
        if let Some(turns) = self.contract.as_ref().and_then(|it| it.turns) {
            limits.turns = turns;
        }
        limits
    }
}

impl RunEnvironment {
    /// Builds the tools of a run: those of its role, and the one that calls skills.
    pub(super) fn registry(
        self: &Arc<Self>,
        kin: &RunLineage,
        (run, trace): (RunId, TraceId),
        ground: &Arc<RunTreeHandle>,
        (left, terms): (&Arc<AtomicU32>, ChildTerms),
    ) -> Result<ToolRegistry, Failure> {
        let registry = self.workshop.caller.registry(&kin.role);
        let mut registry = registry.map_err(|problems| problems.first())?;
        for tool in kin.contract.iter().flat_map(|contract| &contract.tools) {
            let added = registry.add(Arc::clone(tool));
            added.map_err(|trouble| Failure::new(artel_types::FailureCode::X001, trouble.what))?;
        }
        if self.skills.skills.is_empty() {
            return Ok(registry);
        }
        let tool = SkillTool {
            card: card(),
            house: Arc::clone(self),
            kin: kin.clone(),
            run,
            trace,
            ground: Arc::clone(ground),
            left: Arc::clone(left),
            terms,
            runtime: Handle::current(),
        };
        let added = registry.add(Arc::new(tool));
        added.map_err(|trouble| Failure::new(artel_types::FailureCode::X001, trouble.what))?;
        Ok(registry)
    }

    /// Finds a run that a call started in an earlier process.
    pub(crate) fn child_of(
        &self,
        trace: TraceId,
        parent: Option<RunId>,
        call: &str,
    ) -> Result<Option<RunId>, Failure> {
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        for record in self.journal.reader().records(&EventQuery::of(filter))? {
            if let Fact::RunStarted(started) = record.event()?.fact
                && started.parent == parent
                && started.call.as_deref() == Some(call)
            {
                return Ok(Some(started.id));
            }
        }
        Ok(None)
    }
}

/// The tool that calls a skill from within a run.
struct SkillTool {
    card: ToolDescriptor,
    house: Arc<RunEnvironment>,
    kin: RunLineage,
    run: RunId,
    trace: TraceId,
    ground: Arc<RunTreeHandle>,
    left: Arc<AtomicU32>,
    /// The terms that every child run inherits.
    terms: ChildTerms,
    runtime: Handle,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    skill: String,
    #[serde(default)]
    arguments: String,
}

fn card() -> ToolDescriptor {
    ToolDescriptor {
        name: "skill".to_owned(),
        line: "Carry out one of the available skills and get its answer".to_owned(),
        description: "The skill works by itself, in a conversation of its own, on the same files. \
                      It knows nothing of yours: say in `arguments` all that it needs."
            .to_owned(),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["skill"],
            "properties": {
                "skill": {"type": "string", "description": "Its name"},
                "arguments": {"type": "string", "description": "What it is to work on"},
            },
        }),
        effects: Vec::new(),
        unknown: ToolCrashRecovery::Idempotent,
        bundle: "notes",
        keywords: &["skill", "agent", "delegate", "fork"],
        reach: ToolSchemaDelivery::Always,
    }
}

impl SkillTool {
    /// Returns the lineage of a called skill, or why it cannot be called.
    fn kin_of(&self, skill: &Skill, call: &str) -> Result<RunLineage, ToolError> {
        let mut chain = self.kin.chain.clone();
        let shown = || {
            let mut names = chain.clone();
            names.push(skill.name.clone());
            names.join(" -> ")
        };
        let refused = |what: String| Err(ToolError::new(ToolErrorKind::Refused, what));
        if chain.contains(&skill.name) {
            return refused(format!(
                "`{}` is at work already. Skill chain: {}",
                skill.name,
                shown()
            ));
        }
        if chain.len() >= TurnAllowance::MOST_SKILLS {
            let most = TurnAllowance::MOST_SKILLS;
            return refused(format!(
                "Skill chain depth limit ({most}) exceeded. Skill chain: {}",
                shown()
            ));
        }
        let is_fork = skill.front.context == SkillContextMode::Fork;
        let depth = self.kin.depth + u32::from(is_fork);
        if depth > TurnAllowance::MOST_DEPTH {
            let most = TurnAllowance::MOST_DEPTH;
            return refused(format!(
                "Maximum sub-agent depth ({most}) exceeded. Skill chain: {}",
                shown()
            ));
        }
        chain.push(skill.name.clone());
        let left = self.left.load(Ordering::Relaxed);
        let agent = is_fork.then(|| skill.front.agent.clone().unwrap_or(SkillAgentKind::General));
        Ok(RunLineage {
            parent: Some(self.run),
            call: Some(call.to_owned()),
            root_run: Some(self.kin.root_run.unwrap_or(self.run)),
            chain,
            is_called: true,
            depth,
            family: self.kin.family.clone(),
            ground: Some(Arc::clone(&self.ground)),
            role: match &agent {
                Some(SkillAgentKind::Custom(role)) => role.clone(),
                _ => self.kin.role.clone(),
            },
            inherits: self.handed_down(agent.as_ref()),
            agent,
            share: is_fork.then(|| (left / 2).max(1)),
            told: None,
            contract: None,
            place: None,
        })
    }

    /// Returns what a skill called here inherits.
    fn handed_down(&self, agent: Option<&SkillAgentKind>) -> RunInheritance {
        let mut terms = self.terms.clone();
        terms.bounds.extend(bound_of_kind(agent));
        self.kin.inherits.for_child(terms)
    }

    async fn carry_out(
        &self,
        skill: Arc<Skill>,
        input: &Input,
        mut kin: RunLineage,
    ) -> Result<RunDriveOutcome, Failure> {
        self.house.ensure_trust(&skill).await?;
        let call = kin.call.clone().unwrap_or_default();
        if let Some(run) = self.house.child_of(self.trace, Some(self.run), &call)? {
            let (started, _) = self.house.workshop.started(run)?;
            // The skill's current text must not loosen the bounds the run started with.
            if started.inherits.is_some() {
                let recorded = self.house.inheritance_of(&started)?;
                kin.inherits = kin.inherits.narrowed_by(&recorded);
            }
            return self.house.take_up(run, Some(kin)).await;
        }
        let order = RunStartOptions {
            skill: Some(skill.name.clone()),
            arguments: Some(input.arguments.clone())
                .filter(|text| !text.trim().is_empty())
                .into_iter()
                .collect(),
            // A model that a person named for the whole run takes precedence over the skill's.
            model: kin.inherits.model().map(str::to_owned),
            ..RunStartOptions::default()
        };
        let beginning = RunStartSpec {
            run: random_run()?,
            trace: self.trace,
            skill: Some(skill),
            order,
            kin,
        };
        // Boxed, because runs call runs: the future would otherwise contain itself.
        Box::pin(self.house.begin(beginning)).await
    }
}

impl Tool for SkillTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        self.find(&input.skill)?;
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: Input = parse(input)?;
        let skill = Arc::new(self.find(&input.skill)?);
        let kin = self.kin_of(&skill, &bench.call)?;
        let done = self.runtime.block_on(self.carry_out(skill, &input, kin));
        match done {
            Ok(done) => told(&input.skill, &done),
            Err(failure) => {
                let what = format!("the skill `{}` did not begin: {failure}", input.skill);
                Err(ToolError::new(ToolErrorKind::Failed, what))
            }
        }
    }
}

impl SkillTool {
    fn find(&self, name: &str) -> Result<Skill, ToolError> {
        let found = self.house.skills.get(name).cloned();
        if let Ok(skill) = &found
            && skill.front.disable_model_invocation
        {
            let what = format!("the skill `{name}` is for people to call, not for models");
            let hint = "ask the person to run it, or do it another way";
            return Err(ToolError::new(ToolErrorKind::Refused, what).hint(hint));
        }
        found.map_err(|failure| {
            let trouble = ToolError::new(ToolErrorKind::NotFound, failure.what.clone());
            match &failure.advice {
                Some(advice) => trouble.hint(advice.clone()),
                None => trouble,
            }
        })
    }
}

/// Returns the result of a child run, with a pointer to its trace.
fn told(skill: &str, done: &RunDriveOutcome) -> Result<ToolObservation, ToolError> {
    let trace = format!("trace: `artel trace {}`", done.run);
    let Some(finished) = &done.finished else {
        let what = format!("the skill `{skill}` was left before its end; {trace}");
        return Err(ToolError::new(ToolErrorKind::Cancelled, what));
    };
    let state: Option<RunOutcome> = finished.state.as_deref().and_then(|it| it.parse().ok());
    let answer = done.answer.as_deref().unwrap_or(&finished.summary);
    let data = json!({ "run": done.run.to_string(), "state": finished.state });
    match state {
        Some(RunOutcome::Complete) => Ok(ToolObservation {
            text: format!("{answer}\n\n[skill `{skill}` is done; {trace}]"),
            data,
            ..ToolObservation::default()
        }),
        _ => {
            let why = finished.why.as_deref().unwrap_or("it did not say why");
            let what = format!("the skill `{skill}` is not done: {why}\n{answer}\n[{trace}]");
            Err(ToolError::new(ToolErrorKind::Failed, what)
                .hint("do the rest yourself, or call it again with other arguments"))
        }
    }
}
