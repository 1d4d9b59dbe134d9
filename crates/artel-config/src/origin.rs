//! The origin of a value, down to the line.

use std::fmt;
use std::path::PathBuf;

use crate::problem::{shown, shown_path};

/// The layer that a value came from, and its place there. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The default: nobody set the value.
    Default,
    /// The user's own settings file, at this line.
    User(PathBuf, usize),
    /// The workshop's settings file, at this line.
    Workshop(PathBuf, usize),
    /// The variable of this name.
    Env(String),
    /// A `--set` flag on the command line.
    Flag,
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// The layer and place that set it.
    pub origin: SettingOrigin,
}

impl SettingOrigin {
    /// Returns the line, if the origin is a file.
    pub(crate) fn line(&self) -> Option<usize> {
        match self {
            Self::User(_, line) | Self::Workshop(_, line) => Some(*line),
            Self::Default | Self::Env(_) | Self::Flag => None,
        }
    }

    /// Returns the place, in the words that the `why:` of a failure uses.
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

/// Writes the short form for tables: `workshop /home/ada/Artel/artel.toml:3`.
impl fmt::Display for SettingOrigin {
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
