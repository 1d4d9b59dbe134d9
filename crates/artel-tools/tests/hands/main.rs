//! Calls from end to end: policy, the person, the journal, the deed.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod calls;
mod offers;
mod questions;
mod registry;
mod secrets;
mod support;
