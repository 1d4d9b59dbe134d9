//! Google Gemini.
//!
//! Any part of an answer may carry a signature, which must go back with the same part.

mod encode;
mod read;
mod schema;

pub(crate) use encode::encode;
pub(crate) use read::Reader;

/// Whose seals these are.
const WIRE: &str = "google";

#[cfg(test)]
#[path = "google_tests.rs"]
mod tests;
