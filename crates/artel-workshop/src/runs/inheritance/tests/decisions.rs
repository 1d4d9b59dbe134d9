//! Bounds decide the same for a run and for everything it starts: hosts and secrets, files
//! and commands.

use artel_policy::rules::PolicyRule;
use artel_policy::{
    BoundAdmission, FileTarget, GitOperation, Policy, PolicyAction, PolicyAnswer, PolicyBound,
    PolicyContext, StepBound, TargetTree,
};
use artel_testkit::Random;

use super::{Node, random_tree};

/// Calls of every kind, each with the tool that makes it.
fn calls() -> Vec<(&'static str, PolicyAction)> {
    let file = |path: &str| FileTarget {
        place: TargetTree::Worktree,
        path: path.to_owned(),
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    vec![
        ("fetch", PolicyAction::Network("docs.rs".to_owned())),
        ("fetch", PolicyAction::Network("example.org".to_owned())),
        ("deploy", PolicyAction::Secret("key3".to_owned())),
        ("bash", PolicyAction::Secret("key4".to_owned())),
        ("read", PolicyAction::Read(file("src1/a.rs"))),
        ("edit", PolicyAction::Write(file("src1/a.rs"))),
        ("write", PolicyAction::Write(file("src4/b.rs"))),
        ("apply_patch", PolicyAction::Delete(file("tests/a.py"))),
        ("bash", PolicyAction::Shell("tool1 --fast".to_owned())),
        ("bash", PolicyAction::Shell("banned3 x; git log".to_owned())),
        ("bash", PolicyAction::Shell("git commit -m x".to_owned())),
        ("deploy", PolicyAction::Words(words("deploy now"))),
        ("lint", PolicyAction::Words(words("lint src1"))),
        ("script", PolicyAction::Words(words("./run.sh"))),
        ("git_commit", PolicyAction::Git(GitOperation::Commit)),
        ("git_log", PolicyAction::Git(GitOperation::Read)),
    ]
}

/// The policy of a run that inherited this and adds nothing of its own.
fn policy(node: &Node) -> Policy {
    let mut policy = Policy {
        role: "engineer".to_owned(),
        ..Policy::default()
    };
    node.inherits.hold_in(&mut policy);
    policy
}

fn decided(node: &Node) -> Vec<PolicyAnswer> {
    let policy = policy(node);
    let situation = PolicyContext {
        is_walled: true,
        ..PolicyContext::default()
    };
    let calls = calls();
    let each = calls.iter().map(|(tool, action)| {
        let one = std::slice::from_ref(action);
        policy.decide(tool, one, &situation).answer
    });
    each.collect()
}

#[test]
fn in_random_trees_of_runs_no_child_may_what_its_parent_is_denied() {
    let (mut open, mut narrowed) = (0, 0);
    for seed in 0..50 {
        let mut random = Random::of_seed(seed);
        let tree = random_tree(&mut random, seed);
        let answers: Vec<_> = tree.iter().map(decided).collect();
        for (node, own) in tree.iter().zip(&answers) {
            open += own.iter().filter(|it| **it != PolicyAnswer::Deny).count();
            let Some(parent) = node.parent else { continue };
            for (at, (above, own)) in answers[parent].iter().zip(own).enumerate() {
                let is_denied = *above == PolicyAnswer::Deny;
                assert!(
                    !is_denied || *own == PolicyAnswer::Deny,
                    "{seed}: {:?} is denied above and {own:?} here",
                    calls()[at]
                );
                narrowed += usize::from(!is_denied && *own == PolicyAnswer::Deny);
            }
        }
    }
    assert!(
        open > 500 && narrowed > 200,
        "{open} not denied, {narrowed} narrowed"
    );
}

/// A step has only those hosts and secrets that the step above it has as well.
#[test]
fn hosts_and_secrets_of_two_steps_are_those_of_both() {
    let step = |number: u32, host: &str, secret: &str| PolicyBound {
        name: format!("step s{number}"),
        admits: BoundAdmission::Step(StepBound {
            hosts: [host, "both.org"]
                .iter()
                .map(|it| PolicyRule::parse(&format!("Fetch({it})")).unwrap())
                .collect(),
            secrets: vec![secret.to_owned(), "both".to_owned()],
            ..StepBound::default()
        }),
    };
    let policy = Policy {
        role: "engineer".to_owned(),
        bounds: vec![step(1, "one.org", "one"), step(2, "two.org", "two")],
        ..Policy::default()
    };
    let answer = |action: PolicyAction| {
        let one = std::slice::from_ref(&action);
        policy
            .decide("fetch", one, &PolicyContext::default())
            .answer
    };
    for name in ["one", "two"] {
        let host = PolicyAction::Network(format!("{name}.org"));
        assert_eq!(answer(host), PolicyAnswer::Deny, "{name}");
        assert_eq!(
            answer(PolicyAction::Secret(name.to_owned())),
            PolicyAnswer::Deny
        );
    }
    assert_ne!(
        answer(PolicyAction::Network("both.org".to_owned())),
        PolicyAnswer::Deny
    );
    assert_ne!(
        answer(PolicyAction::Secret("both".to_owned())),
        PolicyAnswer::Deny
    );
}
