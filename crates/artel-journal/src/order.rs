//! Commands for the writer, and its answers.

use std::borrow::Cow;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::task::{Context, Poll};

use artel_types::{EventDraft, Fact, SecretRedactor, StreamName};
use tokio::sync::oneshot;

use crate::error::{JournalAppendError, JournalError};
use crate::lease::{LeaseCommand, LeaseFence};
use crate::projection::ProjectionSnapshot;
use crate::record::JournalRecord;
use crate::wait;

/// Largest payload in bytes; anything larger belongs in a blob.
const LARGEST_PAYLOAD: usize = 1 << 20;

/// Events that are recorded together or not at all.
#[derive(Debug, Clone, Default)]
pub struct EventBatch {
    drafts: Vec<EventDraft>,
    expected: Option<(StreamName, u64)>,
    fence: Option<LeaseFence>,
    haste: CommitTiming,
}

/// When a batch is committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CommitTiming {
    /// As soon as the writer gets to it.
    #[default]
    Now,
    /// Together with the next command.
    WithNext,
}

impl EventBatch {
    /// Creates a batch of these events, in this order.
    pub fn of(drafts: impl IntoIterator<Item = EventDraft>) -> Self {
        Self {
            drafts: drafts.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Records the batch only if `stream` still ends at `position` (0: has no event yet).
    #[must_use]
    pub fn expecting(mut self, stream: StreamName, position: u64) -> Self {
        self.expected = Some((stream, position));
        self
    }

    /// Records the batch only while the lease is still held.
    #[must_use]
    pub fn fenced(mut self, fence: &LeaseFence) -> Self {
        self.fence = Some(fence.clone());
        self
    }

    /// Lets the batch wait a moment for the next command and share its commit. This is for a
    /// caller that is about to append again, and acts on neither batch before both are on disk.
    #[must_use]
    pub fn with_next(mut self) -> Self {
        self.haste = CommitTiming::WithNext;
        self
    }
}

impl From<EventDraft> for EventBatch {
    fn from(draft: EventDraft) -> Self {
        Self::of([draft])
    }
}

/// The places of a batch's events in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendReceipt {
    /// Sequence numbers of the events.
    pub seqs: RangeInclusive<u64>,
    /// Position of each event in its stream.
    pub stream_seqs: Vec<u64>,
}

/// The acknowledgement of an append. It resolves when the events are on disk; await it, or
/// call [`AppendAcknowledgement::wait`] outside of async code. Dropping it does not cancel the append.
#[derive(Debug)]
pub struct AppendAcknowledgement(oneshot::Receiver<Result<AppendReceipt, JournalAppendError>>);

impl AppendAcknowledgement {
    /// Blocks until the events are on disk.
    pub fn wait(self) -> Result<AppendReceipt, JournalAppendError> {
        wait::until_done(self)
    }
}

impl Future for AppendAcknowledgement {
    type Output = Result<AppendReceipt, JournalAppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or(Err(JournalAppendError::Journal(JournalError::Closed))))
    }
}

/// A command for the writer, carried out within a write turn.
pub(crate) enum WriterCommand {
    Append(
        PreparedEventBatch,
        oneshot::Sender<Result<AppendReceipt, JournalAppendError>>,
    ),
    Lease(LeaseCommand),
    Keep(
        ProjectionSnapshot,
        oneshot::Sender<Result<(), JournalError>>,
    ),
    Close,
}

impl WriterCommand {
    /// Returns whether the command may wait for the next one.
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self, Self::Append(prepared, _) if prepared.haste == CommitTiming::WithNext)
    }
}

/// A batch whose payloads are already JSON without secrets. Only the chain is missing.
pub(crate) struct PreparedEventBatch {
    pub(crate) records: Vec<JournalRecord>,
    pub(crate) expected: Option<(StreamName, u64)>,
    pub(crate) fence: Option<LeaseFence>,
    pub(crate) haste: CommitTiming,
}

/// Encodes and redacts on the caller's thread, so that the one writer thread only hashes
/// and inserts.
pub(crate) fn prepare(
    batch: EventBatch,
    redactor: &SecretRedactor,
) -> Result<PreparedEventBatch, JournalAppendError> {
    if batch.drafts.is_empty() {
        return Err(JournalAppendError::Empty);
    }
    let records = batch
        .drafts
        .into_iter()
        .map(|draft| record(draft, redactor))
        .collect::<Result<_, _>>()?;
    Ok(PreparedEventBatch {
        records,
        expected: batch.expected,
        fence: batch.fence,
        haste: batch.haste,
    })
}

fn record(
    draft: EventDraft,
    redactor: &SecretRedactor,
) -> Result<JournalRecord, JournalAppendError> {
    let payload =
        Fact::encode(&draft.fact).map_err(|error| JournalAppendError::Encode(error.to_string()))?;
    if payload.len() > LARGEST_PAYLOAD {
        return Err(JournalAppendError::TooLarge {
            bytes: payload.len(),
            limit: LARGEST_PAYLOAD,
        });
    }
    if redactor.finds_in(draft.stream.as_str().as_bytes()) {
        return Err(misplaced_secret());
    }
    let payload = without_secrets(&draft.fact, payload, redactor)?;
    Ok(JournalRecord {
        seq: 0,
        stream: draft.stream.into(),
        stream_seq: 0,
        at: artel_types::Timestamp::from_micros(0),
        trace: draft.trace.to_string(),
        session: draft.session.map(|id| id.to_string()),
        run: draft.run.map(|id| id.to_string()),
        cause: draft.cause,
        actor: redactor.redact(&draft.actor.to_string()).into_owned(),
        via: draft.actor.via.map(|via| via.as_str().to_owned()),
        kind: draft.fact.kind().to_owned(),
        target: draft
            .target
            .map(|target| redactor.redact(&target).into_owned()),
        outcome: draft.outcome.map(|outcome| outcome.as_str().to_owned()),
        visibility: draft.visibility.as_str().to_owned(),
        schema: draft.fact.schema(),
        payload,
        prev: [0; 32],
        hash: [0; 32],
    })
}

/// Removes known secrets, and makes sure that the rest can still be decoded as the same
/// kind of fact.
fn without_secrets(
    fact: &Fact,
    payload: String,
    redactor: &SecretRedactor,
) -> Result<String, JournalAppendError> {
    match redactor.redact_json(&payload) {
        Cow::Borrowed(_) => Ok(payload),
        Cow::Owned(clean) => match Fact::decode(fact.kind(), fact.schema(), &clean) {
            Ok(_) => Ok(clean),
            Err(_) => Err(misplaced_secret()),
        },
    }
}

fn misplaced_secret() -> JournalAppendError {
    JournalAppendError::Encode(
        "a known secret stands where a name, an id or a number belongs".to_owned(),
    )
}

pub(crate) fn answer() -> (
    oneshot::Sender<Result<AppendReceipt, JournalAppendError>>,
    AppendAcknowledgement,
) {
    let (sender, receiver) = oneshot::channel();
    (sender, AppendAcknowledgement(receiver))
}
