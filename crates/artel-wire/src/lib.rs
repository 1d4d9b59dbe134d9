//! Codecs between Artel's requests and replies and the wire format of each provider.
//!
//! They are pure: a [`ModelRequest`] becomes the bytes of a call, the bytes of a reply become
//! [`ReplyChunk`]s, and a refusal becomes a [`ModelFault`]. There is no network, clock or key here,
//! so tests can cut every reply at every byte and feed it to a fuzzer.
//!
//! A decoder never panics and never grows without bound, whatever its input. Its output
//! keeps the grammar of [`ReplyChunk`]: one start, one end or fault, and calls in the order
//! they began.
//!
//! [`ModelRequest`]: artel_types::model::ModelRequest
//! [`ReplyChunk`]: artel_types::model::ReplyChunk
//! [`ModelFault`]: artel_types::model::ModelFault

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
