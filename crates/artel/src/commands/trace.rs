//! `artel trace`

use artel_types::Visibility;
use artel_workshop::{Caller, Eyes, Problems, View, Words, Workshop, seen};

use super::story::laid_out;
use crate::Verdict;
use crate::render::{EVENT_HEAD, counted, event_row, harmless, table};
use crate::screen::Screen;

/// Show everything that happened in one piece of work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel trace 7c1e90ab --full")]
pub(crate) struct Args {
    /// The id of a trace, run or session, or how it begins
    id: String,
    /// Turn by turn, with details
    #[arg(long)]
    full: bool,
    /// Only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// The events themselves, as a table
    #[arg(long)]
    events: bool,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = caller.workshop()?;
    if screen.json || args.events {
        return events(args, &workshop, screen);
    }
    let records = workshop.run_records(&args.id)?;
    if !records.iter().any(|record| record.kind == "run.started") {
        return events(args, &workshop, screen);
    }
    // A single turn is looked at closely.
    let view = if args.full || args.turn.is_some() {
        View::Full
    } else {
        View::Summary
    };
    let mut narrator = workshop.narrator(workshop.eyes(Some(view))?, Words::Told);
    for record in &records {
        for line in narrator.tell(record) {
            // A turn is headed before its reply is there.
            let turn = line.turn + u32::from(line.mark == artel_workshop::Mark::Turn);
            if args.turn.is_none_or(|wanted| wanted == turn) {
                let text = laid_out(&line, |sign, paint| screen.paint(sign, paint));
                screen.line(text)?;
            }
        }
    }
    if view == View::Summary {
        screen.flush()?;
        screen.say(format!(
            "turn by turn: `artel trace {} --full`",
            harmless(&args.id)
        ));
    }
    Ok(Verdict::Done)
}

/// Shows the events as they are on record, without what is nobody's to see.
fn events(args: &Args, workshop: &Workshop, screen: &mut Screen) -> Result<Verdict, Problems> {
    let up_to = if args.full {
        Visibility::Hidden
    } else {
        Visibility::Summary
    };
    let mut story = workshop.trace(&args.id, up_to)?;
    let asked = args.full.then_some(View::Full);
    let eyes = Eyes {
        role: artel_config::Viewer::Admin,
        view: View::Full,
        ..workshop.eyes(asked)?
    };
    story.events = story
        .events
        .iter()
        .filter_map(|it| seen(&eyes, it))
        .collect();
    if screen.json {
        screen.value(&story)?;
        return Ok(Verdict::Done);
    }
    screen.line(format!("trace {}", harmless(&story.trace)))?;
    let rows: Vec<Vec<String>> = story.events.iter().map(event_row).collect();
    if !rows.is_empty() {
        screen.raw(&table(&EVENT_HEAD, &rows))?;
    }
    if story.hidden > 0 {
        screen.say(format!(
            "{} with --full",
            counted(story.hidden, "more event")
        ));
    }
    Ok(Verdict::Done)
}
