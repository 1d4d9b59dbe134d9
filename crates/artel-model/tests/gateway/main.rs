//! The gateway from outside: order, money, patience, health, and what is on record afterwards.
//!
//! Time is the runtime's and stands still until somebody waits, so minutes of back-off take
//! microseconds and every wait can be read off the clock.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod budget;
mod calling_off;
mod health;
mod prior;
mod queue;
mod record;
mod retry;
mod support;
