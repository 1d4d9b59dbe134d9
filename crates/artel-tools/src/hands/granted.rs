//! What a person allowed beyond one call: for a whole tree of runs, and as the journal has it.
//!
//! Nothing of it is kept beside the journal. Whoever decides about a call, in this process or in
//! one that took the run up, or in a replay, folds the same answers and comes to the same.

use std::collections::BTreeSet;

use artel_policy::rules::Rule;
use artel_policy::{Action, Answer, Decision, Grant, Policy, Record, Scope, Situation};
use artel_types::{GrantReach, ToolAnswered};

/// The rule that a decision names where a person allowed the very call before.
pub(super) const ALLOWED_BEFORE: &str = "answer.run";

/// What a person allowed for all runs of a tree.
#[derive(Debug, Clone)]
pub enum RunGrant {
    /// What a rule says.
    Rule(Grant),
    /// The very call, where no rule can say it.
    Exactly(String),
}

/// A call as it is decided about.
#[derive(Debug, Clone, Copy)]
pub struct CallIntent<'c> {
    /// The tool.
    pub tool: &'c str,
    /// What it would do, resolved.
    pub actions: &'c [Action],
    /// Names the very call in whatever tree it is made.
    pub exactly: &'c str,
}

impl RunGrant {
    /// Returns what an answer grants. A rule that cannot be read any more grants nothing.
    pub fn of(answered: &ToolAnswered) -> Vec<Self> {
        let Some(granted) = &answered.granted else {
            return Vec::new();
        };
        let scope = match granted.reach {
            GrantReach::Run => Scope::Run,
            GrantReach::Always => Scope::Always,
        };
        let rules = granted.rules.iter();
        let rules = rules.filter_map(|text| Rule::parse(text).ok());
        let rules = rules.map(|rule| {
            Self::Rule(Grant {
                rule,
                scope,
                reason: answered.reason.clone(),
            })
        });
        let exactly = granted.exactly.iter().cloned().map(Self::Exactly);
        rules.chain(exactly).collect()
    }
}

/// The policy of a run with what a person allowed for its tree.
#[derive(Debug, Clone)]
pub struct GrantedPolicy {
    policy: Policy,
    exactly: BTreeSet<String>,
}

impl GrantedPolicy {
    /// Adds what was allowed to a policy. Bounds and bans stay as they are: a grant only answers
    /// what would be asked.
    pub fn new(policy: &Policy, given: Vec<RunGrant>) -> Self {
        let (mut policy, mut exactly) = (policy.clone(), BTreeSet::new());
        for grant in given {
            match grant {
                RunGrant::Rule(grant) => policy.grants.push(grant),
                RunGrant::Exactly(hash) => {
                    exactly.insert(hash);
                }
            }
        }
        Self { policy, exactly }
    }

    /// Returns the policy with the rules that were granted.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rule that a question about a call names, whatever was allowed for the run.
    pub(super) fn asked_rule(&self, tool: &str, actions: &[Action], now: &Situation) -> String {
        self.policy.decide(tool, actions, now).rule
    }

    /// Decides about a call.
    pub fn decide(&self, call: CallIntent<'_>, situation: &Situation) -> Decision {
        let decision = self.policy.decide(call.tool, call.actions, situation);
        let is_allowed_before = decision.answer == Answer::Ask
            && self.exactly.contains(call.exactly)
            && !Policy::asks_every_time(call.actions, situation);
        if is_allowed_before {
            let reason = "a person allowed exactly this for the run";
            return Decision::new(Answer::Allow, ALLOWED_BEFORE, reason);
        }
        decision
    }
}

/// Names a call by what it is and not by where it is made, so that the next round of a step, which
/// works in another tree, makes the same one.
pub fn exact_call(tool: &str, input: &serde_json::Value, actions: &[Action]) -> String {
    let mut record = Record {
        tool: tool.to_owned(),
        input: input.to_string(),
        ..Record::default()
    };
    super::record::describe(&mut record, actions);
    record.hash().as_str().to_owned()
}
