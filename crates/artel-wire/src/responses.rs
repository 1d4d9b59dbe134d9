//! OpenAI Responses, without state at the provider: nothing is stored there, and what the model
//! thought travels back and forth sealed.
//!
//! A [`Seal`](artel_types::model::Seal) of this format is JSON: `{id, encrypted_content}` of a
//! thought, `{phase}` of words.

mod encode;
mod read;

pub(crate) use encode::encode;
pub(crate) use read::Reader;

/// The format that seals name.
const WIRE: &str = "openai";
