mod advice;
mod kept;
mod proposals;
mod urgent;
mod waivers;

use std::collections::BTreeSet;

use artel_types::plan::{Plan, PlanState, PlanStep, StepState, StepVerification};
use artel_types::{
    BaselineTaken, BranchChecked, BranchMended, Fact, RunAnswered, RunFinished, RunId, RunSteered,
    StepAdvised, StepChecked, StepJudged, StepPassed, StepSettled, StepStarted, StepSteered,
    StepWorked,
};
use proptest::prelude::*;

use super::*;

fn step(id: &str, after: &[&str], verify: StepVerification) -> PlanStep {
    let json = serde_json::json!({
        "id": id, "title": format!("Do {id}"), "work": "work", "check": "check",
        "after": after, "verify": verify,
    });
    serde_json::from_value(json).unwrap()
}

fn plan(steps: Vec<PlanStep>) -> Plan {
    Plan {
        title: "A plan".to_owned(),
        steps,
        ..Plan::default()
    }
}

fn run_id() -> RunId {
    RunId::from_random([7; 16])
}

const RULES: PlanRunRules = PlanRunRules {
    at_once: 2,
    failure: StepFailurePolicy::Continue,
};

/// A plan executor whose results follow a table: how many attempts each step needs.
struct Crew<'c> {
    conduct: PlanRun,
    needs: &'c dyn Fn(&str) -> u32,
    log: Vec<String>,
    most: usize,
    answer: &'c str,
}

impl Crew<'_> {
    fn new<'c>(plan: Plan, rules: PlanRunRules, needs: &'c dyn Fn(&str) -> u32) -> Crew<'c> {
        Crew {
            conduct: PlanRun::new(plan, rules),
            needs,
            log: Vec::new(),
            most: 0,
            answer: "give-up",
        }
    }

    /// Returns the outcome of an order.
    fn outcome(&self, order: &PlanRunOrder) -> Fact {
        match order {
            PlanRunOrder::Baseline { .. } => BaselineTaken {
                commit: "c0".to_owned(),
                commands: vec!["test".to_owned()],
                holds: true,
                why: None,
            }
            .into(),
            PlanRunOrder::Record(fact) => (**fact).clone(),
            PlanRunOrder::Await(asked) => RunAnswered {
                question: asked.question.clone(),
                answer: self.answer.to_owned(),
            }
            .into(),
            PlanRunOrder::Final { round } => BranchChecked {
                round: *round,
                head: "h".to_owned(),
                passed: true,
                why: Vec::new(),
            }
            .into(),
            PlanRunOrder::Mend { round } => BranchMended {
                round: *round,
                run: run_id(),
                commit: None,
                head: "h".to_owned(),
            }
            .into(),
            PlanRunOrder::Close { .. } => RunFinished::new(run_id(), "over").into(),
            PlanRunOrder::Adopt { .. } => unreachable!("nothing is proposed"),
            PlanRunOrder::Do { step, round, part } => self.did(step, *round, *part),
        }
    }

    fn did(&self, step: &str, round: u32, part: AttemptPart) -> Fact {
        let (step, passes) = (step.to_owned(), round >= (self.needs)(step));
        let worked = |part: &str| StepWorked {
            step: step.clone(),
            round,
            part: part.to_owned(),
            run: run_id(),
            state: "complete".to_owned(),
            summary: "done".into(),
            criteria: Vec::new(),
            tree: format!("t-{step}"),
            left_out: None,
        };
        let checked = |phase: &str, passed| StepChecked {
            step: step.clone(),
            round,
            phase: phase.to_owned(),
            passed,
            why: vec!["1 of 6 failed".to_owned()],
        };
        match part {
            AttemptPart::Start => StepStarted {
                step,
                round,
                base: "c0".to_owned(),
            }
            .into(),
            AttemptPart::Criteria => worked("criteria").into(),
            AttemptPart::Tests => worked("tests").into(),
            AttemptPart::Work => worked("work").into(),
            AttemptPart::Red => checked("red", true).into(),
            AttemptPart::Green => checked("green", passes).into(),
            AttemptPart::Judge(judge) => StepJudged {
                by: judge.as_str().to_owned(),
                run: run_id(),
                passed: true,
                feedback: "".into(),
                findings: Vec::new(),
                evidence: vec!["looked".to_owned()],
                outputs: format!("{{\"{step}\":\"1\"}}").as_str().into(),
                fault: None,
                step,
                round,
            }
            .into(),
            AttemptPart::Advise => StepAdvised {
                step,
                round,
                run: Some(run_id()),
                fault: Some("code".to_owned()),
                advice: "it is not finished".into(),
                proposal: None,
            }
            .into(),
            AttemptPart::Commit => StepPassed {
                outputs: format!("{{\"{step}\":\"1\"}}").as_str().into(),
                commit: Some(format!("c-{step}")),
                head: format!("c-{step}"),
                files: Vec::new(),
                waived: Vec::new(),
                step,
                round,
            }
            .into(),
        }
    }

    /// Carries out one order, picked by the caller; returns false if there are none.
    fn turn(&mut self, pick: usize) -> bool {
        let orders = self.conduct.next();
        if orders.is_empty() {
            return false;
        }
        let at_work: BTreeSet<_> = orders.iter().filter_map(step_of).collect();
        self.most = self.most.max(at_work.len());
        let order = &orders[pick % orders.len()];
        let fact = self.outcome(order);
        self.log.push(order.to_string());
        self.conduct.fold(&fact);
        true
    }

    fn go_to_the_end(&mut self) {
        for turn in 0..10_000 {
            if !self.turn(turn) {
                assert!(self.conduct.is_over(), "it stands still: {:?}", self.log);
                return;
            }
        }
        panic!("it never ends: {:?}", self.log);
    }
}

