//! How Artel reports a failure: one plain shape for every surface.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::FailureCode;

/// The kind of failure, from which the exit code follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The operation was tried and did not work.
    Failed,
    /// The command line or a setting is wrong.
    Usage,
    /// Policy refused it, or a person has to say yes first.
    Refused,
    /// The named thing does not exist.
    NotFound,
    /// A bug in Artel.
    Bug,
    /// The person interrupted it.
    Interrupted,
}

/// The exit code of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl FailureKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Failed,
        Self::Usage,
        Self::Refused,
        Self::NotFound,
        Self::Bug,
        Self::Interrupted,
    ];

    /// Returns the exit code. Success is 0 and has no kind.
    pub fn exit_code(self) -> ExitCode {
        ExitCode(match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotFound => 4,
            Self::Bug => 70,
            Self::Interrupted => 130,
        })
    }

    /// Returns what the exit code means, for the help text.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "wrong usage or settings",
            Self::Refused => "refused by policy, or waiting for a person's yes",
            Self::NotFound => "not found",
            Self::Bug => "our bug",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A failure: what failed, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The code that `artel explain` describes.
    pub code: FailureCode,
    /// What failed, in one clause.
    pub what: String,
    /// Why, if there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do, ideally a command that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Failure {
    /// Creates a failure that says what failed.
    pub fn new(code: FailureCode, what: impl Into<String>) -> Self {
        Self {
            code,
            what: what.into(),
            why: None,
            advice: None,
        }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Returns the kind that belongs to the code.
    pub fn kind(&self) -> FailureKind {
        self.code.page().kind
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.what)?;
        if let Some(why) = &self.why {
            write!(f, "\n  why: {why}")?;
        }
        if let Some(advice) = &self.advice {
            write!(f, "\n  try: {advice}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl Serialize for FailureCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
