//! Parses the output of checkers into findings: a place, a severity and a message.

use serde::Serialize;
use serde_json::Value;

/// One problem that a checker reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct CheckerFinding {
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) column: Option<u64>,
    pub(crate) severity: CheckerFindingSeverity,
    pub(crate) sort: CheckerFindingSource,
    pub(crate) message: String,
}

/// The kind of checker that reported a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckerFindingSource {
    /// A compiler or type checker: it cannot make sense of the code.
    Types,
    Lint,
}

/// Severity of a finding, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckerFindingSeverity {
    Error,
    Warning,
    Note,
}

/// Output format of a checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckerOutputFormat {
    /// One line per finding: `file:line:column: message` and similar forms.
    Lines,
    /// eslint's JSON.
    Eslint,
}

/// Longest message kept, in bytes.
const LONGEST: usize = 500;

impl CheckerFindingSeverity {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Parses a checker's output. A finding without a severity counts as an error, because it
/// makes its checker fail.
pub(crate) fn read(form: CheckerOutputFormat, text: &str) -> Vec<CheckerFinding> {
    let mut found: Vec<CheckerFinding> = match form {
        CheckerOutputFormat::Lines => text.lines().filter_map(line).collect(),
        CheckerOutputFormat::Eslint => eslint(text),
    };
    found.sort();
    found.dedup();
    found
}

/// Parses `file:line:column: severity: message`, `file:line:column - severity: message`
/// and `file(line,column): severity: message`.
fn line(text: &str) -> Option<CheckerFinding> {
    let text = text.trim();
    // `go vet` uses this prefix for code that it could not compile.
    let (text, sort) = match text.strip_prefix("vet: ") {
        Some(text) => (text, CheckerFindingSource::Types),
        None => (text, CheckerFindingSource::Lint),
    };
    let (file, line, column, rest) = bracketed(text).or_else(|| colons(text))?;
    let is_file = !file.is_empty() && file.contains(['.', '/']) && !file.contains("://");
    if !is_file || file.starts_with(['=', '|', '>', '-']) {
        return None;
    }
    let (severity, message) = severity(rest.trim_start());
    let end = message.floor_char_boundary(LONGEST.min(message.len()));
    let message = message[..end].trim().to_owned();
    (!message.is_empty()).then(|| CheckerFinding {
        file: file.trim_start_matches("./").to_owned(),
        line,
        column,
        severity,
        sort,
        message,
    })
}

type Parts<'t> = (&'t str, u64, Option<u64>, &'t str);

/// Parses `src/a.ts(3,5): error TS2322: …`.
fn bracketed(text: &str) -> Option<Parts<'_>> {
    let (place, rest) = text.split_once("): ")?;
    let (file, numbers) = place.rsplit_once('(')?;
    let (line, column) = numbers.split_once(',')?;
    Some((file, line.parse().ok()?, column.parse().ok(), rest))
}

/// Parses `src/a.py:3:5: …`, with or without a column.
fn colons(text: &str) -> Option<Parts<'_>> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(':')?;
        let rest = &text[at + 1..];
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(rest.len());
        if digits > 0 {
            let line = rest[..digits].parse().ok()?;
            let after = &rest[digits..];
            let (column, after) = column(after);
            let message = after
                .strip_prefix(':')
                .or_else(|| after.strip_prefix(" - "))?;
            return Some((&text[..at], line, column, message));
        }
        from = at + 1;
    }
}

fn column(after: &str) -> (Option<u64>, &str) {
    let Some(rest) = after.strip_prefix(':') else {
        return (None, after);
    };
    let digits = rest
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(rest.len());
    match rest[..digits].parse() {
        Ok(column) => (Some(column), &rest[digits..]),
        Err(_) => (None, after),
    }
}

/// Splits the severity from a message: `error[E0308]: mismatched types`,
/// `warning: unused`.
fn severity(text: &str) -> (CheckerFindingSeverity, &str) {
    let kinds = [
        ("error", CheckerFindingSeverity::Error),
        ("warning", CheckerFindingSeverity::Warning),
        ("note", CheckerFindingSeverity::Note),
        ("information", CheckerFindingSeverity::Note),
        ("help", CheckerFindingSeverity::Note),
    ];
    for (word, severity) in kinds {
        let Some(rest) = text.strip_prefix(word) else {
            continue;
        };
        if let Some(message) = rest.strip_prefix(": ") {
            return (severity, message);
        }
        // The error code stays in the message.
        if rest.starts_with([' ', '[']) {
            return (severity, rest.trim_start());
        }
    }
    (CheckerFindingSeverity::Error, text)
}

fn eslint(text: &str) -> Vec<CheckerFinding> {
    let start = text.find('[').unwrap_or(0);
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let files = values.next().and_then(Result::ok);
    let files = files
        .as_ref()
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let all = files.iter().flat_map(|file| {
        let path = file["filePath"].as_str().unwrap_or_default();
        let messages = file["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        messages.iter().map(move |message| CheckerFinding {
            file: path.to_owned(),
            line: message["line"].as_u64().unwrap_or(1),
            column: message["column"].as_u64(),
            severity: match message["severity"].as_u64() {
                Some(2) => CheckerFindingSeverity::Error,
                _ => CheckerFindingSeverity::Warning,
            },
            sort: CheckerFindingSource::Lint,
            message: eslint_message(message),
        })
    });
    all.filter(|finding| !finding.file.is_empty()).collect()
}

fn eslint_message(message: &Value) -> String {
    let text = message["message"].as_str().unwrap_or_default();
    let end = text.floor_char_boundary(LONGEST.min(text.len()));
    match message["ruleId"].as_str() {
        Some(rule) => format!("{} ({rule})", &text[..end]),
        None => text[..end].to_owned(),
    }
}
