//! Complaints about a file that a person wrote: the place, the fault and the remedy.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Number of characters of a value shown in a message: enough to find it, too few to flood
/// a screen.
const MOST_ECHOED: usize = 80;

/// One fault in a skill, a request or a test case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileComplaint {
    /// The file, or `None` for a text without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The line in the file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The field as it is written; `frontmatter` for its structure, `body` for the text after
    /// it.
    pub field: String,
    /// The fault, and what would be right.
    pub message: String,
    /// The remedy, unless the message makes it plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// A note for a skill's author that does not keep the skill from loading.
pub type Remark = FileComplaint;

impl FileComplaint {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: None,
            line: None,
            field: field.into(),
            message: message.into(),
            remedy: None,
        }
    }

    #[must_use]
    pub(crate) fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    #[must_use]
    pub(crate) fn advise(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for FileComplaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
        }
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if self.file.is_some() || self.line.is_some() {
            f.write_str(" ")?;
        }
        write!(f, "`{}`: {}", self.field, self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// Returns the beginning of a value on one line, with invisible characters spelt out.
pub(crate) fn shown(value: &str) -> String {
    let mut text = String::new();
    let mut letters = value.chars();
    for letter in letters.by_ref().take(MOST_ECHOED) {
        if letter.is_control() || is_invisible(letter) {
            text.extend(letter.escape_unicode());
        } else {
            text.push(letter);
        }
        if text.len() > 2 * MOST_ECHOED {
            return text + "…";
        }
    }
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

/// Returns whether a character has no visible shape or changes the writing direction.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_short_and_visible() {
        assert_eq!(shown("plain"), "plain");
        assert_eq!(shown("a\nb"), "a\\u{a}b");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert!(shown(&"x".repeat(1_000_000)).chars().count() <= 81);
        assert!(shown(&"\u{202e}".repeat(1_000_000)).chars().count() <= 200);
        assert!(shown(&"\u{1f600}".repeat(1_000)).chars().count() <= 200);
    }

    #[test]
    fn a_complaint_reads_like_a_compiler_s() {
        let mut complaint = FileComplaint::new("max-iterations", "`0` is not between 1 and 100");
        assert_eq!(
            complaint.to_string(),
            "`max-iterations`: `0` is not between 1 and 100"
        );
        complaint.file = Some("a/SKILL.md".into());
        let complaint = complaint.at(4).advise("write `max-iterations: 15`");
        assert_eq!(
            complaint.to_string(),
            "a/SKILL.md:4: `max-iterations`: `0` is not between 1 and 100; \
             write `max-iterations: 15`"
        );
    }
}
