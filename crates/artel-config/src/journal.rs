//! Settings of the journal.

use std::str::FromStr;
use std::time::Duration;

use artel_types::Failure;

use crate::Setting;
use crate::schema::Field;
use crate::value::Kind;
use crate::values::Values;

pub(crate) const FIELDS: &[Field] = &[
    Field {
        key: "journal.durability",
        kind: Kind::Choice(&["full", "normal"]),
        default: Some("full"),
        about: "Whether records are safe from power loss at once (full) or a moment later (normal).",
    },
    Field {
        key: "journal.backup_every",
        kind: Kind::Span {
            least: Duration::ZERO,
        },
        default: Some("24h"),
        about: "How long after the last backup of the journal the next one is taken.",
    },
    Field {
        key: "journal.backups_kept",
        kind: Kind::Whole {
            least: 1,
            most: 1000,
        },
        default: Some("10"),
        about: "How many backups of the journal are kept; older ones are removed.",
    },
    Field {
        key: "journal.busy_after",
        kind: Kind::Span {
            least: Duration::ZERO,
        },
        default: Some("30s"),
        about: "How long to wait for the journal's write turn before giving up with J005.",
    },
];

/// Settings of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// Durability that a record needs before it counts as written.
    pub durability: Setting<Durability>,
    /// Time after the last backup at which the next one is taken.
    pub backup_every: Setting<Duration>,
    /// Number of backups to keep, from 1 to 1000.
    pub backups_kept: Setting<u64>,
    /// Longest wait for the write turn.
    pub busy_after: Setting<Duration>,
}

/// The point at which a record counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on disk, whatever happens next.
    Full,
    /// The operating system has it: it survives a crash of Artel, but not a loss of power.
    Normal,
}

impl Journal {
    pub(crate) fn from_values(values: &Values) -> Result<Self, Failure> {
        Ok(Self {
            durability: values.word("journal.durability")?,
            backup_every: values.span("journal.backup_every")?,
            backups_kept: values.whole("journal.backups_kept")?,
            busy_after: values.span("journal.busy_after")?,
        })
    }
}

impl FromStr for Durability {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "full" => Ok(Self::Full),
            "normal" => Ok(Self::Normal),
            _ => Err(()),
        }
    }
}
