//! The five retry classes, and how each of them is retried.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The class of a failure, which alone decides whether a retry can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryClass {
    /// A blip, which is retried silently.
    Transient,
    /// The other side asked Artel to slow down; the wait is shown with a countdown.
    RateLimit,
    /// The other side is failing; people are told at once, and then it is retried.
    Degrading,
    /// Only the person can fix it (a key, a permission, a quota); never retried
    /// automatically.
    UserFixable,
    /// A retry cannot help.
    Permanent,
}

/// A retry schedule: the number of attempts and the waits between them. The wait doubles
/// from `first` up to `longest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetrySchedule {
    /// Number of attempts in all, including the first.
    pub attempts: u32,
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait, except for one that the other side names.
    pub longest: Duration,
    /// Whether a wait that the other side names takes precedence.
    pub honours_retry_after: bool,
}

impl RetryClass {
    /// Every class, in the order of the table in the documentation.
    pub const ALL: [Self; 5] = [
        Self::Transient,
        Self::RateLimit,
        Self::Degrading,
        Self::UserFixable,
        Self::Permanent,
    ];

    /// Returns the schedule, which has a single attempt if a retry cannot help.
    pub fn schedule(self) -> RetrySchedule {
        let once = RetrySchedule {
            attempts: 1,
            first: Duration::ZERO,
            longest: Duration::ZERO,
            honours_retry_after: false,
        };
        match self {
            Self::Transient => RetrySchedule {
                attempts: 5,
                first: Duration::from_millis(100),
                longest: Duration::from_secs(5),
                ..once
            },
            Self::RateLimit => RetrySchedule {
                attempts: 10,
                first: Duration::from_secs(1),
                longest: Duration::from_secs(60),
                honours_retry_after: true,
            },
            Self::Degrading => RetrySchedule {
                attempts: 3,
                first: Duration::from_secs(5),
                longest: Duration::from_secs(30),
                ..once
            },
            Self::UserFixable | Self::Permanent => once,
        }
    }
}
