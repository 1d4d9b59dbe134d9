//! `artel agent`

mod look;

use std::path::PathBuf;

use artel_types::FailureKind;
use artel_workshop::{AgentReport, CommandContext, NewAgent, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::{CliOutput, StatusColour, YesFlag};

/// See the roles that agents work in, and create your own
///
/// Eleven are built in. A file in Agents/ of the workshop adds a role, or replaces a
/// built-in role with the same id.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel agent list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a role in the workshop's Agents folder
    #[command(
        after_help = "Example: artel agent create sql-expert --name \"SQL expert\" \
        --template coder\n\
        Example: artel agent create reviewer --name Reviewer --model strong --prompt-file how.md"
    )]
    Create(AgentCreateArgs),
    /// List the roles, both built in and of this workshop
    #[command(after_help = "Example: artel agent list --json")]
    List,
    /// Show a role: its model, its tools, its prompt
    #[command(after_help = "Example: artel agent show inspector")]
    Show {
        /// The role's id
        id: String,
    },
    /// Check roles against every rule that a role must follow
    ///
    /// Exit code 1 if something is wrong.
    #[command(after_help = "Example: artel agent validate sql-expert\n\
        Example: artel agent validate --all")]
    Validate {
        /// The role's id
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Check all roles
        #[arg(long)]
        all: bool,
    },
    /// Open a role's file in your editor, and check the result
    ///
    /// For a built-in role, a file is created that replaces it, unless you change nothing.
    #[command(after_help = "Example: EDITOR=nano artel agent edit engineer\n\
        Example: artel agent edit sql-expert")]
    Edit {
        /// The role's id
        id: String,
    },
    /// Remove a role's file
    #[command(after_help = "Example: artel agent remove sql-expert --yes")]
    Remove {
        /// The role's id
        id: String,
        /// Answer yes in advance
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, clap::Args)]
struct AgentCreateArgs {
    /// The role's id: lower-case letters, digits and hyphens
    id: String,
    /// The name people use for it
    #[arg(long)]
    name: String,
    /// The model: an alias, or PROVIDER:MODEL
    #[arg(long)]
    model: Option<String>,
    /// What it is for, in one line
    #[arg(long)]
    description: Option<String>,
    /// What it is good at
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    capabilities: Option<Vec<String>>,
    /// How it works, in words; the template's prompt if not given
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// Read the prompt from a file
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// What to start from: default, coder, reviewer, architect, researcher, gemini, mock,
    /// or a built-in role
    #[arg(long)]
    template: Option<String>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::Create(args) => create(args, caller, screen),
        Command::List => look::list(caller, screen),
        Command::Show { id } => look::show(id, caller, screen),
        Command::Validate { id, .. } => {
            let reports = caller.validate_agents(id.as_deref())?;
            judged(&reports, screen)
        }
        Command::Edit { id } => edit(id, caller, screen),
        Command::Remove { id, yes } => remove(id, (*yes).into(), caller, screen),
    }
}

fn create(
    args: &AgentCreateArgs,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop_or_new()?;
    screen.notes(&workshop.notes);
    let made = workshop.done.create_agent(&NewAgent {
        id: args.id.clone(),
        name: args.name.clone(),
        model: args.model.clone(),
        description: args.description.clone(),
        capabilities: args.capabilities.clone(),
        prompt: args.prompt.clone(),
        prompt_file: args.prompt_file.clone(),
        template: args.template.clone(),
    })?;
    screen.notes(&made.notes);
    if screen.json {
        screen.value(&made.done)?;
        return Ok(CliCommandOutcome::Done);
    }
    let file = made.done.file.as_deref().unwrap_or_default();
    screen.line(format!("made {}", harmless(file)))?;
    let id = harmless(&args.id);
    screen.say(format!(
        "Next: `artel agent edit {id}`, `artel ask --agent {id} …`"
    ));
    Ok(CliCommandOutcome::Done)
}

fn edit(
    id: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let edited = caller.workshop()?.edit_agent(id)?;
    screen.notes(&edited.notes);
    judged(&[edited.done], screen)
}

fn remove(
    id: &str,
    yes: YesFlag,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let question = workshop.agent_to_remove(id)?;
    let is_gone = screen.confirm(&question, yes)?;
    if is_gone {
        let removed = workshop.remove_agent(id)?;
        screen.notes(&removed.notes);
    }
    if screen.json {
        screen.value(&serde_json::json!({ "id": id, "removed": is_gone }))?;
    } else {
        let word = if is_gone { "removed" } else { "kept" };
        screen.line(format!("{word} {}", harmless(id)))?;
    }
    Ok(CliCommandOutcome::Done)
}

/// Shows the results of role checks.
fn judged(
    reports: &[AgentReport],
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let is_fine = reports.iter().all(|report| report.ok);
    if screen.json {
        screen.value(&serde_json::json!({ "ok": is_fine, "agents": reports }))?;
    } else {
        for report in reports {
            show_report(report, screen)?;
        }
    }
    Ok(if is_fine {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Failed)
    })
}

fn show_report(report: &AgentReport, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let id = harmless(&report.id);
    for check in &report.checks {
        let Some(failure) = &check.failure else {
            let word = screen.paint("ok", StatusColour::Good);
            screen.line(format!("{word}   {id}: {}", check.what))?;
            continue;
        };
        let word = screen.paint("bad", StatusColour::Bad);
        let what = harmless(&failure.what);
        screen.line(format!("{word}  {id}: {}: {what}", check.what))?;
        for (name, text) in [("why", &failure.why), ("try", &failure.advice)] {
            if let Some(text) = text {
                screen.line(format!("       {name}: {}", harmless(text)))?;
            }
        }
    }
    Ok(())
}
