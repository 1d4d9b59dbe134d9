//! The inheritance that a run passes on to the runs it starts. There is only one way to
//! inherit, and it can only narrow: called skills, forks, the agents of a plan and
//! successors cannot touch, reach, spend or disclose more than the run that started them.

mod ancestors;
mod record;

use std::path::PathBuf;

use artel_policy::rules::PolicyRule;
use artel_policy::{BoundAdmission, Grant, Policy, PolicyBound};
use artel_types::RunId;
use artel_types::model::{ModelCallPriority, ModelCallReason, PrivacyLabel};

/// Everything that a run inherited. What its own role and skill add is included only when
/// it starts another run.
#[derive(Debug, Clone)]
pub(crate) struct RunInheritance {
    bounds: Vec<PolicyBound>,
    denied: Vec<PolicyRule>,
    granted: Vec<Grant>,
    kept_tests: Vec<String>,
    privacy: PrivacyLabel,
    model: Option<String>,
    urgency: ModelCallPriority,
    least_urgency: ModelCallPriority,
    ancestors: Vec<RunId>,
    step_budget: Option<String>,
}

/// The terms that the starter of a run sets for it, in addition to the starter's own
/// inheritance.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChildTerms {
    /// The run that starts it, or `None` if a person does.
    pub(crate) parent: Option<RunId>,
    /// Policy bounds that apply from here on.
    pub(crate) bounds: Vec<PolicyBound>,
    /// Rules that deny from here on.
    pub(crate) denied: Vec<PolicyRule>,
    /// Grants that a person gave together with the plan that it works for.
    pub(crate) granted: Vec<Grant>,
    /// Files that define the task and must not change.
    pub(crate) kept_tests: Vec<String>,
    /// Where content may be sent from here on.
    pub(crate) privacy: PrivacyLabel,
    /// Why it calls a model, or `None` for the same reason as its starter.
    pub(crate) reason: Option<ModelCallReason>,
    /// The step budget that it counts against, as named by [`artel_types::Level::Step`].
    pub(crate) step_budget: Option<String>,
}

/// Files that a plan step does not allow a run to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilesOutsideStep {
    /// The name of the step's bound, such as `step parse`.
    pub(crate) step: String,
    pub(crate) files: Vec<PathBuf>,
}

impl RunInheritance {
    /// Returns what a run inherits from a person: no bounds except those in force here, and
    /// the model that the person named, which applies to everything below.
    pub(crate) fn of_person(model: Option<&str>) -> Self {
        Self {
            bounds: Vec::new(),
            denied: Vec::new(),
            granted: Vec::new(),
            kept_tests: Vec::new(),
            privacy: PrivacyLabel::Any,
            model: model.map(str::to_owned),
            urgency: ModelCallPriority::Background,
            least_urgency: ModelCallPriority::Background,
            ancestors: Vec::new(),
            step_budget: None,
        }
    }

    /// Returns what a child run inherits: everything that applies here, plus what is set for
    /// the child. There is no other way to inherit.
    pub(crate) fn for_child(&self, terms: ChildTerms) -> Self {
        let ChildTerms {
            parent,
            bounds,
            denied,
            granted,
            kept_tests,
            privacy,
            reason,
            step_budget,
        } = terms;
        let mut child = self.clone();
        for bound in bounds {
            child.add_bound(bound);
        }
        child.add_denied(&denied);
        for grant in granted {
            let same = |it: &&Grant| it.rule.text() == grant.rule.text();
            if !child.granted.iter().any(|it| same(&it)) {
                child.granted.push(grant);
            }
        }
        add_new(&mut child.kept_tests, kept_tests);
        child.privacy = self.privacy.narrowed(privacy);
        child.urgency = match reason {
            Some(reason) => ModelCallPriority::of_call(reason, self.urgency),
            None => self.urgency,
        };
        child.least_urgency = match reason {
            // The person waits for everything that is done while they wait.
            Some(ModelCallReason::PersonWaits) => child.urgency,
            _ => self.urgency.max(self.least_urgency),
        };
        if let Some(parent) = parent.filter(|it| !child.ancestors.contains(it)) {
            child.ancestors.insert(0, parent);
        }
        child.step_budget = self.step_budget.clone().or(step_budget);
        child
    }

