//! Two processes at one run, and a run that is called off.

use std::pin::Pin;
use std::task::Poll;

use artel_engine::ConductorOutcome;
use artel_journal::LeaseError;
use artel_rules::conduct::{PlanRunRules, StepFailurePolicy};
use artel_types::plan::PlanState;

use crate::script::Script;
use crate::stage::{LEASE, Lived, Manner, Piece, Stage};

const RULES: PlanRunRules = PlanRunRules {
    at_once: 2,
    failure: StepFailurePolicy::Continue,
};

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.build().unwrap()
}

/// Looks at a future so many times and no more, as at a process that was stopped.
async fn looks<F: Future>(mut future: Pin<&mut F>, count: u32) -> Option<F::Output> {
    let mut looks = 0;
    std::future::poll_fn(|context| {
        if looks == count {
            return Poll::Ready(None);
        }
        looks += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[test]
fn one_of_two_processes_works_and_the_other_takes_over_once_the_lease_is_gone() {
    let stage = Stage::new();
    let mut taken_over = 0;
    for count in 1..200 {
        let piece = Piece::new(&stage, Script::plain(4), u64::from(count), RULES);
        let (here, there) = (runtime(), runtime());
        let (first, second) = (stage.scratch.open(), stage.scratch.open());
        let fence = here.block_on(piece.lease(&first)).unwrap();
        let chronicle = piece.chronicle(&first, &fence);
        let peace = Manner::peaceful();
        let conductor = here.block_on(piece.conductor(&chronicle, &peace));
        let mut conducting = Box::pin(conductor.conduct());
        let led = here.block_on(looks(conducting.as_mut(), count));
        let holds = |by: Result<artel_journal::LeaseFence, LeaseError>| {
            assert!(matches!(by, Err(LeaseError::Held { .. })), "{by:?}");
        };
        // A process that says in time that it lives keeps the run for itself.
        for _ in 0..3 {
            holds(there.block_on(piece.lease(&second)));
            stage.clock.pass(LEASE * 2 / 3);
            here.block_on(first.renew_lease(&fence, LEASE)).unwrap();
        }
        holds(there.block_on(piece.lease(&second)));
        if led.is_some() {
            break;
        }
        // The other waits for as long as the lease does, and goes on from where the first stands.
        stage.clock.pass(LEASE);
        let Lived::Over(conduct) = stage.live(&piece, &peace) else {
            panic!("nothing kept it from its end");
        };
        assert_eq!(conduct.outcome(), (PlanState::Done, None));
        // The first one wakes, and may not write: unless its last word was its last act.
        match here.block_on(conducting) {
            Err(failure) => assert!(failure.what.contains("lease"), "{failure:?}"),
            Ok(ConductorOutcome::Over(_)) => {}
            Ok(ConductorOutcome::Left(left)) => panic!("{left:?}"),
        }
        assert!(here.block_on(first.renew_lease(&fence, LEASE)).is_err());
        crate::random::each_fact_once(&stage, &piece);
        let mut commits = piece.world.commits();
        commits.sort();
        commits.dedup();
        assert_eq!(piece.world.commits().len(), commits.len());
        taken_over += 1;
    }
    assert!(taken_over > 10, "it was stopped at many moments");
}

#[test]
fn a_run_that_is_cancelled_ends_and_its_crew_is_called_off_once() {
    let stage = Stage::new();
    for (act, first) in ["cancel", "pause"].into_iter().enumerate() {
        for at in 0..24 {
            let seed = at * 2 + act as u64;
            let piece = Piece::new(&stage, Script::plain(6), seed, RULES);
            let manner = Manner {
                steers: Some((at, first)),
                rested: "cancel",
                ..Manner::peaceful()
            };
            let Lived::Over(conduct) = stage.live(&piece, &manner) else {
                panic!("a cancelled run is over");
            };
            assert_eq!(conduct.outcome().0, PlanState::Cancelled, "{first} at {at}");
            let seen = piece.world.seen();
            let [begun] = seen.called_off[..] else {
                panic!("called off {} times", seen.called_off.len());
            };
            assert_eq!(seen.begun[begun..], ["close"], "nothing begins after that");
            drop(seen);
            crate::random::each_fact_once(&stage, &piece);
            let (done, _) = conduct.progress();
            let commits = piece.world.commits();
            assert_eq!(commits.len(), done, "what was committed counts as done");
        }
    }
}
