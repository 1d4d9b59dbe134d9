//! Tests what is waited for, for how long, and whom it concerns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use artel_config::ProcessEnvironment;
use artel_types::{ActorSurface, Clock, DiskSpaceMonitor};

use super::*;
use crate::{CommandContext, GlobalFlags, WorkshopInitMode};

/// A workshop with a clock and a disk that the test controls.
struct Hut {
    workshop: Workshop,
    minutes: Arc<AtomicU64>,
    is_full: Arc<AtomicBool>,
    _home: tempfile::TempDir,
}

impl Hut {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let named = home.path().to_str().unwrap().to_owned();
        let environment = ProcessEnvironment::of([("HOME", named)], home.path());
        let minutes = Arc::new(AtomicU64::new(0));
        let (real, set) = (artel_config::system_clock(), Arc::clone(&minutes));
        let uptime = move || Duration::from_mins(set.load(Ordering::SeqCst));
        let clock = Clock::new(move || real.now(), uptime);
        let caller = CommandContext::new(
            environment,
            clock,
            GlobalFlags::default(),
            ActorSurface::Cli,
        )
        .unwrap();
        let is_full = Arc::new(AtomicBool::new(false));
        let look = Arc::clone(&is_full);
        let look = move |_: &Path| {
            look.load(Ordering::SeqCst)
                .then_some(DiskShortageReason::Full)
        };
        let caller = caller.with_room(DiskSpaceMonitor::awaited(look));
        let root = home.path().join("Artel");
        caller
            .init(Some(&root), WorkshopInitMode::Complete)
            .unwrap();
        let workshop = caller.workshop().unwrap();
        Self {
            workshop,
            minutes,
            is_full,
            _home: home,
        }
    }

    fn patience(&self, seen: fn(&Path) -> Option<DiskShortageReason>) -> DiskSpaceRetry<'_> {
        let plain = self.workshop.patience("/w/shop");
        DiskSpaceRetry { seen, ..plain }
    }
}

fn full() -> Failure {
    let git = "fatal: unable to write file: No space left on device";
    Failure::new(FailureCode::R008, "git failed").because(git)
}

fn read_only() -> Failure {
    let git = "fatal: cannot lock ref: Read-only file system";
    Failure::new(FailureCode::R008, "git failed").because(git)
}

#[tokio::test]
async fn what_failed_for_something_else_is_not_waited_for() {
    let hut = Hut::new();
    let folders: [fn(&Path) -> Option<DiskShortageReason>; 3] = [
        |_| None,
        |_| Some(DiskShortageReason::ReadOnly),
        |_| Some(DiskShortageReason::Full),
    ];
    for is_full in [false, true] {
        hut.is_full.store(is_full, Ordering::SeqCst);
        for seen in folders {
            for code in [
                FailureCode::R008,
                FailureCode::J011,
                FailureCode::J007,
                FailureCode::W008,
            ] {
                let failure = Failure::new(code, "the branch moved").because("somebody did");
                let mut patience = hut.patience(seen);
                assert!(!patience.again(&failure).await, "{code:?}");
                assert!(!patience.again_blocking(&failure), "{code:?}");
            }
        }
    }
}

#[test]
fn a_read_only_folder_is_waited_for_only_where_the_failure_speaks_of_it() {
    let hut = Hut::new();
    let mut patience = hut.patience(|_| Some(DiskShortageReason::ReadOnly));
    let seen = patience.look(&read_only(), &mut None);
    assert!(seen.is_continue());
    let seen = patience.look(&full(), &mut None);
    assert_eq!(seen, ControlFlow::Break(true), "there is room: once more");
    let seen = hut.patience(|_| None).look(&read_only(), &mut None);
    assert_eq!(seen, ControlFlow::Break(false));
}

#[test]
fn who_waits_for_a_folder_keeps_nobody_else_waiting_and_ends_when_told() {
    let hut = Hut::new();
    let (stops, stop) = watch::channel(ShutdownLevel::No);
    let mut patience = hut
        .patience(|_| Some(DiskShortageReason::Full))
        .until(&stop);
    let (room, mut wait) = (hut.workshop.caller.room.clone(), None);
    let mark = room.mark();
    assert!(patience.look(&full(), &mut wait).is_continue());
    assert!(room.lack().is_none() && !room.lacked_since(mark));
    hut.is_full.store(true, Ordering::SeqCst);
    assert!(patience.look(&full(), &mut wait).is_continue());
    assert!(room.lack().is_some() && room.lacked_since(mark));
    hut.is_full.store(false, Ordering::SeqCst);
    assert!(patience.look(&full(), &mut wait).is_continue());
    assert!(room.lack().is_none(), "the journal has room again");
    patience.seen = |_| None;
    let seen = patience.look(&full(), &mut wait);
    assert_eq!(seen, ControlFlow::Break(true));
    patience.seen = |_| Some(DiskShortageReason::Full);
    stops.send_replace(ShutdownLevel::Politely);
    assert!(!patience.again_blocking(&full()));
}

#[test]
fn tries_are_counted_within_a_span() {
    let hut = Hut::new();
    let mut patience = hut.patience(|_| None);
    for _ in 0..5 {
        let tries = (0..30).take_while(|_| patience.again_blocking(&full()));
        assert_eq!(tries.count(), MOST_TRIES.0 - 1);
        hut.minutes.fetch_add(11, Ordering::SeqCst);
    }
}
