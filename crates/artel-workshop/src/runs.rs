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

pub use apply::{Placed, Proposal};
pub use artel_engine::{RunSuspendReason, ShutdownLevel};
pub use excerpt::Excerpt;
pub(crate) use excerpt::Finding;
pub use fork::ForkOrder;
pub use hooks::{HookList, HookRow};
pub use house::Company;
pub use list::{RunRow, Standing, Which};
pub use order::{RunDone, RunOrder};
pub use replay::{Difference, Divergence, Replay};
pub use skills::SkillsFound;
pub use steer::{Steer, Steered, SteeredStep};
pub use story::{Follower, StoryPage, StoryWanted, ToldLine};
pub use trust::{Trust, TrustQuestion};

pub(crate) use child::Kin;
pub(crate) use furnish::{Outfit, skill_rules, walls_of_a_copy};
pub(crate) use house::House;
pub(crate) use inheritance::ChildTerms;
pub(crate) use inject::admitted;
pub(crate) use lessons::LessonsTold;
#[cfg(test)]
pub(crate) use list::State;
pub(crate) use list::started_runs_of;
pub(crate) use skills::cannot_load;
pub(crate) use start::{Beginning, LAST_REST, LEASE, RENEW};
pub(crate) use trust::SkillTrust;
pub use view::{
    CallTold, Cut, Eyes, Line, Mark, Narrator, Progress, ResultTold, View, Words, brief, price,
    seen,
};
pub(crate) use view::{grouped, left_out_line};
