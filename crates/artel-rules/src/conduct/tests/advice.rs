//! Tests of the architect's advice about a step that did not pass, and what a person makes
//! of it.

use super::*;

/// Runs until a person is asked, and returns the question.
fn asked(crew: &mut Crew<'_>) -> artel_types::RunAsked {
    loop {
        if let Some(asked) = crew.conduct.questions().next() {
            return asked.clone();
        }
        assert!(crew.turn(0), "it ends without a question: {:?}", crew.log);
    }
}

/// A step that does not pass, with the architect's advice: another step has to come first.
fn advised(needs: &dyn Fn(&str) -> u32) -> Crew<'_> {
    let mut crew = Crew::new(
        plan(vec![step("a", &[], StepVerification::None)]),
        RULES,
        needs,
    );
    while !crew
        .conduct
        .next()
        .iter()
        .any(|it| it.to_string() == "a/3/advise")
    {
        assert!(crew.turn(0), "{:?}", crew.log);
    }
    let next = plan(vec![
        step("first", &[], StepVerification::None),
        step("a", &["first"], StepVerification::None),
    ]);
    let proposed = artel_types::PlanProposed {
        id: "p".to_owned(),
        step: "a".to_owned(),
        what: "first: Do first".to_owned(),
        why: "it needs that".to_owned(),
        impact: "one step more".to_owned(),
        plan: serde_json::to_string(&next).unwrap().as_str().into(),
        hash: "h".to_owned(),
        blocking: false,
    };
    let advised = StepAdvised {
        step: "a".to_owned(),
        round: 3,
        run: None,
        fault: Some("plan".to_owned()),
        advice: "it needs another step".into(),
        proposal: Some("p".to_owned()),
    };
    crew.conduct.fold(&advised.into());
    crew.conduct.fold(&proposed.into());
    crew
}

fn answers(crew: &mut Crew<'_>, answer: &str) {
    let question = asked(crew).question;
    let answer = answer.to_owned();
    crew.conduct.fold(&RunAnswered { question, answer }.into());
}

#[test]
fn what_the_architect_proposes_is_one_of_the_ways_on() {
    let needs = |id: &str| if id == "a" { 4 } else { 1 };
    let mut crew = advised(&needs);
    let question = asked(&mut crew);
    for words in [
        "the plan is at fault: it needs another step",
        "first: Do first",
        "one step more",
    ] {
        assert!(question.text.contains(words), "{}", question.text);
    }
    assert_eq!(question.choices[..2], ["change-plan", "more"]);
    answers(&mut crew, "change-plan");
    let PlanRunOrder::Adopt { id } = &crew.conduct.next()[0] else {
        panic!("{:?}", crew.conduct.next());
    };
    assert_eq!(id, "p");
    assert_eq!(crew.conduct.next().len(), 1, "the step waits for its plan");
    let next = plan(vec![
        step("first", &[], StepVerification::None),
        step("a", &["first"], StepVerification::None),
    ]);
    let adopted = artel_types::PlanAdopted {
        version: 2,
        plan: serde_json::to_string(&next).unwrap().as_str().into(),
        hash: "h".to_owned(),
    };
    let decided = artel_types::PlanDecided {
        id: "p".to_owned(),
        reason: String::new(),
        version: Some(2),
    };
    crew.conduct.fold(&adopted.into());
    crew.conduct.fold(&decided.into());
    let orders: Vec<_> = crew
        .conduct
        .next()
        .iter()
        .map(PlanRunOrder::to_string)
        .collect();
    assert_eq!(orders, ["first/1/start"], "what comes first is done first");
    assert!(crew.conduct.step("a").unwrap().begins_anew());
    crew.go_to_the_end();
    let done = crew.conduct.step("a").unwrap();
    assert_eq!((done.state, done.round), (StepState::Done, 4));
    let asked = crew.log.iter().filter(|it| *it == "record/run.asked");
    assert_eq!(asked.count(), 1);
}

#[test]
fn another_way_on_turns_the_architects_proposal_down() {
    let needs = |id: &str| if id == "a" { 4 } else { 1 };
    let mut crew = advised(&needs);
    answers(&mut crew, "more");
    crew.go_to_the_end();
    assert!(crew.log.contains(&"record/plan.decided".to_owned()));
    let done = crew.conduct.step("a").unwrap();
    assert_eq!(done.state, StepState::Done);
    assert!(
        done.history
            .iter()
            .any(|it| it.contains("they chose `more`")),
        "{:?}",
        done.history
    );
    assert!(crew.conduct.step("first").is_none());
}

#[test]
fn the_architect_is_asked_once_for_each_three_attempts() {
    let mut crew = Crew::new(
        plan(vec![step("a", &[], StepVerification::None)]),
        RULES,
        &|_| 5,
    );
    crew.answer = "more";
    crew.go_to_the_end();
    let advice = crew.log.iter().filter(|it| it.ends_with("/advise"));
    assert_eq!(advice.collect::<Vec<_>>(), ["a/3/advise"]);
    let mut crew = Crew::new(
        plan(vec![step("a", &[], StepVerification::None)]),
        RULES,
        &|_| 2,
    );
    crew.go_to_the_end();
    assert!(!crew.log.iter().any(|it| it.ends_with("/advise")));
}

/// Whatever the architect blames, the next attempt begins with it.
#[test]
fn tests_that_the_architect_finds_at_fault_are_written_anew() {
    for (fault, again) in [("tests", true), ("code", false)] {
        let mut crew = Crew::new(
            plan(vec![step("a", &[], StepVerification::Tdd)]),
            RULES,
            &|_| 4,
        );
        let is_due = |crew: &Crew<'_>| {
            let orders = crew.conduct.next();
            orders.iter().any(|it| it.to_string() == "a/3/advise")
        };
        while !is_due(&crew) {
            assert!(crew.turn(0), "{:?}", crew.log);
        }
        let advised = StepAdvised {
            step: "a".to_owned(),
            round: 3,
            run: None,
            fault: Some(fault.to_owned()),
            advice: "they check the old sum".into(),
            proposal: None,
        };
        crew.conduct.fold(&advised.into());
        answers(&mut crew, "more");
        crew.go_to_the_end();
        let log = &crew.log;
        for part in ["criteria", "tests", "red"] {
            let is_done = log.contains(&format!("a/4/{part}"));
            assert_eq!(is_done, again, "{fault}, {part}: {log:?}");
        }
        assert_eq!(crew.conduct.step("a").unwrap().state, StepState::Done);
    }
}
