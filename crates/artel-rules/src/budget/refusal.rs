//! How a budget says no.

use std::fmt;

use artel_types::model::Period;
use artel_types::{Level, Money, Timestamp};

/// A call that does not fit a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    /// Whose limit; the widest one where several are too small.
    pub level: Level,
    /// What of.
    pub measure: Measure,
    /// How much may be spent.
    pub limit: u64,
    /// How much is spent or set aside.
    pub used: u64,
    /// How much the call wants.
    pub wanted: u64,
    /// In how long; in all, if nothing.
    pub period: Option<Period>,
    /// When it counts from zero again; never, if nothing.
    pub resets_at: Option<Timestamp>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Model tokens.
    Tokens,
    /// Millionths of a US dollar.
    Money,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |amount: u64| match self.measure {
            Measure::Tokens => format!("{amount} tokens"),
            Measure::Money => Money(amount).to_string(),
        };
        let (limit, used, wanted) = (shown(self.limit), shown(self.used), shown(self.wanted));
        let level = &self.level;
        write!(f, "the {level} budget of {limit}")?;
        if let Some(period) = self.period {
            write!(f, " a {period}")?;
        }
        write!(f, " has {used} in use, and {wanted} more do not fit")?;
        if let Some(reset) = self.resets_at {
            write!(f, "; it counts from zero again at {reset}")?;
        }
        Ok(())
    }
}

impl std::error::Error for OverBudget {}
