//! `artel trace`

use artel_types::Visibility;
use artel_workshop::{Caller, Problems};

use crate::Verdict;
use crate::render::{EVENT_HEAD, counted, event_row, harmless, table};
use crate::screen::Screen;

/// Show everything that happened in one piece of work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel trace 7c1e90ab --full")]
pub(crate) struct Args {
    /// The id of a trace, run or session, or how it begins
    id: String,
    /// Show details too
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let up_to = if args.full {
        Visibility::Hidden
    } else {
        Visibility::Summary
    };
    let story = caller.workshop()?.trace(&args.id, up_to)?;
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
