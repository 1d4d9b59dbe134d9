//! Structured answers: tools through which an agent hands in a plan, criteria or a
//! verdict. An answer of the wrong shape is returned with its errors, so that the model
//! corrects it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use artel_policy::PolicyAction;
use artel_rules::conduct::StepVerifier;
use artel_rules::proof::ChangedLines;
use artel_tools::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery,
};
use artel_types::plan::{Requirement, VerdictFinding};
use artel_types::{Event, Fact, RecordedText};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Number of refusals after which the tool tells the agent to give up.
const MOST_REFUSED: u32 = 5;

/// The name of the tool that hands in a plan.
pub(crate) const PLAN: &str = "submit_plan";

/// The name of the tool that hands in criteria.
pub(crate) const CRITERIA: &str = "criteria";

/// The name of the tool that hands in a verdict.
pub(crate) const VERDICT: &str = "verdict";

/// A check of an answer. It returns a text for the agent, or a list of problems.
pub(crate) type Look = dyn Fn(&Value) -> Result<String, Vec<String>> + Send + Sync;

/// A tool that takes one structured answer.
pub(crate) struct StructuredAnswerTool {
    card: ToolDescriptor,
    look: Box<Look>,
    refused: AtomicU32,
}

/// A verifier's verdict, as it is handed in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifierVerdict {
    /// `pass` or `fail`.
    pub(crate) verdict: VerdictResult,
    /// Advice for the next attempt.
    #[serde(default)]
    pub(crate) feedback: String,
    #[serde(default)]
    pub(crate) findings: Vec<VerdictFinding>,
    /// The basis of the verdict: what the verifier read or ran itself.
    #[serde(default)]
    pub(crate) evidence: Vec<String>,
    /// Values for later steps.
    #[serde(default)]
    pub(crate) outputs: serde_json::Map<String, Value>,
    /// Where the fault lies if a test fails.
    #[serde(default)]
    pub(crate) fault: Option<VerdictFault>,
}

/// The result of a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VerdictResult {
    #[serde(alias = "PASS")]
    Pass,
    #[default]
    #[serde(alias = "FAIL")]
    Fail,
}

/// Where the fault lies if a test fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VerdictFault {
    /// The test asks for the wrong thing.
    Test,
    /// The code does the wrong thing.
    Code,
}

/// The criteria that an inspector hands in before the work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InspectorCriteria {
    pub(crate) criteria: Vec<Requirement>,
}

impl StructuredAnswerTool {
    /// Makes a tool for a structured answer.
    pub(crate) fn tool(
        name: &str,
        line: &str,
        description: &str,
        input: Value,
        look: impl Fn(&Value) -> Result<String, Vec<String>> + Send + Sync + 'static,
    ) -> Arc<dyn Tool> {
        Arc::new(Self {
            card: ToolDescriptor {
                name: name.to_owned(),
                line: line.to_owned(),
                description: description.to_owned(),
                input,
                effects: Vec::new(),
                unknown: ToolCrashRecovery::Pure,
                bundle: "notes",
                keywords: &[],
                reach: ToolSchemaDelivery::Always,
            },
            look: Box::new(look),
            refused: AtomicU32::new(0),
        })
    }
}

impl Tool for StructuredAnswerTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, _: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        Ok(vec![PolicyAction::Nothing])
    }

    fn run(&self, input: &Value, _: &ToolContext) -> Result<ToolObservation, ToolError> {
        match (self.look)(input) {
            Ok(text) => Ok(ToolObservation {
                text: format!("{text} Call `finish` now."),
                ..ToolObservation::default()
            }),
            Err(problems) => {
                let count = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
                let what = format!("it was not taken:\n- {}", problems.join("\n- "));
                let trouble = ToolError::new(ToolErrorKind::BadInput, what);
                let name = &self.card.name;
                Err(if count >= MOST_REFUSED {
                    trouble.hint("call `finish` and say why it cannot be done")
                } else {
                    trouble.hint(format!("mend that and call `{name}` again, with all of it"))
                })
            }
        }
    }
}

/// Deserializes an answer. The error says what is wrong or missing.
pub(crate) fn shaped<T: DeserializeOwned>(input: &Value) -> Result<T, Vec<String>> {
    T::deserialize(input).map_err(|error| vec![error.to_string()])
}

/// Returns the last answer of a run that was accepted.
pub(crate) fn handed_in<T: DeserializeOwned>(events: &[Event], tool: &str) -> Option<T> {
    let taken = events.iter().rev().find_map(|event| match &event.fact {
        Fact::ToolFinished(it) if it.tool == tool && it.trouble.is_none() => Some(&it.call),
        _ => None,
    })?;
    let input = events.iter().find_map(|event| match &event.fact {
        Fact::ToolRequested(it) if it.call == *taken => Some(&it.input),
        _ => None,
    })?;
    let RecordedText::Inline(input) = input else {
        return None;
    };
    serde_json::from_str(input).ok()
}

/// Refusal of a fail that rests only on lines the step did not change.
const ELSEWHERE: &str = "every finding that would fail the step is on a line that it did not \
    change: such findings are kept as remarks; pass it, or say in `feedback` what of the change \
    itself has to be different";

/// Refusal of a tester's fail that does not say whether test or code is at fault.
const WHOSE: &str = "say in `fault` what is wrong: `test` where a test asks for the wrong thing and \
    is to be written anew, `code` where the code does the wrong thing";

