//! `artel portal`

mod look;

use std::path::PathBuf;

use artel_types::model::PrivacyLabel;
use artel_workshop::{
    CommandContext, NewPortal, OutcomeWithNotes, Portal, PortalOperation, WorkshopFailures,
};
use clap::ValueEnum;

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Open project folders to agents, and set what applies there
///
/// Agents read a portal; they change a copy of their own, and their changes reach the
/// folder only through a changeset that you approve.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel portal list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Open a project folder, or change the terms of an open one
    ///
    /// Options that are not given stay as they are; in a new portal every role may do
    /// everything.
    #[command(after_help = "Example: artel portal add ~/code/shop\n\
        Example: artel portal add . --operations read --agents librarian,inspector\n\
        Example: artel portal add . --privacy local-only --check 'make test'")]
    Add(PortalAddArgs),
    /// List the portals
    #[command(after_help = "Example: artel portal list --json")]
    List,
    /// Show the terms of one portal
    #[command(after_help = "Example: artel portal show shop")]
    Show {
        /// The portal's name
        name: String,
    },
    /// Close a folder to agents; the folder and your notes stay
    #[command(after_help = "Example: artel portal remove shop")]
    Remove {
        /// The portal's name
        name: String,
    },
    /// Check that portals are still what they were when they were opened
    ///
    /// Exit code 1 if one cannot be used.
    #[command(after_help = "Example: artel portal verify\n\
        Example: artel portal verify shop --json")]
    Verify {
        /// Names of portals; all if not given
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Detect again what a project consists of, and write its card
    #[command(after_help = "Example: artel portal refresh shop")]
    Refresh {
        /// The portal's name
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct PortalAddArgs {
    /// The folder
    path: PathBuf,
    /// The name for @NAME/path; the folder's name if not given
    #[arg(long)]
    name: Option<String>,
    /// The operations allowed there: read, write, git
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    operations: Option<Vec<PortalOperation>>,
    /// The roles that may work there; * for all
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    agents: Option<Vec<String>>,
    /// Where its content may go
    #[arg(long, value_enum)]
    privacy: Option<PortalPrivacyArg>,
    /// A command that builds, lints or tests it; detected from its files if none is given
    #[arg(long = "check", value_name = "CMD")]
    checks: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PortalPrivacyArg {
    /// To any configured model
    Any,
    /// Only to models on this machine
    LocalOnly,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::Add(args) => add(args, caller, screen),
        Command::List => look::list(caller, screen),
        Command::Show { name } => look::show(name, caller, screen),
        Command::Remove { name } => {
            let closed = caller.workshop()?.close_portal(name)?;
            told(closed, "closed", screen)
        }
        Command::Verify { names } => look::verify(names, caller, screen),
        Command::Refresh { name } => {
            let looked_at = caller.workshop()?.refresh_portal(name)?;
            told(looked_at, "looked at", screen)
        }
    }
}

fn add(
    args: &PortalAddArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop_or_new()?;
    screen.notes(&workshop.notes);
    let new = NewPortal {
        path: args.path.clone(),
        name: args.name.clone(),
        operations: args.operations.clone(),
        agents: args.agents.clone(),
        privacy: args.privacy.map(|label| match label {
            PortalPrivacyArg::Any => PrivacyLabel::Any,
            PortalPrivacyArg::LocalOnly => PrivacyLabel::LocalOnly,
        }),
        checks: (!args.checks.is_empty()).then(|| args.checks.clone()),
    };
    told(workshop.done.open_portal(&new)?, "open:", screen)
}

/// Shows what was done to a portal.
fn told(
    noted: OutcomeWithNotes<Portal>,
    word: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let OutcomeWithNotes {
        done: portal,
        notes,
    } = noted;
    screen.notes(&notes);
    if screen.json {
        screen.value(&portal)?;
        return Ok(CliCommandOutcome::Done);
    }
    let path = portal.path.display().to_string();
    let (name, path) = (harmless(&portal.name), harmless(&path));
    screen.line(format!("{word} {name} ({path})"))?;
    Ok(CliCommandOutcome::Done)
}
