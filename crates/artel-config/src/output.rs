//! Settings of output.

use std::str::FromStr;

use artel_types::Failure;

use crate::Setting;
use crate::schema::Field;
use crate::value::Kind;
use crate::values::Values;

pub(crate) const FIELDS: &[Field] = &[Field {
    key: "output.color",
    kind: Kind::Choice(&["auto", "always", "never"]),
    default: Some("auto"),
    about: "Whether text is coloured; auto colours only what goes to a terminal.",
}];

/// Settings of how output looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Whether text is coloured.
    pub color: Setting<Color>,
}

/// The cases in which text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Only on a terminal that wants it.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl Output {
    pub(crate) fn from_values(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            color: values.word("output.color")?,
        })
    }
}

impl FromStr for Color {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err(()),
        }
    }
}
