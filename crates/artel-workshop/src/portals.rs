//! Portals: project folders that a person opened to agents, each with its permissions and
//! label.
//!
//! The journal decides: the newest `portal.opened` of a name is in force, and
//! `portal.closed` ends it. The page in `Knowledge/Portals` shows a portal to people and
//! keeps their notes.

mod admit;
mod card;
mod first_use;
mod furnish;
mod homebound;
mod label;
mod name;
mod open;
mod stack;
mod verify;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_policy::{BoundAdmission, PolicyBound, PortalPermission};
use artel_types::model::PrivacyLabel;
use artel_types::{Fact, Failure, FailureCode, PortalOpened};
use serde::Serialize;

pub use first_use::{PortalOpeningApprover, PortalQuestion};
pub(crate) use furnish::trees;
pub(crate) use homebound::PortalPrivacyLabels;
pub(crate) use label::{label_of, label_of_runs, with_labels_that_count};
pub use open::NewPortal;
pub use verify::PortalCheck;

use crate::trouble::path_text;
use crate::workshop::Workshop;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Portal {
    /// The name for people and for paths such as `@Name/path`.
    pub name: String,
    /// The folder, with links resolved.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// The permitted operations.
    pub operations: Vec<PortalOperation>,
    /// The roles that may work in it; `*` for all.
    pub agents: Vec<String>,
    /// Where its content may be sent.
    pub privacy: PrivacyLabel,
    /// The detected technologies of the project.
    pub stack: Vec<String>,
    /// The commands that build, lint and test it, if a person set them.
    pub checks: Vec<String>,
}

/// An operation that may be permitted in a portal. Changes are made in a run's own tree
/// and reach the folder only through a changeset that a person approves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PortalOperation {
    /// Files can be read.
    Read,
    /// Changes can be made in a run's tree, and commands can run there.
    Write,
    /// Git can be used in a run's tree.
    Git,
}

impl PortalOperation {
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Git];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Git => "git",
        }
    }
}

impl fmt::Display for PortalOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for PortalOperation {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| it.as_str() == word)
            .ok_or_else(|| format!("`{word}` is none of read, write, git"))
    }
}

impl From<PortalOperation> for PortalPermission {
    fn from(operation: PortalOperation) -> Self {
        match operation {
            PortalOperation::Read => Self::Read,
            PortalOperation::Write => Self::Write,
            PortalOperation::Git => Self::Git,
        }
    }
}

impl Portal {
    /// Returns where its content may be sent. Model calls of runs in this portal carry this
    /// label.
    pub fn privacy(&self) -> PrivacyLabel {
        self.privacy
    }

    /// Returns whether a role may work in the portal at all.
    pub fn is_for(&self, role: &str) -> bool {
        self.agents
            .iter()
            .any(|agent| agent == "*" || agent == role)
    }

    /// Returns the bound for runs in this portal.
    pub fn bound(&self) -> PolicyBound {
        PolicyBound {
            name: format!("portal {}", self.name),
            admits: BoundAdmission::Operations(
                self.operations.iter().map(|&it| it.into()).collect(),
            ),
        }
    }

    pub fn privacy_word(&self) -> &'static str {
        privacy_word(self.privacy)
    }

    fn fact(&self) -> PortalOpened {
        let words = |it: &PortalOperation| it.as_str().to_owned();
        PortalOpened {
            name: self.name.clone(),
            path: self.path.display().to_string(),
            operations: self.operations.iter().map(words).collect(),
            agents: self.agents.clone(),
            privacy: self.privacy_word().to_owned(),
            stack: self.stack.clone(),
            checks: self.checks.clone(),
        }
    }
}

impl From<PortalOpened> for Portal {
    /// Reads a recorded portal. Words that this version does not know open nothing: an unknown
    /// operation is dropped, and with an unknown label the content stays on this machine.
    fn from(fact: PortalOpened) -> Self {
        let known = fact.operations.iter().filter_map(|word| word.parse().ok());
        Self {
            name: fact.name,
            path: PathBuf::from(fact.path),
            operations: known.collect(),
            agents: fact.agents,
            privacy: match fact.privacy.as_str() {
                "any" => PrivacyLabel::Any,
                _ => PrivacyLabel::LocalOnly,
            },
            stack: fact.stack,
            checks: fact.checks,
        }
    }
}

impl Workshop {
    /// Returns the open portals, ordered by name.
    pub fn portals(&self) -> Result<Vec<Portal>, Failure> {
        portals_in(&*self.reader()?)
    }

    pub fn portal(&self, name: &str) -> Result<Portal, Failure> {
        let portals = self.portals()?;
        let names: Vec<String> = portals.iter().map(|portal| portal.name.clone()).collect();
        let found = portals.into_iter().find(|portal| portal.name == name);
        found.ok_or_else(|| unknown(name, &names))
    }

    /// Returns the portal that contains a folder, the innermost if there are several.
    pub fn portal_of(&self, folder: &Path) -> Result<Option<Portal>, Failure> {
        Ok(holding(self.portals()?, folder))
    }
}

/// Returns the open portals according to a journal, ordered by name.
pub(crate) fn portals_in(reader: &JournalReader) -> Result<Vec<Portal>, Failure> {
    let filter = EventFilter {
        kind: Some("portal.".to_owned()),
        ..EventFilter::default()
    };
    let mut open = std::collections::BTreeMap::new();
    for record in reader.records(&EventQuery::of(filter).few())? {
        match record.event()?.fact {
            Fact::PortalOpened(fact) => {
                let portal = Portal::from(fact);
                open.insert(portal.name.clone(), portal);
            }
            Fact::PortalClosed(fact) => {
                open.remove(&fact.name);
            }
            _ => {}
        }
    }
    Ok(open.into_values().collect())
}

/// Returns the innermost portal that contains a folder.
pub(crate) fn holding(portals: Vec<Portal>, folder: &Path) -> Option<Portal> {
    let holds = |portal: &Portal| folder.starts_with(&portal.path);
    let depth = |portal: &Portal| portal.path.components().count();
    portals.into_iter().filter(holds).max_by_key(depth)
}

fn privacy_word(privacy: PrivacyLabel) -> &'static str {
    match privacy {
        PrivacyLabel::Any => "any",
        PrivacyLabel::LocalOnly => "local-only",
    }
}

pub(crate) fn unknown(name: &str, names: &[String]) -> Failure {
    let failure = Failure::new(FailureCode::F001, format!("there is no portal `{name}`"));
    let near = artel_tools::nearest(name, names.iter().map(String::as_str), 1);
    match (near.first(), names) {
        (Some(near), _) => failure.advise(format!("did you mean `{near}`?")),
        (None, []) => failure.advise("`artel portal add PATH` opens a project folder to agents"),
        (None, names) => failure.advise(format!("there are: {}", names.join(", "))),
    }
}
