//! Settings of output.

use std::str::FromStr;

use artel_types::Failure;

use crate::Setting;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const FIELDS: &[SettingField] = &[SettingField {
    key: "output.color",
    kind: SettingKind::Choice(&["auto", "always", "never"]),
    default: Some("auto"),
    about: "Whether text is coloured; auto colours only what goes to a terminal.",
}];

/// Settings of how output looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSettings {
    /// Whether text is coloured.
    pub color: Setting<OutputColorChoice>,
}

/// The cases in which text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputColorChoice {
    /// Only on a terminal that wants it.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl OutputSettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            color: values.word("output.color")?,
        })
    }
}

impl FromStr for OutputColorChoice {
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
