//! What is to happen: a random plan, how each of its steps fares, and what a person says to it.

use std::collections::BTreeMap;

use artel_testkit::Random;
use artel_types::plan::{Plan, PlanStep, StepVerification, Urgency};

/// A plan, and all that decides how it comes out.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) plan: Plan,
    rows: BTreeMap<String, Row>,
    /// Whether there is something to compare with before a person names it.
    pub(crate) has_baseline: bool,
    /// In which round the whole branch holds.
    pub(crate) holds_in: u32,
}

/// How one step fares.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The attempt that passes.
    pub(crate) passes_in: u32,
    /// What goes wrong before.
    pub(crate) fault: Fault,
    /// How many attempts a person has patience for.
    patience: u32,
    /// Whether they waive what may be waived then, or give it up.
    waives: bool,
}

/// What goes wrong with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Tests,
    Red,
    Work,
    Green,
    OneJudge,
    /// Every judge turns it down; where there are two, one of them says that the test is at fault.
    AllJudges,
    Commit,
}

const FAULTS: [Fault; 7] = [
    Fault::Tests,
    Fault::Red,
    Fault::Work,
    Fault::Green,
    Fault::OneJudge,
    Fault::AllJudges,
    Fault::Commit,
];

impl Script {
    /// Makes one up.
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(16);
        let steps: Vec<_> = (0..count).map(|at| step(at, random)).collect();
        let rows = steps.iter().map(|step| (step.id.clone(), row(random)));
        Self {
            rows: rows.collect(),
            plan: Plan {
                title: "A plan".to_owned(),
                steps,
                ..Plan::default()
            },
            has_baseline: random.below(5) > 0,
            holds_in: [1, 1, 1, 2, 3, 9][random.below(6) as usize],
        }
    }

    /// Makes steps that need nothing of each other and pass at once.
    pub(crate) fn plain(count: u64) -> Self {
        let mut random = Random::of_seed(count);
        let steps = (0..count).map(|at| PlanStep {
            after: Vec::new(),
            verify: StepVerification::Evaluator,
            ..step(at, &mut random)
        });
        Self::passing(steps.collect())
    }

    /// Makes steps that may need some of the last few before them and pass at once.
    pub(crate) fn woven(count: u64, random: &mut Random) -> Self {
        Self::passing((0..count).map(|at| step(at, random)).collect())
    }

    fn passing(steps: Vec<PlanStep>) -> Self {
        let passing = Row {
            passes_in: 1,
            fault: Fault::Work,
            patience: 0,
            waives: false,
        };
        let rows = steps.iter().map(|step| (step.id.clone(), passing.clone()));
        Self {
            rows: rows.collect(),
            plan: Plan {
                title: "A plain plan".to_owned(),
                steps,
                ..Plan::default()
            },
            has_baseline: true,
            holds_in: 1,
        }
    }

    pub(crate) fn row(&self, step: &str) -> &Row {
        &self.rows[step]
    }

    /// Says what a person answers, who sees the question and nothing else.
    pub(crate) fn answer(&self, question: &str, choices: &[String]) -> String {
        let Some((_, rest)) = question.split_once("(Do ") else {
            return "make test".to_owned();
        };
        let (step, rest) = rest.split_once(')').unwrap();
        let round = rest.split_once(" in ").unwrap().1;
        let round: u32 = round.split_once(' ').unwrap().0.parse().unwrap();
        let row = self.row(step);
        if round < row.patience {
            return "more: take your time".to_owned();
        }
        let waivers = choices.iter().find(|choice| choice.starts_with("waive-"));
        match waivers.filter(|_| row.waives) {
            Some(waiver) => format!("{waiver}: not today"),
            None => "give-up".to_owned(),
        }
    }
}

/// Makes a step that may need some of the last few before it.
fn step(at: u64, random: &mut Random) -> PlanStep {
    let near = at.saturating_sub(5)..at;
    let after: Vec<_> = near.filter(|_| random.below(3) == 0).collect();
    let after: Vec<_> = after.into_iter().map(|other| format!("s{other}")).collect();
    let verify = [
        StepVerification::None,
        StepVerification::Evaluator,
        StepVerification::Tdd,
    ][random.below(3) as usize];
    let priority = Urgency::ALL.get(random.below(6) as usize);
    let json = serde_json::json!({
        "id": format!("s{at}"), "title": format!("Do s{at}"), "work": "work", "check": "check",
        "after": after, "verify": verify, "priority": priority,
    });
    serde_json::from_value(json).unwrap()
}

fn row(random: &mut Random) -> Row {
    Row {
        passes_in: [1, 1, 1, 1, 2, 2, 3, 5, 99][random.below(9) as usize],
        fault: FAULTS[random.below(7) as usize],
        patience: [0, 4, 9][random.below(3) as usize],
        waives: random.below(2) == 0,
    }
}
