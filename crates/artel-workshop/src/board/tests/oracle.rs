//! The status of a run, read plainly from all its events: slow, but the index must agree
//! with it.

use artel_rules::tally::RunMetricsBuilder;
use artel_types::{Event, Fact, RunStarted, Timestamp, TraceId};

use super::{DriverProcesses, Tape};
use crate::runs::{RecordedRun, RunRow, RunStatus, grouped};

/// Returns the rows of all runs, latest first.
pub(super) fn rows(tape: &Tape, drivers: &DriverProcesses) -> Vec<RunRow> {
    let events: Vec<Event> = tape.records.iter().map(|it| it.event().unwrap()).collect();
    let is_applied = |started: &RunStarted| {
        let is_it = |fact: &Fact| matches!(fact, Fact::RunApplied(it) if it.id == started.id);
        events.iter().any(|event| is_it(&event.fact))
    };
    let begun = events.iter().filter_map(|event| match &event.fact {
        Fact::RunStarted(started) => Some((started, event.trace)),
        _ => None,
    });
    let row = |(started, trace): (&RunStarted, TraceId)| {
        let of_run = events.iter().filter(|event| event.run == Some(started.id));
        let mut row = row(&RecordedRun {
            driver: drivers.run(started.id).map(str::to_owned),
            started: started.clone(),
            trace,
            events: of_run.cloned().collect(),
        });
        row.files *= u64::from(!is_applied(started));
        row
    };
    let mut rows: Vec<RunRow> = begun.map(row).collect();
    rows.reverse();
    rows
}

fn row(state: &RecordedRun) -> RunRow {
    let mut tally = RunMetricsBuilder::default();
    state.events.iter().for_each(|event| tally.fold(event));
    let metrics = tally.metrics(None);
    // The result of a plan run waits as a changeset, not as files.
    let files = state
        .finished()
        .filter(|_| state.started.plan.is_none())
        .and_then(|finished| finished.changed.as_ref());
    let files = files.map_or(0, |files| files.len() as u64);
    RunRow {
        run: state.started.id,
        trace: state.trace,
        state: state.standing(),
        title: state.started.title.clone(),
        skill: state.started.skill.clone(),
        role: state
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::RunPrepared(prepared) => Some(prepared.role.clone()),
                _ => None,
            }),
        at: state
            .events
            .first()
            .map_or(Timestamp::from_micros(0), |it| it.at),
        turns: metrics.turns,
        tokens: metrics.tokens_input + metrics.tokens_output,
        cost: metrics.cost,
        since: since(state),
        note: note(state),
        parent: state.started.parent,
        files,
    }
}

/// Returns when a run got its current status.
fn since(state: &RecordedRun) -> Timestamp {
    let of = |wanted: &dyn Fn(&Fact) -> bool| {
        let mut events = state.events.iter().rev();
        events
            .find(|event| wanted(&event.fact))
            .map(|event| event.at)
    };
    let first = state.events.first().map(|event| event.at);
    let last = state.events.last().map(|event| event.at);
    let began = |fact: &Fact| matches!(fact, Fact::RunStarted(_) | Fact::RunContinued(_));
    let at = match state.standing() {
        RunStatus::Running => of(&began),
        RunStatus::Paused => of(&|fact| matches!(fact, Fact::RunSteered(_))),
        _ => last,
    };
    at.or(first).unwrap_or(Timestamp::from_micros(0))
}

fn note(state: &RecordedRun) -> Option<String> {
    if let Some(asked) = state.question() {
        return Some(asked.text.clone());
    }
    if state.finished().is_some() {
        return None;
    }
    let after = state
        .events
        .iter()
        .rev()
        .find_map(|event| match &event.fact {
            Fact::RunContinued(continued) => Some(continued.after),
            _ => None,
        });
    match (state.driver.is_some(), after) {
        (true, Some(after)) => Some(format!(
            "picked up after the process ended at event {}",
            grouped(after)
        )),
        (true, None) => None,
        (false, _) => {
            let last = state.events.last().map_or(0, |event| event.seq);
            if state.standing() == RunStatus::Paused {
                return Some(format!("paused at event {}", grouped(last)));
            }
            Some(format!("the process ended at event {}", grouped(last)))
        }
    }
}
