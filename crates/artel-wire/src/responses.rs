//! OpenAI Responses, without state at the provider: nothing is stored there, and the
//! model's thoughts travel back and forth sealed.
//!
//! A [`Seal`](artel_types::model::Seal) of this format is JSON: `{id, encrypted_content}`
//! of a thought, `{phase}` of words.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::ResponsesReplyReader;

/// Name that marks a seal as OpenAI's.
const WIRE: &str = "openai";
