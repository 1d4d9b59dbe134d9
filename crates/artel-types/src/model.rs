//! Requests to a language model and its replies, in no provider's dialect.
//!
//! The journal stores these words, so no provider's type appears here. The codecs of
//! `artel-wire` translate them; `artel-rules` reassembles chunks.

mod call;
mod chunk;
mod fault;
mod provider;
mod reply;
mod request;

pub use call::{Attribution, CallReason, Period, Priority, Privacy};
pub use chunk::Chunk;
pub use fault::{Fault, FaultKind};
pub use provider::{
    LongPrices, ModelCard, ModelEntry, Provider, ThinkingStyle, UnknownProvider, is_account,
};
pub use reply::{Reply, Stop, Usage};
pub use request::{
    BadArguments, Cache, Effort, Format, Image, Message, Part, Request, Role, Seal, ToolCall,
    ToolChoice, ToolResult, ToolSpec,
};
