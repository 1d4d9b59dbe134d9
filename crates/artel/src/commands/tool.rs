//! `artel tool`

mod terminal;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use artel_tools::ToolCallApprover;
use artel_types::FailureKind;
use artel_workshop::{CommandContext, ToolDetail, ToolTrial, ToolTrialOutcome, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{harmless, harmless_lines};
use crate::screen::{CliOutput, StatusColour};

pub(super) use terminal::TerminalApprover;

/// Look at the tools that agents have, and try one
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel tool list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the tools, built in and declared in this workshop
    #[command(after_help = "Example: artel tool list --json")]
    List,
    /// Show one tool with the schema of its input
    #[command(after_help = "Example: artel tool show edit")]
    Show {
        /// The tool's name
        name: String,
    },
    /// Try a tool in a scratch copy of a folder, and see what it would change
    ///
    /// Policy, sandbox and journal are the same as for a run. The folder itself stays as it
    /// is. Exit code 1 if the tool failed, 3 if it was refused.
    #[command(
        after_help = "Example: artel tool run grep '{\"pattern\": \"TODO\"}'\n\
        Example: artel tool run bash '{\"command\": \"cargo test\"}' --root ~/shop"
    )]
    Run {
        /// The tool's name
        name: String,
        /// The tool's input
        #[arg(value_name = "JSON")]
        input: String,
        /// The folder to copy; the current one if not given
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        /// The role that uses it
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::List => list(&caller.tools()?, screen),
        Command::Show { name } => show(&caller.tool(name)?, screen),
        Command::Run {
            name,
            input,
            root,
            role,
        } => {
            let run = ToolTrial {
                name: name.clone(),
                input: input.clone(),
                root: root.clone(),
                role: role.clone(),
            };
            let can_ask = !screen.json && io::stdin().is_terminal();
            let person = can_ask
                .then(|| Arc::new(TerminalApprover::of(caller)) as Arc<dyn ToolCallApprover>);
            let told = screen.teller();
            done(&caller.run_tool(&run, person, told)?, screen)
        }
    }
}

fn list(
    tools: &[ToolDetail],
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&tools)?;
        return Ok(CliCommandOutcome::Done);
    }
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    for tool in tools {
        let mark = if tool.always { "*" } else { " " };
        screen.line(format!(
            "{mark} {:<width$}  {}",
            tool.name,
            harmless(&tool.line)
        ))?;
    }
    screen.say("* is in every request; the others are found by `find_tools`");
    Ok(CliCommandOutcome::Done)
}

fn show(tool: &ToolDetail, screen: &mut CliOutput) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(tool)?;
        return Ok(CliCommandOutcome::Done);
    }
    let words = |value: &serde_json::Value| value.to_string().replace('"', "");
    let effects: Vec<_> = tool
        .effects
        .iter()
        .map(|effect| words(&serde_json::json!(effect)))
        .collect();
    let unknown = serde_json::json!(tool.unknown);
    let schema = serde_json::to_string_pretty(&tool.input).unwrap_or_default();
    screen.line(format!("{}: {}\n", tool.name, harmless(&tool.line)))?;
    screen.line(format!("{}\n", harmless(&tool.description)))?;
    screen.line(format!("touches          {}", effects.join(", ")))?;
    screen.line(format!("unknown outcome  {}", words(&unknown)))?;
    screen.line(format!(
        "bundle           {}\n\ninput\n{schema}",
        tool.bundle
    ))?;
    Ok(CliCommandOutcome::Done)
}

fn done(
    done: &ToolTrialOutcome,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let verdict = match &done.result {
        Ok(_) => CliCommandOutcome::Done,
        Err(trouble) if trouble.kind == artel_tools::ToolErrorKind::Refused => {
            CliCommandOutcome::Bad(FailureKind::Refused)
        }
        Err(_) => CliCommandOutcome::Bad(FailureKind::Failed),
    };
    if screen.json {
        let (text, data, trouble) = match &done.result {
            Ok(observation) => (observation.text.clone(), observation.data.clone(), None),
            Err(trouble) => (
                trouble.to_string(),
                serde_json::Value::Null,
                Some(trouble.kind),
            ),
        };
        screen.value(&serde_json::json!({
            "decision": done.decision,
            "text": text,
            "data": data,
            "trouble": trouble,
            "changed": done.changed,
            "diff": done.difference,
        }))?;
        return Ok(verdict);
    }
    match &done.result {
        Ok(observation) => screen.line(harmless_lines(&observation.text))?,
        Err(trouble) => {
            let word = screen.paint("failed", StatusColour::Bad);
            screen.line(format!("{word}: {}", harmless_lines(&trouble.to_string())))?;
        }
    }
    if !done.difference.is_empty() {
        screen.line(format!("\n{}", harmless_lines(&done.difference)))?;
    }
    Ok(verdict)
}
