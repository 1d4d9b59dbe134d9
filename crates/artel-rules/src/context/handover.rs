//! What a fresh run is told about the one whose work it takes over.

use artel_types::Objective;

use super::cut_middle;

/// No hand-over is longer, in bytes; the task comes on top.
const LONGEST: usize = 16_000;

/// No more lines of one sort are handed over.
const MOST_LINES: usize = 60;

/// What is known about the work so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Handover<'a> {
    /// What was asked, verbatim.
    pub task: &'a str,
    /// Why the work is handed over.
    pub why: &'a str,
    /// What was done: a summary of the conversation.
    pub summary: &'a str,
    /// What the run set out to do.
    pub objectives: &'a [Objective],
    /// Files that it made or changed.
    pub changed: &'a [String],
    /// What failed.
    pub failed: &'a [String],
    /// What it said last.
    pub last_words: &'a str,
}

/// Returns the first words of a fresh run that takes over: the task whole, then what is known, in
/// a fixed order.
pub fn handover(from: &Handover<'_>) -> String {
    let (done, open): (Vec<_>, Vec<_>) = from.objectives.iter().partition(|it| it.done);
    let texts = |list: Vec<&Objective>| -> Vec<String> {
        list.into_iter().map(|it| it.text.clone()).collect()
    };
    let share = LONGEST / 4;
    let mut known = section("Why it is handed over", &[from.why.to_owned()]);
    known += &section("What was done", &[cut_middle(from.summary, LONGEST / 2)]);
    known += &section("Done", &texts(done));
    known += &section("Still open", &texts(open));
    known += &section("Files made or changed", from.changed);
    known += &section("Failed, not to be tried again", from.failed);
    known += &section("Last words", &[cut_middle(from.last_words, share)]);
    let known = cut_middle(known.trim_end(), LONGEST);
    format!(
        "{}\n\n[Taken over from an earlier run]\nThe files are as it left them. Look at them \
         before you rely on what is said here.\n\n{known}",
        from.task.trim_end()
    )
}

/// Returns a heading with its lines; nothing where there are none.
pub(super) fn section(heading: &str, lines: &[String]) -> String {
    let lines: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
    match &lines[..] {
        [] => String::new(),
        [only] => format!("{heading}: {only}\n\n"),
        several => {
            let left_out = several.len().saturating_sub(MOST_LINES);
            let shown = several.iter().skip(left_out);
            let mut text = format!("{heading}:\n");
            if left_out > 0 {
                text.push_str(&format!("- … {left_out} earlier ones\n"));
            }
            shown.for_each(|line| text.push_str(&format!("- {line}\n")));
            text.push('\n');
            text
        }
    }
}
