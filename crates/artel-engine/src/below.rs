//! Adds up the usage of the runs that a run called.

use std::collections::{BTreeMap, BTreeSet};

use artel_journal::{EventFilter, EventQuery};
use artel_rules::tally::RunMetricsBuilder;
use artel_types::{ChildRunMetrics, Event, Fact, Failure, Money, RunId};

use crate::chronicle::RunJournal;

/// Adds up the usage of all runs below a run, as recorded so far. Runs that took over from
/// it count as the run itself.
pub(crate) fn taken_below(chronicle: &RunJournal) -> Result<ChildRunMetrics, Failure> {
    let below = runs_below(chronicle.run(), &of_kind(chronicle, "run.started")?);
    if below.is_empty() {
        return Ok(ChildRunMetrics::default());
    }
    let mut tallies: BTreeMap<RunId, RunMetricsBuilder> = BTreeMap::new();
    for event in of_kind(chronicle, "model.")? {
        if let Some(run) = event.run.filter(|run| below.contains(run)) {
            tallies.entry(run).or_default().fold(&event);
        }
    }
    let mut sum = ChildRunMetrics {
        runs: below.len() as u64,
        tokens: 0,
        cost: Some(Money::default()),
    };
    for tally in tallies.values() {
        let taken = tally.metrics(None);
        let tokens = taken.tokens_input.saturating_add(taken.tokens_output);
        sum.tokens = sum.tokens.saturating_add(tokens);
        sum.cost = sum.cost.zip(taken.cost).map(|(one, more)| one + more);
    }
    Ok(sum)
}

/// Returns the runs that a run called, and the runs called by those.
fn runs_below(top: RunId, started: &[Event]) -> BTreeSet<RunId> {
    let (mut itself, mut below) = (BTreeSet::from([top]), BTreeSet::new());
    // A run always starts after the run that called it.
    for event in started {
        let Fact::RunStarted(started) = &event.fact else {
            continue;
        };
        let Some(parent) = started.parent else {
            continue;
        };
        if itself.contains(&parent) && started.takes_over() {
            itself.insert(started.id);
        } else if itself.contains(&parent) || below.contains(&parent) {
            below.insert(started.id);
        }
    }
    below
}

fn of_kind(chronicle: &RunJournal, kind: &str) -> Result<Vec<Event>, Failure> {
    let filter = EventFilter {
        trace: Some(chronicle.trace().to_string()),
        kind: Some(kind.to_owned()),
        ..EventFilter::default()
    };
    let records = chronicle
        .journal()
        .reader()
        .records(&EventQuery::of(filter))?;
    let events = records.iter().map(|record| record.event());
    Ok(events.collect::<Result<_, _>>()?)
}
