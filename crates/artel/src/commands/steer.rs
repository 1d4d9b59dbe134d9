//! `artel pause`, `artel cancel`, `artel hint`

use artel_workshop::{CommandContext, OutcomeWithNotes, SteeringCommand, WorkshopFailures};
use serde_json::json;

use crate::Verdict;
use crate::render::harmless;
use crate::runtime;
use crate::screen::Screen;

/// Pause a run, so that it starts nothing new until it is resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel pause 5d2f41c0")]
pub(crate) struct Pause {
    /// The run's id, or a prefix of it
    run: String,
}

/// Cancel a run, and the runs it called
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel cancel 5d2f41c0")]
pub(crate) struct Cancel {
    /// The run's id, or a prefix of it
    run: String,
}

/// Tell a run something while it works
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel hint 5d2f41c0 \"the file is Latin-1\"")]
pub(crate) struct Hint {
    /// The run's id, or a prefix of it
    run: String,
    /// What it should know
    text: String,
}

pub(crate) fn pause(
    args: &Pause,
    caller: &CommandContext,
    screen: &mut Screen,
) -> Result<Verdict, WorkshopFailures> {
    steer(&args.run, &SteeringCommand::Pause, caller, screen)
}

pub(crate) fn cancel(
    args: &Cancel,
    caller: &CommandContext,
    screen: &mut Screen,
) -> Result<Verdict, WorkshopFailures> {
    steer(&args.run, &SteeringCommand::Cancel, caller, screen)
}

pub(crate) fn hint(
    args: &Hint,
    caller: &CommandContext,
    screen: &mut Screen,
) -> Result<Verdict, WorkshopFailures> {
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
    screen: &mut Screen,
) -> Result<Verdict, WorkshopFailures> {
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
    Ok(Verdict::Done)
}
