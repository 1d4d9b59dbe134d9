//! What holds for plans: what is wrong with one, how far one has come, how people read one.
//!
//! [`check`] is the only maker of [`Checked`], so whoever is handed one knows that it has steps in
//! an order, roles that exist and scopes that can be read. [`state::Course`] says what may happen
//! to a plan now. [`markdown`] shows a plan and reads back what a person made of it;
//! [`difference()`] says in a few lines how two versions differ.

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
    Checked, Known, LONGEST_ENTRY, LONGEST_TEXT, LONGEST_TITLE, MOST_ENTRIES, MOST_STEPS, Reach,
    check, keeps, scripts_in,
};
pub use difference::{USUAL_TURNS, difference, widened};
pub use graph::Graph;
pub use normal::normalise;
pub use problem::{Place, Problem};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
