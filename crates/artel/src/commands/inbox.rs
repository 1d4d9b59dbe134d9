//! `artel inbox`

use std::sync::Arc;

use artel_types::FailureKind;
use artel_workshop::{CommandContext, InboxFound, WorkshopFailures};
use serde_json::{Value, json};

use super::planned::{PlanProgressOutput, PlanSession, object};
use super::run::FirstUseAnswerMode;
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::runtime;
use crate::screen::{CliOutput, StatusColour};

/// Process what you put into the inbox folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel inbox scan")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Pick up new requests and changed plans, and plan what is new
    ///
    /// Requests are Markdown files in Inbox/Requests. A plan that you edit in Inbox/Plans
    /// is the next version; a plan that you move to Inbox/Active is approved.
    #[command(after_help = "Example: artel inbox scan --no-plan")]
    Scan {
        /// Pick the files up without planning anything
        #[arg(long)]
        no_plan: bool,
        /// The model: an alias, or provider:model
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Answer first-use questions with yes, for scripts
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let Command::Scan {
        no_plan,
        model,
        yes,
    } = &args.command;
    let workshop = Arc::new(caller.workshop()?);
    let scanned = runtime::block_on(workshop.scan_inbox())??;
    screen.notes(&scanned.notes);
    if !screen.json {
        for found in &scanned.files {
            show(found, screen)?;
        }
        if scanned.files.is_empty() && (*no_plan || scanned.due.is_empty()) {
            screen.say("nothing new in the inbox");
        }
        screen.flush()?;
    }
    let mut planned = Vec::new();
    let mut verdict = if scanned.files.iter().any(|it| it.what == "refused") {
        CliCommandOutcome::Bad(FailureKind::Failed)
    } else {
        CliCommandOutcome::Done
    };
    let due = if *no_plan { &[][..] } else { &scanned.due[..] };
    for trace in due {
        let mut bench = PlanSession::new(Arc::clone(&workshop), caller, screen);
        bench.model.clone_from(model);
        bench.answers = if *yes {
            FirstUseAnswerMode::Yes
        } else {
            FirstUseAnswerMode::Ask
        };
        bench.telling = PlanProgressOutput::AnswerOnly;
        let outcome = bench.take_on(*trace)?;
        if !bench.screen.json {
            for line in &outcome.lines {
                bench.screen.line(line)?;
            }
        }
        let mut value = object(workshop.request_value(&workshop.work(*trace)?));
        value.extend(outcome.value);
        match outcome.end {
            Ok(CliCommandOutcome::Done) => {}
            Ok(other) => verdict = other,
            // A problem with one request does not hold up the others.
            Err(failure) => {
                screen.say(if screen.json {
                    json!({ "error": failure }).to_string()
                } else {
                    failure.to_string()
                });
                verdict = CliCommandOutcome::Bad(failure.kind());
            }
        }
        planned.push(Value::Object(value));
        if verdict == CliCommandOutcome::Bad(FailureKind::Interrupted) {
            break;
        }
    }
    if screen.json {
        screen.value(&json!({ "files": scanned.files, "planned": planned }))?;
    }
    Ok(verdict)
}

fn show(found: &InboxFound, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let paint = match found.what {
        "refused" => StatusColour::Bad,
        "rewritten" => StatusColour::Doubtful,
        _ => StatusColour::Good,
    };
    let word = screen.paint(&format!("{:<9}", found.what), paint);
    let (file, text) = (harmless(&found.file), harmless(&found.text));
    let trace = found
        .trace
        .map_or(String::new(), |it| format!("{}  ", it.short()));
    screen.line(format!("{word}  {trace}{file}: {text}"))
}
