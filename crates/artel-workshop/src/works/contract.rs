//! What a plan sets for one of its runs: the tools it is given besides, the bounds that its step's
//! scope draws, how many turns and calls it has.

use std::sync::Arc;

use artel_policy::rules::Rule;
use artel_policy::{Admits, Bound, Changes, Grant, Scope, StepBound};
use artel_tools::Tool;
use artel_types::model::{CallReason, Privacy};
use artel_types::plan::PlanStep;
use artel_types::{RunId, literal_pattern};

use crate::runs::ChildTerms;

/// What holds for one run beyond its role.
#[derive(Clone)]
pub(crate) struct Contract {
    /// What it does, in a line.
    pub(crate) title: String,
    /// The step that it belongs to.
    pub(crate) step: Option<String>,
    /// Why models are called for it.
    pub(crate) reason: CallReason,
    /// The run of the plan whose budget for the step it counts against.
    pub(crate) plan: Option<RunId>,
    /// Tools that it has besides those of its role.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// What it may touch.
    pub(crate) bound: Option<Bound>,
    /// Files that it is held to, from the folder it works in: read-only for its commands as well.
    pub(crate) kept: Vec<String>,
    /// What was granted with the plan.
    pub(crate) grants: Vec<Grant>,
    /// How many turns it has.
    pub(crate) turns: Option<u32>,
    /// How many calls it has before it is begun anew.
    pub(crate) calls: Option<u32>,
    /// What it is reminded of.
    pub(crate) directive: Option<String>,
    /// Where its content may go.
    pub(crate) privacy: Privacy,
    /// Whether its task holds the workshop's own notes already.
    pub(crate) brings: Brings,
}

/// Whether a task holds the workshop's own notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Brings {
    /// They stand before it, as for every run.
    #[default]
    Nothing,
    /// They are in it.
    Context,
}

impl Contract {
    /// Nothing beyond the role.
    pub(crate) fn new(title: impl Into<String>, reason: CallReason) -> Self {
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
            privacy: Privacy::Any,
            brings: Brings::Nothing,
        }
    }

    /// Returns what it sets for the run, and for whatever that begins.
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

/// Returns the bound that the scope of a step draws. `kept` are files that it may not change
/// although its scope says so: tests that define what it has to do.
pub(crate) fn bound_of(step: &PlanStep, kept: &[String], changes: Changes) -> Bound {
    let edits = |paths: &[String]| limits(paths.iter().map(|path| edit_rule(path)));
    let exactly =
        |paths: &[String]| limits(paths.iter().map(|path| edit_rule(&literal_pattern(path))));
    Bound {
        name: format!("step {}", step.id),
        admits: Admits::Step(StepBound {
            paths: edits(&step.scope.paths),
            kept: exactly(kept),
            commands: limits(step.scope.commands.iter().map(|text| command_rule(text))),
            hosts: hosts_of(step).collect(),
            // Whoever only looks has no use for either.
            tools: if changes == Changes::Some {
                step.scope.tools.clone()
            } else {
                Vec::new()
            },
            secrets: if changes == Changes::Some {
                step.scope.secrets.clone()
            } else {
                Vec::new()
            },
            declared: Vec::new(),
            changes,
        }),
    }
}

fn edit_rule(path: &str) -> Option<Rule> {
    Rule::parse(&format!("Edit({path})")).ok()
}

/// Returns the rules of a limit. One that cannot be read admits nothing; it is not left out, for a
/// list that is empty is no limit.
fn limits(rules: impl Iterator<Item = Option<Rule>>) -> Vec<Rule> {
    rules
        .map(|rule| rule.unwrap_or_else(|| Rule::unreadable("a limit of the step")))
        .collect()
}

/// Returns what the plan's approval granted for a step.
pub(crate) fn grants_of(step: &PlanStep) -> Vec<Grant> {
    let secrets = step
        .scope
        .secrets
        .iter()
        .map(|name| format!("Secret({name})"));
    let named = step.scope.tools.iter().cloned().chain(secrets);
    let named = named.filter_map(|text| Rule::parse(&text).ok());
    let rules = commands_of(step)
        .into_iter()
        .chain(hosts_of(step))
        .chain(named);
    let grant = |rule| Grant {
        rule,
        scope: Scope::Run,
        reason: format!("the plan was approved with it, for step {}", step.id),
    };
    rules.map(grant).collect()
}

/// Reads the hosts of a step.
pub(crate) fn hosts_of(step: &PlanStep) -> impl Iterator<Item = Rule> {
    let hosts = step.scope.network.iter();
    hosts.filter_map(|host| Rule::parse(&format!("Fetch({host})")).ok())
}

/// Reads the commands of a step.
pub(crate) fn commands_of(step: &PlanStep) -> Vec<Rule> {
    let commands = step.scope.commands.iter();
    commands.filter_map(|text| command_rule(text)).collect()
}

/// Reads a command of a scope: a rule, or a bare command.
pub(crate) fn command_rule(text: &str) -> Option<Rule> {
    let is_rule = text.contains('(');
    match is_rule {
        true => Rule::parse(text).ok(),
        false => Rule::parse(&format!("Bash({text})")).ok(),
    }
}
