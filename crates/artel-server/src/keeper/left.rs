//! Tasks that other processes left, and the urgency of each piece of work. Both come from
//! the journal, so that a restarted daemon finds the same order as before.

use std::sync::Arc;

use artel_types::plan::{PlanState, RequestSize, Urgency};
use artel_types::{Failure, TraceId};
use artel_workshop::{
    AttentionItem, AttentionKind, DriverProcesses, RunIndexQuery, RunStatus, WorkRow, WorkshopIndex,
};

use super::SchedulerTask;
use crate::desk::ServerState;

/// Maximum number of runs without a plan that are taken up at once; the next sweep finds
/// the others.
const MOST_LEFT: usize = 1_000;

/// A leftover task: what it is, its title and its urgency.
pub(super) type LeftoverTask = (SchedulerTask, String, Urgency);

/// Returns the tasks that no process drives and that can continue.
pub(super) fn left(desk: &ServerState) -> Result<Vec<LeftoverTask>, Failure> {
    let drivers = desk.workshop().drivers_now()?;
    let board = desk.board();
    let waits = board.waiting(&drivers).into_iter();
    let works = waits.filter(|it| it.kind == AttentionKind::Left);
    let left = |it: Arc<AttentionItem>| {
        let urgency = on_board(&board, it.trace).unwrap_or_default();
        (SchedulerTask::Work(it.trace), it.title.clone(), urgency)
    };
    let mut left: Vec<LeftoverTask> = works.map(left).collect();
    let wanted = RunIndexQuery {
        state: Some(RunStatus::Left),
        limit: MOST_LEFT,
        ..RunIndexQuery::default()
    };
    for row in board.runs(&wanted, &drivers).rows {
        if row.parent.is_none() && board.work(row.trace, &drivers).is_none() {
            left.push((SchedulerTask::Run(row.run), row.title, Urgency::High));
        }
    }
    Ok(left)
}

/// Returns the ids and titles of the tasks that people paused.
pub(super) fn paused(desk: &ServerState) -> Result<Vec<(String, String)>, Failure> {
    let drivers = desk.workshop().drivers_now()?;
    let waits = desk.board().waiting(&drivers).into_iter();
    let paused = waits.filter(|it| it.kind == AttentionKind::Paused);
    Ok(paused.map(|it| (it.id.clone(), it.title.clone())).collect())
}

/// Returns the urgency of a piece of work, or `None` if there is none with this trace.
pub(super) fn urgency(desk: &ServerState, trace: TraceId) -> Option<Urgency> {
    // It may be too new for the index.
    on_board(&desk.board(), trace).or_else(|| {
        let request = desk.workshop().work(trace).ok()?.request;
        let (source, size) = (&request.source, request.size);
        Some(asked(source, size, request.urgency))
    })
}

fn on_board(board: &WorkshopIndex, trace: TraceId) -> Option<Urgency> {
    let row = board.work(trace, &DriverProcesses::default())?;
    let asked = asked(&row.source, row.size, row.urgency);
    Some(if is_decided(&row) {
        asked.max(Urgency::High)
    } else {
        asked
    })
}

/// Returns the urgency of a request.
///
/// If a person is watching the screen for a result, the request does not wait behind files:
/// a question until it is answered, a request over HTTP until it has a plan. A person who
/// says that it can wait is taken at their word.
pub(super) fn asked(source: &str, size: RequestSize, urgency: Urgency) -> Urgency {
    let is_question = size == RequestSize::Question && source != "file";
    let is_at_screen = matches!(source, "web" | "api");
    if is_question || is_at_screen && urgency >= Urgency::Normal {
        return urgency.max(Urgency::High);
    }
    urgency
}

/// Returns whether a person has decided about its plan: that it be carried out, or revised.
fn is_decided(row: &WorkRow) -> bool {
    match row.plan {
        Some(PlanState::Approved | PlanState::Running) => true,
        Some(PlanState::Exploring | PlanState::Drafting) => row.version.is_some(),
        _ => false,
    }
}
