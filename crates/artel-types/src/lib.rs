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
pub mod model;
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
    BreakerClosed, BreakerOpened, BreakerProbed, BudgetLimited, BudgetReleased, BudgetReserved,
    BudgetSettled, BudgetWarned, ConfigLoaded, DecodeError, Fact, FactPage, FieldPage,
    JournalBackedUp, JournalMigrated, JournalPruned, JournalRestored, JournalTailTorn, ModelFailed,
    ModelReplied, ModelRequested, NoteAdded, PolicyGranted, PolicyRevoked, ProviderPaused,
    ProviderResumed, RunFinished, RunStarted, SandboxEngaged, SandboxPassage, SecretUsed,
    SessionEnded, SessionStarted, ToolAnswered, ToolFinished, ToolRequested, WorkshopCreated,
    WorkshopTrusted,
};
pub use failure::{ExitCode, Failure, FailureKind};
pub use ids::{BadId, BadStream, BlobHash, RunId, SessionId, Stream, TraceId, WorkshopId};
pub use money::{Amount, Level, Limit, Limits, Money, Tokens};
pub use redact::{
    Formats, Inside, LOOKBACK, Look, REDACTED, RedactedStream, Redactor, SHORTEST_KNOWN_VALUE,
    TextEnd,
};
pub use schedule::{Class, Schedule};
pub use secret::Secret;
pub use text::{BlobRef, Text, counted};
pub use time::{BadTime, Timestamp, parse_span};
pub use visibility::Visibility;
