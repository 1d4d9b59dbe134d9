//! How moments, money, amounts and states are written on pages.

use artel_policy::record::is_deceptive;
use artel_rules::usage::Sum;
use artel_types::plan::{ProofPlace, StepState};
use artel_types::{Money, Timestamp, Tokens};
use artel_workshop::{Mark, Standing};
use askama::Template;
use askama::filters::HtmlSafe;

/// A moment as people read it, and as programs do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = r#"<time datetime="{{ exact }}">{{ text }}</time>"#
)]
pub(super) struct When {
    /// As RFC 3339.
    pub(super) exact: String,
    /// To the minute, in UTC.
    pub(super) text: String,
}

/// How something stands: a sign, a word, and a class for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = r#"<span class="state {{ class }}"><span aria-hidden="true">{{ sign }}</span> {{ word }}</span>"#
)]
pub(super) struct State {
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) class: &'static str,
}

impl From<bool> for State {
    /// Tells whether something holds.
    fn from(holds: bool) -> Self {
        let (sign, word, class) = match holds {
            true => ("✓", "holds", "good"),
            false => ("✗", "does not hold", "bad"),
        };
        Self { sign, word, class }
    }
}

/// A text whose parts between backticks are commands, names and values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = "{% for it in parts %}{% if it.0 %}<code>{{ it.1 }}</code>{% else %}{{ it.1 }}{% endif %}{% endfor %}"
)]
pub(super) struct Coded {
    /// Each part, with whether it stood between backticks.
    parts: Vec<(bool, String)>,
}

/// What a check or a judge found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    NotPassed,
    /// A person let it pass.
    Waived,
}

impl From<bool> for Verdict {
    fn from(is_passed: bool) -> Self {
        match is_passed {
            true => Self::Passed,
            false => Self::NotPassed,
        }
    }
}

/// A word on a page, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) word: &'static str,
    pub(super) means: &'static str,
}

/// Words about evidence that stand on every page with some.
pub(super) const EVIDENCE: [Meaning; 3] = [
    Meaning {
        word: "holds",
        means: "it shows what it has to show at this point",
    },
    Meaning {
        word: "does not hold",
        means: "it does not; the step or the branch has not passed",
    },
    Meaning {
        word: "waived",
        means: "a person let it pass without this, and said why",
    },
];

// What these write is escaped where it is written.
impl HtmlSafe for When {}
impl HtmlSafe for State {}
impl HtmlSafe for Coded {}

impl Coded {
    /// Tells whether there is nothing to read.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(|(_, text)| text.is_empty())
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &str) {
        let mut more = coded(line).parts.into_iter();
        if let (Some((_, last)), Some((_, first))) = (self.parts.last_mut(), more.next()) {
            last.push('\n');
            last.push_str(&first);
        }
        self.parts.extend(more);
    }
}

/// Marks the parts of a text that stand between backticks. A backtick without another stays.
pub(super) fn coded(text: &str) -> Coded {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else {
            break;
        };
        parts.push((false, before.to_owned()));
        parts.push((true, code.to_owned()));
        rest = after;
    }
    parts.push((false, rest.to_owned()));
    Coded { parts }
}

/// Says where a proof was made, and what it has to show there.
pub(super) fn place(place: ProofPlace) -> Meaning {
    let (word, means) = match place {
        ProofPlace::Baseline => (
            "before the first step",
            "what passes before anything is changed; none of it may break",
        ),
        ProofPlace::Red => (
            "tests first (red)",
            "the new tests of a step before its work: they have to fail",
        ),
        ProofPlace::Green => (
            "after the work (green)",
            "the same after the work of the step: everything has to pass",
        ),
        ProofPlace::TakenBack => (
            "work taken back",
            "the work of the step removed and its tests kept: tests that show it have to fail again",
        ),
        ProofPlace::Final => (
            "clean checkout (final)",
            "the finished branch in a fresh folder: everything has to pass",
        ),
    };
    Meaning { word, means }
}

/// Writes a moment.
pub(super) fn when(at: Timestamp) -> When {
    let exact = at.to_string();
    let text = exact.chars().take(16).collect::<String>().replace('T', " ");
    When { exact, text }
}

/// Writes a moment to the second.
pub(super) fn moment(at: Timestamp) -> String {
    let exact = at.to_string();
    exact.chars().take(19).collect::<String>().replace('T', " ")
}

/// Writes what something cost that took so much of a model: turns or tokens.
pub(super) fn cost(cost: Option<Money>, took: u64) -> String {
    match cost {
        _ if took == 0 => "–".to_owned(),
        None => "price not known".to_owned(),
        // Only what is rehearsed costs nothing.
        Some(Money(0)) => "free".to_owned(),
        Some(cost) => cost.to_string(),
    }
}

