//! `artel token`

use artel_workshop::{CommandContext, TokenHolder, ViewerRole, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Create, list and revoke tokens for the HTTP interface
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel token create --role developer --name ci")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: TokenCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TokenCommand {
    /// Create a token; it is shown once
    #[command(
        after_help = "A user sees summaries, asks, answers and approves; a developer sees \
        everything, steers and merges; an admin also settles who may come in and what agents may do. \
        One for a program (`--program`) approves nothing, whatever its role.\n\n\
        Example: artel token create --role user --name \"release board\" --json"
    )]
    Create {
        /// user, developer or admin
        #[arg(long, value_parser = role)]
        role: ViewerRole,
        /// The person who acts with it; you, if not given
        #[arg(long)]
        name: Option<String>,
        /// A program holds it: it may do what its role may do, but cannot approve, merge or
        /// allow anything
        #[arg(long)]
        program: bool,
    },
    /// List the valid tokens
    #[command(after_help = "Example: artel token list")]
    List,
    /// Revoke a token; it is refused from then on
    #[command(after_help = "Example: artel token revoke 3f9a1c22")]
    Revoke {
        /// Its id, as `artel token list` shows it
        id: String,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    match &args.act {
        TokenCommand::Create {
            role,
            name,
            program,
        } => {
            let holder = if *program {
                TokenHolder::Program
            } else {
                TokenHolder::Person
            };
            let made = workshop.create_token(name.as_deref(), *role, holder)?;
            screen.notes(&made.notes);
            if screen.json {
                screen.value(&made.done)?;
            } else {
                screen.line(&made.done.token)?;
                let (id, role) = (&made.done.id, &made.done.role);
                screen.say(format!(
                    "token {id} with the role {role}; it is not shown again. Use it as `Authorization: Bearer …`"
                ));
            }
        }
        TokenCommand::List => {
            let rows = workshop.tokens()?;
            if screen.json {
                screen.value(&rows)?;
            } else if rows.is_empty() {
                screen.say("no tokens; `artel token create --role developer` makes one");
            } else {
                for row in rows {
                    let (name, by) = (harmless(&row.name), harmless(&row.by));
                    screen.line(format!(
                        "{}  {:<9}  {}  {name}{}  made by {by}",
                        row.id,
                        row.role,
                        row.created,
                        if row.program { " (program)" } else { "" }
                    ))?;
                }
            }
        }
        TokenCommand::Revoke { id } => {
            let gone = workshop.revoke_token(id)?;
            screen.notes(&gone.notes);
            if screen.json {
                screen.value(&gone.done)?;
            } else {
                screen.line(format!(
                    "{} ({}) holds no more",
                    gone.done.id,
                    harmless(&gone.done.name)
                ))?;
            }
        }
    }
    Ok(CliCommandOutcome::Done)
}

/// Parses the name of a role.
pub(super) fn role(text: &str) -> Result<ViewerRole, String> {
    let known = text.parse();
    known.map_err(|()| "expected user, developer or admin".to_owned())
}
