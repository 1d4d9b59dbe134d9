//! A process that reads all replies at once and reports what that took.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::task::JoinHandle;

use crate::bare::Bare;
use crate::figure::percentile;
use crate::round::{Round, Way};
use crate::through::Through;
use crate::{STREAMS, meter};

/// The argument that starts a reader.
pub(crate) const READ: &str = "read";

/// Interval between checks of how far the replies have come.
const LOOK: Duration = Duration::from_millis(5);

/// Records how late the pieces of one reply are.
pub(crate) struct Watch {
    number: usize,
    /// Delays in nanoseconds.
    delays: Vec<u32>,
    seen: usize,
    all: Arc<AtomicUsize>,
}

impl Watch {
    /// Allocates the space for all delays in advance, so that it does not count as memory
    /// of the stream.
    fn new(number: usize, pieces: usize, all: &Arc<AtomicUsize>) -> Self {
        Self {
            number,
            delays: vec![u32::MAX; pieces],
            seen: 0,
            all: all.clone(),
        }
    }

    /// Returns the number of the reply.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Records the delay of a piece.
    pub(crate) fn saw(&mut self, sent: u64, now: u64) {
        self.delays[self.seen] = u32::try_from(now - sent).unwrap_or(u32::MAX);
        self.seen += 1;
        self.all.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads all replies, and prints what that took.
pub(crate) fn read(way: Way, url: &str, pieces: usize) {
    allow_sockets();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let round = runtime.block_on(async {
        let all = Arc::new(AtomicUsize::new(0));
        let watches = (0..STREAMS).map(|number| Watch::new(number, pieces, &all));
        let watches: Vec<Watch> = watches.collect();
        match way {
            Way::Bare => {
                let bare = Bare::new(url);
                follow(watches, |watch| tokio::spawn(bare.clone().read(watch))).await
            }
            Way::Gateway => {
                let through = Through::new(url);
                follow(watches, |watch| tokio::spawn(through.read(watch))).await
            }
        }
    });
    println!("{}", round.to_line());
}

/// Starts all readers and follows them from beginning to end. Memory is measured in the
/// middle of the replies; processor time from their first tenth to their last, when no
/// reader is busy with starting or ending.
async fn follow(watches: Vec<Watch>, start: impl Fn(Watch) -> JoinHandle<Watch>) -> Round {
    let all = watches[0].all.clone();
    let total: usize = watches.iter().map(|watch| watch.delays.len()).sum();
    let before = meter::memory();
    let readers: Vec<JoinHandle<Watch>> = watches.into_iter().map(start).collect();
    let (first, work_then) = (reach(&all, total / 10, &readers).await, meter::work());
    reach(&all, total / 2, &readers).await;
    let memory = meter::memory() - before;
    let (last, work_now) = (reach(&all, total / 10 * 9, &readers).await, meter::work());
    let mut delays = Vec::with_capacity(total);
    for reader in readers {
        let watch = reader.await.unwrap();
        assert_eq!(watch.seen, watch.delays.len(), "pieces are missing");
        delays.extend(watch.delays.iter().map(|delay| f64::from(*delay) / 1_000.0));
    }
    Round {
        memory: memory / STREAMS as f64 / 1_000.0,
        typical: percentile(delays.iter().copied(), 50),
        slow: percentile(delays, 99),
        work: (work_now - work_then) as f64 / (last - first) as f64 / 1_000.0,
    }
}

/// Waits until this many pieces have arrived, and returns how many there are.
async fn reach(all: &AtomicUsize, count: usize, readers: &[JoinHandle<Watch>]) -> usize {
    loop {
        let seen = all.load(Ordering::Relaxed);
        if seen >= count {
            return seen;
        }
        let has_lost_one = readers.iter().any(JoinHandle::is_finished);
        assert!(!has_lost_one, "an answer ended too early");
        tokio::time::sleep(LOOK).await;
    }
}

/// Raises the limit on sockets: a thousand are more than many systems allow by default.
pub(crate) fn allow_sockets() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}
