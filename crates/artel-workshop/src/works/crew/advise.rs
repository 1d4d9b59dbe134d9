//! The architect's advice about a step that failed in all its attempts. The worker could
//! not do it, so before a person decides, the architect says whether plan or code is at
//! fault, and may propose another plan.

use std::fmt::Write as _;
use std::sync::Arc;

use artel_engine::{PlanOrderOutcome, RunSuspendReason};
use artel_policy::StepWriteAccess;
use artel_rules::plan::widened;
use artel_tools::Tool;
use artel_types::plan::{Plan, PlanStep};
use artel_types::{Event, Failure, PlanProposed, RecordedText, RunId, StepAdvised};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parts::cut;
use super::{AgentExecutor, StepContext, blocking, facts};
use crate::PortalOperation;
use crate::runs::RunDriveOutcome;
use crate::works::briefs;
use crate::works::children::{ChildRunOutcome, ChildRunSpec};
use crate::works::contract::{RunContract, bound_of};
use crate::works::forms::{self, StructuredAnswerTool, shaped};
use crate::works::named::WorkPlanVocabulary;
use crate::works::propose::{ProposalText, proposed};
use crate::works::prover::done_with;

/// The name of the tool that hands in advice.
const ADVICE: &str = "advice";

/// Largest number of turns for the architect, who looks at one step only.
const TURNS: u32 = 12;

/// The architect's advice, as it is handed in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArchitectAdvice {
    fault: AdviceFault,
    /// The reason why no attempt passed, and what would help.
    why: String,
    #[serde(default)]
    change: Option<AdvisedStepChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AdviceFault {
    Plan,
    Code,
    Tests,
    Surroundings,
}

/// The architect's changes to the step.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdvisedStepChange {
    #[serde(default)]
    impact: String,
    #[serde(default)]
    work: String,
    #[serde(default)]
    check: String,
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

impl AgentExecutor {
    /// Asks the architect why a step failed. Whatever the answer, the person is asked next: a
    /// failure here never keeps them from deciding.
    pub(super) async fn advise(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        if let Some(portal) = &self.portal
            && let Err(failure) =
                self.house
                    .workshop
                    .admit(portal, "architect", PortalOperation::Read)
        {
            let why = format!("The architect was not asked: {}", failure.what);
            return Ok(facts([silent(&spot, None, why).into()]));
        }
        let (at, tree, diff) = self.copied(&spot, "advise", spot.left_by(self)).await?;
        let bound = bound_of(&spot.spec, &[], StepWriteAccess::None);
        let maker = AdvisedPlanBuilder {
            plan: spot.state.plan().clone(),
            step: spot.spec.clone(),
            named: self.named.clone(),
            id: format!("{}-{}-advice", spot.spec.id, spot.round),
        };
        let contract = RunContract {
            tools: vec![advice_form(maker.clone())],
            // The step's cost limit in the plan is for its work, not for advice.
            plan: None,
            turns: Some(TURNS),
            directive: Some(format!("Say why `{}` did not pass", spot.spec.title)),
            ..self.contract(&spot, bound)
        };
        let child = ChildRunSpec {
            tree: Some((at.clone(), tree)),
            ..self.child(&spot, "architect", contract, brief(&spot, &cut(diff)))
        };
        let name = child.name.clone();
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        let fact = match came {
            ChildRunOutcome::Over(done, events) => self.advised(&spot, &maker, &done, &events)?,
            // A person can decide without advice and should not have to wait for a model.
            ChildRunOutcome::Left(RunSuspendReason::Model(failure)) => {
                self.unasked(&spot, &name, &failure).await?
            }
            ChildRunOutcome::Left(left) => return Ok(PlanOrderOutcome::Left(left)),
        };
        blocking(move || {
            done_with(&at);
            Ok(())
        })
        .await?;
        Ok(fact)
    }

    /// Continues without advice because the model is unavailable. The architect's run is ended
    /// for good: the person decides without it.
    async fn unasked(
        &self,
        spot: &StepContext,
        name: &str,
        failure: &Failure,
    ) -> Result<PlanOrderOutcome, Failure> {
        let known = self.house.child_of(self.trace(), Some(self.run()), name)?;
        if let Some(run) = known {
            let workshop = &self.house.workshop;
            let journal = &self.house.journal;
            workshop.fail_left(journal, run, &failure.what).await?;
        }
        let why = format!("The architect could not be asked: {}", failure.what);
        Ok(facts([silent(spot, known, why).into()]))
    }

    /// Records the architect's advice and the plan that it proposes.
    fn advised(
        &self,
        spot: &StepContext,
        maker: &AdvisedPlanBuilder,
        done: &RunDriveOutcome,
        events: &[Event],
    ) -> Result<PlanOrderOutcome, Failure> {
        let Some(advice) = forms::handed_in::<ArchitectAdvice>(events, ADVICE) else {
            let said = done.finished.as_ref().and_then(|it| it.why.clone());
            let said = said.or_else(|| done.answer.clone()).unwrap_or_default();
            let first = said.lines().next().unwrap_or_default();
            let why = format!("The architect was asked why, and gave no advice: {first}");
            return Ok(facts([silent(spot, Some(done.run), why).into()]));
        };
        let change = advice.change.clone();
        // The plan was checked when it was handed in, and an invalid one was refused then.
        let change = change.and_then(|change| maker.make(&advice.why, change).ok());
        let advised = StepAdvised {
            step: spot.spec.id.clone(),
            round: spot.round,
            run: Some(done.run),
            fault: Some(advice.fault.as_str().to_owned()),
            advice: self.chronicle.keep(advice.why)?,
            proposal: change.as_ref().map(|it| it.id.clone()),
        };
        let change = change.map(Into::into);
        Ok(facts(std::iter::once(advised.into()).chain(change)))
    }
}

