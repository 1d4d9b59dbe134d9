//! The rules for plans: what is wrong with a plan, what state it is in, and how people
//! read it.
//!
//! Only [`check`] can make a [`CheckedPlan`], so its holder knows that the plan has steps in
//! an order, roles that exist and scopes that can be read. [`state::WorkState`] decides what
//! may happen to a plan now. [`markdown`] writes a plan and reads back what a person made
//! of it; [`difference()`] describes in a few lines how two versions differ.

mod check;
mod difference;
mod graph;
pub mod markdown;
pub mod names;
mod normal;
mod problem;
mod scope;
pub mod state;

pub use check::{
    CheckedPlan, LONGEST_ENTRY, LONGEST_TEXT, LONGEST_TITLE, MOST_ENTRIES, MOST_STEPS,
    PlanCheckContext, RoleAccess, check, keeps, scripts_in,
};
pub use difference::{USUAL_TURNS, difference, widened};
pub use graph::StepGraph;
pub use normal::normalise;
pub use problem::{PlanProblem, PlanProblemPlace};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
