//! Where a value came from, down to the line.

use std::fmt;
use std::path::PathBuf;

use crate::problem::{shown, shown_path};

/// The layer, and the place in it, that a value came from. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The user's own settings file, at this line.
    User(PathBuf, usize),
    /// The workshop's settings file, at this line.
    Workshop(PathBuf, usize),
    /// A variable of this name.
    Env(String),
    /// `--set` on the command line.
    Flag,
}

/// A value together with where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Who set it.
    pub origin: Origin,
}

impl Origin {
    /// Returns the line in a file, where it is one.
    pub(crate) fn line(&self) -> Option<usize> {
        match self {
            Self::User(_, line) | Self::Workshop(_, line) => Some(*line),
            Self::Default | Self::Env(_) | Self::Flag => None,
        }
    }

    /// Returns the place as the `why:` of a failure names it.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Default => "the default".to_owned(),
            Self::User(path, line) | Self::Workshop(path, line) => {
                format!("`{}` line {line}", shown_path(path))
            }
            Self::Env(name) => format!("the variable `{}`", shown(name)),
            Self::Flag => "`--set` on the command line".to_owned(),
        }
    }
}

/// The short form for tables: `workshop /home/ada/Artel/artel.toml:3`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path, line) => write!(f, "user {}:{line}", shown_path(path)),
            Self::Workshop(path, line) => write!(f, "workshop {}:{line}", shown_path(path)),
            Self::Env(name) => f.write_str(&shown(name)),
            Self::Flag => f.write_str("--set"),
        }
    }
}
