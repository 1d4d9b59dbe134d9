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

pub use call::{
    CalendarPeriod, ModelCallAttribution, ModelCallPriority, ModelCallReason, PrivacyLabel,
};
pub use chunk::ReplyChunk;
pub use fault::{ModelFault, ModelFaultKind};
pub use provider::{
    LongContextPrices, ModelAliasSettings, ModelSpec, Provider, ThinkingStyle,
    UnknownProviderError, is_account,
};
pub use reply::{ModelReply, ReplyStopReason, TokenUsage};
pub use request::{
    MessageImage, MessagePart, MessageRole, ModelMessage, ModelRequest, PromptCacheLifetime,
    ProviderSignature, ReplyFormat, ThinkingEffort, ToolArgumentsError, ToolCall, ToolChoice,
    ToolResult, ToolSpec,
};
