//! Who did something, and through which surface.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorKind {
    /// A person; the id is their global git e-mail address or their name on this machine.
    Human,
    /// A role that a model plays; the id is the role's id.
    Agent,
    /// Artel itself; the id names the part that acted.
    System,
    /// A program that holds a token of its own; the id is the token's name. A program
    /// approves nothing.
    Program,
}

impl ActorKind {
    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
            Self::System => "system",
            Self::Program => "program",
        }
    }
}

/// The surface that a person or a program acted through. Each of their acts has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorSurface {
    /// A command in a terminal.
    Cli,
    /// An edit or a move of a file in the workshop.
    File,
    /// The web console.
    Web,
    /// The HTTP interface or a protocol client.
    Api,
}

impl ActorSurface {
    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::File => "file",
            Self::Web => "web",
            Self::Api => "api",
        }
    }
}

/// The author of an act: a person, an agent, Artel or a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Whether it is a person, an agent, Artel itself or a program.
    pub kind: ActorKind,
    /// Id of the actor within its kind.
    pub id: String,
    /// The surface; always `Some` for a person or a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<ActorSurface>,
}

/// Error for text that does not name an actor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` does not name an actor: expected `human:<id>`, `agent:<id>`, `system:<id>` or `program:<id>`"
)]
pub struct ActorParseError(String);

impl Actor {
    /// Returns the actor for a person who acted through `via`.
    pub fn human(id: impl Into<String>, via: ActorSurface) -> Self {
        Self {
            kind: ActorKind::Human,
            id: id.into(),
            via: Some(via),
        }
    }

    /// Returns the actor for an agent in the role `id`.
    pub fn agent(id: impl Into<String>) -> Self {
        Self {
            kind: ActorKind::Agent,
            id: id.into(),
            via: None,
        }
    }

    /// Returns the actor for a part of Artel.
    pub fn system(id: impl Into<String>) -> Self {
        Self {
            kind: ActorKind::System,
            id: id.into(),
            via: None,
        }
    }

    /// Returns the actor for a program that acts with a token of its own.
    pub fn program(id: impl Into<String>) -> Self {
        Self {
            kind: ActorKind::Program,
            id: id.into(),
            via: Some(ActorSurface::Api),
        }
    }

    /// Returns the name to show to people. A program's name says that it is a program.
    pub fn label(&self) -> Cow<'_, str> {
        match self.kind {
            ActorKind::Program => Cow::Owned(format!("program {}", self.id)),
            ActorKind::Human | ActorKind::Agent | ActorKind::System => Cow::Borrowed(&self.id),
        }
    }

    /// Reads an actor from the two columns that the journal stores.
    pub fn from_columns(actor: &str, via: Option<&str>) -> Result<Self, ActorParseError> {
        let bad = || ActorParseError(actor.chars().take(100).collect());
        let (kind, id) = actor.split_once(':').ok_or_else(bad)?;
        let kind = match kind {
            "human" => ActorKind::Human,
            "agent" => ActorKind::Agent,
            "system" => ActorKind::System,
            "program" => ActorKind::Program,
            _ => return Err(bad()),
        };
        let via = via.map(|via| via.parse().map_err(|()| bad())).transpose()?;
        Ok(Self {
            kind,
            id: id.to_owned(),
            via,
        })
    }
}

impl FromStr for ActorSurface {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Cli, Self::File, Self::Web, Self::Api]
            .into_iter()
            .find(|via| via.as_str() == text)
            .ok_or(())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_survive_their_columns() {
        for actor in [
            Actor::human("ada@example.org", ActorSurface::Cli),
            Actor::agent("engineer"),
            Actor::system("a:b"),
            Actor::program("ci"),
        ] {
            let via = actor.via.map(ActorSurface::as_str);
            assert_eq!(Actor::from_columns(&actor.to_string(), via), Ok(actor));
        }
    }

    #[test]
    fn a_program_is_told_from_the_person_of_the_same_name() {
        let (program, person) = (
            Actor::program("ada"),
            Actor::human("ada", ActorSurface::Api),
        );
        assert_eq!(
            (&*program.label(), &*person.label()),
            ("program ada", "ada")
        );
        assert_ne!(program, person);
    }

    #[test]
    fn an_unknown_kind_or_door_is_refused() {
        assert!(Actor::from_columns("robot:x", None).is_err());
        assert!(Actor::from_columns("human", None).is_err());
        assert!(Actor::from_columns("human:x", Some("phone")).is_err());
    }
}
