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

pub use anchor::{Anchor, RestoreNote};
pub use archive::{ArchiveInfo, Pruned};
pub use backup::{Backup, backups, taken_at as backup_time};
pub use blobs::Blobs;
pub use error::{AppendError, JournalError, LeaseError};
pub use home::Home;
pub use journal::{Durability, Journal, Opened, Options};
pub use keys::Keys;
pub use lease::{Fence, Lease, LeaseInfo};
pub use order::{Ack, Batch, Receipt};
pub use owner::Owner;
pub use projection::Projection;
pub use query::{Filter, Order, Query};
pub use reader::{Reader, Sight, TracesBy};
pub use record::Record;
pub use restore::{Candidate, Restored, Source};
pub use row::Row;
pub use subscribe::Subscription;
pub use verify::{FirstBad, Verified, verify, verify_file};
