//! Layout of the lines of a run's timeline in a terminal.

use artel_workshop::{TimelineLine, TimelineLineKind};

use crate::render::harmless_lines;
use crate::screen::StatusColour;

/// Lays out a line. `paint` colours the sign in front of it, if there are colours.
pub(crate) fn laid_out(
    line: &TimelineLine,
    paint: impl Fn(&str, StatusColour) -> String,
) -> String {
    let sign = match line.mark {
        TimelineLineKind::Head | TimelineLineKind::Turn => String::new(),
        TimelineLineKind::Plain | TimelineLineKind::Words => "  ".to_owned(),
        TimelineLineKind::Done => format!("{} ", paint("✓", StatusColour::Good)),
        TimelineLineKind::Bad => format!("{} ", paint("✗", StatusColour::Bad)),
        TimelineLineKind::Waits => format!("{} ", paint("⏸", StatusColour::Doubtful)),
        TimelineLineKind::Call => "  → ".to_owned(),
        TimelineLineKind::Result => "  ← ".to_owned(),
        TimelineLineKind::Failed => format!("  {} ", paint("✗", StatusColour::Bad)),
        TimelineLineKind::Detail => "    ".to_owned(),
    };
    let indent = "  ".repeat(line.depth);
    let mut parts = line.text.lines();
    let mut text = format!(
        "{indent}{sign}{}",
        harmless_lines(parts.next().unwrap_or_default())
    );
    for part in parts {
        text.push_str(&format!("\n{indent}  {}", harmless_lines(part)));
    }
    text.trim_end().to_owned()
}
