//! The sandbox levels: which walls are in force, and which are required.

use serde::{Deserialize, Serialize};

/// The strength of the walls between a command and the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxLevel {
    /// No walls. Used only if the person allowed it for this run.
    None,
    /// Landlock and seccomp without namespaces: no network grants, no background jobs.
    Partial,
    /// Namespaces, Landlock, seccomp, no new privileges, limits.
    Full,
}

/// The level that the profile requires; below it nothing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredSandboxLevel(pub SandboxLevel);

/// One wall, and whether it is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLayer {
    /// The wall's name: `user namespace`, `Landlock`, `seccomp`, `memory`, …
    pub name: String,
    /// Whether it is in force on this machine, as found by testing.
    pub stands: bool,
    /// The details: `ABI 7`, `cgroup v2`, or why it is missing and what would help.
    pub detail: String,
}

/// The walls really in force, as found by the sandbox's own test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngagedSandbox {
    /// The level that was reached.
    pub level: SandboxLevel,
    /// All walls that were tested.
    pub layers: Vec<SandboxLayer>,
}

impl SandboxLevel {
    /// Returns the name used in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

impl std::fmt::Display for SandboxLevel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl EngagedSandbox {
    /// Returns the walls that are missing, each with the reason and what would help.
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
