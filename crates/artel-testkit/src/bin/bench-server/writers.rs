//! Those who write: many runs at once, an event after the other, each waited for.

use std::time::Instant;

use artel_journal::{Batch, Journal};
use artel_types::{Actor, Draft, NoteAdded, RunFinished, RunId, RunStarted, Stream, TraceId, Via};
use tokio::task::JoinSet;

/// What writing took.
pub(crate) struct Written {
    pub(crate) events: u64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// A remark of the size of a small result.
const REMARK: usize = 600;

/// Has so many runs append so many events each.
pub(crate) async fn write(journal: &Journal, runs: usize, events: usize) -> Written {
    let mut tasks = JoinSet::new();
    for run in 0..runs {
        let journal = journal.clone();
        tasks.spawn(async move {
            let mut times = Vec::with_capacity(events);
            let trace = TraceId::from_random([run as u8; 16]);
            let stream = Stream::new(format!("bench/{run}")).unwrap();
            for _ in 0..events {
                let fact = NoteAdded {
                    text: "x".repeat(REMARK).as_str().into(),
                };
                let draft = Draft::new(stream.clone(), trace, Actor::system("bench"), fact);
                let began = Instant::now();
                journal.append(Batch::of([draft])).await.unwrap();
                times.push(began.elapsed().as_secs_f64() * 1000.0);
            }
            times
        });
    }
    let mut all = Vec::new();
    while let Some(times) = tasks.join_next().await {
        all.extend(times.unwrap());
    }
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    Written {
        events: all.len() as u64,
        p50: at(0.5),
        p99: at(0.99),
    }
}

/// Puts so many runs that are over on record.
pub(crate) fn runs(journal: &Journal, count: usize) {
    let who = Actor::human("ada@example.org", Via::Cli);
    let mut batch = Vec::new();
    for number in 0..count {
        let mut seed = [7; 16];
        seed[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let (run, trace) = (RunId::from_random(seed), TraceId::from_random(seed));
        let started = RunStarted::new(run, format!("Look at file {number}"));
        let draft = |fact: artel_types::Fact| {
            Draft::new(Stream::run(run), trace, who.clone(), fact).in_run(run)
        };
        let finished = RunFinished {
            state: Some("complete".to_owned()),
            ..RunFinished::new(run, "looked")
        };
        batch.push(draft(started.into()));
        batch.push(draft(finished.into()));
        if batch.len() >= 1_000 {
            journal
                .append(Batch::of(std::mem::take(&mut batch)))
                .wait()
                .unwrap();
        }
    }
    if !batch.is_empty() {
        journal.append(Batch::of(batch)).wait().unwrap();
    }
}
