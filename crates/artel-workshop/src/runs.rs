//! Runs of skills and tasks: start, resume, steer, apply.

mod apply;
mod child;
mod excerpt;
mod fork;
mod furnish;
mod held_skill;
mod hooks;
mod house;
pub(crate) mod inheritance;
mod inject;
mod lease;
pub(crate) mod lessons;
mod list;
mod marks;
mod order;
mod prepare;
mod replay;
mod skills;
mod standing;
mod start;
mod steer;
mod story;
mod succeed;
mod take_up;
mod trust;
mod view;

pub use apply::{RunApplyOutcome, RunApplyPreview};
pub use artel_engine::{RunSuspendReason, ShutdownLevel};
pub(crate) use excerpt::TimelineRecordScan;
pub use excerpt::TimelineRecords;
pub use fork::RunForkOptions;
pub use hooks::{HookList, HookRow};
pub use house::RunObservers;
pub use list::{RunListScope, RunRow, RunStatus};
pub use order::{RunDriveOutcome, RunStartOptions};
pub use replay::{ReplayDecisionChange, ReplayDivergence, RunReplayOutcome};
pub use skills::SkillsFound;
pub use steer::{SteeredStep, SteeringCommand, SteeringDelivery};
pub use story::{TimelineEntry, TimelinePage, TimelineQuery, TraceFollower};
pub use trust::{TrustApprover, TrustQuestion};

pub(crate) use child::RunLineage;
pub(crate) use furnish::{RunToolingContext, skill_rules, walls_of_a_copy};
pub(crate) use house::RunEnvironment;
pub(crate) use inheritance::ChildTerms;
pub(crate) use inject::admitted;
pub(crate) use lessons::EarlierRunLessons;
#[cfg(test)]
pub(crate) use list::RecordedRun;
pub(crate) use list::started_runs_of;
pub(crate) use skills::cannot_load;
pub(crate) use start::{LAST_REST, LEASE, RENEW, RunStartSpec};
pub(crate) use trust::SkillTrust;
pub use view::{
    ReplyTextMode, RunProgress, RunTimelineBuilder, RunVisibility, TimelineDetailLevel,
    TimelineLine, TimelineLineKind, VisibleCall, VisibleCallResult, VisibleCallText, brief, price,
    seen,
};
pub(crate) use view::{grouped, left_out_line};
