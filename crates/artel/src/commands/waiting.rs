//! `artel waiting`

use artel_workshop::{AttentionItem, CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless};
use crate::screen::{CliOutput, StatusColour};

/// Show what needs you: calls, questions, plans, changesets, interrupted work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel waiting")]
pub(crate) struct Args {}

pub(crate) fn run(
    _: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let mut waits = Vec::new();
    for call in workshop.open_calls()? {
        waits.push(call.waits(workshop.whole_text(&call.asked.shown)?));
    }
    waits.extend(workshop.waiting()?);
    if screen.json {
        screen.value(&waits)?;
        return Ok(CliCommandOutcome::Done);
    }
    if waits.is_empty() {
        screen.say("nothing needs you");
        return Ok(CliCommandOutcome::Done);
    }
    for it in &waits {
        show(it, caller, screen)?;
    }
    Ok(CliCommandOutcome::Done)
}

fn show(
    it: &AttentionItem,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let word = screen.paint(&format!("{:<9}", it.kind.as_str()), StatusColour::Doubtful);
    let title = cell(&it.title, 60);
    screen.line(format!(
        "{word}  {}  {title}: {}",
        it.id,
        cell(&it.text, 400)
    ))?;
    if !it.choices.is_empty() {
        let choices: Vec<String> = it.choices.iter().map(|it| harmless(it)).collect();
        screen.line(format!("           choices: {}", choices.join(", ")))?;
    }
    let commands: Vec<String> = it
        .commands
        .iter()
        .map(|it| format!("`{}`", harmless(&caller.spelled(it))))
        .collect();
    screen.line(format!("           {}", commands.join(" · ")))
}
