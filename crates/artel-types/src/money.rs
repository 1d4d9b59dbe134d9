//! Tokens and money, counted in whole units so that sums are exact.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

use crate::model::CalendarPeriod;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize,
            Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            /// Stops at zero, so that a correction never creates a debt.
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
    };
}

quantity!(
    /// Model tokens.
    Tokens
);
quantity!(
    /// Money in millionths of a US dollar.
    Money
);

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000 => write!(f, "{}", self.0),
            1_000..1_000_000 => write!(f, "{}.{}k", self.0 / 1_000, self.0 % 1_000 / 100),
            _ => write!(
                f,
                "{}.{}M",
                self.0 / 1_000_000,
                self.0 % 1_000_000 / 100_000
            ),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.saturating_add(5_000) / 10_000;
        if self.0 > 0 && cents == 0 {
            return f.write_str("<$0.01");
        }
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

/// The cost of a call, or an allowance, in both measures together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpendAmount {
    /// Model tokens.
    pub tokens: Tokens,
    /// Money in millionths of a US dollar.
    pub money: Money,
}

impl SpendAmount {
    /// Creates an amount from both measures.
    pub fn new(tokens: u64, micro_dollars: u64) -> Self {
        Self {
            tokens: Tokens(tokens),
            money: Money(micro_dollars),
        }
    }
}

impl Add for SpendAmount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            money: self.money + other.money,
        }
    }
}

impl Sub for SpendAmount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            tokens: self.tokens - other.tokens,
            money: self.money - other.money,
        }
    }
}

/// The budget that is meant. A call must fit all levels that apply to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "level", content = "id", rename_all = "lowercase")]
pub enum BudgetLevel {
    /// Everything in this workshop.
    Global,
    /// One model provider.
    Provider(String),
    /// One session.
    Session(String),
    /// One run.
    Run(String),
    /// One step of a run.
    Step(String),
}

impl fmt::Display for BudgetLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Provider(id) => write!(f, "provider `{id}`"),
            Self::Session(id) => write!(f, "session `{id}`"),
            Self::Run(id) => write!(f, "run `{id}`"),
            Self::Step(id) => write!(f, "step `{id}`"),
        }
    }
}

/// The most that may be spent, and in which period. `None` means not limited; zero is a
/// limit like any other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendLimit {
    /// The most tokens.
    pub tokens: Option<Tokens>,
    /// The most money.
    pub money: Option<Money>,
    /// The period after which it counts from zero again; `None` means never.
    pub period: Option<CalendarPeriod>,
}

/// The limits set by the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfiguredSpendLimits {
    /// The limit for the whole workshop.
    pub global: Option<SpendLimit>,
    /// The limits for single providers, by provider.
    pub providers: BTreeMap<String, SpendLimit>,
    /// The limit for each session.
    pub session: Option<SpendLimit>,
    /// The limit for each run.
    pub run: Option<SpendLimit>,
    /// The limit for each step.
    pub step: Option<SpendLimit>,
    /// The cost above which a run is reported to the person, once.
    pub run_warning: Option<Money>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_in_cents_and_never_as_nothing() {
        for (micros, shown) in [
            (0, "$0.00"),
            (1, "<$0.01"),
            (30_000, "$0.03"),
            (12_345_678, "$12.35"),
        ] {
            assert_eq!(Money(micros).to_string(), shown);
        }
    }

    #[test]
    fn tokens_are_shown_short() {
        for (tokens, shown) in [(999, "999"), (4_250, "4.2k"), (1_250_000, "1.2M")] {
            assert_eq!(Tokens(tokens).to_string(), shown);
        }
    }
}
