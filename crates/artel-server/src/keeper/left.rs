//! What other processes left, and how urgent each piece of work is: by what is on record, so that a
//! start finds the same order that there was before.

use std::sync::Arc;

use artel_types::plan::{PlanState, Size, Urgency};
use artel_types::{Failure, TraceId};
use artel_workshop::{Board, Drivers, RunsWanted, Standing, WaitSort, Waits, WorkRow};

use super::Task;
use crate::desk::Desk;

/// How many runs without a plan are taken up at once; the next look finds the others.
const MOST_LEFT: usize = 1_000;

/// Something that was left: what, its title, how urgent it is.
pub(super) type LeftOver = (Task, String, Urgency);

/// Returns what nobody drives and can be gone on with.
pub(super) fn left(desk: &Desk) -> Result<Vec<LeftOver>, Failure> {
    let drivers = desk.workshop().drivers_now()?;
    let board = desk.board();
    let waits = board.waiting(&drivers).into_iter();
    let works = waits.filter(|it| it.kind == WaitSort::Left);
    let left = |it: Arc<Waits>| {
        let urgency = on_board(&board, it.trace).unwrap_or_default();
        (Task::Work(it.trace), it.title.clone(), urgency)
    };
    let mut left: Vec<LeftOver> = works.map(left).collect();
    let wanted = RunsWanted {
        state: Some(Standing::Left),
        limit: MOST_LEFT,
        ..RunsWanted::default()
    };
    for row in board.runs(&wanted, &drivers).rows {
        if row.parent.is_none() && board.work(row.trace, &drivers).is_none() {
            left.push((Task::Run(row.run), row.title, Urgency::High));
        }
    }
    Ok(left)
}

/// Returns what people stopped: its name and its title.
pub(super) fn paused(desk: &Desk) -> Result<Vec<(String, String)>, Failure> {
    let drivers = desk.workshop().drivers_now()?;
    let waits = desk.board().waiting(&drivers).into_iter();
    let paused = waits.filter(|it| it.kind == WaitSort::Paused);
    Ok(paused.map(|it| (it.id.clone(), it.title.clone())).collect())
}

/// Returns how urgent a piece of work is; nothing where there is none of that name.
pub(super) fn urgency(desk: &Desk, trace: TraceId) -> Option<Urgency> {
    // It may be so new that the board has not heard of it.
    on_board(&desk.board(), trace).or_else(|| {
        let request = desk.workshop().work(trace).ok()?.request;
        let (source, size) = (&request.source, request.size);
        Some(asked(source, size, request.urgency))
    })
}

fn on_board(board: &Board, trace: TraceId) -> Option<Urgency> {
    let row = board.work(trace, &Drivers::default())?;
    let asked = asked(&row.source, row.size, row.urgency);
    Some(if is_decided(&row) {
        asked.max(Urgency::High)
    } else {
        asked
    })
}

/// Returns how urgent a request is. Where somebody looks at the screen until something comes of it,
/// it does not wait behind files: until a question has its answer, or what was asked for over HTTP
/// its plan. Who says that it can wait, is believed.
pub(super) fn asked(source: &str, size: Size, urgency: Urgency) -> Urgency {
    let is_question = size == Size::Question && source != "file";
    let is_at_screen = matches!(source, "web" | "api");
    if is_question || is_at_screen && urgency >= Urgency::Normal {
        return urgency.max(Urgency::High);
    }
    urgency
}

/// Tells whether a person has decided about its plan: that it be done, or written anew.
fn is_decided(row: &WorkRow) -> bool {
    match row.plan {
        Some(PlanState::Approved | PlanState::Running) => true,
        Some(PlanState::Exploring | PlanState::Drafting) => row.version.is_some(),
        _ => false,
    }
}
