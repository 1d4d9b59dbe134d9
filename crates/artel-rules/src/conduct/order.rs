//! What is to be done next.

use std::fmt;

use artel_types::plan::PlanState;
use artel_types::{Fact, RunAsked};

/// Something to do. Its name is the same whenever it is asked for, so what is under way is not
/// begun again, and what a dead process began is found.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// See what passes before the first step; with the commands that a person named.
    Baseline {
        /// What the person said.
        given: Option<String>,
    },
    /// Do a part of a step.
    Do {
        /// The step.
        step: String,
        /// Which attempt.
        round: u32,
        /// The part.
        part: Part,
    },
    /// Put something on record that follows from what is known.
    Record(Box<Fact>),
    /// Get a person's answer.
    Await(Box<RunAsked>),
    /// Go on by the plan of a proposal that a person accepted.
    Adopt {
        /// The proposal.
        id: String,
    },
    /// Check the branch as a whole.
    Final {
        /// Which round.
        round: u32,
    },
    /// Mend what does not hold on the branch as a whole.
    Mend {
        /// Which round.
        round: u32,
    },
    /// End the run.
    Close {
        /// How the plan ended.
        state: PlanState,
        /// Why it is not done.
        why: Option<String>,
    },
}

/// A part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Get its files ready.
    Start,
    /// Have an inspector say what has to hold.
    Criteria,
    /// Have a tester write tests that fail.
    Tests,
    /// See that they fail.
    Red,
    /// Have it done.
    Work,
    /// See what passes now.
    Green,
    /// Have it judged.
    Judge(Judge),
    /// Put it on the branch.
    Commit,
    /// Have the architect say why no attempt passed.
    Advise,
}

/// Who judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judge {
    /// One verifier.
    Evaluator,
    /// Whoever looks at the change.
    Inspector,
    /// Whoever looks at the tests.
    Tester,
}

impl Judge {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Evaluator => "evaluator",
            Self::Inspector => "inspector",
            Self::Tester => "tester",
        }
    }

    /// Returns whoever this word means.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Evaluator, Self::Inspector, Self::Tester]
            .into_iter()
            .find(|it| it.as_str() == word)
    }
}

impl Part {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Criteria => "criteria",
            Self::Tests => "tests",
            Self::Red => "red",
            Self::Work => "work",
            Self::Green => "green",
            Self::Judge(judge) => judge.as_str(),
            Self::Commit => "commit",
            Self::Advise => "advise",
        }
    }

    /// Tells whether an agent does it; the others are the runtime's.
    pub fn is_of_agent(self) -> bool {
        match self {
            Self::Criteria | Self::Tests | Self::Work | Self::Judge(_) | Self::Advise => true,
            Self::Start | Self::Red | Self::Green | Self::Commit => false,
        }
    }

    /// Returns whose failure it is if it fails: what a person may waive.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Self::Red | Self::Green | Self::Tests | Self::Judge(Judge::Tester) => "tester",
            Self::Judge(_) | Self::Criteria => "inspector",
            Self::Start | Self::Work | Self::Commit | Self::Advise => "worker",
        }
    }

    /// Tells whether a person who waives this means the part: by whose it is, or by the judge's own
    /// name.
    pub(super) fn is_meant_by(self, what: &str) -> bool {
        let judge = match self {
            Self::Judge(judge) => Some(judge.as_str()),
            _ => None,
        };
        what == self.owner() || judge == Some(what)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baseline { given: None } => f.write_str("baseline"),
            Self::Baseline { given: Some(given) } => write!(f, "baseline/{given}"),
            Self::Do { step, round, part } => write!(f, "{step}/{round}/{}", part.as_str()),
            Self::Record(fact) => write!(f, "record/{}", fact.kind()),
            Self::Await(asked) => write!(f, "await/{}", asked.question),
            Self::Adopt { id } => write!(f, "adopt/{id}"),
            Self::Final { round } => write!(f, "final/{round}"),
            Self::Mend { round } => write!(f, "mend/{round}"),
            Self::Close { .. } => f.write_str("close"),
        }
    }
}
