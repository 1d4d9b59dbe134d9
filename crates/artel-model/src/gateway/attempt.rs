//! One attempt: the request is sent, and the reply is read until it is complete or
//! something ends it.

use std::time::Duration;

use artel_rules::budget::OverBudget;
use artel_rules::stream::ModelReplyBuilder;
use artel_types::model::{ModelFault, ModelFaultKind, ModelReply, ReplyChunk};
use artel_types::{Clock, Failure, SecretRedactor};
use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};

use super::call::ModelCallProgress;
use super::live::LiveReplyRedactor;
use crate::model::ChunkStream;

/// The ways in which an attempt can end.
pub(super) enum CallAttemptEnd {
    Replied(ModelReply),
    Faulty(ModelFault),
    /// A more urgent call needs the slot.
    Preempted,
    /// The caller is gone.
    CalledOff,
    /// The reply grew beyond the budget.
    OverBudget(OverBudget),
    /// A further reservation or the pending append cannot be recorded, so the attempt stops.
    Unrecorded(Failure),
}

/// Times of an attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallAttemptTiming {
    /// Time until the first piece of content.
    pub(super) first: Duration,
    /// Time until the end.
    pub(super) total: Duration,
}

/// The outcome of an attempt.
pub(super) struct CallAttemptOutcome {
    pub(super) end: CallAttemptEnd,
    pub(super) timing: CallAttemptTiming,
    /// Whether the provider will probably charge for it: it began to reply, or the connection
    /// was dropped after the request was sent.
    pub(super) is_charged: bool,
    /// Number of bytes in the reply.
    pub(super) output_bytes: u64,
    /// Text that arrived, if the reply is incomplete.
    pub(super) partial: String,
}

impl CallAttemptOutcome {
    /// Returns the outcome of an attempt that was not made, because an event it depends on is
    /// not on record.
    pub(super) fn not_asked(failure: Failure) -> Self {
        Self {
            end: CallAttemptEnd::Unrecorded(failure),
            timing: CallAttemptTiming::default(),
            is_charged: false,
            output_bytes: 0,
            partial: String::new(),
        }
    }
}

/// A reply that is being read.
pub(super) struct CallAttemptReader<'a> {
    answer: ChunkStream,
    gather: ModelReplyBuilder,
    live: LiveReplyRedactor,
    shown: Vec<ReplyChunk>,
    out: &'a mpsc::Sender<Box<ModelCallProgress>>,
    bell: &'a Notify,
    clock: &'a Clock,
    began: Duration,
    first: Option<Duration>,
    /// Whether the request was sent, or is being sent.
    is_asked: bool,
}

impl<'a> CallAttemptReader<'a> {
    pub(super) fn new(
        answer: ChunkStream,
        redactor: &SecretRedactor,
        out: &'a mpsc::Sender<Box<ModelCallProgress>>,
        bell: &'a Notify,
        clock: &'a Clock,
    ) -> Self {
        Self {
            answer,
            gather: ModelReplyBuilder::default(),
            live: LiveReplyRedactor::new(redactor),
            shown: Vec::new(),
            out,
            bell,
            clock,
            began: clock.uptime(),
            first: None,
            is_asked: false,
        }
    }

    /// Returns the number of bytes in the reply so far.
    pub(super) fn output_bytes(&self) -> u64 {
        self.gather.output_bytes()
    }

    /// Reads one chunk and shows it. Returns how the attempt ended, once it has.
    pub(super) async fn step(&mut self) -> Option<CallAttemptEnd> {
        let piece = tokio::select! {
            biased;
            () = self.out.closed() => return Some(CallAttemptEnd::CalledOff),
            () = self.bell.notified() => return Some(CallAttemptEnd::Preempted),
            piece = next_piece(&mut self.answer, &mut self.is_asked) => piece,
        };
        match piece {
            Some(Ok(chunk)) => self.take(chunk).await,
            Some(Err(fault)) => Some(CallAttemptEnd::Faulty(fault)),
            None => Some(CallAttemptEnd::Faulty(ModelFault::new(
                ModelFaultKind::Cut,
                "the answer ended without its end",
            ))),
        }
    }

    async fn take(&mut self, chunk: ReplyChunk) -> Option<CallAttemptEnd> {
        let is_content = !matches!(chunk, ReplyChunk::Start { .. } | ReplyChunk::End { .. });
        if self.first.is_none() && is_content {
            self.first = Some(self.clock.uptime().saturating_sub(self.began));
        }
        self.live.push(chunk, &mut self.shown);
        for chunk in std::mem::take(&mut self.shown) {
            if let Err(refused) = self.gather.add(&chunk) {
                return Some(CallAttemptEnd::Faulty(ModelFault::new(
                    ModelFaultKind::Garbled,
                    refused.to_string(),
                )));
            }
            if self.gather.is_ended() {
                let reply = std::mem::take(&mut self.gather).reply();
                return reply.map(CallAttemptEnd::Replied);
            }
            if let Some(end) = self.show(ModelCallProgress::Piece(chunk)).await {
                return Some(end);
            }
        }
        None
    }

    /// Passes progress to the caller. The attempt, and the provider with it, waits for a slow
    /// reader; a more urgent call does not wait for one.
    pub(super) async fn show(&mut self, progress: ModelCallProgress) -> Option<CallAttemptEnd> {
        let piece = match self.out.try_send(Box::new(progress)) {
            Ok(()) => return None,
            Err(mpsc::error::TrySendError::Closed(_)) => return Some(CallAttemptEnd::CalledOff),
            Err(mpsc::error::TrySendError::Full(piece)) => piece,
        };
        tokio::select! {
            biased;
            () = self.bell.notified() => Some(CallAttemptEnd::Preempted),
            sent = self.out.send(piece) => sent.err().map(|_| CallAttemptEnd::CalledOff),
        }
    }

    /// Returns whether the provider will charge. A refusal costs nothing, and neither does a
    /// connection that was never made. A provider that was asked and then left, or never heard
    /// from again, has read the request.
    fn is_charged(&self, end: &CallAttemptEnd) -> bool {
        let has_begun = self.gather.chunks() > 0;
        match end {
            CallAttemptEnd::Replied(_) => true,
            CallAttemptEnd::Faulty(fault) => {
                let is_lost = matches!(fault.kind, ModelFaultKind::Silent | ModelFaultKind::Cut);
                has_begun || (is_lost && fault.status.is_none())
            }
            CallAttemptEnd::Preempted | CallAttemptEnd::CalledOff => has_begun || self.is_asked,
            CallAttemptEnd::OverBudget(_) | CallAttemptEnd::Unrecorded(_) => has_begun,
        }
    }

    pub(super) fn close(self, end: CallAttemptEnd) -> CallAttemptOutcome {
        let total = self.clock.uptime().saturating_sub(self.began);
        CallAttemptOutcome {
            timing: CallAttemptTiming {
                first: self.first.unwrap_or(total),
                total,
            },
            is_charged: self.is_charged(&end),
            output_bytes: self.gather.output_bytes(),
            partial: self.gather.text(),
            end,
        }
    }
}

/// Reads the next chunk, and notes that the request is being sent: polling is what sends
/// it.
async fn next_piece(
    answer: &mut ChunkStream,
    is_asked: &mut bool,
) -> Option<Result<ReplyChunk, ModelFault>> {
    *is_asked = true;
    answer.next().await
}
