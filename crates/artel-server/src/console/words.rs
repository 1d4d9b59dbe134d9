//! Formats times, money, amounts and states for pages.

use artel_policy::record::is_deceptive;
use artel_rules::usage::UsageTotals;
use artel_types::plan::StepState;
use artel_types::{Money, Timestamp, Tokens};
use artel_workshop::{RunStatus, TimelineLineKind, price};
use askama::Template;
use askama::filters::HtmlSafe;

/// A time for people and for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = r#"<time datetime="{{ exact }}">{{ text }}</time>"#
)]
pub(super) struct TimeLabel {
    /// As RFC 3339.
    pub(super) exact: String,
    /// To the minute, in UTC.
    pub(super) text: String,
}

/// A state as shown on a page: a sign, a word, and a CSS class for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = r#"<span class="state {{ class }}"><span aria-hidden="true">{{ sign }}</span> {{ word }}</span>"#
)]
pub(super) struct StateLabel {
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) class: &'static str,
}

impl From<bool> for StateLabel {
    /// Returns the state of something that holds or does not.
    fn from(holds: bool) -> Self {
        let (sign, word, class) = if holds {
            ("✓", "holds", "good")
        } else {
            ("✗", "does not hold", "bad")
        };
        Self { sign, word, class }
    }
}

// The two templates escape their values themselves.
impl HtmlSafe for TimeLabel {}
impl HtmlSafe for StateLabel {}

pub(super) fn when(at: Timestamp) -> TimeLabel {
    let exact = at.to_string();
    let text = exact.chars().take(16).collect::<String>().replace('T', " ");
    TimeLabel { exact, text }
}

/// Formats a time to the second.
pub(super) fn moment(at: Timestamp) -> String {
    let exact = at.to_string();
    exact.chars().take(19).collect::<String>().replace('T', " ")
}

/// Formats a cost; a dash if the model was not used. `took` is the number of turns or
/// tokens.
pub(super) fn cost(cost: Option<Money>, took: u64) -> String {
    match cost {
        _ if took == 0 => "–".to_owned(),
        cost => price(cost),
    }
}

/// Formats the cost of several calls.
pub(super) fn spent(sum: &UsageTotals) -> String {
    match (sum.unpriced, sum.cost) {
        (0, paid) => cost(Some(paid), sum.tokens),
        (_, Money(0)) => cost(None, sum.tokens),
        (unpriced, paid) => format!("{paid}, and {unpriced} calls whose price is not known"),
    }
}

/// Returns a sentence that says that something could not continue, and why.
pub(super) fn stuck(why: &str) -> String {
    format!("could not go on, and is tried again: {why}")
}

pub(super) fn tokens(count: u64) -> String {
    Tokens(count).to_string()
}

/// Formats a duration.
pub(super) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0).round();
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    if whole < 3_600.0 {
        return format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0);
    }
    let minutes = (whole / 60.0).floor();
    format!("{} h {:02} min", (minutes / 60.0).floor(), minutes % 60.0)
}

/// Formats a share from 0 to 1 as a percentage.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

/// Formats a number of bytes.
pub(super) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{:.1} KiB", count as f64 / 1_024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}

