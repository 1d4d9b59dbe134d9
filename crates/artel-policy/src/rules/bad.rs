//! Why a rule was not taken.

use std::fmt;

/// How much of a rule is repeated in a message.
const SHOWN: usize = 80;

/// A rule that does not parse. It grants nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRule {
    /// One rule, as written in a list.
    Text {
        /// The rule, shortened for showing.
        rule: String,
        /// What is wrong with it.
        why: String,
        /// What to write instead.
        instead: String,
        /// What sort of fault it is.
        fault: RuleFault,
    },
    /// A place in a file.
    File {
        /// The line, from one.
        line: usize,
        /// The column, from one.
        column: usize,
        /// What is wrong there.
        why: String,
    },
}

/// What sort of fault a rule has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFault {
    /// It was never a rule.
    Form,
    /// It was taken by earlier versions, or looks like what they took: the name of its tool in other
    /// letters, or nothing between its parentheses. Where it is stored it grants nothing, and what
    /// stands beside it counts.
    Outdated,
}

impl BadRule {
    /// Tells whether it may be stored from earlier on, so that it is no reason to refuse a start.
    pub fn is_outdated(&self) -> bool {
        matches!(
            self,
            Self::Text {
                fault: RuleFault::Outdated,
                ..
            }
        )
    }

    /// Makes the error of a file that is not the TOML it should be.
    pub fn in_file(text: &str, cause: &toml::de::Error) -> Self {
        let start = cause.span().map_or(0, |span| span.start);
        Self::at(text, start, cause.message().trim())
    }

    /// Makes an error at a byte of a file.
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
            fault: RuleFault::Form,
        }
    }

    fn outdated(mut self) -> Self {
        if let Self::Text { fault, .. } = &mut self {
            *fault = RuleFault::Outdated;
        }
        self
    }
}

impl fmt::Display for BadRule {
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

impl std::error::Error for BadRule {}

/// Shows what was written, without control characters and not all of it.
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
