//! `artel clean`

use artel_workshop::{CleanupCandidate, CleanupReason, CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{bytes, counted, table};
use crate::screen::CliOutput;

/// Show and remove what is no longer needed
///
/// Worktrees of finished runs, stored values that no event refers to, old logs, leftovers
/// of crashes. Live and undecided work is never touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel clean --dry-run")]
pub(crate) struct Args {
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Remove without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let rubbish = workshop.rubbish()?;
    let total: u64 = rubbish.iter().map(|item| item.bytes).sum();
    if !screen.json {
        screen.raw(&summary(&rubbish))?;
    }
    let is_agreed = !args.dry_run
        && !rubbish.is_empty()
        && screen.confirm(
            &format!(
                "remove {} ({})",
                counted(rubbish.len() as u64, "thing"),
                bytes(total)
            ),
            args.yes.into(),
        )?;
    let cleaned = if is_agreed {
        workshop.clean(&rubbish)?
    } else {
        Default::default()
    };
    if screen.json {
        screen
            .value(&serde_json::json!({ "found": rubbish, "bytes": total, "cleaned": cleaned }))?;
    } else if is_agreed {
        screen.line(format!(
            "removed {}, {} free again",
            counted(cleaned.removed, "thing"),
            bytes(cleaned.bytes)
        ))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn summary(rubbish: &[CleanupCandidate]) -> String {
    if rubbish.is_empty() {
        return "nothing to clean\n".to_owned();
    }
    let sorts = [
        (CleanupReason::Worktree, "finished worktrees"),
        (CleanupReason::Blob, "values no event names"),
        (CleanupReason::Log, "old logs"),
        (CleanupReason::Leftover, "left-overs of crashes"),
    ];
    let row = |(sort, name): &(CleanupReason, &str)| {
        let items: Vec<&CleanupCandidate> =
            rubbish.iter().filter(|item| item.sort == *sort).collect();
        let size = items.iter().map(|item| item.bytes).sum();
        vec![(*name).to_owned(), items.len().to_string(), bytes(size)]
    };
    table(
        &["WHAT", "COUNT", "SIZE"],
        &sorts.iter().map(row).collect::<Vec<_>>(),
    )
}
