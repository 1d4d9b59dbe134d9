//! Settings of the gateway, through which every call to a model goes.

use std::time::Duration;

use artel_types::Failure;

use crate::Setting;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

const WAIT: SettingKind = SettingKind::Span {
    least: Duration::from_millis(1),
};

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "gateway.slots",
        kind: SettingKind::Whole {
            least: 1,
            most: 10_000,
        },
        default: Some("10"),
        about: "How many calls one provider answers at once; further ones wait in line.",
    },
    SettingField {
        key: "gateway.connect_timeout",
        kind: WAIT,
        default: Some("10s"),
        about: "How long to wait for a connection to a provider.",
    },
    SettingField {
        key: "gateway.idle_timeout",
        kind: WAIT,
        default: Some("120s"),
        about: "How long a provider may be silent in the middle of an answer.",
    },
    SettingField {
        key: "gateway.max_wait",
        kind: WAIT,
        default: Some("1h"),
        about: "How long a call may wait in all, in line and between tries, before it gives up.",
    },
];

/// Settings of calls to models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewaySettings {
    /// Number of calls that one provider answers at once, from 1 to 10,000.
    pub slots: Setting<u64>,
    /// Longest wait for a connection.
    pub connect_timeout: Setting<Duration>,
    /// Longest silence of a provider in the middle of a reply. A model entry's own value takes
    /// precedence.
    pub idle_timeout: Setting<Duration>,
    /// Longest total wait of a call, in the queue and between attempts.
    pub max_wait: Setting<Duration>,
}

impl GatewaySettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            slots: values.whole("gateway.slots")?,
            connect_timeout: values.span("gateway.connect_timeout")?,
            idle_timeout: values.span("gateway.idle_timeout")?,
            max_wait: values.span("gateway.max_wait")?,
        })
    }
}
