//! Runs that are in progress while readers follow: driven by the engine, with models that
//! take their time. At the same time, a probe appends small events and measures how long
//! that takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use artel_journal::{EventBatch, Journal};
use artel_types::{Actor, EventDraft, NoteAdded, StreamName, TraceId};
use tokio::task::JoinSet;

use crate::driving::{Crowd, complete, script};

/// Time that a model takes for its thoughts, and again for its calls. This is a quick one.
const PACE: Duration = Duration::from_secs(1);

/// Interval between the probe's appends.
const PROBE: Duration = Duration::from_millis(10);

/// The length of a remark, which is that of a small result.
const REMARK: usize = 600;

/// The measurements of the runs.
pub(crate) struct Went {
    /// Median duration of an append, in milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) worst: f64,
    /// Total duration of all runs, in seconds.
    pub(crate) seconds: f64,
}

impl std::fmt::Display for Went {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "an append takes {:.2} ms, one in a hundred {:.2} ms, the longest {:.1} ms; {:.1} s in all",
            self.p50, self.p99, self.worst, self.seconds
        )
    }
}

/// Drives this many runs at once, and waits until they end.
pub(crate) async fn go(crowd: &Crowd, journal: &Journal, numbers: std::ops::Range<usize>) -> Went {
    let is_over = Arc::new(AtomicBool::new(false));
    let probing = tokio::spawn(probe(journal.clone(), Arc::clone(&is_over)));
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    let count = u32::try_from(numbers.len()).unwrap();
    for (place, number) in (0..count).zip(numbers) {
        // The models do not reply in step.
        let pace = PACE + PACE / 4 * place / count;
        tasks.spawn(complete(crowd.driver(number, &script(Some(pace)))));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let seconds = began.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    let mut times = probing.await.unwrap();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Went {
        p50: at(0.5),
        p99: at(0.99),
        worst: at(1.0),
        seconds,
    }
}

async fn probe(journal: Journal, is_over: Arc<AtomicBool>) -> Vec<f64> {
    let (trace, stream) = (
        TraceId::from_random([3; 16]),
        StreamName::new("bench/probe").unwrap(),
    );
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let fact = NoteAdded {
            text: "x".repeat(REMARK).as_str().into(),
        };
        let draft = EventDraft::new(stream.clone(), trace, Actor::system("bench"), fact);
        let began = Instant::now();
        journal.append(EventBatch::of([draft])).await.unwrap();
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        tokio::time::sleep(PROBE).await;
    }
    times
}
