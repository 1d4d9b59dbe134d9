//! The daemon's log.

use std::time::Duration;

use artel_workshop::{Workshop, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::CliOutput;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Number of lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Keep showing new lines, until Ctrl-C
    #[arg(long)]
    follow: bool,
}

/// Interval between checks for new lines.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(
    args: &Args,
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let log = workshop.daemon_said_last();
    let lines: Vec<&str> = log.text.lines().collect();
    if lines.is_empty() && !args.follow {
        let log = workshop.daemon_log();
        screen.say(if log.exists() {
            "the daemon has said nothing yet".to_owned()
        } else {
            format!(
                "there is no log: no daemon has run for this workshop (it would be `{}`)",
                harmless(&log.display().to_string())
            )
        });
    }
    for line in &lines[lines.len().saturating_sub(args.lines)..] {
        show(line, screen)?;
    }
    if !args.follow {
        return Ok(CliCommandOutcome::Done);
    }
    let mut position = log.position;
    // Runs until Ctrl-C ends the process.
    loop {
        screen.flush()?;
        runtime::block_on(async { tokio::time::sleep(LOOK).await })?;
        let more = workshop.daemon_said(position);
        position = more.position;
        for line in more.text.lines() {
            show(line, screen)?;
        }
    }
}

fn show(line: &str, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "line": line }))
    } else {
        screen.line(harmless(line))
    }
}
