//! Decides what of a conversation is sent: all of it while it fits, and less when it does
//! not.
//!
//! There are two stages. Old tool results are left out first, because the agent can get
//! them again. If that is not enough, everything except the task and the newest turns
//! becomes a summary. In either stage a call stays with its result, the order stays, and a
//! text that is too large by itself is cut in the middle, so that nothing unbounded is
//! ever sent. The journal keeps everything.

mod cut;
mod elide;
mod fallback;
mod handover;
mod pinned;
mod summary;

use artel_types::model::{MessageRole, ModelMessage};

use crate::tokens::{self, PromptSize};

pub use cut::cut_middle;
pub use fallback::fallback_summary;
pub use handover::{CompactionHistory, HandoverBrief, HandoverConversation, handover, taken_apart};
pub use summary::{summary_request, with_summary};

/// Number of newest turns that are kept whole.
const RECENT_TURNS: usize = 4;

/// What to do with a conversation before it is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum CompactionDecision {
    /// Send it unchanged: it fits, or nothing in it can be made smaller.
    Fits,
    /// Continue with these messages.
    Elide(Vec<ModelMessage>),
    /// Have the old part summarised, and continue with [`with_summary`].
    Summarise {
        /// The task, with the answers of pinned tools.
        head: ModelMessage,
        /// The part to be summarised, beginning with an earlier summary. It is bounded,
        /// and so is [`summary_request`].
        old: Vec<ModelMessage>,
        /// The newest turns.
        recent: Vec<ModelMessage>,
    },
}

/// Size limits in tokens.
#[derive(Debug, Clone, Copy)]
struct ContextLimits {
    window: u64,
    /// The size above which the conversation is shortened.
    threshold: u64,
}

impl ContextLimits {
    /// Returns the size at which leaving out old results is enough.
    fn enough(self) -> u64 {
        self.threshold / 2
    }

    /// Returns the size that texts are cut to, leaving room to continue.
    fn target(self) -> u64 {
        self.threshold / 4 * 3
    }
}

/// Decides what is sent of a conversation. `window` is the number of tokens that the model
/// accepts in all; `reserve` is for everything else that is sent or answered:
/// instructions, tools, the reply.
pub fn plan(messages: &[ModelMessage], window: u64, reserve: u64) -> CompactionDecision {
    let limits = ContextLimits {
        window,
        threshold: window.saturating_sub(reserve) / 4 * 3,
    };
    let Some((head, rest)) = messages.split_first() else {
        return CompactionDecision::Fits;
    };
    if tokens::of_messages(messages) <= limits.threshold {
        return CompactionDecision::Fits;
    }
    let recent = recent_of(rest);
    let (old, recent) = rest.split_at(rest.len() - recent);
    let head = bounded_head(head, limits);
    let mut elided = vec![head.clone()];
    elided.extend(elide::old_results(old));
    elided.extend_from_slice(recent);
    if tokens::of_messages(&elided) <= limits.enough() {
        return CompactionDecision::Elide(elided);
    }
    let pinned = pinned::of(old);
    let stays: u64 = pinned
        .iter()
        .map(|part| PromptSize::of_part(part).bytes)
        .sum();
    // The summary would not be shorter than less than this.
    if PromptSize::of_messages(old).bytes > summary::LONGEST as u64 + stays {
        let head = pinned::keep(head, pinned);
        return summarise(head, old, recent, limits);
    }
    cut::to_fit(&mut elided, limits.target());
    if elided == messages {
        CompactionDecision::Fits
    } else {
        CompactionDecision::Elide(elided)
    }
}

fn summarise(
    head: ModelMessage,
    old: &[ModelMessage],
    recent: &[ModelMessage],
    limits: ContextLimits,
) -> CompactionDecision {
    let (head, earlier) = summary::split_off(head);
    let mut before: Vec<ModelMessage> = earlier.into_iter().map(ModelMessage::user).collect();
    before.extend_from_slice(old);
    cut::to_fit(&mut before, limits.target());
    let mut kept = vec![head];
    kept.extend_from_slice(recent);
    let room = tokens::of_bytes(summary::LONGEST as u64);
    cut::to_fit(&mut kept, limits.target().saturating_sub(room));
    let recent = kept.split_off(1);
    let head = kept.pop().unwrap_or_else(|| ModelMessage::user(""));
    CompactionDecision::Summarise {
        head,
        old: before,
        recent,
    }
}

/// Returns the first message. The task stays whole unless it takes more than a quarter of
/// the window.
fn bounded_head(head: &ModelMessage, limits: ContextLimits) -> ModelMessage {
    let mut head = vec![head.clone()];
    if tokens::of_messages(&head) > limits.window / 4 {
        cut::to_fit(&mut head, limits.window / 4);
    }
    head.pop().unwrap_or_else(|| ModelMessage::user(""))
}

/// Returns how many messages at the end belong to the newest turns. A turn begins with a
/// message of the model, so that a call is never separated from its result.
fn recent_of(rest: &[ModelMessage]) -> usize {
    let said = rest.iter().enumerate().rev();
    let said = said.filter(|(_, message)| message.role == MessageRole::Assistant);
    match said.take(RECENT_TURNS).last() {
        Some((at, _)) => rest.len() - at,
        None => rest.len(),
    }
}

#[cfg(test)]
mod tests;
