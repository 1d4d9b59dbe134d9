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

pub use acts::{Again, Edited, PlanDifference};
pub use ask::{AskOrder, Planning, Prospect, Settled};
pub use calls::{CallReply, CallSeen, CallShown, CallWords, NO_SESSIONS, OpenCall};
pub use carry::Carried;
pub use changeset::{
    ChangesetCommit, ChangesetDecision, ChangesetDone, ChangesetRow, ChangesetShown, Merging,
    put_in_place,
};
pub use dashboard::Overview;
pub use estimate::Estimate;
pub use go_on::{Due, Went};
pub use inbox::{Found as InboxFound, InboxName, Scanned};
pub use look::PlanLook;
pub use picture::{Picture, PlanSum, Remark, StepRow};
pub use report::{ReportRow, ReportShown};
pub use story::{Chapter, StepStory, WorkStory};
pub use telling::{AgentTale, Attempt, Evidence, Telling, TurnTale, Verdict};
pub use traced::{TraceWanted, Traced};
pub use waiting::{OpenQuestion, WaitSort, Waits, answer_meant, answer_settles};
pub use work::{Drafted, Work};

pub(crate) use architect::nothing_changes_yet;
pub(crate) use changeset::{approval, changeset_row, word as changeset_word};
pub(crate) use contract::{Brings, Contract};
pub(crate) use crew::deferred;
pub(crate) use dashboard::{PAGE as DASHBOARD, outside, template as dashboard};
pub(crate) use inbox::Index;
pub(crate) use waiting::already_decided;
pub(crate) use work::status_of;
