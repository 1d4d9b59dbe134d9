//! The pure state machines and rules: the turns of an agent, the part of a conversation
//! that is sent, the metrics of a run, the rules for requests and plans, budget, usage,
//! queue, limiter, breaker, retry, the assembly of streams, the wait for commands and the
//! excerpt of their output. There is no tokio, no file access and no randomness here.
//!
//! Everything from the outside world is passed in: facts, moments, errors as plain values.
//! The same input gives the same answer on any machine at any time, so a journal can be
//! folded again and a decision can be explained.

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
