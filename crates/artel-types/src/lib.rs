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

pub use actor::{Actor, ActorKind, ActorParseError, ActorSurface};
pub use clock::Clock;
pub use codes::{FailureCode, FailureCodePage};
pub use decided::{DecidedBy, SandboxOpening};
pub use event::{Event, EventDraft, EventOutcome};
pub use fact::{
    AgentChanged, BaselineTaken, BranchBegun, BranchChecked, BranchMended, BreakerClosed,
    BreakerOpened, BreakerProbed, BudgetLimited, BudgetReleased, BudgetReserved, BudgetSettled,
    BudgetWarned, ChangesetCreated, ChangesetMerged, ChangesetOrdered, ChangesetRefused,
    ChangesetRejected, ConfigLoaded, ConsoleNamed, ContextCompacted, ContextLoaded, DaemonFaltered,
    DaemonPaused, DaemonReloaded, DaemonResumed, DaemonStarted, DaemonStopped, Fact,
    FactDecodeError, FactPage, FactPageField, FeedbackGiven, ForeignRead, HookRan, HookTrusted,
    JournalBackedUp, JournalMigrated, JournalPruned, JournalRestored, JournalTailTorn,
    LessonChanged, LessonLearned, LessonRemoved, LoginEnded, LoginOffered, LoginUsed, ModelFailed,
    ModelReplied, ModelRequested, NoteAdded, PlanAdopted, PlanApproved, PlanCancelled,
    PlanCommented, PlanDecided, PlanDrafted, PlanEnded, PlanExplored, PlanFailed, PlanHandedOver,
    PlanProposed, PlanRejected, PlanRunning, PolicyGranted, PolicyRevoked, PortalClosed,
    PortalOpened, PortalRefused, ProofRecorded, ProviderPaused, ProviderResumed, ReportWritten,
    RequestCreated, RequestMoved, RequestRefused, RequestSettled, RunAnswered, RunApplied,
    RunAsked, RunContinued, RunEscalated, RunFinished, RunForked, RunHandedOver, RunPrepared,
    RunSaid, RunStarted, RunSteered, SandboxEngaged, SandboxPassage, SecretUsed, SessionEnded,
    SessionStarted, SkillInjected, SkillKnown, SkillTrusted, StepAdvised, StepChecked, StepFailed,
    StepJudged, StepPassed, StepPutBack, StepSettled, StepStarted, StepSteered, StepWaived,
    StepWorked, TokenCreated, TokenRevoked, ToolAnswered, ToolAsked, ToolFinished, ToolRequested,
    TreeMade, TreeRestored, TreeSnapped, WorkshopCreated, WorkshopFileTrusted, WorkshopTrusted,
};
pub use failure::{ExitCode, Failure, FailureKind};
pub use foreign::{ForeignSource, UntrustedSourceKind};
pub use grant::{AcceptedGrant, GrantOffer, GrantReach};
pub use ids::{
    BlobHash, IdParseError, RunId, SessionId, StreamName, StreamNameError, TraceId, WorkshopId,
};
pub use inheritance::{
    RecordedAdmission, RecordedBound, RecordedGrant, RecordedInheritance, RecordedOperation,
    RecordedStepBound,
};
pub use money::{BudgetLevel, ConfiguredSpendLimits, Money, SpendAmount, SpendLimit, Tokens};
pub use pattern::{listed_paths, literal_pattern, path_of_pattern, shown_path, spelt_out};
pub use redact::{
    LOOKBACK, REDACTED, SHORTEST_KNOWN_VALUE, SecretDetector, SecretRedactor, SecretScanContext,
    SecretScanProgress, SecretStreamRedactor, TextEnd,
};
pub use room::{DiskShortage, DiskShortageReason, DiskSpaceMonitor, DiskSpaceWait};
pub use run::{
    ChildRunMetrics, FileChange, FileChangeKind, KeptImage, LeftOutPath, LeftOutReason, PromptPart,
    RunMetrics, RunObjective, RunOutcome,
};
pub use schedule::{RetryClass, RetrySchedule};
pub use secret::Secret;
pub use text::{BlobRef, RecordedText, counted};
pub use time::{Timestamp, TimestampParseError, parse_span};
pub use visibility::EventVisibility;
