//! What sort of failure it was: the first rule that fits decides.
//!
//! Facts come before words: an HTTP status, then what the system reported, then patterns over the
//! text. What nothing recognises is permanent, because trying a mystery again only hides it.

use std::error::Error;
use std::io;

use artel_types::Class;
use regex::{Regex, RegexBuilder};

/// What is known about a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symptom {
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// What the system reported, if it did.
    pub kind: Option<io::ErrorKind>,
    /// What the error says, with what every error inside it says.
    pub text: String,
}

/// The rules that can be changed. Patterns are regular expressions that ignore case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Statuses that ask us to slow down.
    pub rate_limit_statuses: Vec<u16>,
    /// Statuses of a failing service.
    pub degrading_statuses: Vec<u16>,
    /// Further patterns. They are tried before the built-in ones, so that a person's rule is
    /// never silently overruled.
    pub patterns: Vec<(Class, String)>,
}

/// A pattern that is not a regular expression.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the pattern `{pattern}` is not a regular expression")]
pub struct BadPattern {
    /// What was written.
    pub pattern: String,
    /// What the parser said.
    #[source]
    pub cause: regex::Error,
}

/// Sorts failures into classes. Made once, from rules that are checked then.
#[derive(Debug, Clone)]
pub struct Classifier {
    rate_limit_statuses: Vec<u16>,
    degrading_statuses: Vec<u16>,
    extra: Vec<(Class, Regex)>,
    built_in: Vec<(Class, Regex)>,
}

/// The order in which the patterns of the classes are tried.
const ORDER: [Class; 5] = [
    Class::RateLimit,
    Class::Degrading,
    Class::UserFixable,
    Class::Permanent,
    Class::Transient,
];

const BUILT_IN: [(Class, &str); 4] = [
    (Class::Degrading, r"connection refused"),
    (
        Class::UserFixable,
        r"api[ _-]?key|unauthori[sz]ed|invalid.*credential|permission denied|quota exceeded|billing",
    ),
    (
        Class::Permanent,
        r"no such file|not found|parse error|invalid config|schema",
    ),
    (
        Class::Transient,
        r"timeout|timed out|connection reset|temporary failure|\beof\b|broken pipe",
    ),
];

/// Only the person can answer these: a key is missing or may not do this.
const USER_FIXABLE_STATUSES: [u16; 2] = [401, 403];

/// A bound on the program that a pattern becomes, so that a few characters cannot ask for
/// gigabytes.
const LARGEST_PATTERN: usize = 1024 * 1024;

impl Symptom {
    /// Makes a symptom from words alone.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Makes a symptom from an error and all that it wraps: the cause is often inside.
    pub fn of_error(error: &(dyn Error + 'static)) -> Self {
        let mut symptom = Self::of_text(error.to_string());
        let mut inner = Some(error);
        while let Some(error) = inner {
            // A kind that decides nothing, such as `Other`, may wrap one that does.
            let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
            if symptom.kind.and_then(by_kind).is_none() {
                symptom.kind = kind.or(symptom.kind);
            }
            inner = error.source();
            if let Some(inner) = inner {
                symptom.text.push_str(": ");
                symptom.text.push_str(&inner.to_string());
            }
        }
        symptom
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rate_limit_statuses: vec![429],
            degrading_statuses: vec![500, 502, 503, 504],
            patterns: Vec::new(),
        }
    }
}

impl Classifier {
    /// Checks the rules; a pattern that cannot be read is refused now, not at its first use.
    pub fn new(rules: Rules) -> Result<Self, BadPattern> {
        let extra = rules
            .patterns
            .iter()
            .map(|(class, pattern)| (*class, pattern.as_str()));
        Ok(Self {
            extra: compile(extra)?,
            built_in: compile(BUILT_IN)?,
            rate_limit_statuses: rules.rate_limit_statuses,
            degrading_statuses: rules.degrading_statuses,
        })
    }

    /// Returns the class of a failure.
    pub fn classify(&self, symptom: &Symptom) -> Class {
        symptom
            .status
            .and_then(|status| self.by_status(status))
            .or_else(|| symptom.kind.and_then(by_kind))
            .or_else(|| by_text(&self.extra, &symptom.text))
            .or_else(|| by_text(&self.built_in, &symptom.text))
            .unwrap_or(Class::Permanent)
    }

    fn by_status(&self, status: u16) -> Option<Class> {
        if self.rate_limit_statuses.contains(&status) {
            return Some(Class::RateLimit);
        }
        if self.degrading_statuses.contains(&status) {
            return Some(Class::Degrading);
        }
        USER_FIXABLE_STATUSES
            .contains(&status)
            .then_some(Class::UserFixable)
    }
}

/// Returns the class of what the system reported, where that alone says enough.
fn by_kind(kind: io::ErrorKind) -> Option<Class> {
    use io::ErrorKind as Kind;
    Some(match kind {
        Kind::ConnectionRefused => Class::Degrading,
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::NotConnected
        | Kind::BrokenPipe
        | Kind::TimedOut
        | Kind::Interrupted
        | Kind::WouldBlock
        | Kind::UnexpectedEof
        | Kind::NetworkDown
        | Kind::NetworkUnreachable
        | Kind::HostUnreachable => Class::Transient,
        Kind::PermissionDenied
        | Kind::StorageFull
        | Kind::QuotaExceeded
        | Kind::ReadOnlyFilesystem => Class::UserFixable,
        Kind::NotFound
        | Kind::AlreadyExists
        | Kind::IsADirectory
        | Kind::NotADirectory
        | Kind::InvalidInput
        | Kind::InvalidData
        | Kind::Unsupported => Class::Permanent,
        _ => return None,
    })
}

fn by_text(patterns: &[(Class, Regex)], text: &str) -> Option<Class> {
    patterns
        .iter()
        .find(|(_, pattern)| pattern.is_match(text))
        .map(|(class, _)| *class)
}

/// Compiles patterns and puts them in the order in which they are tried.
fn compile<'p>(
    patterns: impl IntoIterator<Item = (Class, &'p str)>,
) -> Result<Vec<(Class, Regex)>, BadPattern> {
    let compile_one = |(class, pattern): (Class, &str)| {
        let compiled = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .size_limit(LARGEST_PATTERN)
            .build()
            .map_err(|cause| BadPattern {
                pattern: pattern.chars().take(200).collect(),
                cause,
            })?;
        Ok((class, compiled))
    };
    let mut compiled: Vec<_> = patterns
        .into_iter()
        .map(compile_one)
        .collect::<Result<_, BadPattern>>()?;
    compiled.sort_by_key(|(class, _)| ORDER.iter().position(|other| other == class));
    Ok(compiled)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
