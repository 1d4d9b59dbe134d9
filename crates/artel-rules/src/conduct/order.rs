//! The orders that a plan's run gives.

use std::fmt;

use artel_types::plan::PlanState;
use artel_types::{Fact, RunAsked};

/// Something that can be done now. The name of an order never changes, so that work under
/// way is not begun again, and work that a dead process began is found.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanRunOrder {
    /// Find out what passes before the first step, with the commands that a person named.
    Baseline {
        /// The person's answer.
        given: Option<String>,
    },
    /// Do a part of a step.
    Do {
        /// The id of the step.
        step: String,
        /// Number of the attempt, from 1.
        round: u32,
        part: AttemptPart,
    },
    /// Record a fact that follows from the state.
    Record(Box<Fact>),
    /// Get a person's answer.
    Await(Box<RunAsked>),
    /// Adopt the plan of a proposal that a person accepted.
    Adopt {
        /// The id of the proposal.
        id: String,
    },
    /// Check the branch as a whole.
    Final {
        /// Number of the round of checks.
        round: u32,
    },
    /// Mend what fails on the branch as a whole.
    Mend {
        /// Number of the round of checks that failed.
        round: u32,
    },
    /// End the run.
    Close {
        /// How the plan ended.
        state: PlanState,
        /// Why the plan was not carried out in full.
        why: Option<String>,
    },
}

/// A part of a step's attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptPart {
    /// Prepare the files.
    Start,
    /// An inspector states the criteria.
    Criteria,
    /// A tester writes tests that fail.
    Tests,
    /// Check that the tests fail.
    Red,
    /// An agent does the work.
    Work,
    /// Check what passes now.
    Green,
    /// A verifier judges the work.
    Judge(StepVerifier),
    /// Commit the work to the branch.
    Commit,
    /// The architect explains why no attempt passed.
    Advise,
}

/// The role of a verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepVerifier {
    /// The only verifier of a step without separate tests.
    Evaluator,
    /// The verifier that examines the change.
    Inspector,
    /// The verifier that examines the tests.
    Tester,
}

impl StepVerifier {
    /// Returns the word for the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Evaluator => "evaluator",
            Self::Inspector => "inspector",
            Self::Tester => "tester",
        }
    }

    /// Returns the verifier with this word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Evaluator, Self::Inspector, Self::Tester]
            .into_iter()
            .find(|it| it.as_str() == word)
    }
}

impl AttemptPart {
    /// Returns the word for the record.
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

    /// Returns whether an agent does this part; the runtime does the others.
    pub fn is_of_agent(self) -> bool {
        match self {
            Self::Criteria | Self::Tests | Self::Work | Self::Judge(_) | Self::Advise => true,
            Self::Start | Self::Red | Self::Green | Self::Commit => false,
        }
    }

    /// Returns the role that is blamed if this part fails, which is also what a person can
    /// waive.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Self::Red | Self::Green | Self::Tests | Self::Judge(StepVerifier::Tester) => "tester",
            Self::Judge(_) | Self::Criteria => "inspector",
            Self::Start | Self::Work | Self::Commit | Self::Advise => "worker",
        }
    }

    /// Returns whether a waiver of `what` covers this part: `what` is the blamed role or
    /// the verifier's own name.
    pub(super) fn is_meant_by(self, what: &str) -> bool {
        let judge = match self {
            Self::Judge(judge) => Some(judge.as_str()),
            _ => None,
        };
        what == self.owner() || judge == Some(what)
    }
}

impl fmt::Display for PlanRunOrder {
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
