//! A plan of 200 steps with random dependencies: none begins before those it needs have passed, none
//! beyond the places there are, and the more urgent of those that could begin goes first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use artel_journal::{EventFilter, EventQuery};
use artel_rules::conduct::{PlanRunRules, StepFailurePolicy};
use artel_testkit::Random;
use artel_types::Fact;
use artel_types::plan::{Plan, PlanState, PlanStep};

use crate::random::each_fact_once;
use crate::script::Script;
use crate::stage::{Lived, Manner, Piece, Stage};

const STEPS: u64 = 200;

/// What is on record of a step.
enum Told {
    Begun(String),
    Passed(String),
}

/// Returns when steps began and passed, in the order of the record.
fn told(stage: &Stage, piece: &Piece) -> Vec<Told> {
    let filter = EventFilter {
        run: Some(piece.run.to_string()),
        ..EventFilter::default()
    };
    let records = stage
        .scratch
        .reader()
        .records(&EventQuery::of(filter))
        .unwrap();
    let facts = records.iter().map(|record| record.event().unwrap().fact);
    let told = facts.filter_map(|fact| match fact {
        Fact::StepStarted(it) => Some(Told::Begun(it.step)),
        Fact::StepPassed(it) => Some(Told::Passed(it.step)),
        _ => None,
    });
    told.collect()
}

/// Holds the record against the plan, and returns the most steps that were under way at once.
fn most_at_once(plan: &Plan, told: &[Told]) -> usize {
    let (mut begun, mut passed) = (BTreeSet::new(), BTreeSet::new());
    let mut most = 0;
    for told in told {
        match told {
            Told::Begun(id) => {
                let spec = plan.step(id).unwrap();
                let missing = spec.after.iter().find(|it| !passed.contains(*it));
                assert_eq!(missing, None, "`{id}` began before what it needs");
                assert!(begun.insert(id.clone()), "`{id}` began twice");
            }
            Told::Passed(id) => {
                assert!(begun.contains(id) && passed.insert(id.clone()), "{id}");
            }
        }
        most = most.max(begun.len() - passed.len());
    }
    assert_eq!(passed.len(), plan.steps.len());
    most
}

#[test]
fn a_plan_of_200_steps_keeps_its_order_and_its_places() {
    let stage = Stage::new();
    for at_once in [1, 2, 8] {
        let mut random = Random::for_test("plan_of_200_steps");
        let rules = PlanRunRules {
            at_once,
            failure: StepFailurePolicy::Continue,
        };
        let script = Script::woven(STEPS, &mut random);
        let plan = script.plan.clone();
        assert!(plan.steps.iter().any(|step| step.after.len() > 1));
        let piece = Piece::new(&stage, script, at_once as u64, rules);
        let Lived::Over(conduct) = stage.live(&piece, &Manner::peaceful()) else {
            panic!("nothing kept it from its end");
        };
        assert_eq!(conduct.outcome(), (PlanState::Done, None));
        let told = told(&stage, &piece);
        assert_eq!(most_at_once(&plan, &told), at_once, "all places are used");
        assert!(piece.world.seen().most <= at_once);
        each_fact_once(&stage, &piece);
        if at_once == 1 {
            most_urgent_first(&plan, &told);
        }
    }
}

/// One after the other, each step is the most urgent of those that could have begun.
fn most_urgent_first(plan: &Plan, told: &[Told]) {
    let mut open: Vec<&PlanStep> = plan.steps.iter().collect();
    let mut passed = BTreeSet::new();
    for told in told {
        match told {
            Told::Begun(id) => {
                let ready = open.iter().filter(|spec| {
                    let mut after = spec.after.iter();
                    after.all(|it| passed.contains(it))
                });
                let first = ready.min_by_key(|spec| Reverse(spec.urgency())).unwrap();
                assert_eq!(&first.id, id);
                open.retain(|spec| spec.id != *id);
            }
            Told::Passed(id) => {
                passed.insert(id.clone());
            }
        }
    }
}
