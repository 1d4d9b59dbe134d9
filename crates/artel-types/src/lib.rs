//! The words of Artel: what every other crate talks about.
//!
//! Plain values only. There is no IO here, no async, no clock and no randomness: whatever the
//! world supplies (time, random bytes, secrets) is handed in.
#![warn(missing_docs)]

mod actor;
mod clock;
mod codes;
mod event;
mod fact;
mod failure;
mod ids;
mod money;
mod redact;
mod schedule;
mod secret;
mod text;
mod time;
mod visibility;

pub use actor::{Actor, ActorKind, BadActor, Via};
pub use clock::Clock;
pub use codes::{Code, Page};
pub use event::{Draft, Event, Outcome};
pub use fact::{
    BudgetLimited, BudgetReleased, BudgetReserved, BudgetSettled, ConfigLoaded, DecodeError, Fact,
    FactPage, FieldPage, JournalBackedUp, JournalMigrated, JournalPruned, JournalRestored,
    JournalTailTorn, NoteAdded, RunFinished, RunStarted, SessionEnded, SessionStarted,
    WorkshopCreated, WorkshopTrusted,
};
pub use failure::{ExitCode, Failure, FailureKind};
pub use ids::{BadId, BadStream, BlobHash, RunId, SessionId, Stream, TraceId, WorkshopId};
pub use money::{Amount, Level, Money, Tokens};
pub use redact::{REDACTED, Redactor, SHORTEST_KNOWN_VALUE};
pub use schedule::{Class, Schedule};
pub use secret::Secret;
pub use text::{BlobRef, Text, counted};
pub use time::{BadTime, Timestamp, parse_span};
pub use visibility::Visibility;