/// Writes what many calls cost.
pub(super) fn spent(sum: &Sum) -> String {
    match (sum.unpriced, sum.cost) {
        (0, paid) => cost(Some(paid), sum.tokens),
        (_, Money(0)) => cost(None, sum.tokens),
        (unpriced, paid) => format!("{paid}, and {unpriced} calls whose price is not known"),
    }
}

/// Writes a number of tokens.
pub(super) fn tokens(count: u64) -> String {
    Tokens(count).to_string()
}

/// Writes a span of time.
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

/// Writes a share from 0 to 1.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

/// Writes how many there are of something.
pub(super) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{:.1} KiB", count as f64 / 1_024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}

/// Returns the beginning of a text, on one line.
pub(super) fn short(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Tells how a run stands.
pub(super) fn standing(standing: Standing) -> State {
    let (sign, class) = match standing {
        Standing::Running => ("▶", "going"),
        Standing::Paused => ("⏸", "waits"),
        Standing::Waiting => ("?", "waits"),
        Standing::Left => ("…", "waits"),
        Standing::Complete => ("✓", "good"),
        Standing::Partial => ("◐", "bad"),
        Standing::Failed => ("✗", "bad"),
        Standing::Cancelled => ("⊘", "off"),
    };
    State {
        sign,
        word: standing.words(),
        class,
    }
}

/// Tells how a step stands.
pub(super) fn step(state: StepState) -> State {
    let (sign, class) = match state {
        StepState::Waiting => ("○", "off"),
        StepState::Running => ("▶", "going"),
        StepState::Verifying => ("◐", "going"),
        StepState::Done => ("✓", "good"),
        StepState::Failed => ("✗", "bad"),
        StepState::Skipped => ("⊘", "off"),
    };
    State {
        sign,
        word: state.as_str(),
        class,
    }
}

/// Tells whether a check or a judge let something pass.
pub(super) fn verdict(verdict: Verdict) -> State {
    let (sign, word, class) = match verdict {
        Verdict::Passed => ("✓", "passed", "good"),
        Verdict::NotPassed => ("✗", "not passed", "bad"),
        Verdict::Waived => ("⊘", "waived", "waits"),
    };
    State { sign, word, class }
}

/// Tells that a step waits for a person.
pub(super) const WAITS: State = State {
    sign: "?",
    word: "waits for you",
    class: "waits",
};

/// Tells how a request, a plan or a changeset stands, by the word for it.
pub(super) fn state(word: &'static str) -> State {
    let (sign, class) = match word {
        "done" | "merged" | "answered" | "completed" => ("✓", "good"),
        "failed" => ("✗", "bad"),
        "rejected" | "cancelled" | "undone" => ("⊘", "off"),
        "review" | "planned" | "open" => ("?", "waits"),
        _ => ("▶", "going"),
    };
    State { sign, word, class }
}

/// Returns the sign and the class for a line of a story.
pub(super) fn mark(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::Head => ("■", "head"),
        Mark::Turn => ("", "turn"),
        Mark::Plain => ("·", "plain"),
        Mark::Done => ("✓", "good"),
        Mark::Bad => ("✗", "bad"),
        Mark::Waits => ("?", "waits"),
        Mark::Words => ("“", "words"),
        Mark::Call => ("→", "call"),
        Mark::Result => ("←", "result"),
        Mark::Failed => ("✗", "bad"),
        Mark::Detail => ("", "detail"),
    }
}

/// Writes characters out that cannot be seen or change how others are seen. Lines and tabs stay.
pub(super) fn seen(text: String) -> String {
    let deceives = |letter: char| is_deceptive(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(deceives) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match deceives(letter) {
            true => clean.extend(letter.escape_unicode()),
            false => clean.push(letter),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use artel_rules::usage::Sum;
    use artel_types::Money;
    use askama::Template as _;

    use super::{coded, cost, seen, short, span, spent};

    #[test]
    fn what_deceives_the_eye_is_written_out() {
        for (text, shown) in [
            ("plain ünïcode ✓\n\tline", "plain ünïcode ✓\n\tline"),
            ("a\u{1b}[31mb\r", "a\\u{1b}[31mb\\u{d}"),
            ("x\u{202e}gpj.exe", "x\\u{202e}gpj.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
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
        let sum = |unpriced, money| Sum {
            tokens: 5,
            unpriced,
            cost: Money(money),
            ..Sum::default()
        };
        assert_eq!(spent(&sum(0, 0)), "free");
        assert_eq!(spent(&sum(2, 0)), "price not known");
        assert!(spent(&sum(2, 1_500_000)).starts_with("$1.50, and 2 calls"));
    }

    #[test]
    fn what_stands_between_backticks_is_code_and_nothing_is_obeyed() {
        for (text, shown) in [
            (
                "run `artel open`, then",
                "run <code>artel open</code>, then",
            ),
            ("one ` alone", "one ` alone"),
            ("`<b>` & `", "<code>&#60;b&#62;</code> &#38; `"),
            ("", ""),
        ] {
            assert_eq!(coded(text).render().unwrap(), shown);
        }
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
