//! `artel fork`

use std::sync::Arc;

use artel_workshop::{CommandContext, RunForkOptions, WorkshopFailures};

use super::resume::take_up;
use super::run::RunWatchArgs;
use crate::CliCommandOutcome;
use crate::runtime;
use crate::screen::CliOutput;

/// Branch off from any point of a run
///
/// A new run begins with everything the other run knew after that event, and with its files
/// as they were then. The other run stays as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel fork 5d2f41c0 --at 1847 --hint \"use the other file\"")]
pub(crate) struct Args {
    /// The run's id, or a prefix of it
    run: String,
    /// The last event to keep
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// What the new run is told first
    #[arg(long, value_name = "TEXT")]
    hint: Option<String>,
    /// A different model from the one the run began with
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    watching: RunWatchArgs,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = Arc::new(caller.workshop()?);
    let order = RunForkOptions {
        from: workshop.run_named(&args.run)?,
        at: args.at,
        hint: args.hint.clone(),
        model: args.model.clone(),
    };
    let run = runtime::block_on(workshop.fork_run(&order))??;
    let how = (args.model.as_deref(), args.watching);
    take_up(workshop, run, how, caller, screen)
}
