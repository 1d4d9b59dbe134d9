//! Anthropic Messages.
//!
//! A thought comes with a signature, or as redacted data without readable text; both must
//! go back unchanged. A seal holds either one, behind a prefix that says which it is.

mod encode;
mod messages;
mod read;
mod schema;

pub(crate) use encode::encode;
pub(crate) use read::AnthropicReplyReader;

/// Name that marks a seal as Anthropic's.
const WIRE: &str = "anthropic";

/// Prefix of a seal that holds the signature of a thought.
const SIGNATURE: &str = "signature:";

/// Prefix of a seal that holds the data of a redacted thought.
const REDACTED: &str = "redacted:";

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
