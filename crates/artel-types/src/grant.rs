//! What a person allows beyond one call, as the journal has it.

use serde::{Deserialize, Serialize};

/// How far a yes reaches beyond the one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantReach {
    /// The run and every run of its tree: all agents of a plan, later rounds, called skills.
    Run,
    /// The workshop, for good.
    Always,
}

impl GrantReach {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Always => "always",
        }
    }
}

/// What a yes to a question would grant beyond this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantOffer {
    /// The rules that together spare the next question; none where no rule can say it.
    pub rules: Vec<String>,
    /// Names the very call, in whatever tree it is made; a yes without rules is for that.
    pub exactly: String,
    /// How far it may reach.
    pub reaches: Vec<GrantReach>,
}

/// What a person granted with a yes beyond this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// How far it reaches.
    pub reach: GrantReach,
    /// The rules; none where it is for the very call that was shown.
    pub rules: Vec<String>,
    /// Names that call; absent where there are rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exactly: Option<String>,
}

impl GrantOffer {
    /// Returns what a yes grants that reaches as far as said; nothing where that is not offered.
    pub fn taken(&self, reach: GrantReach) -> Option<Granted> {
        self.reaches.contains(&reach).then(|| Granted {
            reach,
            rules: self.rules.clone(),
            exactly: self.rules.is_empty().then(|| self.exactly.clone()),
        })
    }
}
