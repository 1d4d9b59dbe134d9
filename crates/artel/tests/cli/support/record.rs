//! Events to put into a workshop's journal.

use std::time::Duration;

use artel_journal::EventBatch;
use artel_testkit::{ManualClock, note, run_events, system_clock};
use artel_types::{Clock, EventDraft, RunId, TraceId};

use super::House;

/// Returns this many remarks of Ada's.
pub(crate) fn notes(stream: &str, count: u64) -> Vec<EventDraft> {
    (1..=count)
        .map(|number| note(stream, &format!("remark {number}")))
        .collect()
}

/// Returns a clock that stands some days back.
pub(crate) fn days_ago(days: u64) -> Clock {
    let now = system_clock().now();
    let then = now.before(Duration::from_secs(days * 86_400));
    ManualClock::at(&then.to_string()).clock()
}

/// Records a run that began and ended some days ago, with `remarks` remarks in between.
pub(crate) fn old_run(house: &House, days: u64, seed: u8, remarks: usize) -> (RunId, TraceId) {
    let run = RunId::from_random([seed; 16]);
    let trace = TraceId::from_random([seed.wrapping_add(1); 16]);
    let journal = house.journal(days_ago(days));
    journal
        .append(EventBatch::of(run_events(run, trace, remarks)))
        .wait()
        .unwrap();
    (run, trace)
}
