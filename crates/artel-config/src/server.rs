//! Settings of the daemon: its address, and how much it does at once.

use artel_types::Failure;

use crate::Setting;
use crate::form::SettingTextForm;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "server.listen",
        kind: SettingKind::Text(SettingTextForm::Line),
        default: Some("127.0.0.1:7717"),
        about: "Where the daemon listens. Beyond loopback it does so only with `--public`.",
    },
    SettingField {
        key: "server.hosts",
        kind: SettingKind::List(SettingTextForm::Line),
        default: Some(""),
        about: "More names by which the server may be called, such as that of a proxy before it.",
    },
    SettingField {
        key: "server.event_streams",
        kind: SettingKind::Whole {
            least: 1,
            most: 100_000,
        },
        default: Some("1000"),
        about: "How many readers may follow live events at once.",
    },
    SettingField {
        key: "server.acts_per_second",
        kind: SettingKind::Whole {
            least: 1,
            most: 1_000_000,
        },
        default: Some("200"),
        about: "How many requests a second of one token or login may change something; reading \
                is not counted.",
    },
    SettingField {
        key: "server.works_at_once",
        kind: SettingKind::Whole { least: 1, most: 64 },
        default: Some("4"),
        about: "How many pieces of work the daemon plans or carries out side by side.",
    },
    SettingField {
        key: "telemetry.otlp",
        kind: SettingKind::List(SettingTextForm::BaseUrl),
        default: Some(""),
        about: "Where traces go: the address of an OpenTelemetry collector, such as \
                http://127.0.0.1:4318.",
    },
];

/// Settings of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Address that it listens on.
    pub listen: Setting<String>,
    /// Additional host names by which it may be called.
    pub hosts: Setting<Vec<String>>,
    /// Largest number of readers of live events.
    pub event_streams: Setting<u64>,
    /// Number of requests per second that one token may use to change something.
    pub acts_per_second: Setting<u64>,
    /// Number of pieces of work that run at the same time.
    pub works_at_once: Setting<u64>,
    /// Addresses that traces are sent to.
    pub otlp: Setting<Vec<String>>,
}

impl ServerSettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            listen: values.text("server.listen")?,
            hosts: values.list("server.hosts")?,
            event_streams: values.whole("server.event_streams")?,
            acts_per_second: values.whole("server.acts_per_second")?,
            works_at_once: values.whole("server.works_at_once")?,
            otlp: values.list("telemetry.otlp")?,
        })
    }
}
