//! The API that every surface calls: finding and creating workshops, their journal, their
//! health. Surfaces parse input, call this crate and print; they have no logic of their
//! own.

mod access;
mod agents;
mod board;
mod book;
mod brought;
mod caller;
mod cassette;
mod clean;
mod daemon;
mod demo;
mod doctor;
mod find;
mod gateways;
mod hands;
mod in_force;
mod init;
mod journal;
mod kept;
mod keys;
mod lock;
mod marker;
mod models;
mod notes;
mod own_folders;
mod placed;
mod portals;
mod private;
mod providers;
mod registry;
mod repository;
mod room;
mod runs;
mod safety;
mod secret_words;
mod skills;
mod stats;
mod strangers;
mod trace;
mod trial;
mod trouble;
mod upgrade;
mod usage;
mod visibility;
mod works;
mod workshop;

pub use access::{
    AccessProjection, AuthenticatedPrincipal, ConsoleHostName, CredentialKind, NewToken, SignIn,
    SignInAge, SignInCredentials, SignInLink, TokenHolder, TokenRow,
};
pub use agents::{
    AGENT_TEMPLATES, AgentCheck, AgentDetail, AgentReport, AgentRow, AgentSource, AgentText,
    NewAgent,
};
pub use artel_config::{ViewerRole, VisibilityLevel};
pub use artel_engine::{NullRunObserver, RemoteApprover, RunObserver, Spell, hooks::UntrustedHook};
pub use artel_rules::conduct::{
    PlanRun, PlanRunRules as PlanRules, StepFailurePolicy as OnFailure,
};
pub use artel_rules::request::file::RequestStatus;
pub use artel_rules::usage::{UsageDimension as UsageBy, UsageTotals as UsageSum};
pub use artel_skills::SkillRunMode;
pub use artel_tools::{
    AskablePerson, AttributedToolApproval, HintVisibility, ToolApprovalAnswer, ToolApprovalOffer,
    ToolApprovalQuestion, ToolCallApprover,
};
pub use board::{
    BUCKETS, ChildRunFilter, DriverProcesses, DurationHistogram, ModelTimes, PagedRows,
    RunCompletionFilter, RunIndexQuery, SkillSums, UnreadableRecords, WorkIndexQuery, WorkRow,
    WorkshopIndex, WorkshopMetrics,
};
pub use brought::PreexistingWorkshopFiles;
pub use caller::{CommandContext, GlobalFlags};
pub use clean::{CleanupCandidate, CleanupOutcome, CleanupReason};
pub use daemon::{
    DaemonListenAddress, DaemonLogSlice, DaemonLogWriter, DaemonProblems, DaemonStatus,
    DaemonStopOutcome, RunningDaemon,
};
pub use demo::{DEMO_REQUEST, DemoSetup};
pub use doctor::{DoctorCheck, DoctorCheckStatus};
pub use find::WorkshopDiscovery;
pub use hands::{
    CommandPolicyAnswer, CommandPolicyQuery, PolicyDetail, PolicyRuleRow, SandboxedCommand,
    SandboxedCommandOutcome, ToolDetail, ToolTrial, ToolTrialOutcome,
};
pub use init::{WorkshopInitMode, WorkshopInitOutcome};
pub use journal::{PrunePreview, RestorePreview};
pub use keys::{KeyAccount, KeyReport, KeyStatus, StoredKeyOutcome};
pub use marker::WorkshopMarker;
pub use models::{ModelDirectory, key_origin, refuse_rehearsal_over_http};
pub use placed::UnseenFile;
pub use portals::{
    NewPortal, Portal, PortalCheck, PortalOpeningApprover, PortalOperation, PortalQuestion,
};
pub use providers::{
    ModelDetail, ModelInfo, ModelRow, ProviderSuspensionCause, SuspendedProvider, UsdTokenPrices,
};
pub use runs::{
    HookList, HookRow, ReplayDecisionChange, ReplayDivergence, ReplyTextMode, RunApplyOutcome,
    RunApplyPreview, RunDriveOutcome, RunForkOptions, RunListScope, RunObservers, RunProgress,
    RunReplayOutcome, RunRow, RunStartOptions, RunStatus, RunSuspendReason, RunTimelineBuilder,
    RunVisibility, ShutdownLevel, SkillsFound, SteeredStep, SteeringCommand, SteeringDelivery,
    TimelineDetailLevel, TimelineEntry, TimelineLine, TimelineLineKind, TimelinePage,
    TimelineQuery, TimelineRecords, TraceFollower, TrustApprover, TrustQuestion, VisibleCall,
    VisibleCallResult, VisibleCallText, brief, price, seen,
};
pub use skills::{
    NewSkill, PromotedTestCase, RehearsedRunOutcome, RunFeedbackOutcome, SkillCommandRow,
    SkillDetail, SkillFileCheck, SkillLesson, SkillList, SkillReport, SkillRow, SkillTestOutcome,
    TriggerTestOutcome, validate_skill_line,
};
pub use stats::{JournalEventCounts, JournalStorageStats};
pub use trace::TraceEvents;
pub use trial::{ModelFeatureStatus, ModelTrialOutcome};
pub use trouble::WorkshopFailures;
pub use usage::{UsageQuery, UsageReport};
pub use visibility::{RoleVisibility, VisibilityChange, VisibilitySettings};
pub use works::{
    AgentTimeline, AttemptTimeline, StepTimeline, TimelineEvidence, TimelineVerdict, TraceView,
    TraceViewQuery, TurnTimeline, WorkMilestone, WorkTimeline, WorkTimelineBuilder,
};
pub use works::{
    AttentionItem, AttentionKind, CallApprovalDecision, CallApprovalDetail, CallApprovalView,
    CallAwaitingApproval, ChangesetCommit, ChangesetDecision, ChangesetDetail,
    ChangesetMergeOptions, ChangesetReceipt, ChangesetRow, DashboardOverview, DraftedPlanVersion,
    InboxFileKind, InboxFound, InboxScanOutcome, NO_SESSIONS, NextWorkAction, OpenQuestion,
    ParsedCallDecision, PlanDifference, PlanEditOutcome, PlanRetry, PlanRunOutcome, PlanningMode,
    ReportDetail, ReportRow, RequestOutcome, RequestSubmission, StepEstimate, UnrecordedRequest,
    Work, WorkAdvanceOutcome, answer_meant, answer_settles, put_in_place,
};
pub use works::{PlanProgress, PlanProgressTotals, PlanVersionDetail, ProgressRemark, StepRow};
pub use workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};