impl AdviceFault {
    fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Tests => "tests",
            Self::Surroundings => "surroundings",
        }
    }
}

/// Builds the plan that the architect proposes.
#[derive(Clone)]
struct AdvisedPlanBuilder {
    plan: Plan,
    step: PlanStep,
    named: WorkPlanVocabulary,
    id: String,
}

impl AdvisedPlanBuilder {
    fn make(&self, why: &str, change: AdvisedStepChange) -> Result<PlanProposed, String> {
        let mut step = self.step.clone();
        step.scope.paths.extend(change.paths);
        step.scope.commands.extend(change.commands);
        step.scope.network.extend(change.network);
        step.scope.tools.extend(change.tools);
        step.scope.secrets.extend(change.secrets);
        step.after
            .extend(change.steps.iter().map(|it| it.id.clone()));
        let mut what = widened(&self.step, &step);
        for (name, old, new) in [
            ("work", &mut step.work, change.work),
            ("check", &mut step.check, change.check),
        ] {
            let new = new.trim().to_owned();
            if !new.is_empty() && new != old.trim() {
                what.push(format!("{name} becomes: {new}"));
                *old = new;
            }
        }
        what.extend(change.steps.iter().map(|it| format!("first: {}", it.title)));
        if what.is_empty() {
            return Err("`change` changes nothing: leave it out, or say what of the step".into());
        }
        let words = ProposalText {
            id: self.id.clone(),
            what: what.join("; "),
            why: why.to_owned(),
            impact: change.impact,
        };
        let judge = |next: &Plan| self.named.check(next, Some(&self.plan));
        let made = proposed(&self.plan, step, change.steps, judge, words)?;
        // Other steps continue: the person is asked about this step in any case.
        Ok(PlanProposed {
            blocking: false,
            ..made
        })
    }
}

fn silent(spot: &StepContext, run: Option<RunId>, why: String) -> StepAdvised {
    StepAdvised {
        step: spot.spec.id.clone(),
        round: spot.round,
        run,
        fault: None,
        advice: RecordedText::Inline(why),
        proposal: None,
    }
}

/// Returns the architect's task.
fn brief(spot: &StepContext, diff: &str) -> String {
    let spec = &spot.spec;
    let mut text = format!(
        "This step did not pass in {} attempts, and a person decides next what becomes of it. Look \
         at what is there, then call `advice` once: say what is at fault, plan, code, tests or \
         surroundings, why, and what would help. Where the plan is at fault, give the `change` \
         that would mend it. Do not ask the person: they read your advice and decide.\n\n\
         The step: {}\n{}\n\nHow it is checked: {}\nIt may change: {}.",
        spot.round,
        spec.title,
        spec.work,
        spec.check,
        briefs::paths(spec)
    );
    text.push_str("\n\nWhat came of the attempts:");
    briefs::came_of(&mut text, spot);
    let steps = spot.state.steps();
    let others: Vec<_> = steps
        .filter(|(other, _)| other.id != spec.id)
        .map(|(other, step)| format!("{} ({}, {})", other.id, other.title, step.state))
        .collect();
    if !others.is_empty() {
        let _ = write!(text, "\n\nThe other steps: {}.", others.join("; "));
    }
    match diff.trim() {
        "" => text.push_str("\n\nNo file was changed."),
        diff => {
            let _ = write!(text, "\n\n<change>\n{diff}\n</change>");
        }
    }
    text
}

fn advice_form(maker: AdvisedPlanBuilder) -> Arc<dyn Tool> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let list =
        |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let change = json!({
        "type": "object",
        "additionalProperties": false,
        "description": "How the step should be instead; only what differs",
        "properties": {
            "impact": text("What it means for the rest of the plan"),
            "work": text("What the worker has to do instead"),
            "check": text("How it is verified instead"),
            "paths": list("More files that it has to change, as patterns"),
            "commands": list("More commands, as rules such as `npm run build:*`"),
            "network": list("Hosts that it has to reach"),
            "tools": list("Declared tools that it has to use"),
            "secrets": list("Secrets that its tools and commands need, by name"),
            "steps": {"type": "array", "items": {"type": "object"},
                "description": "Steps that have to come first: id, title, role, work, check, scope"},
        },
    });
    let input = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["fault", "why"],
        "properties": {
            "fault": {"enum": ["plan", "code", "tests", "surroundings"]},
            "why": text("Why no attempt passed, with file and line, and what would help"),
            "change": change,
        },
    });
    StructuredAnswerTool::tool(
        ADVICE,
        "Hand in the advice",
        "Hands in why the step did not pass. The person sees it and decides.",
        input,
        move |input: &Value| {
            let advice: ArchitectAdvice = shaped(input)?;
            if advice.why.trim().is_empty() {
                return Err(vec!["`why` is empty".to_owned()]);
            }
            if let Some(change) = advice.change {
                maker.make(&advice.why, change).map_err(|why| vec![why])?;
            }
            Ok("The advice is taken.".to_owned())
        },
    )
}
