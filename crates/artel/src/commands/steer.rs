//! `artel pause`, `artel cancel`, `artel hint`

use artel_workshop::{CommandContext, OutcomeWithNotes, SteeringCommand, WorkshopFailures};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::CliOutput;

/// Pause a run, so that it starts nothing new until it is resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel pause 5d2f41c0")]
pub(crate) struct PauseRunArgs {
    /// The run's id, or a prefix of it
    run: String,
}

/// Cancel a run, and the runs it called
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel cancel 5d2f41c0")]
pub(crate) struct CancelRunArgs {
    /// The run's id, or a prefix of it
    run: String,
}

/// Tell a run something while it works
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel hint 5d2f41c0 \"the file is Latin-1\"")]
pub(crate) struct HintRunArgs {
    /// The run's id, or a prefix of it
    run: String,
    /// What it should know
    text: String,
}

pub(crate) fn pause(
    args: &PauseRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    steer(&args.run, &SteeringCommand::Pause, caller, screen)
}

pub(crate) fn cancel(
    args: &CancelRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    steer(&args.run, &SteeringCommand::Cancel, caller, screen)
}

pub(crate) fn hint(
    args: &HintRunArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    steer(
        &args.run,
        &SteeringCommand::Hint(args.text.clone()),
        caller,
        screen,
    )
}

fn steer(
    id: &str,
    steer: &SteeringCommand,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let run = workshop.run_named(id)?;
    let OutcomeWithNotes { done, notes } = runtime::block_on(workshop.steer_run(run, steer))??;
    screen.notes(&notes);
    let text = steer.told(run, &done);
    if screen.json {
        let driver = done.into_driver();
        screen.value(&json!({ "run": run.to_string(), "driver": driver, "text": text }))?;
    } else {
        screen.line(harmless(&text))?;
    }
    Ok(CliCommandOutcome::Done)
}
