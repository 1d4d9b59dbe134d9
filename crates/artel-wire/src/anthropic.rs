//! Anthropic Messages.
//!
//! A thought comes with a signature, or as data that shows nothing; both must go back unchanged.
//! A seal keeps either, with a word in front that tells which it is.

mod encode;
mod messages;
mod read;
mod schema;

pub(crate) use encode::encode;
pub(crate) use read::Reader;

/// Whose seals these are.
const WIRE: &str = "anthropic";

/// What precedes the signature of a thought in a seal.
const SIGNATURE: &str = "signature:";

/// What precedes the data of a thought that is not shown.
const REDACTED: &str = "redacted:";

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
