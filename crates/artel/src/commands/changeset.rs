//! `artel changeset`

mod look;

use artel_workshop::{
    ChangesetMergeOptions, ChangesetReceipt, CommandContext, OutcomeWithNotes, WorkshopFailures,
};
use clap::ValueEnum;

use crate::CliCommandOutcome;
use crate::render::{counted, harmless};
use crate::screen::CliOutput;

/// Look at the branches that plans leave, and decide about them
///
/// A changeset is a git branch with its proofs. None of it is in your files before you
/// approve it, and you can undo what you approved.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel changeset list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the changesets, newest first
    #[command(after_help = "Example: artel changeset list --status open")]
    List {
        /// Only changesets with this status
        #[arg(long, value_enum)]
        status: Option<ChangesetStatusFilter>,
    },
    /// Show a changeset: branch, commits, files, proofs, and the next step
    #[command(after_help = "Example: artel changeset show 7c1e90ab\n\
        Example: artel changeset show 7c1e90ab --diff")]
    Show {
        /// The changeset's id, or a prefix of it
        id: String,
        /// Show the diff
        #[arg(long)]
        diff: bool,
        /// List every file and every proof
        #[arg(long, conflicts_with = "diff")]
        stat: bool,
    },
    /// Merge a changeset into the branch it started from, with a commit of its own
    ///
    /// Files that you changed and did not commit are never touched: if the changeset needs
    /// them, it is refused, and everything stays as it is.
    #[command(after_help = "Example: artel changeset approve 7c1e90ab\n\
        Example: artel changeset approve 7c1e90ab --waive 'the failing test is about the clock'\n\
        Example: artel changeset approve 7c1e90ab --into main")]
    Approve {
        /// The changeset's id, or a prefix of it
        id: String,
        /// Merge even though proofs do not hold; the reason is recorded
        #[arg(long, value_name = "REASON")]
        waive: Option<String>,
        /// The branch to merge into, instead of the one it started from
        #[arg(long, value_name = "BRANCH")]
        into: Option<String>,
    },
    /// Reject a changeset: its branch is removed, the record stays
    #[command(after_help = "Example: artel changeset reject 7c1e90ab --reason 'wrong way'")]
    Reject {
        /// The changeset's id, or a prefix of it
        id: String,
        /// The reason
        #[arg(long)]
        reason: String,
    },
    /// Undo a merged changeset with a new commit, and keep later changes
    #[command(after_help = "Example: artel changeset undo 7c1e90ab")]
    Undo {
        /// The changeset's id, or a prefix of it
        id: String,
    },
    /// Redo a changeset that was undone
    #[command(after_help = "Example: artel changeset redo 7c1e90ab")]
    Redo {
        /// The changeset's id, or a prefix of it
        id: String,
    },
}

/// Status that `artel changeset list` filters by.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ChangesetStatusFilter {
    /// Not decided yet
    Open,
    /// Merged into the branch
    Merged,
    /// Merged, then undone
    Undone,
    /// Rejected
    Rejected,
}

impl ChangesetStatusFilter {
    fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Merged => "merged",
            Self::Undone => "undone",
            Self::Rejected => "rejected",
        }
    }
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let done = match &args.command {
        Command::List { status } => {
            screen.notes(&workshop.settle_changesets()?);
            let mut rows = workshop.changesets()?;
            rows.retain(|row| status.is_none_or(|wanted| row.state == wanted.as_str()));
            return look::list(&rows, screen);
        }
        Command::Show { id, diff, stat } => {
            screen.notes(&workshop.settle_changesets()?);
            let shown = workshop.changeset(id)?;
            if *diff {
                return look::diff(&shown, &workshop.changeset_diff(id)?, screen);
            }
            let much = if *stat {
                look::ChangesetDetailLevel::All
            } else {
                look::ChangesetDetailLevel::Page
            };
            return look::show(&shown, much, screen);
        }
        Command::Approve { id, waive, into } => {
            let how = ChangesetMergeOptions {
                waiver: waive.as_deref(),
                into: into.as_deref(),
                seen: None,
            };
            workshop.approve_changeset(id, how)?
        }
        Command::Reject { id, reason } => workshop.reject_changeset(id, reason)?,
        Command::Undo { id } => workshop.undo_changeset(id)?,
        Command::Redo { id } => workshop.redo_changeset(id)?,
    };
    receipt(done, screen)
}

/// Shows what was done, and what could not be done.
fn receipt(
    noted: OutcomeWithNotes<ChangesetReceipt>,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let OutcomeWithNotes { done, notes } = noted;
    screen.notes(&notes);
    if screen.json {
        screen.value(&done)?;
        return Ok(CliCommandOutcome::Done);
    }
    let into = harmless(done.into.as_deref().unwrap_or_default());
    let commit = done.commit.as_deref().unwrap_or_default();
    let commit = commit.get(..8).unwrap_or(commit);
    let files = counted(done.files.len() as u64, "file");
    screen.line(match done.act {
        "approve" => format!("merged {} into {into} as {commit} ({files})", done.id),
        "undo" => format!("undid {} on {into} by {commit} ({files})", done.id),
        "redo" => format!("brought {} back on {into} by {commit} ({files})", done.id),
        _ => format!("rejected {}", done.id),
    })?;
    if let Some(branch) = &done.removed {
        screen.line(format!("  removed the branch {}", harmless(branch)))?;
    }
    if matches!(done.act, "undo" | "redo") {
        for file in &done.files {
            screen.line(format!("  {}", harmless(file)))?;
        }
    }
    for file in &done.kept {
        let file = harmless(file);
        screen.line(format!(
            "  {file} was changed since; those changes are kept"
        ))?;
    }
    if !done.outside.is_empty() {
        screen.line("  cannot be undone, because it left this machine:")?;
        for host in &done.outside {
            screen.line(format!("    {}", harmless(host)))?;
        }
    }
    if let Some(report) = &done.report {
        screen.line(format!("  report {}", harmless(report)))?;
    }
    let next = match done.act {
        "approve" | "redo" => format!("artel changeset undo {}", done.id),
        "undo" => format!("artel changeset redo {}", done.id),
        _ => format!("artel report show {}", done.id),
    };
    screen.say(format!("next: `{next}`"));
    Ok(CliCommandOutcome::Done)
}
