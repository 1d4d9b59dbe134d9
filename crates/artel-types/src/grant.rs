//! What a person allows beyond a single call, as recorded in the journal.

use serde::{Deserialize, Serialize};

/// The reach of a yes beyond the one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantReach {
    /// The run and every run of its tree: all agents of a plan, later rounds, called
    /// skills.
    Run,
    /// The workshop, for good.
    Always,
}

impl GrantReach {
    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Always => "always",
        }
    }
}

/// The grant that a question offers with a yes, beyond this one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantOffer {
    /// The rules that together make the next question unnecessary; empty if no rule can
    /// express it.
    pub rules: Vec<String>,
    /// Identifies exactly this call, in whichever tree it is made. A yes without rules
    /// applies to it.
    pub exactly: String,
    /// How far a yes may reach.
    pub reaches: Vec<GrantReach>,
}

/// The grant that a person gave with a yes, beyond this one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedGrant {
    /// How far the grant reaches.
    pub reach: GrantReach,
    /// The granted rules; empty if the grant is for exactly the call that was shown.
    pub rules: Vec<String>,
    /// Identifies that call; `None` if there are rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exactly: Option<String>,
}

impl GrantOffer {
    /// Returns what a yes with this reach grants, or `None` if that reach is not offered.
    pub fn taken(&self, reach: GrantReach) -> Option<AcceptedGrant> {
        self.reaches.contains(&reach).then(|| AcceptedGrant {
            reach,
            rules: self.rules.clone(),
            exactly: self.rules.is_empty().then(|| self.exactly.clone()),
        })
    }
}
