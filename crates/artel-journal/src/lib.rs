//! The journal: an append-only, hash-chained, signed log of everything that happened, on SQLite.
//!
//! This is the only crate that opens the database. It keeps four promises: an acknowledged append
//! is on disk; a failed one leaves nothing behind; every change to what was recorded is found by
//! [`verify`]; and every other state can be dropped and folded again from the events.
//!
//! Deliberately absent: what events mean. Callers say which streams are finished, what a
//! projection counts, and whose act an append is.
#![warn(missing_docs)]

mod admit;
mod anchor;
mod archive;
mod backup;
mod blobs;
mod chain;
mod columns;
mod connect;
mod durable;
mod error;
mod head;
mod home;
mod indexes;
mod journal;
mod keys;
mod lease;
mod migrate;
mod objects;
mod order;
mod outcome;
mod owner;
mod pages;
mod patience;
mod prepare;
mod projection;
mod query;
mod reader;
mod record;
mod restore;
mod row;
mod schema;
mod subscribe;
mod turn;
mod turnstile;
mod verify;
mod wait;
mod wal;
mod walk;
mod writer;

pub use anchor::{AnchorRestoreNote, JournalAnchor};
pub use archive::{ArchiveInfo, JournalPruneOutcome};
pub use backup::{JournalBackup, backups, taken_at as backup_time};
pub use blobs::BlobStore;
pub use error::{JournalAppendError, JournalError, LeaseError};
pub use home::JournalFolders;
pub use journal::{CommitDurability, Journal, JournalOptions, OpenedJournal};
pub use keys::JournalSigningKeys;
pub use lease::{Lease, LeaseFence, LeaseInfo};
pub use order::{AppendAcknowledgement, AppendReceipt, EventBatch};
pub use owner::LeaseOwner;
pub use projection::JournalProjection;
pub use query::{EventFilter, EventQuery, EventSortOrder};
pub use reader::{JournalReader, JournalVersion, TraceLookupKey};
pub use record::JournalRecord;
pub use restore::{JournalRestoreOutcome, RestoreCandidate, RestoreSource};
pub use row::JournalRecordRef;
pub use subscribe::JournalSubscription;
pub use verify::{FirstBadEvent, JournalVerification, verify, verify_file};
