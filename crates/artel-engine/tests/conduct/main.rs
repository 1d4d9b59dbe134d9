//! Plans carried out by the conductor, on a real journal with a crew that follows a script: whatever
//! happens to the processes at work, a plan comes out as if it had been done one step after another.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod crew;
mod executors;
mod first;
mod holding;
mod large;
mod random;
mod script;
mod stage;
