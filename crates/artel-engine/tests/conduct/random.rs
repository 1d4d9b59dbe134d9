//! A thousand random plans with failures, people, pauses and kills.

use std::collections::{BTreeMap, BTreeSet};

use artel_engine::RunJournalEntry;
use artel_rules::conduct::{PlanRun, PlanRunRules, StepFailurePolicy};
use artel_testkit::{Random, figure, scaled};
use artel_types::plan::{PlanState, StepState};
use artel_types::{Fact, NoteAdded};

use crate::crew::Fuse;
use crate::script::Script;
use crate::stage::{Lived, Manner, People, Piece, Stage};

/// How a plan came out: all that may not depend on who did what when.
#[derive(Debug, PartialEq)]
struct Result {
    outcome: (PlanState, Option<String>),
    steps: BTreeMap<String, Stood>,
    commits: BTreeSet<(String, String)>,
    proven: bool,
}

#[derive(Debug, PartialEq)]
struct Stood {
    state: StepState,
    round: u32,
    outputs: BTreeMap<String, String>,
    waived: BTreeSet<String>,
    why: String,
    history: Vec<String>,
}

/// What happened on the way.
#[derive(Default)]
struct Tally {
    plans: u64,
    steps: usize,
    kills: u64,
    pauses: u64,
    questions: u64,
}

#[test]
fn proof_plans_come_out_as_one_step_after_another() {
    let mut random = Random::for_test("proof_plans");
    let mut stage = Stage::new();
    let mut tally = Tally::default();
    for number in 0..scaled(1_000) {
        if number % 50 == 49 {
            stage = Stage::new();
        }
        let seed = random.bits();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            compare(&stage, seed, &mut tally);
        }));
        if let Err(panic) = outcome {
            println!("the plan of seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
    figure(&format!("plans | {}, {} steps", tally.plans, tally.steps));
    figure(&format!("kills | {}", tally.kills));
    figure(&format!("pauses | {}", tally.pauses));
    figure(&format!("questions that left a run | {}", tally.questions));
}

/// Carries the same plan out twice: alone and in peace, and together and in trouble.
fn compare(stage: &Stage, seed: u64, tally: &mut Tally) {
    let mut random = Random::of_seed(seed);
    let script = Script::random(&mut random);
    let one = PlanRunRules {
        at_once: 1,
        failure: StepFailurePolicy::Continue,
    };
    let alone = Piece::new(stage, script.clone(), seed, one);
    let Lived::Over(conduct) = stage.live(&alone, &Manner::peaceful()) else {
        panic!("nothing kept it from its end");
    };
    let expected = result(&alone, &conduct);
    let at_once = 2 + random.below(4) as usize;
    let many = Piece::new(stage, script, seed, PlanRunRules { at_once, ..one });
    let conduct = through_trouble(stage, &many, &mut random, tally);
    assert_eq!(result(&many, &conduct), expected);
    for piece in [&alone, &many] {
        assert!(
            piece.world.seen().most <= piece.rules.at_once,
            "{} at once, {} allowed",
            piece.world.seen().most,
            piece.rules.at_once
        );
        each_fact_once(stage, piece);
    }
    tally.plans += 1;
    tally.steps += many.world.script.plan.steps.len();
}

/// Lets one process after another have a go, until the run is over.
fn through_trouble(
    stage: &Stage,
    piece: &Piece,
    random: &mut Random,
    tally: &mut Tally,
) -> Box<PlanRun> {
    let mut zombie = None;
    for life in 0..200 {
        let dies = life < 8 && random.below(4) > 0;
        let pauses = random.below(3) == 0;
        let manner = Manner {
            fuse: Fuse::of(if dies { 1 + random.below(90) } else { 0 }),
            people: [People::Here, People::Elsewhere, People::Away][random.below(3) as usize],
            steers: pauses.then(|| (random.below(12), "pause")),
            rested: "resume",
        };
        tally.pauses += u64::from(pauses);
        let lived = stage.live(piece, &manner);
        if let Some(zombie) = zombie.take() {
            is_refused(&zombie);
        }
        match lived {
            Lived::Over(conduct) => return conduct,
            Lived::Left(asked) => {
                tally.questions += 1;
                let journal = stage.scratch.open();
                journal.append(piece.answered(&asked)).wait().unwrap();
            }
            Lived::Killed(chronicle) => {
                tally.kills += 1;
                zombie = Some(chronicle);
            }
        }
    }
    panic!("it never ends: {:?}", piece.world.seen().begun);
}

/// A process that was taken for dead may not write any more.
fn is_refused(zombie: &artel_engine::RunJournal) {
    let note = NoteAdded {
        text: "still here".into(),
    };
    let failure = zombie.append_blocking(vec![RunJournalEntry::shown(note)]);
    assert!(failure.is_err(), "an old fence holds nothing any more");
}

fn result(piece: &Piece, conduct: &PlanRun) -> Result {
    let commits = piece.world.commits();
    let known: BTreeSet<_> = commits.iter().cloned().collect();
    assert_eq!(known.len(), commits.len(), "each commit once: {commits:?}");
    let stood = |step: &artel_rules::conduct::StepRun| Stood {
        state: step.state,
        round: step.round,
        outputs: step.outputs.clone(),
        waived: step.waived.iter().map(|it| it.what.clone()).collect(),
        // Which of the steps before it was given up first is not known beforehand.
        why: match step.state {
            StepState::Skipped => String::new(),
            _ => step.why.clone(),
        },
        history: step.history.clone(),
    };
    let steps = conduct.steps();
    let steps = steps.map(|(spec, step)| (spec.id.clone(), stood(step)));
    Result {
        steps: steps.collect(),
        outcome: conduct.outcome(),
        commits: known,
        proven: conduct.proven().0,
    }
}

/// What came of an order is on record once, however often it was given.
pub(crate) fn each_fact_once(stage: &Stage, piece: &Piece) {
    let filter = artel_journal::EventFilter {
        run: Some(piece.run.to_string()),
        ..artel_journal::EventFilter::default()
    };
    let query = artel_journal::EventQuery::of(filter);
    let records = stage.scratch.reader().records(&query).unwrap();
    let mut known = BTreeSet::new();
    for record in records {
        let name = match record.event().unwrap().fact {
            Fact::StepStarted(it) => format!("{}/{}/start", it.step, it.round),
            Fact::StepWorked(it) => format!("{}/{}/{}", it.step, it.round, it.part),
            Fact::StepChecked(it) => format!("{}/{}/{}", it.step, it.round, it.phase),
            Fact::StepJudged(it) => format!("{}/{}/{}", it.step, it.round, it.by),
            Fact::StepAdvised(it) => format!("{}/{}/advised", it.step, it.round),
            Fact::StepFailed(it) => format!("{}/{}/failed", it.step, it.round),
            Fact::StepPassed(it) => format!("{}/passed", it.step),
            Fact::StepSettled(it) => format!("{}/settled", it.step),
            Fact::StepWaived(it) => format!("{}/waived/{}", it.step, it.what),
            Fact::BranchChecked(it) => format!("final/{}", it.round),
            Fact::BranchMended(it) => format!("mend/{}", it.round),
            Fact::RunAsked(it) => format!("asked/{}", it.question),
            Fact::RunFinished(_) => "finished".to_owned(),
            _ => continue,
        };
        assert!(known.insert(name.clone()), "`{name}` is on record twice");
    }
}
