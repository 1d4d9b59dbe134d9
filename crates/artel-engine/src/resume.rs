//! Takes up a run that another process left: folds the recorded events, and settles the
//! calls that were in flight by the rules of their tools.

use artel_rules::turn::{AgentRun, InFlightToolCall};
use artel_types::model::MessageImage;
use artel_types::{
    Event, Fact, Failure, FailureCode, RecordedText, RunContinued, RunPrepared, ToolFinished,
};

use crate::act::base64;
use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::drive::rules_of;
use crate::ground::RunToolEnvironment;

/// Finds the fact with which a run was prepared.
pub fn prepared(events: &[Event]) -> Option<&RunPrepared> {
    events.iter().find_map(|event| match &event.fact {
        Fact::RunPrepared(prepared) => Some(prepared),
        _ => None,
    })
}

/// Folds the events of a run into its state.
pub fn fold(
    chronicle: &RunJournal,
    events: &[Event],
    workplace: &RunToolEnvironment,
) -> Result<AgentRun, Failure> {
    let prepared = prepared(events).ok_or_else(|| {
        Failure::new(
            FailureCode::J001,
            "the run was never prepared, so nothing can go on from it",
        )
    })?;
    let opening = chronicle.text(&prepared.opening)?;
    let hands = workplace.hands();
    let mut turn = AgentRun::new(rules_of(prepared, &hands.registry), opening);
    for event in events {
        if let Fact::ToolFinished(finished) = &event.fact {
            if let Some(RecordedText::Inline(memory)) = &finished.memory {
                let recalled = hands.bench.recall(memory);
                recalled.map_err(|trouble| Failure::new(FailureCode::J001, trouble.what))?;
            }
            let text = chronicle.text(&finished.observation)?;
            let images = images(chronicle, finished)?;
            turn.result(finished, text, images);
            continue;
        }
        turn.fold(&event.fact)
            .map_err(|unreadable| Failure::new(FailureCode::J001, unreadable.to_string()))?;
        if matches!(event.fact, Fact::ContextCompacted(_)) {
            hands.bench.seen().forget_sent();
        }
    }
    Ok(turn)
}

fn images(chronicle: &RunJournal, finished: &ToolFinished) -> Result<Vec<MessageImage>, Failure> {
    let kept = finished.images.iter().flatten();
    kept.map(|image| {
        let bytes = chronicle.journal().blobs().get(&image.at.blob)?;
        Ok(MessageImage {
            media_type: image.media_type.clone(),
            data: base64(&bytes),
        })
    })
    .collect()
}

/// Settles the calls that were in flight: restores the tree if a tool's rule says so, and
/// records what is done about each call. A call that may have happened and must not happen
/// twice is left to a person.
pub fn settle(
    turn: &mut AgentRun,
    after: u64,
    workplace: &RunToolEnvironment,
) -> Result<Vec<RunJournalEntry>, Failure> {
    let flights = turn.in_flight();
    let mut entries = Vec::new();
    let goes_back = |flight: &InFlightToolCall| flight.was_allowed && flight.unknown == "restore";
    if flights.iter().any(goes_back)
        && let Some(ground) = workplace.ground()
        && let Some(label) = turn.snapshot()
    {
        entries.extend(ground.restore(label, "unknown-outcome")?);
    }
    let settled = flights.iter().map(|flight| {
        let what = match (flight.unknown.as_str(), flight.was_allowed) {
            (_, false) => "nothing had begun: decided anew",
            ("restore", _) => "the tree is put back, and it is run again",
            ("once", _) => "a person is asked whether it happened",
            ("probe", _) => "run again: it looks first",
            _ => "run again",
        };
        format!("{} {}: {what}", flight.act.id, flight.act.tool)
    });
    let continued = RunContinued {
        after,
        settled: settled.collect(),
    };
    entries.push(RunJournalEntry::shown(continued));
    Ok(entries)
}
