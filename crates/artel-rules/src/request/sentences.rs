//! The text of a request, line by line and sentence by sentence.

/// Longest part of a request that is analysed, in characters. The rest is still kept and
/// passed on.
const MOST_READ: usize = 50_000;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestLineKind {
    /// A heading: a line with hash signs, in bold, or a few words with a colon.
    Heading,
    /// An entry of a list.
    Item,
    /// Prose; the lines of one paragraph are joined.
    Prose,
}

/// A line or paragraph outside of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestLine {
    pub(super) kind: RequestLineKind,
    pub(super) text: String,
}

impl RequestLine {
    /// Returns the sentences of the line.
    pub(super) fn sentences(&self) -> Vec<String> {
        sentences(&self.text)
    }

    /// Returns whether the line only announces a request.
    pub(super) fn is_generic_heading(&self) -> bool {
        let plain = self.text.trim_end_matches(':').to_lowercase();
        self.kind == RequestLineKind::Heading
            && matches!(
                &*plain,
                "request" | "task" | "description" | "goal" | "summary" | "context"
            )
    }
}

/// Splits a request into lines, without code blocks. Quoted lines are other people's words
/// and are left out, too.
pub(super) fn lines(text: &str) -> Vec<RequestLine> {
    let text: String = text.chars().take(MOST_READ).collect();
    let mut lines: Vec<RequestLine> = Vec::new();
    let mut fence: Option<char> = None;
    let mut is_open = false;
    for raw in text.lines() {
        let line = raw.trim();
        let mark = ['`', '~']
            .into_iter()
            .find(|mark| line.starts_with(&mark.to_string().repeat(3)));
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_some() { None } else { mark };
            is_open = false;
            continue;
        }
        if fence.is_some() || line.starts_with('>') {
            continue;
        }
        if line.is_empty() {
            is_open = false;
            continue;
        }
        let (kind, text) = kind(line);
        let is_continued = kind == RequestLineKind::Prose
            && is_open
            && lines
                .last()
                .is_some_and(|last| last.kind != RequestLineKind::Heading);
        match lines.last_mut() {
            Some(last) if is_continued => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => lines.push(RequestLine {
                kind,
                text: text.to_owned(),
            }),
        }
        is_open = kind != RequestLineKind::Heading;
    }
    lines
}

fn kind(line: &str) -> (RequestLineKind, &str) {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && heading.starts_with([' ', '\t']) {
        return (RequestLineKind::Heading, heading.trim());
    }
    let bold = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**").or_else(|| rest.strip_suffix("**:")));
    if let Some(bold) = bold.filter(|bold| !bold.contains("**")) {
        return (RequestLineKind::Heading, bold.trim());
    }
    if let Some(item) = item(line) {
        return (RequestLineKind::Item, item);
    }
    let is_label = line.ends_with(':') && line.split_whitespace().count() <= 5;
    if is_label {
        return (RequestLineKind::Heading, line);
    }
    (RequestLineKind::Prose, line)
}

/// Reads an entry of a list: dashes, stars, numbers, with or without a checkbox.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = rest.len() < line.len() && line.len() - rest.len() <= 3;
        rest.strip_prefix([')', '.'])
            .filter(|rest| has_number && rest.starts_with(' '))
    };
    let rest = bullet.or_else(numbered)?.trim();
    let boxed = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some(boxed.unwrap_or(rest))
}

/// Splits a text after every `.`, `!` and `?` that ends a sentence, but not inside names
/// and numbers.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut start, mut is_code) = (0, false);
    for (at, letter) in letters.iter().enumerate() {
        if *letter == '`' {
            is_code = !is_code;
        }
        let is_mark = matches!(letter, '.' | '!' | '?' | ';');
        let is_last = letters.get(at + 1).is_none_or(|next| next.is_whitespace());
        if is_code || !is_mark || !is_last {
            continue;
        }
        let sentence: String = letters[start..=at].iter().collect();
        if *letter == '.' && ends_in_shortened_word(&sentence) {
            continue;
        }
        found.push(sentence.trim().to_owned());
        start = at + 1;
    }
    let rest: String = letters[start..].iter().collect();
    found.push(rest.trim().to_owned());
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

fn ends_in_shortened_word(sentence: &str) -> bool {
    const SHORTENED: &[&str] = &[
        "e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "resp.", "no.",
    ];
    let word = sentence
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    SHORTENED.contains(&&*word.trim_start_matches('(').to_lowercase())
}