    /// Adds a bound.
    #[must_use]
    pub(crate) fn bounded(mut self, bound: PolicyBound) -> Self {
        self.add_bound(bound);
        self
    }

    /// Narrows where content may be sent.
    #[must_use]
    pub(crate) fn labelled(mut self, privacy: PrivacyLabel) -> Self {
        self.privacy = self.privacy.narrowed(privacy);
        self
    }

    /// Adds the limits of another inheritance on what the run may touch and disclose.
    #[must_use]
    pub(crate) fn narrowed_by(mut self, other: &Self) -> Self {
        for bound in &other.bounds {
            self.add_bound(bound.clone());
        }
        self.add_denied(&other.denied);
        add_new(&mut self.kept_tests, other.kept_tests.clone());
        self.privacy = self.privacy.narrowed(other.privacy);
        self
    }

    /// Returns the roles of the runs above, whose rights also limit this run.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().filter_map(|bound| match &bound.admits {
            BoundAdmission::RightsOf { role, .. } => Some(role.as_str()),
            _ => None,
        })
    }

    /// Returns the plan steps that bind the run, each with those of the `files` that it may
    /// not change. Tests that a step keeps belong to the step.
    pub(crate) fn outside_of_steps(&self, files: &[PathBuf]) -> Vec<FilesOutsideStep> {
        let outside = self.bounds.iter().filter_map(|bound| {
            let BoundAdmission::Step(step) = &bound.admits else {
                return None;
            };
            let is_within = |path: &&PathBuf| {
                let path = path.to_string_lossy();
                let mut listed = step.paths.iter().chain(&step.kept);
                step.paths.is_empty() || listed.any(|rule| rule.admits_path("edit", &path))
            };
            let files: Vec<_> = files.iter().filter(|it| !is_within(it)).cloned().collect();
            let step = bound.name.clone();
            (!files.is_empty()).then_some(FilesOutsideStep { step, files })
        });
        outside.collect()
    }

    fn add_denied(&mut self, rules: &[PolicyRule]) {
        for rule in rules {
            if !self.denied.iter().any(|it| it.text() == rule.text()) {
                self.denied.push(rule.clone());
            }
        }
    }

    /// Skips a bound that is already there, so that it is not checked twice.
    fn add_bound(&mut self, bound: PolicyBound) {
        let new = record::of_bound(&bound);
        if !self.bounds.iter().any(|it| record::of_bound(it) == new) {
            self.bounds.push(bound);
        }
    }

    /// Adds everything that was inherited to the policy of the run.
    pub(crate) fn hold_in(&self, policy: &mut Policy) {
        policy.bounds.extend(self.bounds.iter().cloned());
        policy.deny.extend(self.denied.iter().cloned());
        policy.grants.extend(self.granted.iter().cloned());
    }

    /// Returns the files that define the task and must not change.
    pub(crate) fn kept_tests(&self) -> &[String] {
        &self.kept_tests
    }

    /// Returns where content may be sent.
    pub(crate) fn privacy(&self) -> PrivacyLabel {
        self.privacy
    }

    /// Returns the model that a person named for the run and everything below it.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the priority of the run's model calls.
    pub(crate) fn urgency(&self) -> ModelCallPriority {
        self.urgency
    }

    /// Returns the lowest priority of a model call, whatever the call is for.
    pub(crate) fn least_urgency(&self) -> ModelCallPriority {
        self.least_urgency
    }

    /// Returns the runs above, starting with the parent.
    pub(crate) fn ancestors(&self) -> &[RunId] {
        &self.ancestors
    }

    /// Returns the step budget that the run counts against.
    pub(crate) fn step_budget(&self) -> Option<&str> {
        self.step_budget.as_deref()
    }

    /// Sets the model that a person named from here on, if there is one.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self
    }

    /// Raises the priority, because a person is waiting for the run now.
    #[must_use]
    pub(crate) fn waited_for(mut self) -> Self {
        self.urgency = ModelCallPriority::of_call(ModelCallReason::PersonWaits, self.urgency);
        self.least_urgency = self.urgency;
        self
    }
}

fn add_new(all: &mut Vec<String>, more: Vec<String>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

#[cfg(test)]
mod tests;
