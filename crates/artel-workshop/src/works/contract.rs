//! What a plan sets for one of its runs: the tools it is given besides, the bounds that its step's
//! scope draws, how many turns and calls it has.

use std::sync::Arc;

use artel_policy::rules::Rule;
use artel_policy::{Admits, Bound, Changes, Grant, Policy, Scope, StepBound};
use artel_tools::Tool;
use artel_types::RunId;
use artel_types::model::Privacy;
use artel_types::plan::PlanStep;

/// What holds for one run beyond its role.
#[derive(Clone)]
pub(crate) struct Contract {
    /// What it does, in a line.
    pub(crate) title: String,
    /// The step that it belongs to.
    pub(crate) step: Option<String>,
    /// The run of the plan that the step is one of.
    pub(crate) plan: Option<RunId>,
    /// Tools that it has besides those of its role.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// What it may touch.
    pub(crate) bound: Option<Bound>,
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
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            step: None,
            plan: None,
            tools: Vec::new(),
            bound: None,
            grants: Vec::new(),
            turns: None,
            calls: None,
            directive: None,
            privacy: Privacy::Any,
            brings: Brings::Nothing,
        }
    }

    /// Adds what was set to a policy.
    pub(crate) fn apply(&self, policy: &mut Policy) {
        policy.bounds.extend(self.bound.clone());
        policy.grants.extend(self.grants.iter().cloned());
    }
}

/// Returns the bound that the scope of a step draws. `kept` are files that it may not change
/// although its scope says so: tests that define what it has to do.
pub(crate) fn bound_of(step: &PlanStep, kept: &[String], changes: Changes) -> Bound {
    let edits = |paths: &[String]| {
        let rules = paths
            .iter()
            .map(|path| Rule::parse(&format!("Edit({path})")));
        rules.filter_map(Result::ok).collect()
    };
    Bound {
        name: format!("step {}", step.id),
        admits: Admits::Step(StepBound {
            paths: edits(&step.scope.paths),
            kept: edits(kept),
            commands: commands_of(step),
            hosts: hosts_of(step).collect(),
            changes,
        }),
    }
}

/// Returns what the plan's approval granted for a step.
pub(crate) fn grants_of(step: &PlanStep) -> Vec<Grant> {
    let rules = commands_of(step).into_iter().chain(hosts_of(step));
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
