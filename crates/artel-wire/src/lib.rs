//! What models say and hear, in the dialect of each provider.
//!
//! Pure codecs: a [`Request`] becomes the bytes of a call, the bytes of an answer become
//! [`Chunk`]s, a refusal becomes a [`Fault`]. There is no network here, no clock and no key, so
//! every answer can be cut at every byte, and fed to a fuzzer.
//!
//! A decoder never panics and never grows without bound, whatever it is fed. What it hands out
//! keeps the grammar of [`Chunk`]: one start, one end or fault, calls in the order they began.
//!
//! [`Request`]: artel_types::model::Request
//! [`Chunk`]: artel_types::model::Chunk
//! [`Fault`]: artel_types::model::Fault
#![warn(missing_docs)]

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

pub use decoder::Decoder;
pub use wire::{KeyHeader, Outgoing, Target, Wire};
