//! Planned work: requests, plans, the runs that carry them out, changesets and reports.

mod acts;
mod architect;
mod ask;
mod attend;
mod briefs;
mod calls;
mod carry;
mod changeset;
mod children;
mod context;
mod contract;
mod crew;
mod dashboard;
mod estimate;
mod forms;
mod go_on;
mod inbox;
mod look;
mod named;
mod permissions;
mod picture;
mod propose;
mod prover;
mod report;
mod sheets;
mod story;
mod telling;
mod traced;
mod waiting;
mod work;

pub use acts::{PlanDifference, PlanEditOutcome, PlanRetry};
pub use ask::{PlanningMode, RequestOutcome, RequestSubmission, UnrecordedRequest};
pub use calls::{
    CallApprovalDecision, CallApprovalDetail, CallApprovalView, CallAwaitingApproval, NO_SESSIONS,
    ParsedCallDecision,
};
pub use carry::PlanRunOutcome;
pub use changeset::{
    ChangesetCommit, ChangesetDecision, ChangesetDetail, ChangesetMergeOptions, ChangesetReceipt,
    ChangesetRow, put_in_place,
};
pub use dashboard::DashboardOverview;
pub use estimate::StepEstimate;
pub use go_on::{NextWorkAction, WorkAdvanceOutcome};
pub use inbox::{InboxFileKind, InboxFileOutcome as InboxFound, InboxScanOutcome};
pub use look::PlanVersionDetail;
pub use picture::{PlanProgress, PlanProgressTotals, ProgressRemark, StepRow};
pub use report::{ReportDetail, ReportRow};
pub use story::{StepTimeline, WorkMilestone, WorkTimeline};
pub use telling::{
    AgentTimeline, AttemptTimeline, TimelineEvidence, TimelineVerdict, TurnTimeline,
    WorkTimelineBuilder,
};
pub use traced::{TraceView, TraceViewQuery};
pub use waiting::{AttentionItem, AttentionKind, OpenQuestion, answer_meant, answer_settles};
pub use work::{DraftedPlanVersion, Work};

pub(crate) use architect::nothing_changes_yet;
pub(crate) use changeset::{approval, changeset_row, word as changeset_word};
pub(crate) use contract::{RunContract, WorkshopNotesPlacement};
pub(crate) use crew::deferred;
pub(crate) use dashboard::{PAGE as DASHBOARD, outside, template as dashboard};
pub(crate) use inbox::RequestFileIndex;
pub(crate) use waiting::already_decided;
pub(crate) use work::status_of;
