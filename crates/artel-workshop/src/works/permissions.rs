//! Checks that policy allows what the steps of a plan ask for. The author learns this when
//! the plan is made, not from failing calls later.
//!
//! A scope limits a step and grants what it lists, so it may not list what nobody can
//! grant: what is never allowed, what the portal or the role does not admit, and what
//! amounts to everything.

use artel_policy::rules::PolicyRule;
use artel_policy::{
    BoundAdmission, Policy, PolicyAction, PolicyAnswer, PolicyBound, PolicyContext, too_broad,
};
use artel_rules::plan::{PlanProblem, PlanProblemPlace};
use artel_types::plan::{Plan, PlanStep};

use super::contract::command_rule;

/// Returns the requests of a plan's steps that policy cannot grant. Requests that a step
/// had before were agreed to then and are not checked again.
pub(crate) fn beyond_policy(
    plan: &Plan,
    before: Option<&Plan>,
    portal: Option<&PolicyBound>,
) -> Vec<PlanProblem> {
    let mut problems = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let old = before.and_then(|plan| plan.step(&step.id));
        let old = old.filter(|old| old.role == step.role);
        let is_new = |text: &&String, list: fn(&PlanStep) -> &Vec<String>| {
            !old.is_some_and(|old| list(old).contains(*text))
        };
        let commands = step.scope.commands.iter();
        let commands = commands.filter(|text| is_new(text, |step| &step.scope.commands));
        let commands = commands.filter_map(|text| command_fault(text, step, portal));
        let hosts = step.scope.network.iter();
        let hosts = hosts.filter(|host| is_new(host, |step| &step.scope.network));
        let hosts = hosts.filter_map(|host| host_fault(host));
        problems.extend(commands.chain(hosts).map(|(what, remedy)| PlanProblem {
            place: PlanProblemPlace::Step {
                number: at + 1,
                title: step.title.clone(),
            },
            what,
            remedy,
        }));
    }
    problems
}

/// Returns why a command cannot be listed, and the remedy.
fn command_fault(
    text: &str,
    step: &PlanStep,
    portal: Option<&PolicyBound>,
) -> Option<(String, String)> {
    // The plan parser reports commands that cannot be read.
    let rule = command_rule(text)?;
    if rule.tool().starts_with("mcp__") {
        return None;
    }
    if let Some(why) = too_broad(&rule) {
        return Some((
            format!("its command `{text}` is too broad: {why}"),
            "name the commands it needs, such as `cargo test:*`, or none: then it runs what policy \
             allows"
                .to_owned(),
        ));
    }
    let why = denied(&rule, step, portal)?;
    let remedy = "leave it out; no approval can allow it";
    Some((
        format!("its command `{text}` is not allowed: {why}"),
        remedy.to_owned(),
    ))
}

/// Returns why policy denies a command regardless of any approval.
fn denied(rule: &PolicyRule, step: &PlanStep, portal: Option<&PolicyBound>) -> Option<String> {
    let role = PolicyBound {
        name: format!("the role `{}`", step.role),
        admits: BoundAdmission::GitOf(step.role.clone()),
    };
    let policy = Policy {
        bounds: portal.into_iter().cloned().chain([role]).collect(),
        role: step.role.clone(),
        ..Policy::default()
    };
    let words = PolicyAction::Words(rule.prefix().to_vec());
    let decision = policy.decide("bash", &[words], &PolicyContext::default());
    let is_fixed = decision.rule.starts_with("never.") || decision.rule.starts_with("bound.");
    (decision.answer == PolicyAnswer::Deny && is_fixed).then_some(decision.reason)
}

/// Returns why a host cannot be listed, and the remedy.
fn host_fault(host: &str) -> Option<(String, String)> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_everything = match name.strip_prefix("*.") {
        // All of `.com` amounts to every host.
        Some(rest) => !rest.contains('.') || rest.contains('*'),
        None => name == "*",
    };
    is_everything.then(|| {
        (
            format!("its host `{host}` is too broad: it is as good as every host"),
            "name the hosts it has to reach, such as `docs.rs` or `*.example.org`".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use artel_policy::PortalPermission;
    use artel_types::plan::StepScope;

    use super::*;

    fn plan(role: &str, command: &[&str], host: &[&str]) -> Plan {
        let words = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
        let mut step = artel_testkit::plan_of_one_step().steps.remove(0);
        step.title = "Mend it".to_owned();
        step.role = role.to_owned();
        step.scope = StepScope {
            commands: words(command),
            network: words(host),
            ..StepScope::default()
        };
        Plan {
            steps: vec![step],
            ..Plan::default()
        }
    }

    #[test]
    fn a_scope_lists_nothing_that_nobody_may_grant() {
        // Role, command or host, and the expected complaint, or `None` if it can be listed.
        let table: [(&str, &str, Option<&str>); 17] = [
            ("engineer", "cargo test:*", None),
            ("engineer", "./tests/run.sh", None),
            ("engineer", "python3 -m unittest:*", None),
            ("engineer", "git commit:*", None),
            ("engineer", "Bash(npm test:*)", None),
            ("engineer", "*", Some("too broad")),
            ("engineer", "Bash(*)", Some("too broad")),
            ("engineer", "git:*", Some("can start anything")),
            ("engineer", "sh:*", Some("can start anything")),
            ("engineer", "python3:*", Some("can start anything")),
            ("engineer", "git push:*", Some("a person pushes")),
            ("engineer", "git -C . push", Some("a person pushes")),
            ("engineer", "git merge main", Some("a person merges")),
            (
                "engineer",
                "git reset --hard",
                Some("history is not rewritten"),
            ),
            (
                "engineer",
                "artel policy allow",
                Some("Artel's own commands"),
            ),
            (
                "inspector",
                "git commit:*",
                Some("the role `inspector` does not admit it"),
            ),
            ("tester", "git log:*", None),
        ];
        for (role, command, says) in table {
            let problems = beyond_policy(&plan(role, &[command], &[]), None, None);
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            match says {
                None => assert!(said.is_empty(), "{command}: {said:?}"),
                Some(says) => {
                    assert_eq!(said.len(), 1, "{command}: {said:?}");
                    assert!(
                        said[0].starts_with("step 1 `Mend it`: its command `"),
                        "{said:?}"
                    );
                    assert!(said[0].contains(says), "{command}: {said:?}");
                }
            }
        }
        for (host, is_fine) in [
            ("docs.rs", true),
            ("*.example.org", true),
            ("example.org:443", true),
            ("*", false),
            ("*:443", false),
            ("*.com", false),
        ] {
            let problems = beyond_policy(&plan("engineer", &[], &[host]), None, None);
            assert_eq!(problems.is_empty(), is_fine, "{host}: {problems:?}");
        }
    }

    #[test]
    fn a_portal_that_is_only_read_has_no_commands_and_what_was_agreed_to_is_not_judged_again() {
        let portal = PolicyBound {
            name: "the portal `shop`".to_owned(),
            admits: BoundAdmission::Operations(vec![PortalPermission::Read]),
        };
        let asks = plan("engineer", &["cargo test:*"], &[]);
        let problems = beyond_policy(&asks, None, Some(&portal));
        assert!(
            problems[0].what.contains("the portal `shop`"),
            "{problems:?}"
        );
        assert_eq!(beyond_policy(&asks, Some(&asks), Some(&portal)), []);
        let other = plan("tester", &["cargo test:*"], &[]);
        assert_eq!(beyond_policy(&other, Some(&asks), Some(&portal)).len(), 1);
    }
}
