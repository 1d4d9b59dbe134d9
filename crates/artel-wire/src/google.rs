//! Google Gemini.
//!
//! Any part of a reply may carry a signature, which must go back with the same part.

mod encode;
mod read;
mod schema;

pub(crate) use encode::encode;
pub(crate) use read::GoogleReplyReader;

/// Name that marks a seal as Google's.
const WIRE: &str = "google";

#[cfg(test)]
#[path = "google_tests.rs"]
mod tests;
