//! Drives one task, in the name of the person or program that asked for it.

use std::sync::Arc;

use artel_types::{Actor, ActorKind, ActorSurface, Failure};
use artel_workshop::{
    HintVisibility, NullRunObserver, RemoteApprover, RequestOutcome, RunObservers,
    RunSuspendReason, ShutdownLevel, WorkAdvanceOutcome, Workshop,
};
use tokio::sync::watch;

use super::aside::{TaskActivityTracker, WaitCountingApprover};
use super::orders::StartRunCommand;
use super::queue::SchedulerTask;
use crate::desk::ServerState;

/// The outcome of driving a task.
#[derive(Debug)]
pub(super) enum TaskOutcome {
    /// It went as far as it can without a person.
    Done,
    /// It cannot continue now, but may later.
    Stuck(String),
}

/// Resumes a task and drives it until it stops.
pub(super) async fn go_on(
    desk: Arc<ServerState>,
    task: SchedulerTask,
    (asks, stop): (TaskActivityTracker, watch::Receiver<ShutdownLevel>),
) -> Result<TaskOutcome, Failure> {
    let workshop = desk.workshop();
    let manner = desk.manners.of(task);
    let model = manner.model.as_deref();
    let went = match task {
        // A task that a person paused continues only when they resume it.
        SchedulerTask::Work(trace) if workshop.is_resting(trace)? => WorkAdvanceOutcome::Nothing,
        SchedulerTask::Work(trace) => {
            let work = workshop.work(trace)?;
            let workshop = acting(&workshop, work.set_going_by())?;
            let company = company(asks, stop);
            workshop
                .go_on(trace, (manner.rules(), model), company)
                .await?
        }
        SchedulerTask::Run(run) => {
            let company = company(asks, stop);
            workshop.go_on_with_run(run, model, company).await?
        }
    };
    if is_over(&workshop, task)? {
        desk.manners.forget(task);
    }
    Ok(match went {
        WorkAdvanceOutcome::Settled(RequestOutcome::Left(left)) => rest_of(&left),
        WorkAdvanceOutcome::Carried(carried) => {
            carried.left.as_ref().map_or(TaskOutcome::Done, rest_of)
        }
        WorkAdvanceOutcome::Ran(done) => done.left.as_ref().map_or(TaskOutcome::Done, rest_of),
        WorkAdvanceOutcome::Settled(_) | WorkAdvanceOutcome::Nothing => TaskOutcome::Done,
    })
}

/// Starts a run and drives it. The caller receives the reason if it does not start.
pub(super) async fn begin(
    desk: Arc<ServerState>,
    begin: StartRunCommand,
    (asks, stop): (TaskActivityTracker, watch::Receiver<ShutdownLevel>),
) -> (Option<SchedulerTask>, Result<TaskOutcome, Failure>) {
    let StartRunCommand {
        workshop,
        order,
        over,
    } = begin;
    let company = company(asks, stop);
    match workshop.start_run(&order, company).await {
        Ok(done) => {
            // The caller may be gone.
            drop(over.send(None));
            let rest = done.left.as_ref().map_or(TaskOutcome::Done, rest_of);
            (Some(SchedulerTask::Run(done.run)), Ok(rest))
        }
        Err(failure) => {
            (desk.says)(&format!("a run did not begin: {failure}"));
            drop(over.send(Some(failure)));
            (None, Ok(TaskOutcome::Done))
        }
    }
}

/// Returns whether the task is finished.
fn is_over(workshop: &Workshop, task: SchedulerTask) -> Result<bool, Failure> {
    Ok(match task {
        SchedulerTask::Work(trace) => {
            let work = workshop.work(trace)?;
            work.course.state().is_some_and(|state| state.is_over())
        }
        SchedulerTask::Run(run) => workshop.standing_of(run)?.0.is_over(),
    })
}

fn rest_of(left: &RunSuspendReason) -> TaskOutcome {
    match left {
        RunSuspendReason::Model(failure) => TaskOutcome::Stuck(failure.what.clone()),
        RunSuspendReason::Question(_) | RunSuspendReason::Interrupted => TaskOutcome::Done,
    }
}

/// Returns the workshop as used by `by`. Work is done in the name of the person or program
/// that asked for it, a plan in the name of the person who approved it.
fn acting(workshop: &Workshop, by: &Actor) -> Result<Arc<Workshop>, Failure> {
    let actor = match by.kind {
        ActorKind::Program => by.clone(),
        ActorKind::Human | ActorKind::Agent | ActorKind::System => {
            Actor::human(&by.id, by.via.unwrap_or(ActorSurface::Api))
        }
    };
    Ok(Arc::new(workshop.acting_as(actor)?))
}

/// Returns the observers of a run that the daemon drives. Nobody sits at the daemon:
/// questions and calls that need approval wait in the journal for an answer, and untrusted
/// skills and hooks are not used.
fn company(asks: TaskActivityTracker, stop: watch::Receiver<ShutdownLevel>) -> RunObservers {
    let audience = Arc::new(asks.clone());
    let approver = WaitCountingApprover {
        inner: RemoteApprover::new(stop.clone()),
        asks,
    };
    RunObservers {
        audience,
        approver: Some(Arc::new(approver)),
        person: None,
        trust: Arc::new(NullRunObserver),
        stop,
        hints: HintVisibility::Shown,
    }
}
