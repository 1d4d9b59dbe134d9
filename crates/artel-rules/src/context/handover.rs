//! The text with which a fresh run takes over the work of another.

use artel_types::RunObjective;
use artel_types::model::{MessagePart, ModelMessage};

use super::{cut, cut_middle, pinned, summary};

/// Longest handover in bytes, without the task and the pinned answers.
const LONGEST: usize = 16_000;

/// Most lines of one list in a handover.
const MOST_LINES: usize = 60;

/// Number of summaries after which the work is handed over: a summary of summaries of
/// summaries is worth little.
const MOST_SUMMARIES: u32 = 2;

/// Separates the task from what is known about the work.
const MARK: &str = "\n\n[Taken over from an earlier run]\n";

/// The number of summaries of a conversation, and the gain of the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactionHistory {
    summaries: u32,
    freed_little: bool,
}

impl CompactionHistory {
    /// Notes that a conversation of `before` tokens was summarised to `after` tokens.
    pub fn summarised(&mut self, before: u64, after: u64) {
        self.summaries += 1;
        self.freed_little = after > before / 4 * 3;
    }

    /// Returns whether another summary is useless: there were many already, or the last
    /// one freed less than a quarter. Either takes some turns to happen, so every run
    /// makes progress.
    pub fn is_worn(self) -> bool {
        self.summaries >= MOST_SUMMARIES || self.freed_little
    }
}

/// A conversation split for handing the work over.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoverConversation {
    /// The request verbatim, with everything said to the agent before it began.
    pub task: String,
    /// The answers of pinned tools, which apply to the rest of the work.
    pub pinned: Vec<String>,
    /// Everything else, beginning with an earlier handover and earlier summaries. It is
    /// bounded.
    pub work: Vec<ModelMessage>,
}

/// Splits a conversation; its work is cut to `most` tokens.
pub fn taken_apart(messages: &[ModelMessage], most: u64) -> HandoverConversation {
    let (head, rest) = match messages.split_first() {
        Some((head, rest)) => (head.clone(), rest),
        None => (ModelMessage::user(""), messages),
    };
    let head = pinned::keep(pinned::unfolded(head), pinned::of(rest));
    let (head, earlier) = summary::split_off(head);
    let (mut task, mut pinned, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for part in &head.parts {
        let MessagePart::Text { text, .. } = part else {
            continue;
        };
        if pinned::is_answer(text) {
            pinned.push(text.clone());
            continue;
        }
        match text.split_once(MARK) {
            Some((asked, told)) => {
                task.push(asked.to_owned());
                known.push(told.to_owned());
            }
            None => task.push(text.clone()),
        }
    }
    known.extend(earlier);
    let mut work: Vec<ModelMessage> = known.into_iter().map(ModelMessage::user).collect();
    work.extend_from_slice(rest);
    cut::to_fit(&mut work, most);
    HandoverConversation {
        task: task.join("\n\n"),
        pinned,
        work,
    }
}

/// Everything known about the work so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandoverBrief<'a> {
    /// The request, verbatim.
    pub task: &'a str,
    /// The reason for the handover.
    pub why: &'a str,
    /// A summary of the conversation: what was done.
    pub summary: &'a str,
    /// The objectives that the run set itself.
    pub objectives: &'a [RunObjective],
    /// The files that the run made or changed.
    pub changed: &'a [String],
    /// The approaches that failed.
    pub failed: &'a [String],
    /// The agent's last words.
    pub last_words: &'a str,
    /// Text that applies to the rest of the work, word for word.
    pub pinned: &'a [String],
}

/// Returns the first message of a fresh run that takes over: the whole task, then
/// everything known, in a fixed order.
pub fn handover(from: &HandoverBrief<'_>) -> String {
    let (done, open): (Vec<_>, Vec<_>) = from.objectives.iter().partition(|it| it.done);
    let texts = |list: Vec<&RunObjective>| -> Vec<String> {
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
    let mut text = format!(
        "{}{MARK}The files are as it left them. Look at them before you rely on what is said \
         here.\n\n{known}",
        from.task.trim_end()
    );
    for answer in from.pinned {
        text.push_str("\n\n");
        text.push_str(answer);
    }
    text
}

/// Returns a heading with its lines, or an empty text if there are none.
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