fn step_of(order: &PlanRunOrder) -> Option<String> {
    match order {
        PlanRunOrder::Do { step, .. } => Some(step.clone()),
        _ => None,
    }
}

#[test]
fn a_step_is_worked_checked_judged_and_committed() {
    let steps = vec![step("a", &[], StepVerification::Evaluator)];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
    crew.go_to_the_end();
    insta::assert_snapshot!(crew.log.join("\n"), @r"
    baseline
    a/1/start
    a/1/work
    a/1/green
    a/1/evaluator
    a/1/commit
    final/1
    close
    ");
}

#[test]
fn tests_come_first_where_they_drive_the_work_and_stay_for_the_next_attempt() {
    let steps = vec![step("a", &[], StepVerification::Tdd)];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 2);
    crew.go_to_the_end();
    insta::assert_snapshot!(crew.log.join("\n"), @r"
    baseline
    a/1/start
    a/1/criteria
    a/1/tests
    a/1/red
    a/1/work
    a/1/green
    record/step.failed
    a/2/start
    a/2/work
    a/2/green
    a/2/tester
    a/2/inspector
    a/2/commit
    final/1
    close
    ");
    assert_eq!(crew.conduct.outcome(), (PlanState::Done, None));
}

#[test]
fn after_three_attempts_a_person_decides_and_dependents_are_skipped() {
    let steps = vec![
        step("a", &[], StepVerification::None),
        step("b", &["a"], StepVerification::None),
        step("c", &["b"], StepVerification::None),
        step("d", &[], StepVerification::None),
    ];
    let needs = |id: &str| if id == "a" { 99 } else { 1 };
    let mut crew = Crew::new(plan(steps), RULES, &needs);
    crew.go_to_the_end();
    let state = |id: &str| crew.conduct.step(id).unwrap().state;
    assert_eq!(state("a"), StepState::Failed);
    assert_eq!(state("b"), StepState::Skipped);
    assert_eq!(state("c"), StepState::Skipped);
    assert_eq!(state("d"), StepState::Done);
    assert_eq!(
        crew.log
            .iter()
            .filter(|line| *line == "await/a/3/0")
            .count(),
        1
    );
    assert_eq!(crew.conduct.outcome().0, PlanState::Failed);
    assert_eq!(crew.conduct.step("c").unwrap().why, "step 2 was skipped");
}

#[test]
fn what_a_person_leaves_out_is_no_failure() {
    let steps = vec![
        step("a", &[], StepVerification::None),
        step("b", &["a"], StepVerification::None),
        step("d", &[], StepVerification::None),
    ];
    let needs = |id: &str| if id == "a" { 99 } else { 1 };
    let mut crew = Crew::new(plan(steps.clone()), RULES, &needs);
    crew.answer = "skip: not needed";
    crew.go_to_the_end();
    let state = |id: &str| crew.conduct.step(id).unwrap().state;
    assert_eq!(state("a"), StepState::Skipped);
    assert_eq!(state("b"), StepState::Skipped);
    assert_eq!(state("d"), StepState::Done);
    let (end, why) = crew.conduct.outcome();
    assert_eq!(end, PlanState::Done);
    assert!(why.unwrap().ends_with("a person left it out: not needed"));
    let mut none = Crew::new(plan(steps[..2].to_vec()), RULES, &needs);
    none.answer = "skip";
    none.go_to_the_end();
    assert_eq!(none.conduct.outcome().0, PlanState::Cancelled);
    let mut fast = Crew::new(
        plan(steps),
        PlanRunRules {
            failure: StepFailurePolicy::Fast,
            at_once: 1,
        },
        &needs,
    );
    fast.answer = "skip";
    fast.go_to_the_end();
    assert_eq!(fast.conduct.step("d").unwrap().state, StepState::Done);
}

#[test]
fn a_waived_check_lets_the_attempt_through_and_more_gives_three_more() {
    let steps = vec![step("a", &[], StepVerification::Evaluator)];
    let mut crew = Crew::new(plan(steps.clone()), RULES, &|_| 99);
    crew.answer = "waive-tester: the suite is flaky";
    crew.go_to_the_end();
    let done = crew.conduct.step("a").unwrap();
    assert_eq!(done.state, StepState::Done);
    assert_eq!(done.passed_over(), ["tester"]);
    assert!(crew.log.contains(&"record/step.waived".to_owned()));
    assert!(
        crew.log.contains(&"a/3/evaluator".to_owned()),
        "the judge is still heard"
    );
    let mut crew = Crew::new(plan(steps), RULES, &|_| 5);
    crew.answer = "more";
    crew.go_to_the_end();
    assert_eq!(crew.conduct.step("a").unwrap().round, 5);
}

/// A person may decide without answering. Then the question is settled by the decision,
/// and the next attempt learns what was tried.
#[test]
fn a_decision_beside_the_question_settles_it() {
    let mut crew = Crew::new(
        plan(vec![step("a", &[], StepVerification::None)]),
        RULES,
        &|_| 99,
    );
    let is_asked = |conduct: &PlanRun| conduct.questions().next().cloned();
    while is_asked(&crew.conduct).is_none() {
        assert!(crew.turn(0), "it ends without a question: {:?}", crew.log);
    }
    let told = &crew.conduct.step("a").unwrap().history;
    assert_eq!(told.len(), 4);
    assert_eq!(
        told[0],
        "1 of 6 failed\nWhat its worker said about it: done"
    );
    assert_eq!(
        told[3],
        "The architect says that the code is at fault: it is not finished"
    );
    let question = is_asked(&crew.conduct).unwrap().question;
    let waived = artel_types::StepWaived {
        step: "a".to_owned(),
        what: "tester".to_owned(),
        reason: "flaky".to_owned(),
        finding: None,
    };
    crew.conduct.fold(&waived.into());
    let answer = "waived".to_owned();
    crew.conduct.fold(&RunAnswered { question, answer }.into());
    crew.go_to_the_end();
    assert_eq!(crew.conduct.step("a").unwrap().state, StepState::Done);
    assert_eq!(
        crew.log
            .iter()
            .filter(|it| it.ends_with("run.asked"))
            .count(),
        1
    );
}

#[test]
fn failing_fast_begins_nothing_more() {
    let steps = vec![
        step("a", &[], StepVerification::None),
        step("b", &[], StepVerification::None),
        step("c", &[], StepVerification::None),
    ];
    let rules = PlanRunRules {
        at_once: 1,
        failure: StepFailurePolicy::Fast,
    };
    let mut crew = Crew::new(plan(steps), rules, &|id| if id == "a" { 99 } else { 1 });
    // The person answers before anything else begins.
    while crew.turn(0) {}
    assert!(crew.conduct.is_over());
    assert_eq!(crew.conduct.step("b").unwrap().state, StepState::Skipped);
    assert_eq!(crew.conduct.step("c").unwrap().state, StepState::Skipped);
}

#[test]
fn nothing_begins_while_paused_and_a_cancelled_run_ends() {
    let steps = vec![
        step("a", &[], StepVerification::None),
        step("b", &[], StepVerification::None),
    ];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
    crew.turn(0);
    let steer = |act: &str| {
        Fact::from(RunSteered {
            act: act.to_owned(),
            text: String::new(),
        })
    };
    crew.conduct.fold(&steer("pause"));
    assert_eq!(crew.conduct.next(), []);
    crew.conduct.fold(&steer("resume"));
    crew.turn(0);
    crew.conduct.fold(&steer("cancel"));
    crew.go_to_the_end();
    assert_eq!(crew.conduct.outcome().0, PlanState::Cancelled);
}

#[test]
fn a_paused_run_that_is_cancelled_does_not_wait_to_be_resumed() {
    let steps = vec![step("a", &[], StepVerification::None)];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
    crew.turn(0);
    for act in ["pause", "cancel"] {
        let (act, text) = (act.to_owned(), String::new());
        crew.conduct.fold(&RunSteered { act, text }.into());
    }
    crew.go_to_the_end();
    assert_eq!(crew.conduct.outcome().0, PlanState::Cancelled);
}

#[test]
fn a_step_that_a_person_holds_waits_alone_and_keeps_nobody_else_waiting() {
    let steps = vec![
        step("a", &[], StepVerification::None),
        step("b", &[], StepVerification::None),
        step("c", &["a"], StepVerification::None),
    ];
    let one = PlanRunRules {
        at_once: 1,
        ..RULES
    };
    let mut crew = Crew::new(plan(steps), one, &|_| 1);
    crew.turn(0);
    let steer = |act: &str| {
        Fact::from(StepSteered {
            step: "a".to_owned(),
            act: act.to_owned(),
        })
    };
    crew.conduct.fold(&steer("pause"));
    assert!(crew.conduct.is_waiting("a"));
    while !crew.conduct.next().is_empty() {
        crew.turn(0);
    }
    let state = |crew: &Crew<'_>, id: &str| crew.conduct.step(id).unwrap().state;
    assert_eq!(state(&crew, "b"), StepState::Done, "its place was taken");
    assert_eq!(state(&crew, "c"), StepState::Waiting, "it needs the other");
    assert!(!crew.conduct.is_over());
    assert_eq!(crew.conduct.paused_steps().count(), 1);
    crew.conduct.fold(&steer("resume"));
    crew.go_to_the_end();
    assert_eq!(crew.conduct.outcome().0, PlanState::Done);
    crew.conduct.fold(&steer("pause"));
    assert_eq!(
        crew.conduct.paused_steps().count(),
        0,
        "what is over stays so"
    );
}

#[test]
fn a_step_that_a_person_skipped_does_not_begin_once_its_files_are_ready() {
    let steps = vec![step("a", &[], StepVerification::None)];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
    crew.turn(0);
    let started = crew.outcome(&crew.conduct.next()[0]);
    let skipped = StepSettled {
        step: "a".to_owned(),
        state: "skipped".to_owned(),
        why: "not needed".to_owned(),
    };
    crew.conduct.fold(&skipped.into());
    crew.conduct.fold(&started);
    assert_eq!(crew.conduct.step("a").unwrap().state, StepState::Skipped);
}

#[test]
fn two_judges_are_heard_in_the_same_order_whoever_is_done_first() {
    let heard = |first: StepVerifier, second: StepVerifier| {
        let steps = vec![step("a", &[], StepVerification::Tdd)];
        let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
        while crew.conduct.next().len() < 2 {
            crew.turn(0);
        }
        for judge in [first, second] {
            let Fact::StepJudged(judged) = crew.did("a", 1, AttemptPart::Judge(judge)) else {
                panic!("a judge judges");
            };
            let turned_down = StepJudged {
                passed: false,
                feedback: judge.as_str().into(),
                ..judged
            };
            crew.conduct.fold(&turned_down.into());
        }
        crew.turn(0);
        crew.conduct.step("a").unwrap().why.clone()
    };
    let (inspector, tester) = (StepVerifier::Inspector, StepVerifier::Tester);
    assert_eq!(heard(inspector, tester), "inspector\n\ntester");
    assert_eq!(heard(tester, inspector), "inspector\n\ntester");
}

#[test]
fn values_of_steps_before_are_the_only_bridge() {
    let steps = vec![
        step("a", &[], StepVerification::Evaluator),
        step("b", &["a"], StepVerification::Evaluator),
        step("c", &[], StepVerification::Evaluator),
    ];
    let mut crew = Crew::new(plan(steps), RULES, &|_| 1);
    crew.go_to_the_end();
    let names = |id: &str| crew.conduct.memory(id).into_keys().collect::<Vec<_>>();
    assert_eq!(names("b"), ["a"]);
    assert_eq!(names("c"), Vec::<String>::new());
}

/// Generates plans with steps that depend on earlier ones, and the attempts that each step
/// needs.
fn plans() -> impl Strategy<Value = (Plan, Vec<u32>)> {
    let step_of = (any::<u32>(), 0..3_u8, 1..6_u32);
    proptest::collection::vec(step_of, 1..14).prop_map(|rows| {
        let names: Vec<_> = (0..rows.len()).map(|at| format!("s{at}")).collect();
        let steps = rows.iter().enumerate().map(|(at, (mask, verify, _))| {
            let after = (0..at).filter(|other| mask >> (other % 32) & 1 == 1 && at - other < 4);
            let after: Vec<_> = after.map(|other| names[other].as_str()).collect();
            let verify = [
                StepVerification::None,
                StepVerification::Evaluator,
                StepVerification::Tdd,
            ][usize::from(*verify)];
            step(&names[at], &after, verify)
        });
        let steps = steps.collect();
        (plan(steps), rows.into_iter().map(|row| row.2).collect())
    })
}

proptest! {
    #[test]
    fn any_order_of_work_ends_as_one_step_after_another(
        (plan, needs) in plans(),
        picks in proptest::collection::vec(0..64_usize, 1..40),
        at_once in 1..5_usize,
    ) {
        let needed = |id: &str| needs[id[1..].parse::<usize>().unwrap()];
        let one = PlanRunRules { at_once: 1, ..RULES };
        let mut alone = Crew::new(plan.clone(), one, &needed);
        alone.go_to_the_end();
        let mut crew = Crew::new(plan.clone(), PlanRunRules { at_once, ..RULES }, &needed);
        let mut turn = 0;
        while crew.turn(picks[turn % picks.len()]) {
            turn += 1;
            // A process that takes over would do next what this one would.
            prop_assert!(turn < 10_000);
        }
        prop_assert!(crew.conduct.is_over());
        prop_assert!(crew.most <= at_once);
        for (spec, step) in crew.conduct.steps() {
            let other = alone.conduct.step(&spec.id).unwrap();
            prop_assert_eq!(step.state, other.state);
            prop_assert_eq!(&step.outputs, &other.outputs);
            prop_assert_eq!(step.round, other.round);
        }
        // No step begins before the steps it needs are committed.
        let mut committed = BTreeSet::new();
        for line in &crew.log {
            if let Some((id, rest)) = line.split_once('/') {
                if rest == "1/start" {
                    let spec = plan.step(id).unwrap();
                    prop_assert!(spec.after.iter().all(|it| committed.contains(it.as_str())));
                }
                if rest.ends_with("commit") {
                    committed.insert(id);
                }
            }
        }
    }
}
