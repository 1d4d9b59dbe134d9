//! The facts that a budget is made of, and where they take a reservation.

use std::fmt;

use artel_types::{BudgetLimited, BudgetReleased, BudgetReserved, BudgetSettled, Fact};

/// Where a reservation stands; its key goes from left to right and never back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// No reservation has that key.
    Unknown,
    /// Set aside, the call is under way.
    Open,
    /// Paid.
    Settled,
    /// Given back.
    Released,
}

/// A fact that changes budgets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'f> {
    /// A limit was set.
    Limited(&'f BudgetLimited),
    /// Part of a budget was set aside.
    Reserved(&'f BudgetReserved),
    /// A call was paid for.
    Settled(&'f BudgetSettled),
    /// A reservation was given back.
    Released(&'f BudgetReleased),
}

impl<'f> Entry<'f> {
    /// Returns the fact as one about budgets, if it is.
    pub fn of(fact: &'f Fact) -> Option<Self> {
        match fact {
            Fact::BudgetLimited(fact) => Some(Self::Limited(fact)),
            Fact::BudgetReserved(fact) => Some(Self::Reserved(fact)),
            Fact::BudgetSettled(fact) => Some(Self::Settled(fact)),
            Fact::BudgetReleased(fact) => Some(Self::Released(fact)),
            // A test watches that no kind `budget.*` ends up here.
            _ => None,
        }
    }

    /// Returns the fact's dotted name.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Limited(_) => "budget.limited",
            Self::Reserved(_) => "budget.reserved",
            Self::Settled(_) => "budget.settled",
            Self::Released(_) => "budget.released",
        }
    }

    /// Returns the reservation it is about, if it is about one.
    pub fn key(self) -> Option<&'f str> {
        match self {
            Self::Limited(_) => None,
            Self::Reserved(fact) => Some(&fact.key),
            Self::Settled(fact) => Some(&fact.key),
            Self::Released(fact) => Some(&fact.key),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Open => "open",
            Self::Settled => "settled",
            Self::Released => "released",
        })
    }
}
