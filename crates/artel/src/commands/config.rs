//! `artel config`

use std::sync::Arc;

use artel_config::Settings;
use artel_types::FailureCode;
use artel_workshop::{CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::table;
use crate::screen::CliOutput;

/// Look at the settings
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel config show --origin")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every setting with its value
    ///
    /// Layers, later ones win: defaults, your own artel.toml, the workshop's artel.toml,
    /// variables ARTEL_…, --set.
    #[command(after_help = "Example: artel config show --origin")]
    Show {
        /// Show where each value came from
        #[arg(long)]
        origin: bool,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let Command::Show { origin } = &args.command;
    let settings = settings(caller)?;
    let rows = settings.rows();
    if screen.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                serde_json::json!({
                    "key": row.key, "value": row.value, "origin": row.origin, "about": row.about,
                })
            })
            .collect();
        screen.value(&rows)?;
        return Ok(CliCommandOutcome::Done);
    }
    let head: &[&str] = if *origin {
        &["SETTING", "VALUE", "ORIGIN"]
    } else {
        &["SETTING", "VALUE", "ABOUT"]
    };
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let last = if *origin {
                row.origin
            } else {
                row.about.to_owned()
            };
            vec![row.key, row.value, last]
        })
        .collect();
    screen.raw(&table(head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

/// Returns the settings of the workshop, or those that apply outside of any workshop.
fn settings(caller: &CommandContext) -> Result<Arc<Settings>, WorkshopFailures> {
    match caller.workshop() {
        Ok(workshop) => Ok(workshop.settings),
        Err(WorkshopFailures(failures))
            if failures
                .iter()
                .all(|failure| failure.code == FailureCode::W001) =>
        {
            caller.settings().map(Arc::new)
        }
        Err(problems) => Err(problems),
    }
}
