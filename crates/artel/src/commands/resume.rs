//! `artel resume`

use std::sync::Arc;

use artel_types::plan::PlanState;
use artel_types::{Failure, FailureCode};
use artel_workshop::{
    CommandContext, OnFailure, OutcomeWithNotes, RunStatus, SteeringCommand, SteeringDelivery,
    Work, Workshop, WorkshopFailures,
};

use super::planned::PlanSession;
use super::run::{FirstUseAnswerMode, RunScreen, RunWatchArgs, WatchedRun};
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::CliOutput;

/// Resume a run or a piece of work that was left or paused, from its last event
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel resume 5d2f41c0")]
pub(crate) struct Args {
    /// The id of the run or the trace, or a prefix of it
    run: String,
    /// Answer its open question
    #[arg(long, value_name = "ANSWER")]
    answer: Option<String>,
    /// A different model from the one it began with
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// For a plan: how many steps may run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    at_once: Option<u16>,
    /// For a plan: start nothing new after a step fails
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    watching: RunWatchArgs,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = Arc::new(caller.workshop()?);
    if let Ok(work) = workshop.work_named(&args.run) {
        return planned(args, (workshop, &work), caller, screen);
    }
    let run = workshop.run_named(&args.run)?;
    if let Some(answer) = &args.answer {
        let told = workshop.answer_run(run, answer)?;
        screen.notes(&told.notes);
    }
    let (standing, driver) = workshop.standing_of(run)?;
    if standing == RunStatus::Paused {
        let OutcomeWithNotes { done, notes } =
            runtime::block_on(workshop.steer_run(run, &SteeringCommand::Resume))??;
        screen.notes(&notes);
        if let SteeringDelivery::Sent(driver) = done {
            return elsewhere(&run.short(), &driver, screen);
        }
    }
    if let (Some(driver), Some(_)) = (&driver, &args.answer) {
        return elsewhere(&run.short(), driver, screen);
    }
    let how = (args.model.as_deref(), args.watching);
    take_up(workshop, run, how, caller, screen)
}

/// Resumes planned work, whatever its state.
fn planned(
    args: &Args,
    (workshop, work): (Arc<Workshop>, &Work),
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    screen.notes(&workshop.settle_changesets()?);
    let short = work.trace.short();
    if let Some(answer) = &args.answer {
        let question = workshop.question_named(&args.run)?;
        let told = workshop.answer_question(&question, answer)?;
        screen.notes(&told.notes);
        if let SteeringDelivery::Sent(driver) = told.done {
            return elsewhere(&short, &driver, screen);
        }
    }
    let state = work.course.state();
    screen.notes(&runtime::block_on(workshop.wake_work(work.trace))??);
    let mut bench = PlanSession::new(Arc::clone(&workshop), caller, screen);
    bench.model.clone_from(&args.model);
    if let Some(count) = args.at_once {
        bench.rules.at_once = usize::from(count);
    }
    if args.fail_fast {
        bench.rules.failure = OnFailure::Fast;
    }
    let outcome = match state {
        Some(PlanState::Approved | PlanState::Running) => bench.carry_out(work.trace)?,
        None | Some(PlanState::Exploring | PlanState::Drafting | PlanState::Review) => {
            bench.take_on(work.trace)?
        }
        Some(_) if workshop.is_cut_short(work)? => bench.carry_out(work.trace)?,
        Some(state) => {
            return Err(
                Failure::new(FailureCode::R008, format!("the plan of {short} is {state}"))
                    .advise(format!(
                        "`artel request show {short}` shows what came of it"
                    ))
                    .into(),
            );
        }
    };
    bench.conclude(work.trace, outcome)
}

/// Drives a run here, with the named model if one was given.
pub(super) fn take_up(
    workshop: Arc<Workshop>,
    run: artel_types::RunId,
    (model, watching): (Option<&str>, RunWatchArgs),
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let desk = RunScreen {
        workshop: Arc::clone(&workshop),
        watching,
        answers: FirstUseAnswerMode::Ask,
    };
    let trace = workshop.trace_of_run(run)?;
    desk.drive(
        caller,
        screen,
        trace,
        WatchedRun::Known(run),
        async |company| workshop.resume_run(run, model, company).await,
    )
}

/// Tells the person that the run continues in the process that drives it.
fn elsewhere(
    run: &str,
    driver: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "run": run, "goes_on_in": driver }))?;
    } else {
        screen.line(format!("{run} goes on in {}", harmless(driver)))?;
    }
    Ok(CliCommandOutcome::Done)
}
