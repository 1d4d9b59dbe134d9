//! Layout of the lines of a run's timeline in a terminal.

use artel_workshop::{Line, Mark};

use crate::render::harmless_lines;
use crate::screen::Paint;

/// Lays out a line. `paint` colours the sign in front of it, if there are colours.
pub(crate) fn laid_out(line: &Line, paint: impl Fn(&str, Paint) -> String) -> String {
    let sign = match line.mark {
        Mark::Head | Mark::Turn => String::new(),
        Mark::Plain | Mark::Words => "  ".to_owned(),
        Mark::Done => format!("{} ", paint("✓", Paint::Good)),
        Mark::Bad => format!("{} ", paint("✗", Paint::Bad)),
        Mark::Waits => format!("{} ", paint("⏸", Paint::Doubtful)),
        Mark::Call => "  → ".to_owned(),
        Mark::Result => "  ← ".to_owned(),
        Mark::Failed => format!("  {} ", paint("✗", Paint::Bad)),
        Mark::Detail => "    ".to_owned(),
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
