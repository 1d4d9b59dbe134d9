//! Grants of a person beyond one call: for a whole tree of runs, and derived from the
//! journal.
//!
//! Grants are stored only in the journal. This process, one that resumes the run and a
//! replay all fold the same answers, so they reach the same decision about a call.

use std::collections::BTreeSet;

use artel_policy::rules::PolicyRule;
use artel_policy::{
    ConsentRecord, Grant, GrantScope, Policy, PolicyAction, PolicyAnswer, PolicyContext,
    PolicyRuling,
};
use artel_types::{GrantReach, ToolAnswered};

/// The rule that a decision names if a person allowed exactly this call before.
pub(super) const ALLOWED_BEFORE: &str = "answer.run";

/// A person's grant for all runs of a tree.
#[derive(Debug, Clone)]
pub enum RunGrant {
    /// A rule.
    Rule(Grant),
    /// Exactly one call, where no rule can express it.
    Exactly(String),
}

/// A call as policy decides it.
#[derive(Debug, Clone, Copy)]
pub struct ToolCallIntent<'c> {
    pub tool: &'c str,
    /// The resolved actions of the call.
    pub actions: &'c [PolicyAction],
    /// Identifies exactly this call, in whatever tree it is made.
    pub exactly: &'c str,
}

impl RunGrant {
    /// Returns the grants in an answer. A rule that can no longer be read grants nothing.
    pub fn of(answered: &ToolAnswered) -> Vec<Self> {
        let Some(granted) = &answered.granted else {
            return Vec::new();
        };
        let scope = match granted.reach {
            GrantReach::Run => GrantScope::Run,
            GrantReach::Always => GrantScope::Always,
        };
        let rules = granted.rules.iter();
        let rules = rules.filter_map(|text| PolicyRule::parse(text).ok());
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

/// The policy of a run, with a person's grants for its tree.
#[derive(Debug, Clone)]
pub struct GrantedPolicy {
    policy: Policy,
    exactly: BTreeSet<String>,
}

impl GrantedPolicy {
    /// Adds grants to a policy. Bounds and bans stay as they are: a grant only answers what
    /// would otherwise be asked.
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

    /// Returns the policy with the granted rules.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rule that a question about a call names, even if the call was allowed for
    /// the run.
    pub(super) fn asked_rule(
        &self,
        tool: &str,
        actions: &[PolicyAction],
        now: &PolicyContext,
    ) -> String {
        self.policy.decide(tool, actions, now).rule
    }

    /// Decides about a call.
    pub fn decide(&self, call: ToolCallIntent<'_>, situation: &PolicyContext) -> PolicyRuling {
        let decision = self.policy.decide(call.tool, call.actions, situation);
        let is_allowed_before = decision.answer == PolicyAnswer::Ask
            && self.exactly.contains(call.exactly)
            && !Policy::asks_every_time(call.actions, situation);
        if is_allowed_before {
            let reason = "a person allowed exactly this for the run";
            return PolicyRuling::new(PolicyAnswer::Allow, ALLOWED_BEFORE, reason);
        }
        decision
    }
}

/// Identifies a call by its content and not by its place, so that the next round of a step
/// makes the same call although it works in another tree.
pub fn exact_call(tool: &str, input: &serde_json::Value, actions: &[PolicyAction]) -> String {
    let mut record = ConsentRecord {
        tool: tool.to_owned(),
        input: input.to_string(),
        ..ConsentRecord::default()
    };
    super::record::describe(&mut record, actions);
    record.hash().as_str().to_owned()
}
