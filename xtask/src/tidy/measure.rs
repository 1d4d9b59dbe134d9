//! A figure with the places behind it, and how it compares with its allowance.

use std::fmt;

use super::settings::TidySettings;

/// One figure of the source tree.
#[derive(Debug, Default)]
pub(super) struct TidyMeasure {
    /// The key in `xtask/tidy.toml`.
    pub(super) name: String,
    pub(super) figure: usize,
    pub(super) places: Vec<CodePlace>,
    /// What to do about a place.
    pub(super) advice: String,
}

/// Some lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CodePlace {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) last_line: usize,
    pub(super) note: String,
}

/// How a measure compares with its allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowanceVerdict {
    Met,
    /// Above the allowance: something was added.
    Exceeded,
    /// Below it: the allowance must follow, or the gain could be lost again.
    Undercut,
}

impl TidyMeasure {
    /// Makes a measure that counts its places.
    pub(super) fn of_places(name: &str, advice: &str, places: Vec<CodePlace>) -> Self {
        Self {
            name: name.to_owned(),
            figure: places.len(),
            places,
            advice: advice.to_owned(),
        }
    }

    pub(super) fn verdict(&self, settings: &TidySettings) -> AllowanceVerdict {
        match self.figure.cmp(&settings.allowance(&self.name)) {
            std::cmp::Ordering::Equal => AllowanceVerdict::Met,
            std::cmp::Ordering::Greater => AllowanceVerdict::Exceeded,
            std::cmp::Ordering::Less => AllowanceVerdict::Undercut,
        }
    }
}

impl CodePlace {
    /// Makes a place of one line.
    pub(super) fn new(path: &str, line: usize, note: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            last_line: line,
            note: note.into(),
        }
    }
}

impl fmt::Display for CodePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}  {}", self.path, self.line, self.note)
    }
}
