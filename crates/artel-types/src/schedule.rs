//! The five classes of error, and how each is tried again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What sort of failure it was; this alone decides whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A blip: retried silently.
    Transient,
    /// The other side asked us to slow down: waited for, with a countdown.
    RateLimit,
    /// The other side is failing: people are told at once, then it is retried.
    Degrading,
    /// Only the person can mend it (a key, a permission, a quota): never retried by itself.
    UserFixable,
    /// Trying again cannot help.
    Permanent,
}

/// How often and how long apart to try. The wait doubles from `first` up to `longest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// How many tries there are in all, the first one included.
    pub attempts: u32,
    /// The wait after the first failure.
    pub first: Duration,
    /// No wait is longer, except one that the other side named.
    pub longest: Duration,
    /// Whether a wait that the other side names wins over ours.
    pub honours_retry_after: bool,
}

impl Class {
    /// Every class, in the order of the table in the documentation.
    pub const ALL: [Self; 5] = [
        Self::Transient,
        Self::RateLimit,
        Self::Degrading,
        Self::UserFixable,
        Self::Permanent,
    ];

    /// Returns the schedule; one try alone where trying again cannot help.
    pub fn schedule(self) -> Schedule {
        let once = Schedule {
            attempts: 1,
            first: Duration::ZERO,
            longest: Duration::ZERO,
            honours_retry_after: false,
        };
        match self {
            Self::Transient => Schedule {
                attempts: 5,
                first: Duration::from_millis(100),
                longest: Duration::from_secs(5),
                ..once
            },
            Self::RateLimit => Schedule {
                attempts: 10,
                first: Duration::from_secs(1),
                longest: Duration::from_secs(60),
                honours_retry_after: true,
            },
            Self::Degrading => Schedule {
                attempts: 3,
                first: Duration::from_secs(5),
                longest: Duration::from_secs(30),
                ..once
            },
            Self::UserFixable | Self::Permanent => once,
        }
    }
}
