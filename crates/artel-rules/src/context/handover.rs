//! What a fresh run is told about the one whose work it takes over.

use artel_types::Objective;
use artel_types::model::{Message, Part};

use super::{cut, cut_middle, pinned, summary};

/// No hand-over is longer, in bytes; the task comes on top.
const LONGEST: usize = 16_000;

/// No more lines of one sort are handed over.
const MOST_LINES: usize = 60;

/// A summary of summaries of summaries is worth little: after so many the work is handed over.
const MOST_SUMMARIES: u32 = 2;

/// Where what is known begins, behind the task.
const MARK: &str = "\n\n[Taken over from an earlier run]\n";

/// How often, and how well, a conversation was made shorter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortened {
    summaries: u32,
    freed_little: bool,
}

impl Shortened {
    /// Takes in that a conversation of so many tokens was summarised to so many.
    pub fn summarised(&mut self, before: u64, after: u64) {
        self.summaries += 1;
        self.freed_little = after > before / 4 * 3;
    }

    /// Tells whether summarising once more is no use: it was done often, or freed less than a
    /// quarter the last time. Either needs turns that were taken, so every run gets on.
    pub fn is_worn(self) -> bool {
        self.summaries >= MOST_SUMMARIES || self.freed_little
    }
}

/// A conversation taken apart, for handing the work over.
#[derive(Debug, Clone, PartialEq)]
pub struct Apart {
    /// What was asked, verbatim, with what was said to the agent before it began.
    pub task: String,
    /// What pinned tools answered: it holds for the rest of the work.
    pub pinned: Vec<String>,
    /// All else, what an earlier run handed over and earlier summaries first; it is bounded.
    pub work: Vec<Message>,
}

/// Takes a conversation apart; its work is cut to so many tokens.
pub fn taken_apart(messages: &[Message], most: u64) -> Apart {
    let (head, rest) = match messages.split_first() {
        Some((head, rest)) => (head.clone(), rest),
        None => (Message::user(""), messages),
    };
    let head = pinned::keep(pinned::unfolded(head), pinned::of(rest));
    let (head, earlier) = summary::split_off(head);
    let (mut task, mut pinned, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for part in &head.parts {
        let Part::Text { text, .. } = part else {
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
    let mut work: Vec<Message> = known.into_iter().map(Message::user).collect();
    work.extend_from_slice(rest);
    cut::to_fit(&mut work, most);
    Apart {
        task: task.join("\n\n"),
        pinned,
        work,
    }
}

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
    /// What holds for the rest of the work, word for word.
    pub pinned: &'a [String],
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
