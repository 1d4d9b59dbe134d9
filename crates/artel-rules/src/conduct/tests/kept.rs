//! Tests that an attempt changed: they are put back, and the attempt is lost.

use artel_types::{StepPutBack, Text};

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

/// Carries a step out up to a part, whose outcome goes with `beside`.
fn until(part: Part, beside: &Fact) -> Conduct {
    let always = |_: &str| 1;
    let mut crew = Crew::new(plan(vec![step("a", &[], Verify::Tdd)]), RULES, &always);
    loop {
        let order = crew.conduct.next().remove(0);
        let fact = crew.outcome(&order);
        crew.conduct.fold(&fact);
        if matches!(&order, Order::Do { part: done, .. } if *done == part) {
            crew.conduct.fold(beside);
            return crew.conduct;
        }
    }
}

#[test]
fn an_attempt_that_changed_its_tests_is_lost_before_it_is_checked() {
    let conduct = until(Part::Work, &put_back("work"));
    let [Order::Record(fact)] = &conduct.next()[..] else {
        panic!("{:?}", conduct.next());
    };
    let Fact::StepFailed(failed) = &**fact else {
        panic!("{fact:?}");
    };
    let Text::Inline(why) = &failed.why else {
        panic!("{failed:?}");
    };
    let words = "the attempt changed the tests that it is held to: `tests/t.sh`, `tests/u.sh`";
    assert!(why.starts_with(words), "{why}");
}

#[test]
fn what_a_tester_left_beside_its_tests_is_charged_to_nobody() {
    let conduct = until(Part::Tests, &put_back("tests"));
    assert!(
        matches!(
            &conduct.next()[..],
            [Order::Do {
                part: Part::Red,
                ..
            }]
        ),
        "{:?}",
        conduct.next()
    );
}
