//! Drives one task, in the name of the person or program that asked for it.

use std::sync::Arc;

use artel_types::{Actor, ActorKind, ActorSurface, Failure};
use artel_workshop::{
    HintVisibility, NullRunObserver, RemoteApprover, RequestOutcome, RunObservers,
    RunSuspendReason, ShutdownLevel, WorkAdvanceOutcome, Workshop,
};
use tokio::sync::watch;

use super::aside::{Aside, Asks};
use super::orders::Begin;
use super::queue::Task;
use crate::desk::Desk;

/// The outcome of driving a task.
#[derive(Debug)]
pub(super) enum Rest {
    /// It went as far as it can without a person.
    Done,
    /// It cannot continue now, but may later.
    Stuck(String),
}

/// Resumes a task and drives it until it stops.
pub(super) async fn go_on(
    desk: Arc<Desk>,
    task: Task,
    (asks, stop): (Asks, watch::Receiver<ShutdownLevel>),
) -> Result<Rest, Failure> {
    let workshop = desk.workshop();
    let manner = desk.manners.of(task);
    let model = manner.model.as_deref();
    let went = match task {
        // A task that a person paused continues only when they resume it.
        Task::Work(trace) if workshop.is_resting(trace)? => WorkAdvanceOutcome::Nothing,
        Task::Work(trace) => {
            let work = workshop.work(trace)?;
            let workshop = acting(&workshop, work.set_going_by())?;
            let company = company(asks, stop);
            workshop
                .go_on(trace, (manner.rules(), model), company)
                .await?
        }
        Task::Run(run) => {
            let company = company(asks, stop);
            workshop.go_on_with_run(run, model, company).await?
        }
    };
    if is_over(&workshop, task)? {
        desk.manners.forget(task);
    }
    Ok(match went {
        WorkAdvanceOutcome::Settled(RequestOutcome::Left(left)) => rest_of(&left),
        WorkAdvanceOutcome::Carried(carried) => carried.left.as_ref().map_or(Rest::Done, rest_of),
        WorkAdvanceOutcome::Ran(done) => done.left.as_ref().map_or(Rest::Done, rest_of),
        WorkAdvanceOutcome::Settled(_) | WorkAdvanceOutcome::Nothing => Rest::Done,
    })
}

/// Starts a run and drives it. The caller receives the reason if it does not start.
pub(super) async fn begin(
    desk: Arc<Desk>,
    begin: Begin,
    (asks, stop): (Asks, watch::Receiver<ShutdownLevel>),
) -> (Option<Task>, Result<Rest, Failure>) {
    let Begin {
        workshop,
        order,
        over,
    } = begin;
    let company = company(asks, stop);
    match workshop.start_run(&order, company).await {
        Ok(done) => {
            // The caller may be gone.
            drop(over.send(None));
            let rest = done.left.as_ref().map_or(Rest::Done, rest_of);
            (Some(Task::Run(done.run)), Ok(rest))
        }
        Err(failure) => {
            (desk.says)(&format!("a run did not begin: {failure}"));
            drop(over.send(Some(failure)));
            (None, Ok(Rest::Done))
        }
    }
}

/// Returns whether the task is finished.
fn is_over(workshop: &Workshop, task: Task) -> Result<bool, Failure> {
    Ok(match task {
        Task::Work(trace) => {
            let work = workshop.work(trace)?;
            work.course.state().is_some_and(|state| state.is_over())
        }
        Task::Run(run) => workshop.standing_of(run)?.0.is_over(),
    })
}

fn rest_of(left: &RunSuspendReason) -> Rest {
    match left {
        RunSuspendReason::Model(failure) => Rest::Stuck(failure.what.clone()),
        RunSuspendReason::Question(_) | RunSuspendReason::Interrupted => Rest::Done,
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
fn company(asks: Asks, stop: watch::Receiver<ShutdownLevel>) -> RunObservers {
    let audience = Arc::new(asks.clone());
    let approver = Aside {
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
