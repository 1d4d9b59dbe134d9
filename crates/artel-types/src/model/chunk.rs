//! A reply as it streams in.

use serde::{Deserialize, Serialize};

use super::{ProviderSignature, ReplyStopReason, TokenUsage};

/// One piece of a reply.
///
/// A sequence begins with exactly one `Start`. It ends with exactly one `End`, or with a
/// [`super::ModelFault`]; nothing follows either. Tool calls are told apart by `index`, which
/// counts them from 0 in the order in which they began; their pieces may be interleaved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "chunk", rename_all = "snake_case")]
pub enum ReplyChunk {
    /// The reply begins.
    Start {
        /// The provider's id for the reply.
        id: Option<String>,
        /// The model, as the provider names it.
        model: Option<String>,
    },
    /// More text.
    Text {
        /// The piece of text.
        text: String,
    },
    /// The text so far is closed by a signature.
    TextSealed {
        /// The signature.
        seal: ProviderSignature,
    },
    /// More of a thought.
    Thinking {
        /// The piece of the thought.
        text: String,
    },
    /// The thought so far is closed by a signature; without a thought before it, the
    /// signature belongs to a thought that is not shown.
    ThinkingSealed {
        /// The signature.
        seal: ProviderSignature,
    },
    /// A tool call begins.
    ToolStart {
        /// The index of the call.
        index: u32,
        /// Id that links the call with its result.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// More of a call's arguments.
    ToolDelta {
        /// The index of the call.
        index: u32,
        /// A piece of JSON text.
        arguments: String,
    },
    /// A tool call is complete. It must not be carried out before this.
    ToolEnd {
        /// The index of the call.
        index: u32,
        /// The signature that the provider wants back with the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<ProviderSignature>,
    },
    /// The reply is complete.
    End {
        /// Why the reply ended.
        stop: ReplyStopReason,
        /// The tokens used, if the provider reports them.
        usage: Option<TokenUsage>,
    },
}
