//! The recorded events of a trace.

use artel_types::EventVisibility;
use artel_workshop::{
    RunVisibility, TimelineDetailLevel, TraceEvents, Workshop, WorkshopFailures, seen,
};

use super::Args;
use crate::CliCommandOutcome;
use crate::render::{EVENT_HEAD, counted, event_row, harmless, table};
use crate::screen::CliOutput;

/// Shows the events, except for those that nobody may see.
pub(super) fn show(
    args: &Args,
    workshop: &Workshop,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let story = gathered(args, workshop)?;
    if screen.json {
        screen.value(&story)?;
        return Ok(CliCommandOutcome::Done);
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
    Ok(CliCommandOutcome::Done)
}

/// Collects the events to show.
pub(super) fn gathered(args: &Args, workshop: &Workshop) -> Result<TraceEvents, WorkshopFailures> {
    let up_to = if args.full {
        EventVisibility::Hidden
    } else {
        EventVisibility::Summary
    };
    let mut story = workshop.trace(&args.id, up_to)?;
    let asked = args.full.then_some(TimelineDetailLevel::Full);
    let eyes = RunVisibility {
        role: artel_config::ViewerRole::Admin,
        view: TimelineDetailLevel::Full,
        most: TimelineDetailLevel::Full,
        ..workshop.eyes(asked)?
    };
    story.events = story
        .events
        .iter()
        .filter_map(|it| seen(&eyes, it))
        .collect();
    Ok(story)
}
