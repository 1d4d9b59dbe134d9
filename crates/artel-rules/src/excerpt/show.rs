//! Renders the excerpt.

use artel_types::counted;

use super::line::ClippedOutputLine;
use super::visible::visible;
use super::{OutputExcerpt, OutputExcerptBuilder, split_line};

/// Some lines in their displayed form.
#[derive(Default)]
struct ExcerptSection {
    text: String,
    lines: u64,
    bytes: u64,
    /// Number of lines that stand out.
    telling: u64,
    /// Whether a line is incomplete.
    is_cut: bool,
}

impl ExcerptSection {
    /// Shows lines from the first one onwards, as far as the budget goes.
    fn forward<'a>(lines: impl Iterator<Item = &'a ClippedOutputLine>, budget: usize) -> Self {
        let mut part = Self::default();
        for line in lines {
            let (shown, is_cut) = line.shown();
            if part.lines > 0 && part.text.len() + shown.len() > budget {
                break;
            }
            part.text.push_str(&shown);
            part.text.push('\n');
            part.lines += 1;
            part.bytes += line.bytes() + 1;
            part.telling += u64::from(line.marks().stands_out);
            part.is_cut |= is_cut;
        }
        part
    }

    /// Shows lines up to the last one, as far back as the budget goes.
    fn backward<'a>(
        lines: impl DoubleEndedIterator<Item = &'a ClippedOutputLine>,
        budget: usize,
    ) -> Self {
        let mut room = budget;
        let mut fitting: Vec<&ClippedOutputLine> = Vec::new();
        for line in lines.rev() {
            let length = line.shown().0.len() + 1;
            if !fitting.is_empty() && length > room {
                break;
            }
            room = room.saturating_sub(length);
            fitting.push(line);
        }
        Self::forward(fitting.into_iter().rev(), usize::MAX)
    }
}

impl OutputExcerptBuilder {
    /// Shows the parts with the gap between them, and returns whether anything is missing.
    pub(super) fn show_parts(&self, text: &mut String) -> bool {
        let total = self.limits.total;
        let first = ExcerptSection::forward(self.first.iter(), total / 4);
        let last = ExcerptSection::backward(self.last.iter(), total / 2);
        let gap = self.lines - first.lines - last.lines;
        text.push_str(&first.text);
        if gap > 0 {
            let bytes = self.bytes.saturating_sub(first.bytes + last.bytes);
            let left_out = format!("{}, {}", counted(gap, "line"), counted(bytes, "byte"));
            text.push_str(&format!("[… {left_out} left out …]\n"));
            self.show_telling(&first, &last, text);
        }
        text.push_str(&last.text);
        gap > 0 || first.is_cut || last.is_cut
    }

    /// Shows the notable lines that are in neither part.
    fn show_telling(&self, first: &ExcerptSection, last: &ExcerptSection, text: &mut String) {
        // First lines that did not fit can be notable, too.
        let early = (1..)
            .zip(&self.first)
            .skip(self.first.len().min(first.lines as usize));
        let early = early.filter(|(_, line)| line.marks().stands_out);
        let early: Vec<(u64, &ClippedOutputLine)> = early.collect();
        let all = (early.len() as u64 + self.stood_out).saturating_sub(last.telling);
        if all == 0 {
            return;
        }
        text.push_str("[… among them:]\n");
        let before_last = self.lines - last.lines;
        let later = self.telling.iter().map(|told| (told.number, &told.line));
        let later = later.filter(|(number, _)| *number <= before_last);
        let (mut shown, from) = (0, text.len());
        for (number, line) in early.into_iter().chain(later).take(self.limits.telling) {
            let line = format!("{number}: {}\n", line.shown().0);
            if text.len() - from + line.len() > self.limits.total / 4 && shown > 0 {
                break;
            }
            text.push_str(&line);
            shown += 1;
        }
        if all > shown {
            let more = counted(all - shown, "more line");
            text.push_str(&format!("[… {more} like these left out …]\n"));
        }
        text.push_str("[… and at the end:]\n");
    }
}

/// Returns the text that a model is shown of both streams: the counts, the standard
/// output, then the standard error. If anything was left out, the sizes follow, with
/// `fetch`, the sentence that says how to get the full text. Complete standard output that
/// is alone and has no errors or warnings is returned as it is.
pub fn render(stdout: &OutputExcerpt, stderr: &OutputExcerpt, fetch: &str) -> String {
    let lines = stdout.lines + stderr.lines;
    if lines == 0 {
        return "no output\n".to_owned();
    }
    let (errors, warnings) = (
        stdout.errors + stderr.errors,
        stdout.warnings + stderr.warnings,
    );
    if errors + warnings + stderr.lines == 0 && !stdout.truncated {
        return stdout.text.clone();
    }
    let mut text = format!("{}\n", summary(errors, warnings, lines));
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if stream.lines > 0 {
            text.push_str(&format!("--- {name} ---\n{}", stream.text));
        }
    }
    if stdout.truncated || stderr.truncated {
        let sizes = [("stdout", stdout), ("stderr", stderr)]
            .into_iter()
            .filter(|(_, stream)| stream.lines > 0)
            .map(|(name, stream)| {
                let (lines, bytes) = (counted(stream.lines, "line"), counted(stream.bytes, "byte"));
                format!("{name} has {lines}, {bytes}")
            });
        let sizes: Vec<String> = sizes.collect();
        text.push_str(&format!("[truncated: {}. {fetch}]\n", sizes.join("; ")));
    }
    text
}

/// Returns the counts as the beginning of a sentence.
pub(super) fn summary(errors: u64, warnings: u64, lines: u64) -> String {
    if errors + warnings == 0 {
        return format!("{} of output", counted(lines, "line"));
    }
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    format!("{errors}, {warnings} in {}", counted(lines, "line"))
}

/// Shows every line of short output.
pub(super) fn all(bytes: &[u8], text: &mut String) {
    let mut rest = (!bytes.is_empty()).then(|| bytes.strip_suffix(b"\n").unwrap_or(bytes));
    while let Some(bytes) = rest {
        let (line, after) = split_line(bytes);
        text.push_str(&visible(line));
        text.push('\n');
        rest = after;
    }
}