/// Returns the beginning of a text on one line, at most `longest` characters.
pub(super) fn short(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the state to show for a run.
pub(super) fn standing(standing: RunStatus) -> StateLabel {
    let (sign, class) = match standing {
        RunStatus::Running => ("▶", "going"),
        RunStatus::Paused => ("⏸", "waits"),
        RunStatus::Waiting => ("?", "waits"),
        RunStatus::Left => ("…", "waits"),
        RunStatus::Complete => ("✓", "good"),
        RunStatus::Partial => ("◐", "bad"),
        RunStatus::Failed => ("✗", "bad"),
        RunStatus::Cancelled => ("⊘", "off"),
    };
    StateLabel {
        sign,
        word: standing.words(),
        class,
    }
}

/// Returns the state to show for a step.
pub(super) fn step(state: StepState) -> StateLabel {
    let (sign, class) = match state {
        StepState::Waiting => ("○", "off"),
        StepState::Running => ("▶", "going"),
        StepState::Verifying => ("◐", "going"),
        StepState::Done => ("✓", "good"),
        StepState::Failed => ("✗", "bad"),
        StepState::Skipped => ("⊘", "off"),
    };
    StateLabel {
        sign,
        word: state.as_str(),
        class,
    }
}

/// The state to show for a step that waits for a person.
pub(super) const WAITS: StateLabel = StateLabel {
    sign: "?",
    word: "waits for you",
    class: "waits",
};

/// Returns the state to show for a request, a plan or a changeset, by its word.
pub(super) fn state(word: &'static str) -> StateLabel {
    let (sign, class) = match word {
        "done" | "merged" | "answered" | "completed" => ("✓", "good"),
        "failed" => ("✗", "bad"),
        "rejected" | "cancelled" | "undone" => ("⊘", "off"),
        "review" | "planned" | "open" => ("?", "waits"),
        _ => ("▶", "going"),
    };
    StateLabel { sign, word, class }
}

/// Returns the sign and the CSS class for a line of a story.
pub(super) fn mark(mark: TimelineLineKind) -> (&'static str, &'static str) {
    match mark {
        TimelineLineKind::Head => ("■", "head"),
        TimelineLineKind::Turn => ("", "turn"),
        TimelineLineKind::Plain => ("·", "plain"),
        TimelineLineKind::Done => ("✓", "good"),
        TimelineLineKind::Bad => ("✗", "bad"),
        TimelineLineKind::Waits => ("?", "waits"),
        TimelineLineKind::Words => ("“", "words"),
        TimelineLineKind::Call => ("→", "call"),
        TimelineLineKind::Result => ("←", "result"),
        TimelineLineKind::Failed => ("✗", "bad"),
        TimelineLineKind::Detail => ("", "detail"),
    }
}

/// Escapes characters that are invisible or change how others look. Line breaks and tabs
/// are kept, and so are signs that a variation selector draws in colour.
pub(super) fn seen(text: String) -> String {
    let deceives = |letter: char| is_deceptive(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(deceives) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in text.chars() {
        if deceives(letter) && !(letter == IN_COLOUR && is_sign(before)) {
            clean.extend(letter.escape_unicode())
        } else {
            clean.push(letter)
        }
        before = letter;
    }
    clean
}

/// Variation selector that draws the sign before it in colour. After such a sign it hides
/// nothing.
const IN_COLOUR: char = '\u{fe0f}';

/// Returns whether a character is a sign that can be drawn in colour.
fn is_sign(letter: char) -> bool {
    matches!(letter,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use artel_rules::usage::UsageTotals;
    use artel_types::Money;

    use super::{cost, seen, short, span, spent};

    #[test]
    fn what_deceives_the_eye_is_written_out() {
        for (text, shown) in [
            ("plain ünïcode ✓\n\tline", "plain ünïcode ✓\n\tline"),
            ("a\u{1b}[31mb\r", "a\\u{1b}[31mb\\u{d}"),
            ("x\u{202e}gpj.exe", "x\\u{202e}gpj.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("⚠\u{fe0f} mind ❤\u{fe0f}", "⚠\u{fe0f} mind ❤\u{fe0f}"),
            (
                "a\u{fe0f}b ⚠\u{fe0f}\u{fe0f}",
                "a\\u{fe0f}b ⚠\u{fe0f}\\u{fe0f}",
            ),
            ("\u{fe0f}", "\\u{fe0f}"),
        ] {
            assert_eq!(seen(text.to_owned()), shown);
        }
    }

    #[test]
    fn what_is_free_what_costs_and_what_nobody_knows_are_told_apart() {
        for (paid, took, shown) in [
            (None, 0, "–"),
            (None, 5, "price not known"),
            (Some(Money(0)), 0, "–"),
            (Some(Money(0)), 5, "free"),
            (Some(Money(1_500_000)), 5, "$1.50"),
        ] {
            assert_eq!(cost(paid, took), shown);
        }
        let sum = |unpriced, money| UsageTotals {
            tokens: 5,
            unpriced,
            cost: Money(money),
            ..UsageTotals::default()
        };
        assert_eq!(spent(&sum(0, 0)), "free");
        assert_eq!(spent(&sum(2, 0)), "price not known");
        assert!(spent(&sum(2, 1_500_000)).starts_with("$1.50, and 2 calls"));
    }

    #[test]
    fn spans_and_beginnings_are_short() {
        for (seconds, shown) in [
            (0.42, "0.4 s"),
            (61.0, "1 min 01 s"),
            (3_725.0, "1 h 02 min"),
        ] {
            assert_eq!(span(seconds), shown);
        }
        assert_eq!(short("one\n two   three", 7), "one two…");
    }
}
