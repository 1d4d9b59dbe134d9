//! The size of the terminal, and what is shown if it is small.

use std::io;

/// Maximum width of a line, even in a wider terminal, because longer lines read badly.
const WIDEST: usize = 98;

/// The current rows and columns of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalSize {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl TerminalSize {
    /// Queries the terminal. If it does not know its size, everything fits.
    pub(super) fn now() -> Self {
        let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
        let known = |count: Option<u16>| count.filter(|it| *it > 0).map_or(usize::MAX, usize::from);
        Self {
            rows: known(size.map(|it| it.ws_row)),
            columns: known(size.map(|it| it.ws_col)),
        }
    }

    /// Returns the maximum width of a line. The last column stays free, because some
    /// terminals wrap there by themselves.
    pub(super) fn width(self) -> usize {
        WIDEST.min(self.columns - 1).max(1)
    }

    /// Returns how many lines fit. The cursor has a line of its own.
    pub(super) fn height(self) -> usize {
        (self.rows - 1).max(1)
    }

    /// Returns how many rows lines of these widths take, including lines that no longer fit
    /// in one row.
    pub(super) fn rows_of(self, widths: &[usize]) -> usize {
        widths
            .iter()
            .map(|width| width.div_ceil(self.columns).max(1))
            .sum()
    }
}

/// The importance of a line. The least important lines are dropped first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlanLinePriority {
    /// A remark about a step.
    Remark,
    /// A gap between lines.
    Gap,
    /// A step that has ended.
    Over,
    /// A step that has not begun.
    Waiting,
    /// Current activity, and what needs the person.
    Now,
}

/// Drops lines until the rest fits, least important first.
pub(super) fn fitted(mut lines: Vec<(PlanLinePriority, String)>, height: usize) -> Vec<String> {
    let weights = [
        PlanLinePriority::Remark,
        PlanLinePriority::Gap,
        PlanLinePriority::Over,
        PlanLinePriority::Waiting,
        PlanLinePriority::Now,
    ];
    for weight in weights {
        let mut many = lines.len().saturating_sub(height);
        lines.retain(|line| {
            let is_left_out = many > 0 && line.0 == weight;
            many -= usize::from(is_left_out);
            !is_left_out
        });
    }
    lines.into_iter().map(|(_, text)| text).collect()
}

/// Shortens text to a number of columns.
pub(super) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let mut short = String::new();
    for letter in text.chars() {
        let Some(rest) = left.checked_sub(columns(letter)) else {
            break;
        };
        left = rest;
        short.push(letter);
    }
    short.push('…');
    short
}

/// Returns how many columns text takes. Colour codes take none.
pub(super) fn width(text: &str) -> usize {
    let mut is_colour = false;
    let mut all = 0;
    for letter in text.chars() {
        match letter {
            '\u{1b}' => is_colour = true,
            'm' if is_colour => is_colour = false,
            _ if is_colour => {}
            letter => all += columns(letter),
        }
    }
    all
}

/// East Asian characters and pictographs take two columns.
fn columns(letter: char) -> usize {
    match u32::from(letter) {
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_columns() {
        for (text, most, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("größer", 5, "größ…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("x", 0, "…"),
        ] {
            assert_eq!(cut(text, most), expected, "{text} {most}");
        }
        assert_eq!(width("\u{1b}[32m✓\u{1b}[0m ok"), 4);
    }

    #[test]
    fn what_is_missed_least_is_left_out_first() {
        let lines = || {
            use PlanLinePriority::{Gap, Now, Over, Remark, Waiting};
            let lines = [Over, Remark, Now, Remark, Waiting, Gap, Now];
            let name = |at: usize| at.to_string();
            let lines = lines.iter().enumerate();
            lines.map(|(at, weight)| (*weight, name(at))).collect()
        };
        for (height, expected) in [
            (9, "0123456"),
            (7, "0123456"),
            (6, "023456"),
            (5, "02456"),
            (4, "0246"),
            (3, "246"),
            (2, "26"),
            (1, "6"),
        ] {
            assert_eq!(fitted(lines(), height).concat(), expected, "{height}");
        }
    }

    #[test]
    fn lines_that_were_wider_take_several_rows() {
        let room = TerminalSize {
            rows: 10,
            columns: 40,
        };
        assert_eq!((room.width(), room.height()), (39, 9));
        assert_eq!(room.rows_of(&[0, 40, 41, 98]), 1 + 1 + 2 + 3);
    }
}
