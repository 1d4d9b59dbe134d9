//! `artel feedback`

use artel_workshop::{CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Give feedback on a run; it is passed on to the next runs of its skill
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: artel feedback 5d2f41c0 \"the totals were right, keep it shorter\""
)]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Your feedback
    text: String,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let given = caller.workshop()?.give_feedback(&args.run, &args.text)?;
    if screen.json {
        screen.value(&given)?;
        return Ok(CliCommandOutcome::Done);
    }
    match &given.skill {
        Some(skill) => screen.line(format!(
            "kept for the next runs of {}; `artel skill feedback {}` shows it",
            harmless(skill),
            harmless(skill)
        ))?,
        None => screen.line("kept with the run; it was of no skill, so no other run is told")?,
    }
    Ok(CliCommandOutcome::Done)
}