/// Returns the tool for a verdict. `looked` names what the verifier has looked at so far,
/// `put_back` restores the files that the verifier changed and names them, and `lines` are
/// the lines of the change.
pub(crate) fn verdict_form(
    judge: StepVerifier,
    looked: impl Fn() -> Vec<String> + Send + Sync + 'static,
    put_back: impl Fn() -> Result<Vec<String>, String> + Send + Sync + 'static,
    lines: Arc<ChangedLines>,
) -> Arc<dyn Tool> {
    let description = "Hands in your verdict about the step. A pass without evidence that you \
                       looked at yourself is not taken.";
    StructuredAnswerTool::tool(
        VERDICT,
        "Hand in the verdict",
        description,
        verdict_shape(judge),
        move |input| {
            let mut verdict: VerifierVerdict = shaped(input)?;
            let fails = |it: &VerdictFinding| it.severity.fails();
            let was_charged = verdict.findings.iter().any(fails);
            lines.lower(&mut verdict.findings);
            let is_charged = verdict.findings.iter().any(fails);
            if verdict.verdict == VerdictResult::Fail {
                let is_silent = verdict.feedback.trim().is_empty();
                return match is_silent {
                    true if verdict.findings.is_empty() => {
                        Err(vec!["a fail needs `feedback` or `findings`".to_owned()])
                    }
                    true if was_charged && !is_charged => Err(vec![ELSEWHERE.to_owned()]),
                    _ if judge == StepVerifier::Tester && verdict.fault.is_none() => {
                        Err(vec![WHOSE.to_owned()])
                    }
                    _ => Ok("The verdict is taken: fail.".to_owned()),
                };
            }
            let looked = looked();
            let rests = |text: &String| looked.iter().any(|it| text.contains(it.as_str()));
            if looked.is_empty() {
                let problem = "you have looked at nothing: read the changed files, run the tests";
                return Err(vec![problem.to_owned()]);
            }
            if !verdict.evidence.iter().any(rests) {
                let seen: Vec<_> = looked.iter().take(8).map(|it| format!("`{it}`")).collect();
                return Err(vec![format!(
                    "no `evidence` names what you looked at yourself: {}",
                    seen.join(", ")
                )]);
            }
            if let Some(bad) = verdict.findings.iter().find(|it| it.severity.fails()) {
                return Err(vec![format!(
                    "a pass cannot have a finding of severity {}: {}",
                    bad.severity, bad.why
                )]);
            }
            let changed = put_back().map_err(|why| vec![why])?;
            if !changed.is_empty() {
                return Err(vec![format!(
                    "you change nothing, and {} was not what you were given any more: it is put \
                     back, look again",
                    changed.join(", ")
                )]);
            }
            Ok("The verdict is taken: pass.".to_owned())
        },
    )
}

/// Returns the JSON schema of a verdict.
fn verdict_shape(judge: StepVerifier) -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let finding = json!({
        "type": "object",
        "required": ["severity", "why"],
        "properties": {
            "severity": {"enum": ["blocker", "error", "warning", "info"]},
            "file": text("The file"),
            "line": {"type": "integer"},
            "why": text("Why it matters"),
            "fix": text("What would mend it"),
        },
    });
    let fault = match judge {
        StepVerifier::Tester => "With every fail: whether the test or the code is wrong",
        StepVerifier::Evaluator | StepVerifier::Inspector => "Where a test fails: what is wrong",
    };
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdict", "evidence"],
        "properties": {
            "verdict": {"enum": ["pass", "fail"]},
            "feedback": text("What the next attempt has to do differently"),
            "findings": {"type": "array", "items": finding,
                "description": "On changed lines only; blocker and error fail the step"},
            "evidence": {"type": "array", "items": {"type": "string"},
                "description": "What you ran or read yourself, by command or path, and what it showed"},
            "outputs": {"type": "object", "description": "Values for later steps, by name"},
            "fault": {"enum": ["test", "code"], "description": fault},
        },
    })
}

/// Returns the tool for criteria.
pub(crate) fn criteria_form() -> Arc<dyn Tool> {
    let claim = json!({
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "description": "What has to hold, so that a test can show it"},
            "source": {"enum": ["explicit", "inferred", "answered"]},
        },
    });
    let input = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["criteria"],
        "properties": {"criteria": {"type": "array", "items": claim}},
    });
    let description = "Hands in what has to hold once the step is done.";
    StructuredAnswerTool::tool(
        CRITERIA,
        "Hand in the criteria",
        description,
        input,
        |input| {
            let criteria: InspectorCriteria = shaped(input)?;
            let is_empty = criteria.criteria.iter().all(|it| it.text.trim().is_empty());
            if is_empty {
                Err(vec!["there are no criteria in it".to_owned()])
            } else {
                Ok("The criteria are taken.".to_owned())
            }
        },
    )
}

/// Lists what a run has looked at itself: paths it read, commands it ran, and its checks.
pub(crate) fn looked_at(events: &[Event]) -> Vec<String> {
    let mut names = Vec::new();
    for event in events {
        let Fact::ToolFinished(done) = &event.fact else {
            continue;
        };
        if done
            .trouble
            .as_deref()
            .is_some_and(|trouble| trouble != "failed")
        {
            continue;
        }
        let input = events.iter().find_map(|event| match &event.fact {
            Fact::ToolRequested(it) if it.call == done.call => Some(&it.input),
            _ => None,
        });
        let Some(RecordedText::Inline(input)) = input else {
            continue;
        };
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let field = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        match done.tool.as_str() {
            "read" | "grep" | "glob" | "list" => names.extend(field("path")),
            "bash" => names.extend(field("command")),
            "run_tests" | "diagnostics" => names.push(done.tool.clone()),
            tool if tool.starts_with("git_") => names.push(tool.to_owned()),
            _ => {}
        }
    }
    names.retain(|name| !name.trim().is_empty());
    names.dedup();
    names
}
