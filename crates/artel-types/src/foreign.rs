//! Content that a run reads and that nobody vouched for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a run read and that neither the person nor the workshop vouched for. Its
/// author may be addressing the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForeignSource {
    /// The kind of source.
    pub kind: UntrustedSourceKind,
    /// The host, the skill, the file, or the program's token.
    pub name: String,
}

/// The kind of source that untrusted content comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UntrustedSourceKind {
    /// Another machine: a page, or anything fetched by a command with network access.
    Host,
    /// A skill that does not belong to the workshop.
    Skill,
    /// A file outside the run's own portal.
    File,
    /// A program with a token of its own, which put words on record for later runs.
    Program,
}

impl ForeignSource {
    /// Creates a source for content from a host.
    pub fn host(name: impl Into<String>) -> Self {
        Self {
            kind: UntrustedSourceKind::Host,
            name: name.into(),
        }
    }

    /// Creates a source for a skill.
    pub fn skill(name: impl Into<String>) -> Self {
        Self {
            kind: UntrustedSourceKind::Skill,
            name: name.into(),
        }
    }

    /// Creates a source for a file.
    pub fn file(name: impl Into<String>) -> Self {
        Self {
            kind: UntrustedSourceKind::File,
            name: name.into(),
        }
    }

    /// Names a program.
    pub fn program(name: impl Into<String>) -> Self {
        Self {
            kind: UntrustedSourceKind::Program,
            name: name.into(),
        }
    }
}

impl fmt::Display for ForeignSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.kind {
            UntrustedSourceKind::Host => write!(f, "content from `{name}`"),
            UntrustedSourceKind::Skill => write!(f, "the skill `{name}`"),
            UntrustedSourceKind::File => write!(f, "the file `{name}`"),
            UntrustedSourceKind::Program => write!(f, "words of the program `{name}`"),
        }
    }
}
