//! The refusal of a call by a budget.

use std::fmt;

use artel_types::model::CalendarPeriod;
use artel_types::{BudgetLevel, Money, Timestamp};

/// The limit that a call does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    /// The level of the limit; the widest one if several are too small.
    pub level: BudgetLevel,
    /// The measure that is too small.
    pub measure: BudgetMeasure,
    /// The limit.
    pub limit: u64,
    /// Spent or set aside so far.
    pub used: u64,
    /// Needed by the call.
    pub wanted: u64,
    /// The period of the limit, or `None` if it never resets.
    pub period: Option<CalendarPeriod>,
    /// When the limit resets, or `None` if it never does.
    pub resets_at: Option<Timestamp>,
}

/// The unit that a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetMeasure {
    Tokens,
    /// Millionths of a US dollar.
    Money,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |amount: u64| match self.measure {
            BudgetMeasure::Tokens => format!("{amount} tokens"),
            BudgetMeasure::Money => Money(amount).to_string(),
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
