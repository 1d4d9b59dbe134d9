//! Who is let in: every request passes here before anything else looks at it.
//!
//! First where it comes from (another site's page never gets further), then who it is, then
//! whether what changes something was meant by them. A body is read only after that.

mod guard;
mod hosts;
mod pass;
mod rate;
mod wrong;

pub(crate) use guard::{guard, headers};
pub use hosts::console_bases;
pub(crate) use hosts::{CalledAs, Hosts};
pub(crate) use pass::{Who, admit};
pub(crate) use rate::Rate;
pub(crate) use wrong::Wrong;
