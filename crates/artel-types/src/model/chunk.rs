//! The answer as it comes.

use serde::{Deserialize, Serialize};

use super::{Seal, Stop, Usage};

/// One piece of an answer.
///
/// A sequence begins with exactly one `Start`. It ends with exactly one `End`, or with a
/// [`super::Fault`]; nothing follows either. Calls are told apart by `index`, which counts them in
/// the order in which they began, from 0; their pieces may come interleaved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "chunk", rename_all = "snake_case")]
pub enum Chunk {
    /// The answer begins.
    Start {
        /// The provider's name for it.
        id: Option<String>,
        /// The model as the provider names it.
        model: Option<String>,
    },
    /// More words.
    Text {
        /// The words.
        text: String,
    },
    /// The words so far are closed by a seal.
    TextSealed {
        /// The seal.
        seal: Seal,
    },
    /// More of a thought.
    Thinking {
        /// The thought.
        text: String,
    },
    /// The thought so far is closed by a seal; without a thought before it, one that is not shown.
    ThinkingSealed {
        /// The seal.
        seal: Seal,
    },
    /// A call begins.
    ToolStart {
        /// Which one.
        index: u32,
        /// Joins it with its result.
        id: String,
        /// Which tool.
        name: String,
    },
    /// More of a call's arguments.
    ToolDelta {
        /// Which one.
        index: u32,
        /// A piece of JSON text.
        arguments: String,
    },
    /// A call is complete. Before this it must not be carried out.
    ToolEnd {
        /// Which one.
        index: u32,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Seal>,
    },
    /// The answer is complete.
    End {
        /// Why it ended.
        stop: Stop,
        /// What it took, where the provider says.
        usage: Option<Usage>,
    },
}
