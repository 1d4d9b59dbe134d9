//! The pure machines: budget, usage, queue, limiter, breaker, retry, classification, and the
//! gathering of streams. No tokio, no files, no randomness.
//!
//! Whatever the world did is handed in: facts, moments, errors as plain values. The same input
//! gives the same answer on any machine at any time, so a journal can be folded again and a
//! decision explained.
#![warn(missing_docs)]

pub mod breaker;
pub mod budget;
pub mod classify;
pub mod frequency;
pub mod limiter;
pub mod queue;
pub mod retry;
pub mod stream;
pub mod usage;
