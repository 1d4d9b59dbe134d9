//! `artel workshop`

use std::path::PathBuf;

use artel_workshop::{CommandContext, WorkshopFailures};

use super::init;
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Look at the workshop in use, or trust one that came from elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel workshop show")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Use a workshop that you did not make, when you stand in it
    ///
    /// Its settings, policy, roles, skills and the like hold from then on, and are listed; the keys that
    /// signed its journal are accepted. Look at its artel.toml first. Roles, tools and policy that a run
    /// put into a workshop of yours, when an older Artel let it, count from then on, too; `artel doctor`
    /// names them.
    #[command(after_help = "Example: artel workshop trust ~/team/Artel")]
    Trust {
        /// The workshop; the one this folder is in if not given
        dir: Option<PathBuf>,
    },
    /// Show which workshop is in use, and why that one
    #[command(after_help = "Example: artel workshop show --json")]
    Show,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let (workshop, word) = match &args.command {
        Command::Trust { dir } => {
            let brought = caller.brought_by_workshop(dir.as_deref())?;
            let trusted = caller.trust(dir.as_deref())?;
            if let Some(brought) = brought {
                init::show(&brought, screen);
            }
            screen.notes(&trusted.notes);
            for seen in trusted.done.trust_unseen()? {
                let file = harmless(&seen.file.display().to_string());
                screen.notes(&[match &seen.hash {
                    Some(hash) => format!("`{file}` counts as it is now ({})", &hash[..16]),
                    None => {
                        format!("`{file}` cannot be read whole, so nobody reviews it; delete it")
                    }
                }]);
            }
            (trusted.done, "trusted")
        }
        Command::Show => (caller.workshop()?, "in use:"),
    };
    let (path, id) = (
        workshop.root().display().to_string(),
        workshop.id().to_string(),
    );
    if screen.json {
        screen.value(&serde_json::json!({ "path": path, "id": id }))?;
    } else {
        screen.line(format!("{word} {} ({id})", harmless(&path)))?;
    }
    Ok(CliCommandOutcome::Done)
}
