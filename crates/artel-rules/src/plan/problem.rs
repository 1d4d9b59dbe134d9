//! What is wrong with a plan, in words for whoever wrote it: a model or a person.

use std::fmt;

/// How much of a text is repeated in a message.
const LONGEST_SHOWN: usize = 80;

/// One thing that is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the plan as a whole.
    Plan,
    /// In one step.
    Step {
        /// Its number, from 1.
        number: usize,
        /// Its title.
        title: String,
    },
    /// In one line of a file, from 1.
    Line(usize),
}

impl Problem {
    /// Says that something is wrong with the plan as a whole.
    pub(crate) fn in_plan(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(Place::Plan, what, remedy)
    }

    /// Says that something is wrong in a line of a file.
    pub(crate) fn in_line(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(Place::Line(line), what, remedy)
    }

    pub(crate) fn at(place: Place, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            place,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan => f.write_str("the plan"),
            Self::Step { number, title } if title.trim().is_empty() => write!(f, "step {number}"),
            Self::Step { number, title } => write!(f, "step {number} `{}`", shown(title)),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.what, self.remedy)
    }
}

/// Shows what somebody wrote: on one line, without control characters, and not all of it.
pub(crate) fn shown(text: &str) -> String {
    let mut letters = text.trim().chars();
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut start: String = letters.by_ref().take(LONGEST_SHOWN).map(plain).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}

/// Lists names for a message: all of a few, the first of many.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const MOST: usize = 20;
    let mut names = names.into_iter().map(|name| format!("`{}`", shown(name)));
    let first: Vec<String> = names.by_ref().take(MOST).collect();
    let rest = names.count();
    match (first.is_empty(), rest) {
        (true, _) => "none".to_owned(),
        (false, 0) => first.join(", "),
        (false, rest) => format!("{} and {rest} more", first.join(", ")),
    }
}
