//! Settings of the journal.

use std::str::FromStr;
use std::time::Duration;

use artel_types::Failure;

use crate::Setting;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "journal.durability",
        kind: SettingKind::Choice(&["full", "normal"]),
        default: Some("full"),
        about: "Whether records are safe from power loss at once (full) or a moment later (normal).",
    },
    SettingField {
        key: "journal.backup_every",
        kind: SettingKind::Span {
            least: Duration::ZERO,
        },
        default: Some("24h"),
        about: "How long after the last backup of the journal the next one is taken.",
    },
    SettingField {
        key: "journal.backups_kept",
        kind: SettingKind::Whole {
            least: 1,
            most: 1000,
        },
        default: Some("10"),
        about: "How many backups of the journal are kept; older ones are removed.",
    },
    SettingField {
        key: "journal.busy_after",
        kind: SettingKind::Span {
            least: Duration::ZERO,
        },
        default: Some("30s"),
        about: "How long to wait for the journal's write turn before giving up with J005.",
    },
];

/// Settings of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// Durability that a record needs before it counts as written.
    pub durability: Setting<DurabilityChoice>,
    /// Time after the last backup at which the next one is taken.
    pub backup_every: Setting<Duration>,
    /// Number of backups to keep, from 1 to 1000.
    pub backups_kept: Setting<u64>,
    /// Longest wait for the write turn.
    pub busy_after: Setting<Duration>,
}

/// The point at which a record counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurabilityChoice {
    /// It is on disk, whatever happens next.
    Full,
    /// The operating system has it: it survives a crash of Artel, but not a loss of power.
    Normal,
}

impl JournalSettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            durability: values.word("journal.durability")?,
            backup_every: values.span("journal.backup_every")?,
            backups_kept: values.whole("journal.backups_kept")?,
            busy_after: values.span("journal.busy_after")?,
        })
    }
}

impl FromStr for DurabilityChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "full" => Ok(Self::Full),
            "normal" => Ok(Self::Normal),
            _ => Err(()),
        }
    }
}
