//! `artel journal`

mod filter;
mod read;
mod upkeep;

pub(super) use read::warn;

use artel_workshop::{CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::screen::CliOutput;

/// Read, check and maintain the journal: the record of everything that happened
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel journal tail --follow")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Tail(read::JournalTailArgs),
    Query(read::JournalQueryArgs),
    Export(read::JournalExportArgs),
    Stats(read::JournalStatsArgs),
    Verify(upkeep::JournalVerifyArgs),
    Backup(upkeep::JournalBackupArgs),
    Restore(upkeep::JournalRestoreArgs),
    Prune(upkeep::JournalPruneArgs),
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::Tail(args) => read::tail(args, caller, screen),
        Command::Query(args) => read::query(args, caller, screen),
        Command::Export(args) => read::export(args, caller, screen),
        Command::Stats(args) => read::stats(args, caller, screen),
        Command::Verify(args) => upkeep::verify(args, caller, screen),
        Command::Backup(args) => upkeep::backup(args, caller, screen),
        Command::Restore(args) => upkeep::restore(args, caller, screen),
        Command::Prune(args) => upkeep::prune(args, caller, screen),
    }
}
