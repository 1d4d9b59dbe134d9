//! One plan from beginning to end, and the same appends without it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use artel_engine::{
    ConductorOutcome, NullRunObserver, PlanConductor, RunJournal, RunJournalEntry, ShutdownLevel,
    SteeringHub,
};
use artel_journal::{Journal, LeaseOwner};
use artel_rules::conduct::{PlanRun, PlanRunRules, StepFailurePolicy};
use artel_testkit::{Random, random_trace};
use artel_types::plan::{Plan, PlanState};
use artel_types::{Actor, ActorSurface, Fact, RunId, RunStarted, StreamName};
use tokio::sync::watch;

use crate::crew::Ready;
use crate::figure::millis;

/// Number of steps per plan.
pub(crate) const STEPS: u64 = 200;

/// Number of appends that do not concern a step: the baseline, the check of the whole
/// branch, the end.
const OTHERS: u64 = 3;

/// The measurements of one plan.
pub(crate) struct Round {
    /// Total duration in milliseconds.
    pub(crate) conducted: f64,
    /// Duration of its appends alone, in milliseconds.
    pub(crate) bare: f64,
    /// Number of appends.
    pub(crate) appends: u64,
    /// Processor time of the conductor's thread beyond its appends, in milliseconds. On a
    /// machine with other work this says more than the elapsed time.
    pub(crate) busy: f64,
}

/// Creates a plan whose steps each need up to three of the thirty steps before them.
fn plan(random: &mut Random) -> Plan {
    let mut steps = Vec::new();
    for at in 0..STEPS {
        let mut after: Vec<_> = (0..random.below(4))
            .filter_map(|_| at.checked_sub(1 + random.below(30)))
            .map(|other| format!("step-{other}"))
            .collect();
        after.sort();
        after.dedup();
        steps.push(serde_json::json!({
            "id": format!("step-{at}"), "title": format!("Do the part {at}"), "after": after,
            "work": "Change the parser so that it takes the new form, too.",
            "check": "Run its tests, and read the change.",
        }));
    }
    let json = serde_json::json!({ "title": "A plan of many steps", "steps": steps });
    serde_json::from_value(json).unwrap()
}

fn rules(at_once: usize) -> PlanRunRules {
    PlanRunRules {
        at_once,
        failure: StepFailurePolicy::Continue,
    }
}

/// Runs the plan's state machine alone, and returns the time per step in milliseconds.
pub(crate) fn machine(seed: u64) -> f64 {
    let mut conduct = PlanRun::new(plan(&mut Random::of_seed(seed)), rules(2));
    let crew = Ready(RunId::from_random([1; 16]));
    let began = Instant::now();
    while let Some(order) = conduct.next().first() {
        conduct.fold(&crew.outcome(order));
    }
    let took = millis(began.elapsed());
    assert!(conduct.is_over());
    took / STEPS as f64
}

/// Returns the processor time of this thread in milliseconds.
fn busy() -> f64 {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanos = figures.split(' ').next().unwrap();
    nanos.parse::<f64>().unwrap() / 1e6
}

/// Carries a plan out, and then appends the same events again.
pub(crate) fn conduct(journal: &Journal, at_once: usize, seed: u64) -> Round {
    let mut random = Random::of_seed(seed * 100 + at_once as u64);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        let (chronicle, steps) = begin(journal, &mut random).await;
        let before = busy();
        let (conducted, appends) = timed(&chronicle, steps, at_once).await;
        let conducting = busy() - before;
        let (again, _) = begin(journal, &mut random).await;
        let before = busy();
        let bare = bare(&chronicle, &again, appends).await;
        let busy = conducting - (busy() - before);
        Round {
            conducted,
            bare,
            appends,
            busy,
        }
    })
}

async fn begin(journal: &Journal, random: &mut Random) -> (RunJournal, Plan) {
    let run = RunId::from_random(random.bytes());
    let name = StreamName::run(run).to_string();
    let owner = LeaseOwner::this_process("bench");
    let span = Duration::from_secs(600);
    let lease = journal.take_lease(&name, owner, span).await.unwrap();
    let (trace, actor) = (random_trace(random), Actor::system("plan"));
    let chronicle = RunJournal::new(journal.clone(), run, trace, None, actor).fenced(lease.fence);
    let started = RunStarted::new(run, "a plan");
    chronicle
        .append(vec![RunJournalEntry::shown(started)])
        .await
        .unwrap();
    (chronicle, plan(random))
}

/// Returns the duration of a plan, and its number of appends.
async fn timed(chronicle: &RunJournal, plan: Plan, at_once: usize) -> (f64, u64) {
    let journal = chronicle.journal();
    let head = journal.reader().head().unwrap();
    let wheel = SteeringHub::listen(journal, head);
    wheel.follow(journal, chronicle.run(), head);
    let moves = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&moves);
    let conductor = PlanConductor {
        answers_as: Actor::human("ada", ActorSurface::Cli),
        chronicle: chronicle.clone(),
        conduct: PlanRun::new(plan, rules(at_once)),
        crew: Arc::new(Ready(chronicle.run())),
        steering: wheel.steer(chronicle.run(), watch::channel(ShutdownLevel::No).1),
        audience: Arc::new(NullRunObserver),
        person: None,
        told: Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }),
    };
    let began = Instant::now();
    let led = conductor.conduct().await.unwrap();
    let took = millis(began.elapsed());
    let ConductorOutcome::Over(conduct) = led else {
        panic!("nothing kept it from its end");
    };
    assert_eq!(conduct.outcome().0, PlanState::Done);
    is_in_order(chronicle, conduct.plan(), at_once);
    (took, moves.load(Ordering::Relaxed) + OTHERS)
}

/// Checks that the measured run was correct: no step began before the steps it needs had
/// passed, and never more than `at_once` steps ran.
fn is_in_order(chronicle: &RunJournal, plan: &Plan, at_once: usize) {
    let (mut begun, mut passed) = (0, BTreeSet::new());
    for event in chronicle.own_events().unwrap() {
        match event.fact {
            Fact::StepStarted(it) => {
                let spec = plan.step(&it.step).unwrap();
                assert!(spec.after.iter().all(|it| passed.contains(it)));
                begun += 1;
            }
            Fact::StepPassed(it) => drop(passed.insert(it.step)),
            _ => {}
        }
        assert!(begun - passed.len() <= at_once);
    }
    assert_eq!(passed.len(), plan.steps.len());
}

/// Appends the events of a run to another one, in this many batches, and returns the
/// duration.
async fn bare(from: &RunJournal, to: &RunJournal, appends: u64) -> f64 {
    let events = from.own_events().unwrap();
    let facts = events.into_iter().skip(1).map(|event| event.fact);
    let facts: Vec<_> = facts.collect();
    let count = usize::try_from(appends).unwrap();
    let batches: Vec<Vec<RunJournalEntry>> = (0..count)
        .map(|at| facts.len() * at / count..facts.len() * (at + 1) / count)
        .map(|range| {
            facts[range]
                .iter()
                .cloned()
                .map(RunJournalEntry::shown)
                .collect()
        })
        .collect();
    let began = Instant::now();
    for batch in batches {
        to.append(batch).await.unwrap();
    }
    millis(began.elapsed())
}
