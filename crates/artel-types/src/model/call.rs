//! The purpose of a model call, and whom it counts for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::Provider;
use crate::{ModelFailed, ModelReplied, Money};

/// The urgency of a call. The most urgent call goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelCallPriority {
    /// Nobody is waiting for it: indexing, summaries.
    Background,
    /// Checks of finished work.
    Validation,
    /// The work itself.
    Execution,
    /// Plans, which other work waits for.
    Planning,
    /// A person is waiting for it.
    User,
}

impl PrivacyLabel {
    /// Returns the narrower of two labels.
    #[must_use]
    pub fn narrowed(self, other: Self) -> Self {
        if self == Self::LocalOnly { self } else { other }
    }
}

impl ModelCallPriority {
    /// Every priority, most urgent first.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::Planning,
        Self::Execution,
        Self::Validation,
        Self::Background,
    ];

    /// Returns the numeric value, from 20 to 100.
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

/// The reason for a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelCallReason {
    /// A person waits at a screen for the result.
    PersonWaits,
    /// A plan is written or a request is understood; everything else waits for it.
    Planning,
    /// Work is done: changes, their tests, mending.
    Work,
    /// Criteria are named, or work is judged.
    Judging,
    /// Advice for work that could also continue without it.
    Advice,
    /// Maintenance of a run, such as shortening its conversation.
    Upkeep,
}

impl ModelCallReason {
    /// Every reason, most urgent first.
    pub const ALL: [Self; 6] = [
        Self::PersonWaits,
        Self::Planning,
        Self::Work,
        Self::Judging,
        Self::Advice,
        Self::Upkeep,
    ];
}

impl ModelCallPriority {
    /// Returns how urgent a call for this reason is, given the priority of the run that
    /// asks: nothing that waits for a call is ever more urgent than the call itself.
    pub fn of_call(reason: ModelCallReason, asker: Self) -> Self {
        let by_reason = match reason {
            ModelCallReason::PersonWaits => Self::User,
            ModelCallReason::Planning => Self::Planning,
            ModelCallReason::Work => Self::Execution,
            ModelCallReason::Judging | ModelCallReason::Advice => Self::Validation,
            ModelCallReason::Upkeep => Self::Background,
        };
        by_reason.max(asker)
    }
}

/// A privacy label: the providers that content may go to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivacyLabel {
    /// To any configured provider.
    #[default]
    Any,
    /// Only to a provider on this machine.
    LocalOnly,
}

/// Whom a call counts for, in addition to the session and the run that every event names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCallAttribution {
    /// The step of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The role that makes the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The skill that is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The portal whose content the call is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portal: Option<String>,
    /// The person on whose behalf the call is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl ModelReplied {
    /// Returns what the call cost, counting rehearsals as free, or `None` if no price is
    /// known.
    pub fn paid(&self) -> Option<Money> {
        paid(self.provider, self.cost)
    }
}

impl ModelFailed {
    /// Returns what the call cost, counting rehearsals as free, or `None` if no price is
    /// known.
    pub fn paid(&self) -> Option<Money> {
        paid(self.provider, self.cost)
    }
}

/// Nobody pays for a rehearsal, unless the settings give it a price.
fn paid(provider: Provider, cost: Option<Money>) -> Option<Money> {
    cost.or((provider == Provider::Rehearsal).then_some(Money(0)))
}

/// A calendar period in UTC: a day, a week from Monday on, or a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CalendarPeriod {
    /// From midnight to midnight.
    Day,
    /// From Monday to Monday.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}

impl CalendarPeriod {
    /// Returns `day`, `week` or `month`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

impl FromStr for CalendarPeriod {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::Day, Self::Week, Self::Month]
            .into_iter()
            .find(|period| period.as_str() == word)
            .ok_or(())
    }
}

impl fmt::Display for CalendarPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_as_urgent_as_its_reason_and_never_less_than_whoever_waits_for_it() {
        for reason in ModelCallReason::ALL {
            let alone = ModelCallPriority::of_call(reason, ModelCallPriority::Background).value();
            let wanted = match reason {
                ModelCallReason::PersonWaits => 100,
                ModelCallReason::Planning => 80,
                ModelCallReason::Work => 60,
                ModelCallReason::Judging | ModelCallReason::Advice => 40,
                ModelCallReason::Upkeep => 20,
            };
            assert_eq!(alone, wanted, "{reason:?}");
            for asker in ModelCallPriority::ALL {
                let asked = ModelCallPriority::of_call(reason, asker);
                assert_eq!(
                    asked.value(),
                    wanted.max(asker.value()),
                    "{reason:?} {asker:?}"
                );
            }
        }
    }

    #[test]
    fn of_two_labels_the_narrower_holds() {
        use PrivacyLabel::{Any, LocalOnly};
        for (one, other, both) in [
            (Any, Any, Any),
            (Any, LocalOnly, LocalOnly),
            (LocalOnly, Any, LocalOnly),
            (LocalOnly, LocalOnly, LocalOnly),
        ] {
            assert_eq!(one.narrowed(other), both);
        }
    }
}
