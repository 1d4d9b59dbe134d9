//! How a budget says no.

use std::fmt;

use artel_types::{Level, Money};

use super::Standing;

/// A fact that does not fit where its reservation stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{kind}` does not fit the reservation `{key}`, which is {standing}")]
pub struct Refused {
    /// The kind of the fact.
    pub kind: &'static str,
    /// The reservation.
    pub key: String,
    /// Where it stands.
    pub standing: Standing,
}

/// A call that does not fit a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    /// Whose limit; the widest one where several are too small.
    pub level: Level,
    /// What of.
    pub measure: Measure,
    /// How much may be spent in all.
    pub limit: u64,
    /// How much is spent or set aside.
    pub used: u64,
    /// How much the call wants.
    pub wanted: u64,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Model tokens.
    Tokens,
    /// Millionths of a US dollar.
    Money,
}

/// Why nothing was set aside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReserveError {
    /// A limit is too small.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The key is taken.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |amount: u64| match self.measure {
            Measure::Tokens => format!("{amount} tokens"),
            Measure::Money => Money(amount).to_string(),
        };
        let (limit, used, wanted) = (shown(self.limit), shown(self.used), shown(self.wanted));
        let level = &self.level;
        write!(
            f,
            "the {level} budget of {limit} has {used} in use, and {wanted} more do not fit"
        )
    }
}

impl std::error::Error for OverBudget {}
