//! One attempt: the question is sent, the answer is read to its end or to what ends it.

use std::time::Duration;

use artel_rules::budget::OverBudget;
use artel_rules::stream::Gather;
use artel_types::model::{Chunk, Fault, FaultKind, Reply};
use artel_types::{Clock, Redactor};
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
    /// Whether the provider began to answer, and so will charge.
    pub(super) has_begun: bool,
    /// How many bytes it wrote.
    pub(super) output_bytes: u64,
    /// The words that came, where the answer is not complete.
    pub(super) partial: String,
}

/// An answer being read.
pub(super) struct Reading<'a> {
    answer: ChunkStream,
    gather: Gather,
    live: Live,
    shown: Vec<Chunk>,
    out: &'a mpsc::Sender<Progress>,
    bell: &'a Notify,
    clock: &'a Clock,
    began: Duration,
    first: Option<Duration>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        answer: ChunkStream,
        redactor: &Redactor,
        out: &'a mpsc::Sender<Progress>,
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
            piece = self.answer.next() => piece,
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
            if let Some(end) = self.show(chunk).await {
                return Some(end);
            }
        }
        None
    }

    /// Hands a piece to whoever asked. A slow reader is waited for, and the provider with it; an
    /// urgent call does not wait for a slow reader.
    async fn show(&mut self, chunk: Chunk) -> Option<End> {
        let piece = Progress::Piece(chunk);
        let piece = match self.out.try_send(piece) {
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

    /// Closes the attempt.
    pub(super) fn close(self, end: End) -> Attempted {
        let total = self.clock.uptime().saturating_sub(self.began);
        Attempted {
            timing: Timing {
                first: self.first.unwrap_or(total),
                total,
            },
            has_begun: self.gather.chunks() > 0 || matches!(end, End::Replied(_)),
            output_bytes: self.gather.output_bytes(),
            partial: self.gather.text(),
            end,
        }
    }
}
