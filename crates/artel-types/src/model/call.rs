//! What a call is for, and on whose account.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::Provider;
use crate::{ModelFailed, ModelReplied, Money};

/// How urgent a call is; a higher one goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Nobody waits for it: indexing, summaries.
    Background,
    /// Checks of work that is done.
    Validation,
    /// The work itself.
    Execution,
    /// Plans, which others wait for.
    Planning,
    /// A person waits for it.
    User,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::Planning,
        Self::Execution,
        Self::Validation,
        Self::Background,
    ];

    /// Returns its number, from 20 to 100.
    pub fn value(self) -> u32 {
        match self {
            Self::User => 100,
            Self::Planning => 80,
            Self::Execution => 60,
            Self::Validation => 40,
            Self::Background => 20,
        }
    }
}

/// Where content may go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Privacy {
    /// To any provider that is configured.
    #[default]
    Any,
    /// Only to a provider on this machine.
    LocalOnly,
}

/// On whose account a call is made, beside the session and the run that every event names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// The step of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The role that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The skill that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The portal whose content it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portal: Option<String>,
    /// The person on whose behalf it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl ModelReplied {
    /// Returns what it cost, with what is rehearsed for free; nothing if no price is known.
    pub fn paid(&self) -> Option<Money> {
        paid(self.provider, self.cost)
    }
}

impl ModelFailed {
    /// Returns what it cost, with what is rehearsed for free; nothing if no price is known.
    pub fn paid(&self) -> Option<Money> {
        paid(self.provider, self.cost)
    }
}

/// A script is nobody's to pay, unless the settings give it a price.
fn paid(provider: Provider, cost: Option<Money>) -> Option<Money> {
    cost.or((provider == Provider::Rehearsal).then_some(Money(0)))
}

/// A stretch of the calendar, in UTC: a day, a week from Monday on, a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// From midnight to midnight.
    Day,
    /// From Monday to Monday.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}

impl Period {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

impl FromStr for Period {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::Day, Self::Week, Self::Month]
            .into_iter()
            .find(|period| period.as_str() == word)
            .ok_or(())
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
