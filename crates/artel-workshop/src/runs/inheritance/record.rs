//! Converts what a run inherited to and from its recorded form.

use artel_policy::rules::PolicyRule;
use artel_policy::{
    BoundAdmission, Grant, GrantScope, PolicyBound, PortalPermission, StepBound, StepWriteAccess,
};
use artel_types::{
    Failure, FailureCode, RecordedAdmission, RecordedBound, RecordedGrant, RecordedInheritance,
    RecordedOperation, RecordedStepBound, RunId,
};

use super::RunInheritance;

impl RunInheritance {
    /// Returns the form that is recorded when a run starts.
    pub(crate) fn recorded(&self) -> RecordedInheritance {
        // All fields are listed, so that a new field cannot be forgotten here.
        let Self {
            bounds,
            denied,
            granted,
            kept_tests,
            privacy,
            model,
            urgency,
            least_urgency,
            ancestors: _,
            step_budget,
        } = self;
        RecordedInheritance {
            bounds: bounds.iter().map(of_bound).collect(),
            denied: texts(denied),
            granted: granted.iter().map(of_grant).collect(),
            kept_tests: kept_tests.clone(),
            privacy: *privacy,
            model: model.clone(),
            urgency: *urgency,
            least_urgency: *least_urgency,
            step_budget: step_budget.clone(),
        }
    }

    /// Reads the recorded form. Whatever cannot be read bounds everything or is an error: no
    /// recorded limit is ever dropped.
    pub(crate) fn of_record(
        recorded: &RecordedInheritance,
        ancestors: Vec<RunId>,
    ) -> Result<Self, Failure> {
        let RecordedInheritance {
            bounds,
            denied,
            granted,
            kept_tests,
            privacy,
            model,
            urgency,
            least_urgency,
            step_budget,
        } = recorded.clone();
        let granted = granted.into_iter().filter_map(|it| {
            let rule = PolicyRule::parse(&it.rule).ok()?;
            Some(Grant {
                rule,
                scope: GrantScope::Run,
                reason: it.reason,
            })
        });
        Ok(Self {
            bounds: bounds.iter().map(bound_of).collect::<Result<_, _>>()?,
            denied: denied.iter().map(|text| ban(text)).collect(),
            granted: granted.collect(),
            kept_tests,
            privacy,
            model,
            urgency,
            least_urgency,
            ancestors,
            step_budget,
        })
    }
}

fn of_grant(grant: &Grant) -> RecordedGrant {
    RecordedGrant {
        rule: grant.rule.text().to_owned(),
        reason: grant.reason.clone(),
    }
}

/// Returns the recorded form of a bound.
pub(super) fn of_bound(bound: &PolicyBound) -> RecordedBound {
    RecordedBound {
        name: bound.name.clone(),
        admits: match &bound.admits {
            BoundAdmission::Rules(rules) => RecordedAdmission::Rules(texts(rules)),
            BoundAdmission::Operations(operations) => {
                RecordedAdmission::Operations(operations.iter().map(of_operation).collect())
            }
            BoundAdmission::Step(step) => RecordedAdmission::Step(of_step(step)),
            BoundAdmission::GitOf(role) => RecordedAdmission::GitOf(role.clone()),
            BoundAdmission::RightsOf { role, secrets } => RecordedAdmission::RightsOf {
                role: role.clone(),
                secrets: secrets.clone(),
            },
        },
    }
}

fn of_operation(operation: &PortalPermission) -> RecordedOperation {
    match operation {
        PortalPermission::Read => RecordedOperation::Read,
        PortalPermission::Write => RecordedOperation::Write,
        PortalPermission::Git => RecordedOperation::Git,
    }
}

fn of_step(step: &StepBound) -> RecordedStepBound {
    // All fields are listed, so that a new limit cannot be forgotten in the record.
    let StepBound {
        paths,
        kept,
        commands,
        hosts,
        tools,
        declared,
        secrets,
        changes,
    } = step;
    RecordedStepBound {
        paths: texts(paths),
        kept: texts(kept),
        commands: texts(commands),
        hosts: texts(hosts),
        tools: tools.clone(),
        declared: declared.clone(),
        secrets: secrets.clone(),
        is_read_only: *changes == StepWriteAccess::None,
    }
}

fn bound_of(recorded: &RecordedBound) -> Result<PolicyBound, Failure> {
    let admits = match &recorded.admits {
        // Dropping a rule that can no longer be read only narrows the bound.
        RecordedAdmission::Rules(rules) => {
            let rules = rules.iter().filter_map(|text| PolicyRule::parse(text).ok());
            BoundAdmission::Rules(rules.collect())
        }
        RecordedAdmission::Operations(operations) => {
            let operation = |it: &RecordedOperation| match it {
                RecordedOperation::Read => PortalPermission::Read,
                RecordedOperation::Write => PortalPermission::Write,
                RecordedOperation::Git => PortalPermission::Git,
            };
            BoundAdmission::Operations(operations.iter().map(operation).collect())
        }
        RecordedAdmission::Step(step) => BoundAdmission::Step(step_of(step, &recorded.name)?),
        RecordedAdmission::GitOf(role) => BoundAdmission::GitOf(role.clone()),
        RecordedAdmission::RightsOf { role, secrets } => BoundAdmission::RightsOf {
            role: role.clone(),
            secrets: secrets.clone(),
        },
    };
    Ok(PolicyBound {
        name: recorded.name.clone(),
        admits,
    })
}

/// Reads the limits of a step. Empty paths or commands mean that the step may touch any,
/// so a rule that can no longer be read is kept as a rule that admits nothing.
fn step_of(recorded: &RecordedStepBound, name: &str) -> Result<StepBound, Failure> {
    let RecordedStepBound {
        paths,
        kept,
        commands,
        hosts,
        tools,
        declared,
        secrets,
        is_read_only,
    } = recorded;
    let limits = |texts: &[String]| texts.iter().map(|text| ban(text)).collect();
    let kept = kept.iter().map(|text| {
        PolicyRule::parse(text).map_err(|bad| {
            let what = format!("the run's recorded limit `{text}` (from {name}) cannot be read");
            Failure::new(FailureCode::R008, what)
                .because(bad.to_string())
                .advise("start a new run with `artel ask`: a run cannot resume without its limits")
        })
    });
    Ok(StepBound {
        paths: limits(paths),
        kept: kept.collect::<Result<_, _>>()?,
        commands: limits(commands),
        hosts: limits(hosts),
        tools: tools.clone(),
        declared: declared.clone(),
        secrets: secrets.clone(),
        changes: if *is_read_only {
            StepWriteAccess::None
        } else {
            StepWriteAccess::Some
        },
    })
}

fn texts(rules: &[PolicyRule]) -> Vec<String> {
    rules.iter().map(|rule| rule.text().to_owned()).collect()
}

/// Parses a rule. A rule that cannot be read denies every command and admits none.
fn ban(text: &str) -> PolicyRule {
    PolicyRule::parse(text).unwrap_or_else(|_| PolicyRule::unreadable(text))
}
