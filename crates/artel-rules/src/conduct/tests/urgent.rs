//! Tests of which of several steps begins first.

use artel_types::plan::Urgency;

use super::*;

fn urgent(id: &str, after: &[&str], priority: Option<Urgency>) -> PlanStep {
    PlanStep {
        priority,
        ..step(id, after, StepVerification::None)
    }
}

/// Returns the steps in the order in which they begin.
fn begun(steps: Vec<PlanStep>, at_once: usize) -> String {
    let rules = PlanRunRules { at_once, ..RULES };
    let mut crew = Crew::new(plan(steps), rules, &|_| 1);
    // Always the first order: a step at work is finished before the next one begins.
    while crew.turn(0) {}
    assert!(crew.conduct.is_over());
    let started = crew.log.iter().filter_map(|it| it.strip_suffix("/1/start"));
    started.collect()
}

#[test]
fn the_most_urgent_step_begins_first_and_others_in_the_order_of_the_plan() {
    use Urgency::{Critical, High, Low, Normal};
    let check = |steps: &[(&str, &[&str], Option<Urgency>)], expected: &str| {
        let steps = steps.iter();
        let steps = steps.map(|(id, after, priority)| urgent(id, after, *priority));
        assert_eq!(begun(steps.collect(), 1), expected);
    };
    let none: &[&str] = &[];
    check(&[("a", none, None), ("b", none, None)], "ab");
    check(&[("a", none, None), ("b", none, Some(Normal))], "ab");
    check(&[("a", none, Some(Low)), ("b", none, None)], "ba");
    check(
        &[
            ("a", none, Some(Low)),
            ("b", none, Some(High)),
            ("c", none, None),
            ("d", none, Some(Critical)),
            ("e", none, Some(High)),
        ],
        "dbeca",
    );
    // Dependencies come first, however urgent the rest is.
    check(
        &[
            ("a", none, Some(Low)),
            ("b", &["a"], Some(Critical)),
            ("c", none, None),
            ("d", none, None),
        ],
        "cdab",
    );
}

proptest! {
    #[test]
    fn nobody_begins_before_somebody_more_urgent_who_could(
        rows in proptest::collection::vec((any::<u32>(), 0..5_usize), 1..14),
        picks in proptest::collection::vec(0..64_usize, 1..40),
        at_once in 1..5_usize,
    ) {
        let names: Vec<_> = (0..rows.len()).map(|at| format!("s{at}")).collect();
        let steps = rows.iter().enumerate().map(|(at, (mask, word))| {
            let after = (0..at).filter(|other| mask >> (other % 32) & 7 == 1);
            let after: Vec<_> = after.map(|other| names[other].as_str()).collect();
            urgent(&names[at], &after, Urgency::ALL.get(*word).copied())
        });
        let steps: Vec<_> = steps.collect();
        let mut crew = Crew::new(plan(steps.clone()), PlanRunRules { at_once, ..RULES }, &|_| 1);
        let mut turn = 0;
        loop {
            let rank = |at: usize| (std::cmp::Reverse(steps[at].urgency()), at);
            let at = |id: &str| steps.iter().position(|it| it.id == id).unwrap();
            let state = |id: &str| crew.conduct.step(id).unwrap();
            let orders = crew.conduct.next();
            let begins: BTreeSet<usize> = orders.iter().filter_map(|order| match order {
                PlanRunOrder::Do { step, part: AttemptPart::Start, .. } => Some(at(step)),
                _ => None,
            }).collect();
            let waits = steps.iter().enumerate().filter(|(at, spec)| {
                let ready = spec.after.iter().all(|id| state(id).state == StepState::Done);
                state(&spec.id).round == 0 && ready && !begins.contains(at)
            });
            let first = waits.map(|(at, _)| rank(at)).min();
            for begun in &begins {
                prop_assert!(first.is_none_or(|first| rank(*begun) < first));
            }
            if !crew.turn(picks[turn % picks.len()]) {
                break;
            }
            turn += 1;
        }
        prop_assert!(crew.conduct.is_over());
        prop_assert!(crew.most <= at_once);
    }
}
