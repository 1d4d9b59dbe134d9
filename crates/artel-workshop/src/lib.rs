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
    Access, ConsoleName, Holder, LoginOffer, NewToken, Pass, PassSort, SignIn, SignInAge,
    SignInGiven, TokenRow,
};
pub use agents::{
    AGENT_TEMPLATES, AgentCheck, AgentReport, AgentRow, AgentShown, AgentSource, AgentText,
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
    BUCKETS, Board, Damage, Drivers, Histogram, Kinship, Meter, ModelTimes, Page, RunsWanted,
    SkillSums, Stage, WorkRow, WorksWanted,
};
pub use brought::Brought;
pub use caller::{Caller, Flags};
pub use clean::{Cleaned, Rubbish, Sort};
pub use daemon::{
    DaemonEnded, DaemonJotter, DaemonLog, DaemonRuns, DaemonStatus, DaemonTrouble, Listens,
};
pub use demo::{DEMO_REQUEST, Demo};
pub use doctor::{Check, Health};
pub use find::Found;
pub use hands::{
    CommandCheck, CommandJudged, PolicyShown, RuleShown, SandboxRun, Sandboxed, ToolDone, ToolRun,
    ToolShown,
};
pub use init::{Init, Made};
pub use journal::{PrunePlan, RestorePlan};
pub use keys::{Account, KeyReport, KeyStatus, Stored};
pub use marker::Marker;
pub use models::{Models, key_origin, refuse_rehearsal_over_http};
pub use placed::UnseenFile;
pub use portals::{FirstUse, NewPortal, Portal, PortalCheck, PortalOperation, PortalQuestion};
pub use providers::{Card, HeldBack, HeldBy, ModelRow, ModelShown, Prices};
pub use runs::{
    CallTold, Company, Cut, Difference, Divergence, Excerpt, Eyes, Follower, ForkOrder, HookList,
    HookRow, Line, Mark, Narrator, Placed, Progress, Proposal, Replay, ResultTold, RunDone,
    RunOrder, RunRow, RunSuspendReason, ShutdownLevel, SkillsFound, Standing, Steer, Steered,
    SteeredStep, StoryPage, StoryWanted, ToldLine, Trust, TrustQuestion, View, Which, Words, brief,
    price, seen,
};
pub use skills::{
    Checked, CommandShown, Given, LessonKept, NewSkill, Promoted, RunTried, SkillList, SkillReport,
    SkillRow, SkillShown, SkillTried, TriggerTried, validate_skill_line,
};
pub use stats::{Count, Stats};
pub use trace::Story;
pub use trial::{Feature, Trial};
pub use trouble::Problems;
pub use usage::{UsageQuery, UsageReport};
pub use visibility::{RoleSees, SeeOtherwise, WhoSees};
pub use works::{
    Again, AskOrder, CallReply, CallSeen, CallShown, CallWords, Carried, ChangesetCommit,
    ChangesetDecision, ChangesetDone, ChangesetRow, ChangesetShown, Drafted, Due, Edited, Estimate,
    InboxFound, InboxName, Merging, NO_SESSIONS, OpenCall, OpenQuestion, Overview, PlanDifference,
    Planning, Prospect, ReportRow, ReportShown, Scanned, Settled, WaitSort, Waits, Went, Work,
    answer_meant, answer_settles, put_in_place,
};
pub use works::{
    AgentTale, Attempt, Chapter, Evidence, StepStory, Telling, TraceWanted, Traced, TurnTale,
    Verdict, WorkStory,
};
pub use works::{Picture, PlanLook, PlanSum, Remark, StepRow};
pub use workshop::{Noted, Open, Workshop};
