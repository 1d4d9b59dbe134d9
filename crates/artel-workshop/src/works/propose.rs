//! `propose_change`: an agent that cannot do its step within its scope proposes a change
//! to the plan. A person decides about it; no scope widens by itself.

use std::sync::Arc;

use artel_engine::{RunJournal, RunJournalEntry};
use artel_policy::PolicyAction;
use artel_rules::plan::{CheckedPlan, PlanProblem, widened};
use artel_tools::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery, parse,
};
use artel_types::plan::{Plan, PlanStep};
use artel_types::{Fact, PlanProposed};
use serde::Deserialize;
use serde_json::{Value, json};

use super::crew::{AgentExecutor, StepContext};
use super::named::WorkPlanVocabulary;
use super::sheets::hash_of;

/// The tool with which an agent proposes a change to the plan.
struct ProposeChangeTool {
    card: ToolDescriptor,
    chronicle: RunJournal,
    plan: Plan,
    step: PlanStep,
    named: WorkPlanVocabulary,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    why: String,
    #[serde(default)]
    impact: String,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    network: Vec<String>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    secrets: Vec<String>,
    /// New steps that must come first.
    #[serde(default)]
    steps: Vec<PlanStep>,
}

pub(super) fn propose_tool(workers: &AgentExecutor, spot: &StepContext) -> Arc<dyn Tool> {
    let list =
        |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let input = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["why"],
        "properties": {
            "why": {"type": "string", "description": "Why the step cannot be done as it is"},
            "impact": {"type": "string", "description": "What it means for the rest of the plan"},
            "paths": list("More files that the step has to change, as patterns"),
            "commands": list("More commands, as rules such as `npm run build:*`"),
            "network": list("Hosts that it has to reach"),
            "tools": list("Declared tools that it has to use"),
            "secrets": list("Secrets that its tools and commands need, by name"),
            "steps": {"type": "array", "items": {"type": "object"},
                "description": "Steps that have to come first: id, title, role, work, check, scope"},
        },
    });
    Arc::new(ProposeChangeTool {
        card: ToolDescriptor {
            name: "propose_change".to_owned(),
            line: "Ask the person to change the plan or widen this step's scope".to_owned(),
            description: "The person sees what, why and the impact, and decides. Call `finish` \
                          afterwards: the step goes on once they have."
                .to_owned(),
            input,
            effects: Vec::new(),
            unknown: ToolCrashRecovery::Idempotent,
            bundle: "notes",
            keywords: &["scope", "plan", "permission"],
            reach: ToolSchemaDelivery::Always,
        },
        chronicle: workers.chronicle.clone(),
        plan: spot.state.plan().clone(),
        step: spot.spec.clone(),
        named: workers.named.clone(),
    })
}

impl Tool for ProposeChangeTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: Input = parse(input)?;
        let id = format!("{}-{}", self.step.id, bench.call);
        let proposed = self.proposal(&id, input)?;
        let failed = |failure: artel_types::Failure| {
            ToolError::new(ToolErrorKind::Failed, failure.to_string())
        };
        let known = self.chronicle.own_events().map_err(failed)?;
        let is_known = known
            .iter()
            .any(|event| matches!(&event.fact, Fact::PlanProposed(it) if it.id == id));
        if !is_known {
            let entry = RunJournalEntry::shown(proposed);
            self.chronicle
                .append_blocking(vec![entry])
                .map_err(failed)?;
        }
        Ok(ToolObservation {
            text: "The person will be asked. Call `finish` now and say how far you came."
                .to_owned(),
            ..ToolObservation::default()
        })
    }
}

impl ProposeChangeTool {
    fn proposal(&self, id: &str, input: Input) -> Result<PlanProposed, ToolError> {
        let mut step = self.step.clone();
        step.scope.paths.extend(input.paths);
        step.scope.commands.extend(input.commands);
        step.scope.network.extend(input.network);
        step.scope.tools.extend(input.tools);
        step.scope.secrets.extend(input.secrets);
        step.after
            .extend(input.steps.iter().map(|it| it.id.clone()));
        let mut what = widened(&self.step, &step);
        what.extend(input.steps.iter().map(|it| format!("first: {}", it.title)));
        if what.is_empty() {
            let what = "it asks for nothing: give `paths`, `commands`, `network`, `tools`, `secrets` or `steps`";
            return Err(ToolError::new(ToolErrorKind::BadInput, what));
        }
        proposed(
            &self.plan,
            step,
            input.steps,
            |next| self.named.check(next, Some(&self.plan)),
            ProposalText {
                id: id.to_owned(),
                what: what.join("; "),
                why: input.why,
                impact: input.impact,
            },
        )
        .map_err(|problems| {
            ToolError::new(
                ToolErrorKind::BadInput,
                format!("the plan would not hold: {problems}"),
            )
        })
    }
}

/// The text of a proposal.
pub(super) struct ProposalText {
    pub(super) id: String,
    pub(super) what: String,
    pub(super) why: String,
    pub(super) impact: String,
}

/// Builds a proposal: the plan with the changed step, and with new steps before it.
pub(super) fn proposed(
    plan: &Plan,
    step: PlanStep,
    first: Vec<PlanStep>,
    judge: impl Fn(&Plan) -> Result<CheckedPlan, Vec<PlanProblem>>,
    words: ProposalText,
) -> Result<PlanProposed, String> {
    let mut next = plan.clone();
    let at = next
        .steps
        .iter()
        .position(|it| it.id == step.id)
        .unwrap_or(0);
    let id = step.id.clone();
    if let Some(place) = next.steps.get_mut(at) {
        *place = step;
    }
    next.steps.splice(at..at, first);
    let checked = judge(&next).map_err(|problems| {
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        lines.join("; ")
    })?;
    let next = checked.into_plan();
    let (json, hash) = hash_of(&next).map_err(|failure| failure.to_string())?;
    let impact = match words.impact.as_str() {
        "" => "the other steps stay as they are".to_owned(),
        impact => impact.to_owned(),
    };
    Ok(PlanProposed {
        id: words.id,
        step: id,
        what: words.what,
        why: words.why,
        impact,
        plan: json.as_str().into(),
        hash,
        blocking: true,
    })
}
