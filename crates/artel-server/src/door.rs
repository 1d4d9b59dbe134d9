//! Access control: every request passes here first.
//!
//! It checks where the request comes from (requests from other sites get no further), then
//! who sent it, then whether a change was intended by the sender. The body is read only
//! after that.

mod guard;
mod hosts;
mod pass;
mod rate;
mod wrong;

pub(crate) use guard::{guard, headers};
pub use hosts::console_bases;
pub(crate) use hosts::{AllowedHosts, CalledHostKind};
pub(crate) use pass::{AuthenticatedCaller, admit};
pub(crate) use rate::ChangeRateLimiter;
pub(crate) use wrong::WrongTokenCounter;
