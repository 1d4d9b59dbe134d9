//! Why a rule was rejected.

use std::fmt;

/// Number of characters of a rule that a message repeats.
const SHOWN: usize = 80;

/// A rule that does not parse, and therefore grants nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyRuleError {
    /// One rule from a list.
    Text {
        /// The rule as written, shortened for messages.
        rule: String,
        /// The problem with the rule.
        why: String,
        /// A suggestion of what to write instead.
        instead: String,
        /// The kind of fault.
        fault: PolicyRuleFault,
    },
    /// A place in a file.
    File {
        /// The line, counted from one.
        line: usize,
        /// The column, counted from one.
        column: usize,
        /// The problem at that place.
        why: String,
    },
}

/// The kind of fault that a rule has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyRuleFault {
    /// The text was never a valid rule.
    Form,
    /// Earlier versions accepted it, or it looks like something they accepted: the name of its
    /// tool in different case, or empty parentheses. Where it is stored it grants nothing, and
    /// the rules stored with it still count.
    Outdated,
}

impl PolicyRuleError {
    /// Returns whether the rule may have been stored by an earlier version, so that it is no
    /// reason to refuse to start.
    pub fn is_outdated(&self) -> bool {
        matches!(
            self,
            Self::Text {
                fault: PolicyRuleFault::Outdated,
                ..
            }
        )
    }

    /// Creates the error for a file that is not valid TOML of the expected form.
    pub fn in_file(text: &str, cause: &toml::de::Error) -> Self {
        let start = cause.span().map_or(0, |span| span.start);
        Self::at(text, start, cause.message().trim())
    }

    /// Creates an error for a byte position in a file.
    pub(super) fn at(text: &str, start: usize, why: &str) -> Self {
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self::File {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            why: why.to_owned(),
        }
    }

    pub(super) fn unclosed(rule: &str) -> Self {
        Self::text(
            rule,
            "its parenthesis is not closed at the end",
            "`Bash(git status)`",
        )
    }

    pub(super) fn tool(rule: &str, tool: &str) -> Self {
        let why = format!("`{}` is no name of a tool", shorten(tool));
        Self::text(rule, &why, "`Bash(git:*)`, `Edit(src/**)` or `Read`")
    }

    pub(super) fn misspelled(rule: &str, tool: &str, right: &str) -> Self {
        let why = format!("`{}` names no tool; capital letters count", shorten(tool));
        Self::text(rule, &why, &format!("`{right}`")).outdated()
    }

    pub(super) fn near(rule: &str, tool: &str, right: &str) -> Self {
        let why = format!("`{}` names no tool; did you mean `{right}`?", shorten(tool));
        let instead = rule.trim_start().replacen(tool, right, 1);
        Self::text(rule, &why, &format!("`{}`", shorten(&instead))).outdated()
    }

    pub(super) fn words(rule: &str) -> Self {
        let why = "a rule is made of plain words, without operators, variables or open quotes";
        Self::text(rule, why, "one rule for each command")
    }

    pub(super) fn empty(rule: &str) -> Self {
        Self::text(rule, "it names nothing", "`Bash(*)` for every command").outdated()
    }

    pub(super) fn star(rule: &str) -> Self {
        let why = "a star stands only at the end, for any further words";
        Self::text(rule, why, "`Bash(git log:*)`")
    }

    pub(super) fn leaves(rule: &str) -> Self {
        let why = "paths of rules begin at the root of the workspace";
        Self::text(rule, why, "`Edit(src/**)`")
    }

    pub(super) fn glob(rule: &str, cause: &globset::Error) -> Self {
        let why = format!("its pattern cannot be read: {}", cause.kind());
        Self::text(rule, &why, "`Edit(src/**)`")
    }

    fn text(rule: &str, why: &str, instead: &str) -> Self {
        Self::Text {
            rule: shorten(rule),
            why: why.to_owned(),
            instead: instead.to_owned(),
            fault: PolicyRuleFault::Form,
        }
    }

    fn outdated(mut self) -> Self {
        if let Self::Text { fault, .. } = &mut self {
            *fault = PolicyRuleFault::Outdated;
        }
        self
    }
}

impl fmt::Display for PolicyRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text {
                rule, why, instead, ..
            } => {
                write!(
                    formatter,
                    "the rule `{rule}` grants nothing: {why}; try {instead}"
                )
            }
            Self::File { line, column, why } => {
                write!(formatter, "line {line}, column {column}: {why}")
            }
        }
    }
}

impl std::error::Error for PolicyRuleError {}

/// Escapes control characters in a rule and shortens it for a message.
fn shorten(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        if c.is_control() {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
