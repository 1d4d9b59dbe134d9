//! Patches as values: the files that they change, and how. Nothing here touches a file.

mod envelope;
mod fit;
mod unified;

use std::mem;

pub(crate) use fit::{HunkFitError, fit};

/// The change to one file in a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The file before the change, or `None` if the patch creates it.
    pub(crate) from: Option<String>,
    /// The file after the change, or `None` if the patch deletes it. Another name renames it.
    pub(crate) to: Option<String>,
    /// Whether the old file stays under its own name too.
    pub(crate) keeps: PatchSourceHandling,
    pub(crate) old_mode: Option<u32>,
    pub(crate) new_mode: Option<u32>,
    pub(crate) hunks: Vec<PatchHunk>,
}

/// Treatment of the old file when the new file has another name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PatchSourceHandling {
    #[default]
    Neither,
    /// The patch copies the file.
    Source,
}

/// Adjacent lines that change together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PatchHunk {
    /// The heading of the hunk, which identifies it in messages.
    pub(crate) title: String,
    /// Number of lines before the hunk in the old text, if the patch states it.
    pub(crate) old_start: Option<usize>,
    /// Number of lines before the hunk in the new text, if the patch states it.
    pub(crate) new_start: Option<usize>,
    /// Lines to find first, one after the other; the hunk comes after them.
    pub(crate) seek: Vec<String>,
    pub(crate) lines: Vec<PatchLine>,
    /// Whether the hunk ends at the end of the file.
    pub(crate) is_at_end: bool,
}

/// A line of a hunk, with its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchLine {
    pub(crate) side: PatchLineSide,
    pub(crate) text: String,
}

/// The text that a line belongs to: old, new or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchLineSide {
    Both,
    Old,
    New,
}

/// Parses a patch in either format: a unified diff, or the envelope that begins with
/// `*** Begin Patch`. An error names the line.
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
    /// Reverses the change. A copy cannot be reversed, nor a deletion without its lines.
    pub(crate) fn reversed(mut self) -> Result<Self, String> {
        let name = self.from.clone().or(self.to.clone()).unwrap_or_default();
        if self.keeps == PatchSourceHandling::Source {
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
                    PatchLineSide::Both => PatchLineSide::Both,
                    PatchLineSide::Old => PatchLineSide::New,
                    PatchLineSide::New => PatchLineSide::Old,
                };
            }
        }
        Ok(self)
    }
}

impl PatchHunk {
    pub(crate) fn lines_of(&self, side: PatchLineSide) -> impl Iterator<Item = &str> {
        let wanted = move |line: &&PatchLine| line.side == PatchLineSide::Both || line.side == side;
        self.lines
            .iter()
            .filter(wanted)
            .map(|line| line.text.as_str())
    }

    fn push(&mut self, side: PatchLineSide, text: &str) {
        let text = format!("{text}\n");
        self.lines.push(PatchLine { side, text });
    }
}

#[cfg(test)]
#[path = "diff/diff_tests.rs"]
mod tests;
