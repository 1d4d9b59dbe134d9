//! Tests of plan changes that agents propose, and of steps that end before anybody
//! decides.

use artel_types::{PlanProposed, RunAsked};

use super::*;

fn proposed(step: &str) -> PlanProposed {
    PlanProposed {
        id: "p".to_owned(),
        step: step.to_owned(),
        what: "more paths: `b.py`".to_owned(),
        why: "it needs that".to_owned(),
        impact: "none".to_owned(),
        plan: "{}".into(),
        hash: "h".to_owned(),
        blocking: true,
    }
}

/// Runs until a step is at work.
fn at_work<'c>(steps: Vec<PlanStep>, needs: &'c dyn Fn(&str) -> u32) -> Crew<'c> {
    let mut crew = Crew::new(plan(steps), RULES, needs);
    while crew.conduct.step("a").unwrap().round == 0 {
        assert!(crew.turn(0), "{:?}", crew.log);
    }
    crew
}

fn skipped(step: &str) -> Fact {
    StepSettled {
        step: step.to_owned(),
        state: "skipped".to_owned(),
        why: "not needed".to_owned(),
    }
    .into()
}

fn recorded(crew: &Crew<'_>) -> Fact {
    match &crew.conduct.next()[..] {
        [PlanRunOrder::Record(fact)] => (**fact).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proposal_about_a_step_that_is_over_lapses_and_is_not_asked() {
    let both = vec![
        step("a", &[], StepVerification::None),
        step("b", &[], StepVerification::None),
    ];
    let mut crew = at_work(both, &|_| 1);
    crew.conduct.fold(&proposed("a").into());
    crew.conduct.fold(&skipped("a"));
    let Fact::PlanDecided(decided) = recorded(&crew) else {
        panic!("{:?}", recorded(&crew));
    };
    assert_eq!(decided.reason, "lapsed: step 1 is skipped by now");
    assert_eq!(decided.version, None);
    crew.go_to_the_end();
    assert!(!crew.log.contains(&"record/run.asked".to_owned()));
    let other = crew.conduct.step("b").unwrap();
    assert_eq!(other.state, StepState::Done, "nothing waits for it");
}

#[test]
fn a_question_about_a_proposal_goes_with_its_step() {
    let mut crew = at_work(vec![step("a", &[], StepVerification::None)], &|_| 1);
    let goes_on = PlanProposed {
        blocking: false,
        ..proposed("a")
    };
    crew.conduct.fold(&goes_on.into());
    let asked: Fact = recorded(&crew);
    assert!(
        matches!(&asked, Fact::RunAsked(RunAsked { question, .. }) if question == "proposal/p")
    );
    crew.conduct.fold(&asked);
    let passed = StepPassed {
        step: "a".to_owned(),
        round: 1,
        commit: None,
        head: "h".to_owned(),
        files: Vec::new(),
        outputs: "{}".into(),
        waived: Vec::new(),
    };
    crew.conduct.fold(&passed.into());
    let Fact::RunAnswered(answered) = recorded(&crew) else {
        panic!("{:?}", recorded(&crew));
    };
    assert_eq!(answered.question, "proposal/p");
    assert_eq!(answered.answer, "lapsed: step 1 is done by now");
    crew.conduct.fold(&answered.into());
    assert_eq!(crew.conduct.questions().count(), 0);
    assert!(matches!(recorded(&crew), Fact::PlanDecided(it) if it.reason.starts_with(LAPSED)));
    crew.go_to_the_end();
    assert_eq!(crew.conduct.outcome(), (PlanState::Done, None));
}

#[test]
fn nothing_is_asked_about_proposals_of_a_run_that_ends() {
    let mut crew = at_work(vec![step("a", &[], StepVerification::None)], &|_| 1);
    crew.conduct.fold(&proposed("a").into());
    let cancel = RunSteered {
        act: "cancel".to_owned(),
        text: String::new(),
    };
    crew.conduct.fold(&cancel.into());
    crew.go_to_the_end();
    assert!(
        !crew.log.contains(&"record/run.asked".to_owned()),
        "{:?}",
        crew.log
    );
}

/// A person may decide with another command while the question is open. Whichever of the
/// two facts comes first, nobody is asked about a step that is over.
#[test]
fn what_is_asked_about_a_step_goes_with_it() {
    for settled_first in [true, false] {
        let mut crew = Crew::new(
            plan(vec![step("a", &[], StepVerification::None)]),
            RULES,
            &|_| 9,
        );
        while crew.conduct.questions().next().is_none() {
            assert!(crew.turn(0), "{:?}", crew.log);
        }
        let question = crew.conduct.questions().next().unwrap().question.clone();
        let answered = RunAnswered {
            question,
            answer: "skipped".to_owned(),
        };
        let mut facts = [skipped("a"), answered.into()];
        if !settled_first {
            facts.reverse();
        }
        crew.conduct.fold(&facts[0]);
        if !settled_first {
            let asked_again = recorded(&crew);
            crew.conduct.fold(&asked_again);
        }
        crew.conduct.fold(&facts[1]);
        assert_eq!(crew.conduct.questions().count(), 0, "{settled_first}");
        crew.go_to_the_end();
        assert_eq!(crew.conduct.step("a").unwrap().state, StepState::Skipped);
    }
}
