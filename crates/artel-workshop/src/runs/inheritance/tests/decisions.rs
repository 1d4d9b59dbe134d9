//! Bounds decide the same for a run and for everything it starts: hosts and secrets, files
//! and commands.

use artel_policy::rules::Rule;
use artel_policy::{
    Action, Admits, Answer, Bound, GitOperation, Place, Policy, Situation, StepBound, Target,
};
use artel_testkit::Random;

use super::{Node, random_tree};

/// Calls of every kind, each with the tool that makes it.
fn calls() -> Vec<(&'static str, Action)> {
    let file = |path: &str| Target {
        place: Place::Worktree,
        path: path.to_owned(),
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    vec![
        ("fetch", Action::Network("docs.rs".to_owned())),
        ("fetch", Action::Network("example.org".to_owned())),
        ("deploy", Action::Secret("key3".to_owned())),
        ("bash", Action::Secret("key4".to_owned())),
        ("read", Action::Read(file("src1/a.rs"))),
        ("edit", Action::Write(file("src1/a.rs"))),
        ("write", Action::Write(file("src4/b.rs"))),
        ("apply_patch", Action::Delete(file("tests/a.py"))),
        ("bash", Action::Shell("tool1 --fast".to_owned())),
        ("bash", Action::Shell("banned3 x; git log".to_owned())),
        ("bash", Action::Shell("git commit -m x".to_owned())),
        ("deploy", Action::Words(words("deploy now"))),
        ("lint", Action::Words(words("lint src1"))),
        ("script", Action::Words(words("./run.sh"))),
        ("git_commit", Action::Git(GitOperation::Commit)),
        ("git_log", Action::Git(GitOperation::Read)),
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

fn decided(node: &Node) -> Vec<Answer> {
    let policy = policy(node);
    let situation = Situation {
        is_walled: true,
        ..Situation::default()
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
            open += own.iter().filter(|it| **it != Answer::Deny).count();
            let Some(parent) = node.parent else { continue };
            for (at, (above, own)) in answers[parent].iter().zip(own).enumerate() {
                let is_denied = *above == Answer::Deny;
                assert!(
                    !is_denied || *own == Answer::Deny,
                    "{seed}: {:?} is denied above and {own:?} here",
                    calls()[at]
                );
                narrowed += usize::from(!is_denied && *own == Answer::Deny);
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
    let step = |number: u32, host: &str, secret: &str| Bound {
        name: format!("step s{number}"),
        admits: Admits::Step(StepBound {
            hosts: [host, "both.org"]
                .iter()
                .map(|it| Rule::parse(&format!("Fetch({it})")).unwrap())
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
    let answer = |action: Action| {
        let one = std::slice::from_ref(&action);
        policy.decide("fetch", one, &Situation::default()).answer
    };
    for name in ["one", "two"] {
        let host = Action::Network(format!("{name}.org"));
        assert_eq!(answer(host), Answer::Deny, "{name}");
        assert_eq!(answer(Action::Secret(name.to_owned())), Answer::Deny);
    }
    assert_ne!(answer(Action::Network("both.org".to_owned())), Answer::Deny);
    assert_ne!(answer(Action::Secret("both".to_owned())), Answer::Deny);
}
