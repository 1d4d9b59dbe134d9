//! `artel trace`

mod events;
mod work;

use artel_workshop::{
    CommandContext, TimelineDetailLevel, TimelineLine, TraceView, TraceViewQuery, Workshop,
    WorkshopFailures,
};

use super::story::laid_out;
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::CliOutput;

/// Show everything that happened in one piece of work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel trace 7c1e90ab\n\
        Example: artel trace 7c1e90ab --step 2")]
pub(crate) struct Args {
    /// The id of a trace, run or session, or a prefix of it
    id: String,
    /// Show every turn with details
    #[arg(long)]
    full: bool,
    /// Only this step of the plan, by its number or name, with every turn
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// List the events themselves, as a table
    #[arg(long)]
    events: bool,
}

impl Args {
    /// Returns which part of the trace to show.
    fn wanted(&self) -> TraceViewQuery {
        TraceViewQuery {
            step: self.step.clone(),
            turn: self.turn,
        }
    }

    /// Returns the level of detail: a single step or turn is shown in full.
    fn view(&self) -> TimelineDetailLevel {
        if self.full || self.step.is_some() || self.turn.is_some() {
            TimelineDetailLevel::Full
        } else {
            TimelineDetailLevel::Summary
        }
    }
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    super::journal::warn(&workshop, screen);
    if args.events {
        return events::show(args, &workshop, screen);
    }
    if let Some(work) = workshop.work_meant(&args.id)? {
        return work::show(args, &workshop, &work, screen);
    }
    if args.step.is_none() {
        let records = workshop.run_records(&args.id)?;
        let is_run = records.iter().any(|record| record.kind == "run.started");
        if !is_run || (screen.json && args.turn.is_none()) {
            return events::show(args, &workshop, screen);
        }
    }
    of_run(args, &workshop, screen)
}

/// Shows the timeline of a run, line by line.
fn of_run(
    args: &Args,
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let view = args.view();
    let eyes = workshop.eyes(Some(view))?;
    let TraceView::Lines(lines) = workshop.traced(&args.id, &args.wanted(), &eyes)? else {
        return events::show(args, workshop, screen);
    };
    show_lines(args, &lines, screen)
}

fn show_lines(
    args: &Args,
    lines: &[TimelineLine],
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "turn": args.turn, "lines": lines }))?;
        return Ok(CliCommandOutcome::Done);
    }
    for line in lines {
        let text = laid_out(line, |sign, paint| screen.paint(sign, paint));
        screen.line(text)?;
    }
    if args.view() == TimelineDetailLevel::Summary {
        screen.flush()?;
        screen.say(format!(
            "turn by turn: `artel trace {} --full`",
            harmless(&args.id)
        ));
    }
    Ok(CliCommandOutcome::Done)
}
