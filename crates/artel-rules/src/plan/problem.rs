//! Problems of a plan, in words for its author, a model or a person.

use std::fmt;

/// Most characters of a text that are repeated in a message.
const LONGEST_SHOWN: usize = 80;

/// One thing that is wrong, its place, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    pub place: PlanProblemPlace,
    /// The problem, in words.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

/// The place of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanProblemPlace {
    /// The plan as a whole.
    Plan,
    /// One step.
    Step {
        /// Number of the step, from 1.
        number: usize,
        title: String,
    },
    /// One line of a file, from 1.
    Line(usize),
}

impl PlanProblem {
    /// Makes a problem of the plan as a whole.
    pub(crate) fn in_plan(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(PlanProblemPlace::Plan, what, remedy)
    }

    /// Makes a problem in a line of a file.
    pub(crate) fn in_line(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(PlanProblemPlace::Line(line), what, remedy)
    }

    pub(crate) fn at(
        place: PlanProblemPlace,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for PlanProblemPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan => f.write_str("the plan"),
            Self::Step { number, title } if title.trim().is_empty() => write!(f, "step {number}"),
            Self::Step { number, title } => write!(f, "step {number} `{}`", shown(title)),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.what, self.remedy)
    }
}

/// Shows somebody's text on one line, shortened, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let mut letters = text.trim().chars();
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut start: String = letters.by_ref().take(LONGEST_SHOWN).map(plain).collect();
    if letters.next().is_some() {
        start.push('…');
    }
    start
}

/// Lists names for a message: all if there are few, otherwise the first ones.
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
