//! Settings of `artel clean`.

use std::time::Duration;

use artel_types::Failure;

use crate::Setting;
use crate::schema::Field;
use crate::value::Kind;
use crate::values::Values;

pub(crate) const FIELDS: &[Field] = &[Field {
    key: "clean.logs_after",
    kind: Kind::Span {
        least: Duration::ZERO,
    },
    default: Some("30d"),
    about: "How old a log must be before `artel clean` offers to remove it.",
}];

/// Settings of what `artel clean` may remove, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean {
    /// Age from which a log may be removed.
    pub logs_after: Setting<Duration>,
}

impl Clean {
    pub(crate) fn from_values(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            logs_after: values.span("clean.logs_after")?,
        })
    }
}
