//! What is handed down from a run to whatever it begins. There is one way to get it, and on that
//! way it only narrows: called skills, forks, the agents of a plan and runs that take over cannot
//! touch, reach, spend or tell more than whoever began them.

mod ancestors;
mod record;

use std::path::PathBuf;

use artel_policy::rules::Rule;
use artel_policy::{Admits, Bound, Grant, Policy};
use artel_types::RunId;
use artel_types::model::{CallReason, Priority, Privacy};

/// All that a run was handed down by whatever began it. What it sets for itself, by its role and its
/// skill, is added when it begins something.
#[derive(Debug, Clone)]
pub(crate) struct Inheritance {
    bounds: Vec<Bound>,
    denied: Vec<Rule>,
    granted: Vec<Grant>,
    kept_tests: Vec<String>,
    privacy: Privacy,
    model: Option<String>,
    urgency: Priority,
    least_urgency: Priority,
    ancestors: Vec<RunId>,
    step_budget: Option<String>,
}

/// What whoever begins a run sets for it, beside what it was handed down itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChildTerms {
    /// The run that it is begun by; nothing if a person begins it.
    pub(crate) parent: Option<RunId>,
    /// Bounds of policy that hold from here on.
    pub(crate) bounds: Vec<Bound>,
    /// Rules that deny from here on.
    pub(crate) denied: Vec<Rule>,
    /// What a person granted with the plan that it works for.
    pub(crate) granted: Vec<Grant>,
    /// Files that say what has to be done, and stay as they are.
    pub(crate) kept_tests: Vec<String>,
    /// Where content may go from here on.
    pub(crate) privacy: Privacy,
    /// Why it calls a model; for the same reason as whoever begins it, if not given.
    pub(crate) reason: Option<CallReason>,
    /// The budget of a step that it counts against, as [`artel_types::Level::Step`] names it.
    pub(crate) step_budget: Option<String>,
}

/// Files that a step of a plan does not let a run change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutsideOfStep {
    /// The bound that the step draws, such as `step parse`.
    pub(crate) step: String,
    /// The files.
    pub(crate) files: Vec<PathBuf>,
}

impl Inheritance {
    /// What a person hands to what they begin: nothing bounds it but what is in force here, and
    /// the model that they named is the one for all of it.
    pub(crate) fn of_person(model: Option<&str>) -> Self {
        Self {
            bounds: Vec::new(),
            denied: Vec::new(),
            granted: Vec::new(),
            kept_tests: Vec::new(),
            privacy: Privacy::Any,
            model: model.map(str::to_owned),
            urgency: Priority::Background,
            least_urgency: Priority::Background,
            ancestors: Vec::new(),
            step_budget: None,
        }
    }

    /// Hands down to a child: everything that holds here holds there, and what is set for the child
    /// comes on top. There is no other way.
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
            Some(reason) => Priority::of_call(reason, self.urgency),
            None => self.urgency,
        };
        child.least_urgency = match reason {
            // Whatever is done while a person waits, they wait for.
            Some(CallReason::PersonWaits) => child.urgency,
            _ => self.urgency.max(self.least_urgency),
        };
        if let Some(parent) = parent.filter(|it| !child.ancestors.contains(it)) {
            child.ancestors.insert(0, parent);
        }
        child.step_budget = self.step_budget.clone().or(step_budget);
        child
    }

    /// Returns the same, bounded by this as well.
    #[must_use]
    pub(crate) fn bounded(mut self, bound: Bound) -> Self {
        self.add_bound(bound);
        self
    }

    /// Returns the same, with content that goes no further than this.
    #[must_use]
    pub(crate) fn labelled(mut self, privacy: Privacy) -> Self {
        self.privacy = self.privacy.narrowed(privacy);
        self
    }

    /// Returns the same, held as well to what another says that the run may touch and tell.
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

    /// Returns the roles above, by whose rights the run is bound.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.bounds.iter().filter_map(|bound| match &bound.admits {
            Admits::RightsOf { role, .. } => Some(role.as_str()),
            _ => None,
        })
    }

    /// Returns the steps of plans that bind the run, each with those of the files that it does not
    /// let change. Tests that the step keeps are its own.
    pub(crate) fn outside_of_steps(&self, files: &[PathBuf]) -> Vec<OutsideOfStep> {
        let outside = self.bounds.iter().filter_map(|bound| {
            let Admits::Step(step) = &bound.admits else {
                return None;
            };
            let is_within = |path: &&PathBuf| {
                let path = path.to_string_lossy();
                let mut listed = step.paths.iter().chain(&step.kept);
                step.paths.is_empty() || listed.any(|rule| rule.admits_path("edit", &path))
            };
            let files: Vec<_> = files.iter().filter(|it| !is_within(it)).cloned().collect();
            let step = bound.name.clone();
            (!files.is_empty()).then_some(OutsideOfStep { step, files })
        });
        outside.collect()
    }

    fn add_denied(&mut self, rules: &[Rule]) {
        for rule in rules {
            if !self.denied.iter().any(|it| it.text() == rule.text()) {
                self.denied.push(rule.clone());
            }
        }
    }

    /// A bound that is there already need not be asked twice.
    fn add_bound(&mut self, bound: Bound) {
        let new = record::of_bound(&bound);
        if !self.bounds.iter().any(|it| record::of_bound(it) == new) {
            self.bounds.push(bound);
        }
    }

    /// Puts what was handed down into the policy of the run.
    pub(crate) fn hold_in(&self, policy: &mut Policy) {
        policy.bounds.extend(self.bounds.iter().cloned());
        policy.deny.extend(self.denied.iter().cloned());
        policy.grants.extend(self.granted.iter().cloned());
    }

    /// Returns the files that say what has to be done, and stay as they are.
    pub(crate) fn kept_tests(&self) -> &[String] {
        &self.kept_tests
    }

    /// Returns where content may go.
    pub(crate) fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// Returns the model that a person named for all that goes on.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns how urgent calls of the run are.
    pub(crate) fn urgency(&self) -> Priority {
        self.urgency
    }

    /// Returns how urgent a call is at least, whatever it is for.
    pub(crate) fn least_urgency(&self) -> Priority {
        self.least_urgency
    }

    /// Returns the runs above, the one that began it first.
    pub(crate) fn ancestors(&self) -> &[RunId] {
        &self.ancestors
    }

    /// Returns the budget of the step that it counts against.
    pub(crate) fn step_budget(&self) -> Option<&str> {
        self.step_budget.as_deref()
    }

    /// Returns the same with another model: a person named it for what goes on from here.
    #[must_use]
    pub(crate) fn with_model(mut self, model: Option<&str>) -> Self {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self
    }

    /// Returns the same, more urgent: a person waits for it now.
    #[must_use]
    pub(crate) fn waited_for(mut self) -> Self {
        self.urgency = Priority::of_call(CallReason::PersonWaits, self.urgency);
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
