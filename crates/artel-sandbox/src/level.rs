//! The ladder: which walls stand, what is demanded, and what that means.

use serde::{Deserialize, Serialize};

/// How much stands between a command and the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing. Only where the person said so for this run.
    None,
    /// Landlock and seccomp without namespaces: no network grants, no background jobs.
    Partial,
    /// Namespaces, Landlock, seccomp, no new privileges, limits.
    Full,
}

/// What the profile demands; below it nothing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand(pub Level);

/// One wall, and whether it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Its name: `user namespace`, `Landlock`, `seccomp`, `memory`, …
    pub name: String,
    /// Whether it stands on this machine, tried out and not guessed.
    pub stands: bool,
    /// How: `ABI 7`, `cgroup v2`, or why not and what would help.
    pub detail: String,
}

/// What is really engaged, as the ladder's own test found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engaged {
    /// The level reached.
    pub level: Level,
    /// Every wall.
    pub layers: Vec<Layer>,
}

impl Level {
    /// Returns its name as settings and records spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Engaged {
    /// Returns the walls that do not stand, each with why and what would help.
    pub fn missing(&self) -> String {
        let missing: Vec<_> = self
            .layers
            .iter()
            .filter(|layer| !layer.stands)
            .map(|layer| format!("{} ({})", layer.name, layer.detail))
            .collect();
        missing.join("; ")
    }
}
