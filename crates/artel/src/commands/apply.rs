//! `artel apply`

use artel_workshop::{CommandContext, OutcomeWithNotes, RunApplyPreview, WorkshopFailures};

use super::run::say_placed;
use crate::CliCommandOutcome;
use crate::render::{counted, harmless, harmless_lines};
use crate::runtime;
use crate::screen::{CliOutput, YesFlag};

/// Apply the files that a run created or changed to your folder
///
/// Either all files are applied or none: files that you touched since the run began are
/// refused by name, and then nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel apply 5d2f41c0 --diff")]
pub(crate) struct Args {
    /// The run's id, or a prefix of it
    run: String,
    /// Only show the diff
    #[arg(long)]
    diff: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let run = workshop.run_named(&args.run)?;
    let proposal = workshop.proposal(run)?;
    if args.diff {
        let diff = workshop.run_diff(run)?;
        if screen.json {
            screen.value(&serde_json::json!({ "proposal": proposal, "diff": diff }))?;
        } else {
            screen.line(harmless_lines(&diff))?;
        }
        return Ok(CliCommandOutcome::Done);
    }
    if !screen.json {
        list(&proposal, screen)?;
        screen.flush()?;
    }
    let question = format!("put them in place in {}", proposal.folder);
    if !screen.confirm(&question, YesFlag::from(args.yes))? {
        screen.say("nothing was changed");
        return Ok(CliCommandOutcome::Done);
    }
    let OutcomeWithNotes { done, notes } = runtime::block_on(workshop.apply_run(run))??;
    screen.notes(&notes);
    if screen.json {
        screen.value(&done)?;
    } else {
        say_placed(&done, screen);
    }
    Ok(CliCommandOutcome::Done)
}

fn list(proposal: &RunApplyPreview, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    for file in &proposal.files {
        let kind = format!("{:?}", file.kind).to_lowercase();
        let lines = match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("+{added} −{removed}"),
            _ => counted(file.bytes, "byte"),
        };
        screen.line(format!("{kind:<8} {}  {lines}", harmless(&file.path)))?;
    }
    Ok(())
}
