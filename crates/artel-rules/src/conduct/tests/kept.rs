//! Tests of attempts that change their tests: the tests are put back, and the attempt is
//! lost.

use artel_types::{RecordedText, StepPutBack, StepStarted};

use super::*;

fn put_back(part: &str) -> Fact {
    StepPutBack {
        step: "a".to_owned(),
        round: 1,
        part: part.to_owned(),
        run: run_id(),
        files: vec!["tests/t.sh".to_owned(), "tests/u.sh".to_owned()],
    }
    .into()
}

/// Carries a step out up to a part, whose outcome is folded together with `beside`.
fn until(part: AttemptPart, beside: &Fact) -> PlanRun {
    let always = |_: &str| 1;
    let mut crew = Crew::new(
        plan(vec![step("a", &[], StepVerification::Tdd)]),
        RULES,
        &always,
    );
    loop {
        let order = crew.conduct.next().remove(0);
        let fact = crew.outcome(&order);
        crew.conduct.fold(&fact);
        if matches!(&order, PlanRunOrder::Do { part: done, .. } if *done == part) {
            crew.conduct.fold(beside);
            return crew.conduct;
        }
    }
}

#[test]
fn an_attempt_that_changed_its_tests_is_lost_before_it_is_checked() {
    let conduct = until(AttemptPart::Work, &put_back("work"));
    let [PlanRunOrder::Record(fact)] = &conduct.next()[..] else {
        panic!("{:?}", conduct.next());
    };
    let Fact::StepFailed(failed) = &**fact else {
        panic!("{fact:?}");
    };
    let RecordedText::Inline(why) = &failed.why else {
        panic!("{failed:?}");
    };
    let words = "the attempt changed the tests that it is held to: `tests/t.sh`, `tests/u.sh`";
    assert!(why.starts_with(words), "{why}");
}

/// The next attempt is not compared with work that was done on other files.
#[test]
fn an_attempt_on_other_files_begins_without_the_work_of_the_one_before() {
    let mut conduct = until(AttemptPart::Work, &put_back("work"));
    let PlanRunOrder::Record(failed) = conduct.next().remove(0) else {
        panic!("{:?}", conduct.next());
    };
    conduct.fold(&failed);
    let started = |base: &str| StepStarted {
        step: "a".to_owned(),
        round: 2,
        base: base.to_owned(),
    };
    let left = |conduct: &PlanRun| conduct.step("a").unwrap().tree.clone();
    let mut same = conduct.clone();
    same.fold(&started("c0").into());
    assert_eq!(left(&same).as_deref(), Some("t-a"));
    conduct.fold(&started("c1").into());
    assert_eq!(left(&conduct), None);
}

#[test]
fn what_a_tester_left_beside_its_tests_is_charged_to_nobody() {
    let conduct = until(AttemptPart::Tests, &put_back("tests"));
    assert!(
        matches!(
            &conduct.next()[..],
            [PlanRunOrder::Do {
                part: AttemptPart::Red,
                ..
            }]
        ),
        "{:?}",
        conduct.next()
    );
}
