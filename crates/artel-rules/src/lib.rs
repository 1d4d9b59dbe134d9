//! The pure machines: the turns of an agent, what of a conversation is sent, what a run took,
//! what holds for requests and plans, budget, usage, queue, limiter, breaker, retry,
//! the gathering of streams, the wait for commands and the view of their output. No tokio, no files,
//! no randomness.
//!
//! Whatever the world did is handed in: facts, moments, errors as plain values. The same input
//! gives the same answer on any machine at any time, so a journal can be folded again and a
//! decision explained.
#![warn(missing_docs)]

pub mod breaker;
pub mod budget;
pub mod conduct;
pub mod context;
pub mod excerpt;
pub mod frequency;
mod front;
pub mod limiter;
pub mod loading;
pub mod patience;
pub mod plan;
pub mod proof;
pub mod queue;
pub mod request;
pub mod retry;
pub mod settle;
pub mod stream;
pub mod tally;
pub mod tokens;
pub mod turn;
pub mod usage;
