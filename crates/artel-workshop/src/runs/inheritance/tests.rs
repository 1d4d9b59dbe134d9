use artel_policy::rules::PolicyRule;
use artel_policy::{
    BoundAdmission, Grant, GrantScope, PolicyBound, PortalPermission, StepBound, StepWriteAccess,
};
use artel_testkit::Random;
use artel_types::model::{ModelCallPriority, ModelCallReason, PrivacyLabel};
use artel_types::{RecordedInheritance, RunId};

use super::{ChildTerms, RunInheritance};

mod beginnings;
mod budgets;
mod decisions;
mod marks;

fn rule(text: &str) -> PolicyRule {
    PolicyRule::parse(text).unwrap()
}

fn random_bound(random: &mut Random) -> PolicyBound {
    let number = random.below(6);
    let admits = match random.below(5) {
        0 => BoundAdmission::Rules(vec![rule("Read"), rule(&format!("Bash(tool{number}:*)"))]),
        1 => BoundAdmission::Operations(vec![PortalPermission::Read, PortalPermission::Git]),
        2 => BoundAdmission::GitOf("tester".to_owned()),
        3 => BoundAdmission::RightsOf {
            role: "inspector".to_owned(),
            secrets: (number > 3).then(|| vec![format!("key{number}")]),
        },
        _ => BoundAdmission::Step(StepBound {
            paths: vec![rule(&format!("Edit(src{number}/**)"))],
            kept: vec![rule("Edit(tests/a.py)")],
            commands: vec![rule("Bash(./run.sh)")],
            hosts: vec![rule("Fetch(docs.rs)")],
            tools: vec!["deploy".to_owned()],
            declared: vec!["deploy".to_owned(), "lint".to_owned()],
            secrets: vec![format!("key{number}")],
            changes: if number > 2 {
                StepWriteAccess::None
            } else {
                StepWriteAccess::Some
            },
        }),
    };
    PolicyBound {
        name: format!("bound {number}"),
        admits,
    }
}

fn random_terms(random: &mut Random, parent: Option<RunId>) -> ChildTerms {
    let (step, privacy) = (random.below(4) == 0, random.below(5) == 0);
    let reason = random.below(2) == 0;
    let number = random.below(9);
    let grant = Grant {
        rule: rule(&format!("Bash(granted{number})")),
        scope: GrantScope::Run,
        reason: "approved".to_owned(),
    };
    ChildTerms {
        parent,
        bounds: (0..random.below(3)).map(|_| random_bound(random)).collect(),
        denied: vec![rule(&format!("Bash(banned{number}:*)"))],
        granted: vec![grant],
        kept_tests: vec![format!("tests/{number}.py")],
        privacy: if privacy {
            PrivacyLabel::LocalOnly
        } else {
            PrivacyLabel::Any
        },
        reason: reason.then(|| {
            let at = usize::try_from(random.below(6)).unwrap();
            ModelCallReason::ALL[at]
        }),
        step_budget: step.then(|| format!("plan/s{number}")),
    }
}

struct Node {
    id: RunId,
    parent: Option<usize>,
    inherits: RunInheritance,
}

/// A random tree of runs, each started by an earlier one.
fn random_tree(random: &mut Random, seed: u64) -> Vec<Node> {
    let id = |at: usize| {
        let mut bytes = [u8::try_from(seed % 250).unwrap(); 16];
        bytes[0] = u8::try_from(at).unwrap();
        RunId::from_random(bytes)
    };
    let root = RunInheritance::of_person(Some("local")).for_child(random_terms(random, None));
    let mut tree = vec![Node {
        id: id(0),
        parent: None,
        inherits: root,
    }];
    for at in 1..12 {
        let parent = usize::try_from(random.below(at as u64)).unwrap();
        let terms = random_terms(random, Some(tree[parent].id));
        tree.push(Node {
            id: id(at),
            parent: Some(parent),
            inherits: tree[parent].inherits.for_child(terms),
        });
    }
    tree
}

fn holds_all<T: PartialEq + std::fmt::Debug>(child: &[T], parent: &[T]) {
    for one in parent {
        assert!(child.contains(one), "{one:?} is lost: {child:?}");
    }
}

#[test]
fn in_random_trees_of_runs_every_child_is_bounded_as_its_parent() {
    for seed in 0..50 {
        let mut random = Random::of_seed(seed);
        let tree = random_tree(&mut random, seed);
        for node in &tree {
            let child = node.inherits.recorded();
            let again =
                RunInheritance::of_record(&child, node.inherits.ancestors().to_vec()).unwrap();
            assert_eq!(again.recorded(), child, "what is on record is what holds");
            let Some(parent) = node.parent.map(|at| &tree[at]) else {
                continue;
            };
            let above: RecordedInheritance = parent.inherits.recorded();
            holds_all(&child.bounds, &above.bounds);
            holds_all(&child.denied, &above.denied);
            holds_all(&child.kept_tests, &above.kept_tests);
            assert_eq!(child.model.as_deref(), Some("local"));
            assert!(above.privacy == PrivacyLabel::Any || child.privacy == PrivacyLabel::LocalOnly);
            assert!(child.urgency >= above.urgency, "{child:?} {above:?}");
            assert!(
                child.least_urgency >= above.least_urgency,
                "{child:?} {above:?}"
            );
            assert!(child.urgency >= child.least_urgency);
            assert!(above.step_budget.is_none() || child.step_budget == above.step_budget);
            let mut line = vec![parent.id];
            line.extend(parent.inherits.ancestors());
            assert_eq!(
                node.inherits.ancestors(),
                line,
                "it counts against all above"
            );
        }
    }
}

#[test]
fn urgency_is_handed_down_and_upkeep_of_what_a_person_waits_for_is_not_put_off() {
    let begun = |above: &RunInheritance, reason: Option<ModelCallReason>| {
        above.for_child(ChildTerms {
            reason,
            ..ChildTerms::default()
        })
    };
    let person = RunInheritance::of_person(None);
    for (reason, urgency, upkeep) in [
        (
            ModelCallReason::PersonWaits,
            ModelCallPriority::User,
            ModelCallPriority::User,
        ),
        (
            ModelCallReason::Planning,
            ModelCallPriority::Planning,
            ModelCallPriority::Background,
        ),
        (
            ModelCallReason::Work,
            ModelCallPriority::Execution,
            ModelCallPriority::Background,
        ),
        (
            ModelCallReason::Judging,
            ModelCallPriority::Validation,
            ModelCallPriority::Background,
        ),
        (
            ModelCallReason::Advice,
            ModelCallPriority::Validation,
            ModelCallPriority::Background,
        ),
    ] {
        let run = begun(&person, Some(reason));
        assert_eq!(run.urgency(), urgency, "{reason:?}");
        let own = ModelCallPriority::of_call(ModelCallReason::Upkeep, run.least_urgency());
        assert_eq!(own, upkeep, "{reason:?}");
        let called = begun(&run, None);
        assert_eq!(
            called.urgency(),
            urgency,
            "what it calls is as urgent: {reason:?}"
        );
        assert_eq!(called.least_urgency(), urgency, "{reason:?}");
        assert_eq!(
            begun(&called, Some(ModelCallReason::Judging)).urgency(),
            urgency.max(ModelCallPriority::Validation)
        );
    }
}
