//! The vocabulary of Artel, shared by every other crate.
//!
//! Plain values only. There is no IO here, no async, no clock and no randomness: everything
//! the world supplies (time, random bytes, secrets) is passed in.
#![warn(missing_docs)]

mod actor;
mod clock;
mod codes;
mod decided;
mod event;
mod fact;
mod failure;
mod foreign;
mod grant;
mod ids;
mod inheritance;
pub mod model;
mod money;
mod pattern;
pub mod plan;
mod redact;
mod room;
mod run;
mod schedule;
mod secret;
mod text;
mod time;
mod visibility;

pub use actor::{Actor, ActorKind, BadActor, Via};
pub use clock::Clock;
pub use codes::{Code, Page};
pub use decided::{DecidedBy, WallOpening};
pub use event::{Draft, Event, Outcome};
pub use fact::{
    AgentChanged, BaselineTaken, BranchBegun, BranchChecked, BranchMended, BreakerClosed,
    BreakerOpened, BreakerProbed, BudgetLimited, BudgetReleased, BudgetReserved, BudgetSettled,
    BudgetWarned, ChangesetCreated, ChangesetMerged, ChangesetOrdered, ChangesetRefused,
    ChangesetRejected, ConfigLoaded, ConsoleNamed, ContextCompacted, ContextLoaded, DaemonFaltered,
    DaemonPaused, DaemonReloaded, DaemonResumed, DaemonStarted, DaemonStopped, DecodeError, Fact,
    FactPage, FeedbackGiven, FieldPage, ForeignRead, HookRan, HookTrusted, JournalBackedUp,
    JournalMigrated, JournalPruned, JournalRestored, JournalTailTorn, LessonChanged, LessonLearned,
    LessonRemoved, LoginEnded, LoginOffered, LoginUsed, ModelFailed, ModelReplied, ModelRequested,
    NoteAdded, PlanAdopted, PlanApproved, PlanCancelled, PlanCommented, PlanDecided, PlanDrafted,
    PlanEnded, PlanExplored, PlanFailed, PlanHandedOver, PlanProposed, PlanRejected, PlanRunning,
    PolicyGranted, PolicyRevoked, PortalClosed, PortalOpened, PortalRefused, ProofRecorded,
    ProviderPaused, ProviderResumed, ReportWritten, RequestCreated, RequestMoved, RequestRefused,
    RequestSettled, RunAnswered, RunApplied, RunAsked, RunContinued, RunEscalated, RunFinished,
    RunForked, RunHandedOver, RunPrepared, RunSaid, RunStarted, RunSteered, SandboxEngaged,
    SandboxPassage, SecretUsed, SessionEnded, SessionStarted, SkillInjected, SkillKnown,
    SkillTrusted, StepAdvised, StepChecked, StepFailed, StepJudged, StepPassed, StepPutBack,
    StepSettled, StepStarted, StepSteered, StepWaived, StepWorked, TokenCreated, TokenRevoked,
    ToolAnswered, ToolAsked, ToolFinished, ToolRequested, TreeMade, TreeRestored, TreeSnapped,
    WorkshopCreated, WorkshopFileTrusted, WorkshopTrusted,
};
pub use failure::{ExitCode, Failure, FailureKind};
pub use foreign::{ForeignKind, ForeignSource};
pub use grant::{GrantOffer, GrantReach, Granted};
pub use ids::{BadId, BadStream, BlobHash, RunId, SessionId, Stream, TraceId, WorkshopId};
pub use inheritance::{
    RecordedAdmission, RecordedBound, RecordedGrant, RecordedInheritance, RecordedOperation,
    RecordedStepBound,
};
pub use money::{Amount, Level, Limit, Limits, Money, Tokens};
pub use pattern::{listed_paths, literal_pattern, path_of_pattern, shown_path, spelt_out};
pub use redact::{
    Formats, Inside, LOOKBACK, Look, REDACTED, RedactedStream, Redactor, SHORTEST_KNOWN_VALUE,
    TextEnd,
};
pub use room::{Lack, Room, Shortage, Waiting};
pub use run::{
    ChangeKind, FileChange, KeptImage, LeftOutPath, LeftOutReason, MetricsBelow, Objective,
    PromptPart, RunMetrics, RunState,
};
pub use schedule::{Class, Schedule};
pub use secret::Secret;
pub use text::{BlobRef, Text, counted};
pub use time::{BadTime, Timestamp, parse_span};
pub use visibility::Visibility;
