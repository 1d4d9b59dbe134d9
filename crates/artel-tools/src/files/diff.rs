//! Patches as values: which files they change, and how. Nothing here touches a file.

mod envelope;
mod fit;
mod unified;

use std::mem;

pub(crate) use fit::{Unfit, fit};

/// What a patch does to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The file before; none when it is made.
    pub(crate) from: Option<String>,
    /// The file after; none when it is deleted. Another name renames it.
    pub(crate) to: Option<String>,
    /// Whether the file before stays under its own name as well.
    pub(crate) keeps: Keeps,
    pub(crate) old_mode: Option<u32>,
    pub(crate) new_mode: Option<u32>,
    pub(crate) hunks: Vec<Hunk>,
}

/// What becomes of the file before when the file after has another name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Keeps {
    #[default]
    Neither,
    /// The patch copies.
    Source,
}

/// Lines that change together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Its heading, to name it by.
    pub(crate) title: String,
    /// How many lines come before it in the old text, if the patch says so.
    pub(crate) old_start: Option<usize>,
    /// The same in the new text.
    pub(crate) new_start: Option<usize>,
    /// Lines to find first, one after the other; the hunk comes after them.
    pub(crate) seek: Vec<String>,
    pub(crate) lines: Vec<Line>,
    /// Whether it ends where the file ends.
    pub(crate) is_at_end: bool,
}

/// A line of a hunk, with its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) text: String,
}

/// In which text a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    Old,
    New,
}

/// Reads a patch in either form: a unified difference, or the envelope that begins with
/// `*** Begin Patch`. What is wrong with it is said with its line.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let first = patch.lines().find(|line| !line.trim().is_empty());
    let files = match first {
        Some(line) if line.trim() == envelope::BEGIN => envelope::parse(patch)?,
        _ => unified::parse(patch)?,
    };
    if files.is_empty() {
        return Err(
            "there is no change in the patch: it needs `--- a/file`, `+++ b/file` and \
                    `@@` lines, or `*** Begin Patch`"
                .to_owned(),
        );
    }
    Ok(files)
}

impl FilePatch {
    /// Turns the change round. A copy and a deletion without its lines cannot be.
    pub(crate) fn reversed(mut self) -> Result<Self, String> {
        let name = self.from.clone().or(self.to.clone()).unwrap_or_default();
        if self.keeps == Keeps::Source {
            return Err(format!("`{name}` is copied: that cannot be reversed"));
        }
        if self.to.is_none() && self.hunks.is_empty() {
            return Err(format!(
                "`{name}` is deleted without its lines: that cannot be reversed"
            ));
        }
        mem::swap(&mut self.from, &mut self.to);
        mem::swap(&mut self.old_mode, &mut self.new_mode);
        for hunk in &mut self.hunks {
            mem::swap(&mut hunk.old_start, &mut hunk.new_start);
            for line in &mut hunk.lines {
                line.side = match line.side {
                    Side::Both => Side::Both,
                    Side::Old => Side::New,
                    Side::New => Side::Old,
                };
            }
        }
        Ok(self)
    }
}

impl Hunk {
    pub(crate) fn lines_of(&self, side: Side) -> impl Iterator<Item = &str> {
        let wanted = move |line: &&Line| line.side == Side::Both || line.side == side;
        self.lines
            .iter()
            .filter(wanted)
            .map(|line| line.text.as_str())
    }

    fn push(&mut self, side: Side, text: &str) {
        let text = format!("{text}\n");
        self.lines.push(Line { side, text });
    }
}

#[cfg(test)]
#[path = "diff/diff_tests.rs"]
mod tests;
