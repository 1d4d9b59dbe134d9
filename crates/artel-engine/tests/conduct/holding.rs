//! One step that a person holds while others are at work: it gives its place free, and takes one
//! again when it may go on.

use std::sync::{Arc, Mutex};

use artel_engine::{
    ConductorOutcome, Doing, PlanConductor, PlanExecutor, PlanOrderOutcome, RunJournalEntry,
};
use artel_journal::Journal;
use artel_rules::conduct::{PlanRun, PlanRunOrder, PlanRunRules, StepFailurePolicy};
use artel_types::plan::PlanState;
use artel_types::{BaselineTaken, Fact, StepStarted, StepSteered};
use tokio::sync::Notify;

use crate::crew::Hands;
use crate::script::Script;
use crate::stage::{Manner, Piece, Stage};

/// The step that is held.
const HELD: &str = "s0";

/// A crew whose first agent is held as soon as it begins, and let go while another is at work.
struct Held {
    hands: Arc<Hands>,
    piece: Piece,
    journal: Journal,
    held: Notify,
    woken: Notify,
    /// Which steps have orders under way.
    at_work: Mutex<Vec<String>>,
    /// Who was at work when the held step was woken.
    beside: Mutex<Vec<Vec<String>>>,
}

impl Held {
    async fn steers(&self, act: &str) {
        let steered = StepSteered {
            step: HELD.to_owned(),
            act: act.to_owned(),
        };
        self.journal.append(self.piece.said(steered)).await.unwrap();
    }
}

impl PlanExecutor for Held {
    fn carry_out(
        self: Arc<Self>,
        order: PlanRunOrder,
        state: Arc<PlanRun>,
    ) -> Doing<PlanOrderOutcome> {
        let step = match &order {
            PlanRunOrder::Do { step, .. } => step.clone(),
            _ => return Arc::clone(&self.hands).carry_out(order, state),
        };
        let name = order.to_string();
        self.at_work.lock().unwrap().push(step.clone());
        Box::pin(async move {
            match name.as_str() {
                "s0/1/work" => {
                    self.steers("pause").await;
                    self.held.notify_one();
                    self.woken.notified().await;
                }
                "s1/1/work" => {
                    self.held.notified().await;
                    self.steers("resume").await;
                }
                _ => {}
            }
            let did = Arc::clone(&self.hands).carry_out(order, state).await;
            let mut at_work = self.at_work.lock().unwrap();
            let at = at_work.iter().position(|it| *it == step).unwrap();
            at_work.remove(at);
            did
        })
    }

    fn call_off(self: Arc<Self>) -> Doing<()> {
        Box::pin(async { Ok(()) })
    }

    fn wake(self: Arc<Self>, step: String) -> Doing<()> {
        assert_eq!(step, HELD);
        let beside = self.at_work.lock().unwrap().clone();
        self.beside.lock().unwrap().push(beside);
        self.woken.notify_one();
        Box::pin(async { Ok(()) })
    }
}

/// Carries a plan out with a crew of its own, from what another process left.
fn conducted(at_once: usize, left: Vec<Fact>) -> (PlanRun, Vec<Vec<String>>) {
    let stage = Stage::new();
    let rules = PlanRunRules {
        at_once,
        failure: StepFailurePolicy::Continue,
    };
    let piece = Piece::new(&stage, Script::plain(3), 7, rules);
    let journal = stage.scratch.open();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().unwrap();
    runtime.block_on(async {
        let fence = piece.lease(&journal).await.unwrap();
        let chronicle = piece.chronicle(&journal, &fence);
        let left = left.into_iter().map(RunJournalEntry::shown).collect();
        chronicle.append(left).await.unwrap();
        let conductor = piece.conductor(&chronicle, &Manner::peaceful()).await;
        let crew = Arc::new(Held {
            hands: Arc::clone(&conductor.crew),
            piece: piece.clone(),
            journal: journal.clone(),
            held: Notify::new(),
            woken: Notify::new(),
            at_work: Mutex::default(),
            beside: Mutex::default(),
        });
        let conductor = PlanConductor {
            chronicle: conductor.chronicle,
            conduct: conductor.conduct,
            crew: Arc::clone(&crew),
            steering: conductor.steering,
            audience: conductor.audience,
            person: conductor.person,
            answers_as: conductor.answers_as,
            told: conductor.told,
        };
        // The others would wait for a step that waits for a person.
        let patience = std::time::Duration::from_secs(60);
        let led = tokio::time::timeout(patience, conductor.conduct()).await;
        let Ok(Ok(ConductorOutcome::Over(conduct))) = led else {
            panic!("it stands still, or is left");
        };
        let beside = crew.beside.lock().unwrap().clone();
        (*conduct, beside)
    })
}

/// What a process leaves that began these steps.
fn begun(steps: &[&str]) -> Vec<Fact> {
    let taken = BaselineTaken {
        commit: "c0".to_owned(),
        commands: vec!["make test".to_owned()],
        holds: true,
        why: None,
    };
    let started = steps.iter().map(|step| {
        let started = StepStarted {
            step: (*step).to_owned(),
            round: 1,
            base: "c0".to_owned(),
        };
        started.into()
    });
    std::iter::once(taken.into()).chain(started).collect()
}

#[test]
fn a_held_step_gives_its_place_free_and_waits_for_one_when_it_may_go_on() {
    let (conduct, beside) = conducted(1, begun(&[]));
    assert_eq!(conduct.outcome(), (PlanState::Done, None));
    assert_eq!(beside, [[HELD]], "one at once, also when it comes back");
}

#[test]
fn a_held_step_goes_on_at_once_where_there_is_room() {
    let (conduct, beside) = conducted(3, begun(&[]));
    assert_eq!(conduct.outcome(), (PlanState::Done, None));
    assert_eq!(beside.len(), 1);
}

/// That process may have died before it could wake them.
#[test]
fn agents_that_another_process_left_are_woken_with_their_step() {
    let (conduct, beside) = conducted(1, begun(&[HELD]));
    assert_eq!(conduct.outcome(), (PlanState::Done, None));
    assert_eq!(beside[0], Vec::<String>::new(), "before it goes on");
}
