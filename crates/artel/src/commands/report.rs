//! `artel report`

use artel_workshop::{CommandContext, ReportRow, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, harmless_lines, table};
use crate::screen::CliOutput;

/// Read what plans did and why
///
/// Reports are Markdown in `Knowledge/Reports` of the workshop. They are made from the
/// journal, and can be rebuilt at any time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel report list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the reports, newest first
    #[command(after_help = "Example: artel report list --json")]
    List,
    /// Print a report
    #[command(after_help = "Example: artel report show 7c1e90ab")]
    Show {
        /// The id of its request or run, or a prefix of it
        id: String,
    },
    /// Rebuild a report from the journal
    #[command(after_help = "Example: artel report rebuild 7c1e90ab")]
    Rebuild {
        /// The id of its request or run, or a prefix of it
        id: String,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    match &args.command {
        Command::List => list(&workshop.reports()?, screen),
        Command::Show { id } => {
            let shown = workshop.report(id)?;
            if screen.json {
                screen.value(&shown)?;
            } else {
                screen.line(harmless_lines(&shown.text))?;
            }
            Ok(CliCommandOutcome::Done)
        }
        Command::Rebuild { id } => {
            let shown = workshop.rebuild_report(id)?;
            if screen.json {
                screen.value(&shown.row)?;
            } else {
                screen.line(format!("wrote {}", harmless(&shown.row.path)))?;
            }
            Ok(CliCommandOutcome::Done)
        }
    }
}

fn list(rows: &[ReportRow], screen: &mut CliOutput) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&rows)?;
        return Ok(CliCommandOutcome::Done);
    }
    if rows.is_empty() {
        screen.say("no reports yet; a plan that was carried out leaves one");
        return Ok(CliCommandOutcome::Done);
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.id.clone(),
            row.status.clone(),
            row.at.to_string().chars().take(10).collect(),
            cell(&row.title, 50),
            cell(&row.path, 120),
        ]
    });
    let cells: Vec<Vec<String>> = cells.collect();
    screen.raw(&table(&["ID", "STATUS", "DAY", "TITLE", "FILE"], &cells))?;
    Ok(CliCommandOutcome::Done)
}
