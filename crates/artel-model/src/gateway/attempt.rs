//! One attempt: the question is sent, the answer is read to its end or to what ends it.

use std::time::Duration;

use artel_rules::budget::OverBudget;
use artel_rules::stream::Gather;
use artel_types::model::{Chunk, Fault, FaultKind, Reply};
use artel_types::{Clock, Failure, Redactor};
use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};

use super::call::Progress;
use super::live::Live;
use crate::model::ChunkStream;

/// How an attempt ended.
pub(super) enum End {
    Replied(Reply),
    Faulty(Fault),
    /// Something more urgent needs the place.
    Preempted,
    /// Whoever asked is gone.
    CalledOff,
    /// The answer grew beyond what may be spent.
    OverBudget(OverBudget),
    /// What it needs besides cannot be recorded, so it does not go on.
    Unrecorded(Failure),
}

/// How long an attempt took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timing {
    /// Until the first piece of content.
    pub(super) first: Duration,
    /// Until the end.
    pub(super) total: Duration,
}

/// What came of an attempt.
pub(super) struct Attempted {
    pub(super) end: End,
    pub(super) timing: Timing,
    /// Whether the provider will charge for it, as far as that can be told: it began to answer, or
    /// was left alone with the question.
    pub(super) is_charged: bool,
    /// How many bytes it wrote.
    pub(super) output_bytes: u64,
    /// The words that came, where the answer is not complete.
    pub(super) partial: String,
}

impl Attempted {
    /// Nobody was asked, because what the question follows from is not on record.
    pub(super) fn not_asked(failure: Failure) -> Self {
        Self {
            end: End::Unrecorded(failure),
            timing: Timing::default(),
            is_charged: false,
            output_bytes: 0,
            partial: String::new(),
        }
    }
}

/// An answer being read.
pub(super) struct Reading<'a> {
    answer: ChunkStream,
    gather: Gather,
    live: Live,
    shown: Vec<Chunk>,
    out: &'a mpsc::Sender<Box<Progress>>,
    bell: &'a Notify,
    clock: &'a Clock,
    began: Duration,
    first: Option<Duration>,
    /// Whether the question was sent, or is on its way.
    is_asked: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        answer: ChunkStream,
        redactor: &Redactor,
        out: &'a mpsc::Sender<Box<Progress>>,
        bell: &'a Notify,
        clock: &'a Clock,
    ) -> Self {
        Self {
            answer,
            gather: Gather::default(),
            live: Live::new(redactor),
            shown: Vec::new(),
            out,
            bell,
            clock,
            began: clock.uptime(),
            first: None,
            is_asked: false,
        }
    }

    /// Returns how many bytes the answer has so far.
    pub(super) fn output_bytes(&self) -> u64 {
        self.gather.output_bytes()
    }

    /// Reads one piece and shows it. Returns how the attempt ended, once it has.
    pub(super) async fn step(&mut self) -> Option<End> {
        let piece = tokio::select! {
            biased;
            () = self.out.closed() => return Some(End::CalledOff),
            () = self.bell.notified() => return Some(End::Preempted),
            piece = next_piece(&mut self.answer, &mut self.is_asked) => piece,
        };
        match piece {
            Some(Ok(chunk)) => self.take(chunk).await,
            Some(Err(fault)) => Some(End::Faulty(fault)),
            None => Some(End::Faulty(Fault::new(
                FaultKind::Cut,
                "the answer ended without its end",
            ))),
        }
    }

    async fn take(&mut self, chunk: Chunk) -> Option<End> {
        let is_content = !matches!(chunk, Chunk::Start { .. } | Chunk::End { .. });
        if self.first.is_none() && is_content {
            self.first = Some(self.clock.uptime().saturating_sub(self.began));
        }
        self.live.push(chunk, &mut self.shown);
        for chunk in std::mem::take(&mut self.shown) {
            if let Err(refused) = self.gather.add(&chunk) {
                return Some(End::Faulty(Fault::new(
                    FaultKind::Garbled,
                    refused.to_string(),
                )));
            }
            if self.gather.is_ended() {
                let reply = std::mem::take(&mut self.gather).reply();
                return reply.map(End::Replied);
            }
            if let Some(end) = self.show(Progress::Piece(chunk)).await {
                return Some(end);
            }
        }
        None
    }

    /// Hands something to whoever asked. A slow reader is waited for, and the provider with it; an
    /// urgent call does not wait for a slow reader.
    pub(super) async fn show(&mut self, progress: Progress) -> Option<End> {
        let piece = match self.out.try_send(Box::new(progress)) {
            Ok(()) => return None,
            Err(mpsc::error::TrySendError::Closed(_)) => return Some(End::CalledOff),
            Err(mpsc::error::TrySendError::Full(piece)) => piece,
        };
        tokio::select! {
            biased;
            () = self.bell.notified() => Some(End::Preempted),
            sent = self.out.send(piece) => sent.err().map(|_| End::CalledOff),
        }
    }

    /// A refusal costs nothing, and neither does a connection that was not made. Who was asked and
    /// then left, or never heard of again, has read the question.
    fn is_charged(&self, end: &End) -> bool {
        let has_begun = self.gather.chunks() > 0;
        match end {
            End::Replied(_) => true,
            End::Faulty(fault) => {
                let is_lost = matches!(fault.kind, FaultKind::Silent | FaultKind::Cut);
                has_begun || (is_lost && fault.status.is_none())
            }
            End::Preempted | End::CalledOff => has_begun || self.is_asked,
            End::OverBudget(_) | End::Unrecorded(_) => has_begun,
        }
    }

    /// Closes the attempt.
    pub(super) fn close(self, end: End) -> Attempted {
        let total = self.clock.uptime().saturating_sub(self.began);
        Attempted {
            timing: Timing {
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

/// Reads on, and notes that the question is on its way: polling is what sends it.
async fn next_piece(answer: &mut ChunkStream, is_asked: &mut bool) -> Option<Result<Chunk, Fault>> {
    *is_asked = true;
    answer.next().await
}
