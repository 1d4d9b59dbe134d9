//! The calls of one reply on their way to a result.

use std::sync::Arc;

use artel_types::model::{MessageImage, ToolCall, ToolResult};
use serde_json::Value;

use super::{InFlightToolCall, RunnableToolCall, mend};

/// A call of the last reply.
#[derive(Debug, Clone)]
pub(super) struct PendingToolCall {
    /// The name of the call in the journal.
    pub(super) id: String,
    pub(super) call: ToolCall,
    /// The arguments, or what is wrong with them.
    pub(super) input: Result<Value, String>,
    pub(super) state: PendingToolCallState,
}

/// The progress of a call towards its result.
#[derive(Debug, Clone)]
pub(super) enum PendingToolCallState {
    /// Nothing is recorded.
    Waiting,
    /// The intent is recorded.
    InFlight { unknown: String, was_allowed: bool },
    /// A person has to say whether the call happened.
    Unsure { question: Option<String> },
    /// A person said that it happened, or that it must not.
    Decided { text: &'static str },
    /// A person answered the question of the call.
    Answered { text: String },
    /// The result is recorded.
    Done(Box<ToolResult>),
}

/// The result of a call.
pub(super) struct PendingToolCallOutcome {
    pub(super) text: Arc<str>,
    pub(super) images: Vec<MessageImage>,
    pub(super) is_error: bool,
}

impl PendingToolCall {
    pub(super) fn new(reply: u32, index: usize, call: &ToolCall) -> Self {
        Self {
            id: format!("{reply}.{}", index + 1),
            input: call
                .input()
                .map(Value::Object)
                .map_err(|error| mend::said(&call.arguments, &error.to_string())),
            call: call.clone(),
            state: PendingToolCallState::Waiting,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, PendingToolCallState::Done(_))
    }

    pub(super) fn act(&self) -> RunnableToolCall {
        RunnableToolCall {
            id: self.id.clone(),
            tool: self.call.name.clone(),
            input: self.input.clone().unwrap_or(Value::Null),
        }
    }

    pub(super) fn in_flight(&self) -> Option<InFlightToolCall> {
        match &self.state {
            PendingToolCallState::InFlight {
                unknown,
                was_allowed,
            } => Some(InFlightToolCall {
                act: self.act(),
                unknown: unknown.clone(),
                was_allowed: *was_allowed,
            }),
            _ => None,
        }
    }

    /// Stores the result under the id and name that the provider knows.
    pub(super) fn finish(&mut self, result: PendingToolCallOutcome) {
        let PendingToolCallOutcome {
            text,
            images,
            is_error,
        } = result;
        self.state = PendingToolCallState::Done(Box::new(ToolResult {
            id: self.call.id.clone(),
            name: self.call.name.clone(),
            text,
            images,
            is_error,
        }));
    }
}
