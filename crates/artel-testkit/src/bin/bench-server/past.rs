//! Finished runs, recorded all at once.

use artel_journal::{EventBatch, Journal};
use artel_types::{
    Actor, ActorSurface, EventDraft, RunFinished, RunId, RunStarted, StreamName, TraceId,
};

/// Records this many finished runs.
pub(crate) fn record(journal: &Journal, count: usize) {
    let who = Actor::human("ada@example.org", ActorSurface::Cli);
    let mut batch = Vec::new();
    for number in 0..count {
        let mut seed = [7; 16];
        seed[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let (run, trace) = (RunId::from_random(seed), TraceId::from_random(seed));
        let started = RunStarted::new(run, format!("Look at file {number}"));
        let draft = |fact: artel_types::Fact| {
            EventDraft::new(StreamName::run(run), trace, who.clone(), fact).in_run(run)
        };
        let finished = RunFinished {
            state: Some("complete".to_owned()),
            ..RunFinished::new(run, "looked")
        };
        batch.push(draft(started.into()));
        batch.push(draft(finished.into()));
        if batch.len() >= 1_000 {
            journal
                .append(EventBatch::of(std::mem::take(&mut batch)))
                .wait()
                .unwrap();
        }
    }
    if !batch.is_empty() {
        journal.append(EventBatch::of(batch)).wait().unwrap();
    }
}
