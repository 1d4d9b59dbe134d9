//! `artel runs`

use artel_types::Timestamp;
use artel_workshop::{CommandContext, RunListScope, RunRow, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, counted, price, table};
use crate::screen::CliOutput;

/// Show runs and their status
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel runs --all")]
pub(crate) struct Args {
    /// Show all runs, including those called by other runs
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let which = if args.all {
        RunListScope::All
    } else {
        RunListScope::Recent
    };
    let rows = caller.workshop()?.runs(which)?;
    if screen.json {
        screen.value(&rows)?;
        return Ok(CliCommandOutcome::Done);
    }
    if rows.is_empty() {
        screen.say("no runs yet; `artel run --task \"…\"` begins one");
        return Ok(CliCommandOutcome::Done);
    }
    let now = caller.clock().now();
    let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row, now)).collect();
    let head = ["RUN", "STATE", "TITLE", "TURNS", "COST", "SINCE"];
    screen.raw(&table(&head, &cells))?;
    Ok(CliCommandOutcome::Done)
}

fn cells(row: &RunRow, now: Timestamp) -> Vec<String> {
    let mut since = ago(row.since, now);
    if let Some(note) = &row.note {
        since.push_str(&format!(", {}", cell(note, 80)));
    }
    if row.files > 0 && row.state.is_over() {
        let files = counted(row.files, "file");
        since.push_str(&format!(
            ", {files} to put in place: `artel apply {}`",
            row.run.short()
        ));
    }
    vec![
        row.run.short(),
        row.state.words().to_owned(),
        cell(&row.title, 40),
        row.turns.to_string(),
        match (row.turns, row.cost) {
            (0, _) | (_, None) => "-".to_owned(),
            (_, cost) => price(cost),
        },
        since,
    ]
}

fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(then).as_secs();
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
