//! Runs that go on while others follow: as the engine drives them, with models that take their time.
//! Beside them somebody appends small events and looks at the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use artel_journal::{Batch, Journal};
use artel_types::{Actor, Draft, NoteAdded, Stream, TraceId};
use tokio::task::JoinSet;

use crate::driving::{Crowd, complete, script};

/// How long a model takes for what it thinks, and again for what it calls: it is a quick one.
const PACE: Duration = Duration::from_secs(1);

/// How often somebody looks at how long an append takes.
const PROBE: Duration = Duration::from_millis(10);

/// A remark of the size of a small result.
const REMARK: usize = 600;

/// What came of runs.
pub(crate) struct Went {
    /// How long an append took, in milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) worst: f64,
    /// How long all took together, in seconds.
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

/// Has so many runs go on at once, and waits for their ends.
pub(crate) async fn go(crowd: &Crowd, journal: &Journal, numbers: std::ops::Range<usize>) -> Went {
    let is_over = Arc::new(AtomicBool::new(false));
    let probing = tokio::spawn(probe(journal.clone(), Arc::clone(&is_over)));
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    let count = u32::try_from(numbers.len()).unwrap();
    for (place, number) in (0..count).zip(numbers) {
        // Models do not answer in step.
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
        Stream::new("bench/probe").unwrap(),
    );
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let fact = NoteAdded {
            text: "x".repeat(REMARK).as_str().into(),
        };
        let draft = Draft::new(stream.clone(), trace, Actor::system("bench"), fact);
        let began = Instant::now();
        journal.append(Batch::of([draft])).await.unwrap();
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        tokio::time::sleep(PROBE).await;
    }
    times
}
