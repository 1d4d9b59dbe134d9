//! Tests of waivers: of one finding and no other, or of a verifier by any of its names.

use artel_types::plan::{FindingSeverity, VerdictFinding};
use artel_types::{StepFailed, StepWaived};

use super::*;

fn finding(id: &str, line: u64, why: &str) -> VerdictFinding {
    VerdictFinding {
        id: id.to_owned(),
        severity: FindingSeverity::Error,
        file: "calc.py".to_owned(),
        line: Some(line),
        why: why.to_owned(),
        fix: String::new(),
    }
}

/// A verifier turns an attempt down for its findings.
fn turned_down(
    crew: &Crew<'_>,
    round: u32,
    judge: StepVerifier,
    findings: Vec<VerdictFinding>,
) -> Fact {
    let Fact::StepJudged(judged) = crew.did("a", round, AttemptPart::Judge(judge)) else {
        panic!("a judge judges");
    };
    StepJudged {
        passed: false,
        feedback: "see there".into(),
        findings,
        ..judged
    }
    .into()
}

fn waived(what: &str, finding: Option<VerdictFinding>) -> Fact {
    StepWaived {
        step: "a".to_owned(),
        what: what.to_owned(),
        reason: "tracked elsewhere".to_owned(),
        finding,
    }
    .into()
}

/// A step in its first attempt, about to be verified.
fn before_the_judges(verify: StepVerification) -> Crew<'static> {
    let mut crew = Crew::new(plan(vec![step("a", &[], verify)]), RULES, &|_| 1);
    while !crew.conduct.next().iter().any(is_judging) {
        assert!(crew.turn(0));
    }
    crew
}

fn is_judging(order: &PlanRunOrder) -> bool {
    matches!(
        order,
        PlanRunOrder::Do {
            part: AttemptPart::Judge(_),
            ..
        }
    )
}

/// Runs to the verifiers of the next attempt, which a person granted.
fn to_the_next_attempt(crew: &mut Crew<'_>) {
    let round = crew.conduct.step("a").unwrap().round;
    let why = "see there".into();
    let step = "a".to_owned();
    crew.conduct.fold(&StepFailed { step, round, why }.into());
    while crew.conduct.step("a").unwrap().round == round
        || !crew.conduct.next().iter().any(is_judging)
    {
        assert!(crew.turn(0));
    }
}

fn names(orders: &[PlanRunOrder]) -> Vec<String> {
    orders.iter().map(ToString::to_string).collect()
}

#[test]
fn a_waiver_of_a_finding_lets_no_other_pass_that_is_called_the_same_later() {
    let known = finding("e1", 2, "no words about it");
    for recorded in [Some(known.clone()), None] {
        let mut crew = before_the_judges(StepVerification::Evaluator);
        let first = turned_down(&crew, 1, StepVerifier::Evaluator, vec![known.clone()]);
        crew.conduct.fold(&first);
        crew.conduct.fold(&waived("e1", recorded));
        assert_eq!(
            names(&crew.conduct.next()),
            ["a/1/commit"],
            "it is let pass"
        );

        to_the_next_attempt(&mut crew);
        let other = finding("e1", 2, "it divides by zero");
        let second = turned_down(&crew, 2, StepVerifier::Evaluator, vec![other]);
        crew.conduct.fold(&second);
        let next = names(&crew.conduct.next());
        assert_eq!(next, ["record/step.failed"], "another finding of that name");

        to_the_next_attempt(&mut crew);
        let again = finding("e4", 2, "no words about it");
        let third = turned_down(&crew, 3, StepVerifier::Evaluator, vec![again]);
        crew.conduct.fold(&third);
        let next = names(&crew.conduct.next());
        assert_eq!(next, ["a/3/commit"], "the same, whatever its name");
    }
}

#[test]
fn a_waiver_of_one_finding_is_none_of_its_neighbour() {
    let mut crew = before_the_judges(StepVerification::Evaluator);
    let both = vec![finding("e1", 2, "no words"), finding("e2", 9, "no words")];
    let judged = turned_down(&crew, 1, StepVerifier::Evaluator, both.clone());
    crew.conduct.fold(&judged);
    crew.conduct.fold(&waived("e1", Some(both[0].clone())));
    assert_eq!(names(&crew.conduct.next()), ["record/step.failed"]);
    crew.conduct.fold(&waived("e2", Some(both[1].clone())));
    assert_eq!(names(&crew.conduct.next()), ["a/1/commit"]);
}

#[test]
fn a_judge_is_waived_by_each_of_its_names_and_by_no_other() {
    let evaluator = (StepVerification::Evaluator, StepVerifier::Evaluator);
    let inspector = (StepVerification::Tdd, StepVerifier::Inspector);
    for ((verify, judge), what, passes) in [
        (evaluator, "evaluator", true),
        (evaluator, "inspector", true),
        (evaluator, "tester", false),
        (inspector, "inspector", true),
        (inspector, "evaluator", false),
        (inspector, "tester", false),
    ] {
        let mut crew = before_the_judges(verify);
        if verify == StepVerification::Tdd {
            let tester = crew.did("a", 1, AttemptPart::Judge(StepVerifier::Tester));
            crew.conduct.fold(&tester);
        }
        let judged = turned_down(&crew, 1, judge, Vec::new());
        crew.conduct.fold(&judged);
        crew.conduct.fold(&waived(what, None));
        let expected = if passes {
            "a/1/commit"
        } else {
            "record/step.failed"
        };
        assert_eq!(names(&crew.conduct.next()), [expected], "{judge:?} {what}");
        let step = crew.conduct.step("a").unwrap();
        let told = step.let_pass_by(&step.waived[0]);
        assert_eq!(told.len(), usize::from(passes), "{judge:?} {what}");
    }
}

#[test]
fn a_judge_that_was_waived_beforehand_is_not_asked() {
    let mut crew = before_the_judges(StepVerification::Evaluator);
    crew.conduct.fold(&waived("evaluator", None));
    assert_eq!(names(&crew.conduct.next()), ["a/1/commit"]);
}
