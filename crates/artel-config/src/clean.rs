//! Settings of `artel clean`.

use std::time::Duration;

use artel_types::Failure;

use crate::Setting;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const FIELDS: &[SettingField] = &[SettingField {
    key: "clean.logs_after",
    kind: SettingKind::Span {
        least: Duration::ZERO,
    },
    default: Some("30d"),
    about: "How old a log must be before `artel clean` offers to remove it.",
}];

/// Settings of what `artel clean` may remove, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanSettings {
    /// Age from which a log may be removed.
    pub logs_after: Setting<Duration>,
}

impl CleanSettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            logs_after: values.span("clean.logs_after")?,
        })
    }
}
