//! Codecs between Artel's requests and replies and the wire format of each provider.
//!
//! They are pure: a [`Request`] becomes the bytes of a call, the bytes of a reply become
//! [`Chunk`]s, and a refusal becomes a [`Fault`]. There is no network, clock or key here,
//! so tests can cut every reply at every byte and feed it to a fuzzer.
//!
//! A decoder never panics and never grows without bound, whatever its input. Its output
//! keeps the grammar of [`Chunk`]: one start, one end or fault, and calls in the order
//! they began.
//!
//! [`Request`]: artel_types::model::Request
//! [`Chunk`]: artel_types::model::Chunk
//! [`Fault`]: artel_types::model::Fault

mod answer;
mod anthropic;
mod calls;
mod chat;
mod count;
mod decoder;
mod frame;
mod google;
mod ollama;
mod openai;
mod refusal;
mod request;
mod responses;
#[cfg(test)]
mod samples;
mod wire;

pub use decoder::ReplyDecoder;
pub use wire::{ApiKeyHeader, WireFormat, WireRequest, WireTarget};
