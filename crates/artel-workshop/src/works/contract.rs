//! The terms that a plan sets for one of its runs: extra tools, the bounds of the step's
//! scope, and limits on turns and calls.

use std::sync::Arc;

use artel_policy::rules::PolicyRule;
use artel_policy::{BoundAdmission, Grant, GrantScope, PolicyBound, StepBound, StepWriteAccess};
use artel_tools::Tool;
use artel_types::model::{ModelCallReason, PrivacyLabel};
use artel_types::plan::PlanStep;
use artel_types::{RunId, literal_pattern};

use crate::runs::ChildTerms;

/// The terms of one run, in addition to its role.
#[derive(Clone)]
pub(crate) struct RunContract {
    /// The subject of the run, on one line.
    pub(crate) title: String,
    /// The step that the run works on.
    pub(crate) step: Option<String>,
    /// The reason for its model calls.
    pub(crate) reason: ModelCallReason,
    /// The plan's run whose budget for the step is charged.
    pub(crate) plan: Option<RunId>,
    /// Tools that the run has in addition to those of its role.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// The limits on what the run may touch.
    pub(crate) bound: Option<PolicyBound>,
    /// Files that the run may not change, relative to its work folder. They are read-only for
    /// its commands as well.
    pub(crate) kept: Vec<String>,
    /// Grants of the plan's approval.
    pub(crate) grants: Vec<Grant>,
    /// Largest number of turns.
    pub(crate) turns: Option<u32>,
    /// Number of calls after which a fresh run takes over.
    pub(crate) calls: Option<u32>,
    /// A reminder of the task.
    pub(crate) directive: Option<String>,
    /// The privacy label for the run's content.
    pub(crate) privacy: PrivacyLabel,
    /// Whether the task contains the workshop's own notes already.
    pub(crate) brings: WorkshopNotesPlacement,
}

/// Whether a task contains the workshop's own notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WorkshopNotesPlacement {
    /// The notes come before the task, as for every run.
    #[default]
    Nothing,
    /// The task contains the notes.
    Context,
}

impl RunContract {
    /// Returns terms that add nothing to the role.
    pub(crate) fn new(title: impl Into<String>, reason: ModelCallReason) -> Self {
        Self {
            title: title.into(),
            step: None,
            reason,
            plan: None,
            tools: Vec::new(),
            bound: None,
            kept: Vec::new(),
            grants: Vec::new(),
            turns: None,
            calls: None,
            directive: None,
            privacy: PrivacyLabel::Any,
            brings: WorkshopNotesPlacement::Nothing,
        }
    }

    /// Returns the terms for the run and for all runs that it begins.
    pub(crate) fn terms(&self, parent: Option<RunId>) -> ChildTerms {
        let step = self.plan.zip(self.step.as_ref());
        ChildTerms {
            parent,
            bounds: self.bound.iter().cloned().collect(),
            granted: self.grants.clone(),
            kept_tests: self.kept.clone(),
            privacy: self.privacy,
            reason: Some(self.reason),
            step_budget: step.map(|(plan, step)| format!("{plan}/{step}")),
            ..ChildTerms::default()
        }
    }
}

/// Returns the bound of a step's scope. `kept` are files that the step may not change even
/// if its scope allows it: the tests that define its task.
pub(crate) fn bound_of(step: &PlanStep, kept: &[String], changes: StepWriteAccess) -> PolicyBound {
    let edits = |paths: &[String]| limits(paths.iter().map(|path| edit_rule(path)));
    let exactly =
        |paths: &[String]| limits(paths.iter().map(|path| edit_rule(&literal_pattern(path))));
    PolicyBound {
        name: format!("step {}", step.id),
        admits: BoundAdmission::Step(StepBound {
            paths: edits(&step.scope.paths),
            kept: exactly(kept),
            commands: limits(step.scope.commands.iter().map(|text| command_rule(text))),
            hosts: hosts_of(step).collect(),
            // An agent that only reads needs neither tools nor secrets.
            tools: if changes == StepWriteAccess::Some {
                step.scope.tools.clone()
            } else {
                Vec::new()
            },
            secrets: if changes == StepWriteAccess::Some {
                step.scope.secrets.clone()
            } else {
                Vec::new()
            },
            declared: Vec::new(),
            changes,
        }),
    }
}

fn edit_rule(path: &str) -> Option<PolicyRule> {
    PolicyRule::parse(&format!("Edit({path})")).ok()
}

/// Parses the rules of a limit. An unreadable rule admits nothing. It stays in the list,
/// because an empty list would mean no limit.
fn limits(rules: impl Iterator<Item = Option<PolicyRule>>) -> Vec<PolicyRule> {
    rules
        .map(|rule| rule.unwrap_or_else(|| PolicyRule::unreadable("a limit of the step")))
        .collect()
}

/// Returns the grants that the plan's approval gave a step.
pub(crate) fn grants_of(step: &PlanStep) -> Vec<Grant> {
    let secrets = step
        .scope
        .secrets
        .iter()
        .map(|name| format!("Secret({name})"));
    let named = step.scope.tools.iter().cloned().chain(secrets);
    let named = named.filter_map(|text| PolicyRule::parse(&text).ok());
    let rules = commands_of(step)
        .into_iter()
        .chain(hosts_of(step))
        .chain(named);
    let grant = |rule| Grant {
        rule,
        scope: GrantScope::Run,
        reason: format!("the plan was approved with it, for step {}", step.id),
    };
    rules.map(grant).collect()
}

/// Parses the hosts in a step's scope.
pub(crate) fn hosts_of(step: &PlanStep) -> impl Iterator<Item = PolicyRule> {
    let hosts = step.scope.network.iter();
    hosts.filter_map(|host| PolicyRule::parse(&format!("Fetch({host})")).ok())
}

/// Parses the commands in a step's scope.
pub(crate) fn commands_of(step: &PlanStep) -> Vec<PolicyRule> {
    let commands = step.scope.commands.iter();
    commands.filter_map(|text| command_rule(text)).collect()
}

/// Parses a command of a scope: a rule, or a bare command.
pub(crate) fn command_rule(text: &str) -> Option<PolicyRule> {
    let is_rule = text.contains('(');
    if is_rule {
        PolicyRule::parse(text).ok()
    } else {
        PolicyRule::parse(&format!("Bash({text})")).ok()
    }
}
