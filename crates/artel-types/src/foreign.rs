//! What a run reads that nobody vouched for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a run read and that neither the person nor the workshop vouched for. Whoever wrote
/// it may speak to the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForeignSource {
    /// Of what kind it is.
    pub kind: ForeignKind,
    /// The host, the skill, the file, or the program's token.
    pub name: String,
}

/// Where foreign content comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignKind {
    /// Another machine: a page, or whatever a command with a way out brought.
    Host,
    /// A skill that is not the workshop's own.
    Skill,
    /// A file outside of the run's own portal.
    File,
    /// A program with a token of its own, which put words on record for later runs.
    Program,
}

impl ForeignSource {
    /// Names content that came from a host.
    pub fn host(name: impl Into<String>) -> Self {
        Self {
            kind: ForeignKind::Host,
            name: name.into(),
        }
    }

    /// Names a skill.
    pub fn skill(name: impl Into<String>) -> Self {
        Self {
            kind: ForeignKind::Skill,
            name: name.into(),
        }
    }

    /// Names a file.
    pub fn file(name: impl Into<String>) -> Self {
        Self {
            kind: ForeignKind::File,
            name: name.into(),
        }
    }

    /// Names a program.
    pub fn program(name: impl Into<String>) -> Self {
        Self {
            kind: ForeignKind::Program,
            name: name.into(),
        }
    }
}

impl fmt::Display for ForeignSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.kind {
            ForeignKind::Host => write!(f, "content from `{name}`"),
            ForeignKind::Skill => write!(f, "the skill `{name}`"),
            ForeignKind::File => write!(f, "the file `{name}`"),
            ForeignKind::Program => write!(f, "words of the program `{name}`"),
        }
    }
}
