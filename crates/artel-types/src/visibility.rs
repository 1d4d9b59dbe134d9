//! How much of an event each reader is shown.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The audience that sees an event without asking for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventVisibility {
    /// Shown to everyone, even in the shortest view.
    Summary,
    /// Shown in the full trace.
    Full,
    /// Kept for audit; shown only to those who may see everything.
    Hidden,
}

impl EventVisibility {
    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Full => "full",
            Self::Hidden => "hidden",
        }
    }
}

impl FromStr for EventVisibility {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Summary, Self::Full, Self::Hidden]
            .into_iter()
            .find(|visibility| visibility.as_str() == text)
            .ok_or(())
    }
}
