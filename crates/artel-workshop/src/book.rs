//! The journal as the gateway's store.

use artel_journal::{EventBatch, EventQuery, Journal, JournalAppendError, JournalProjection};
use artel_model::{GatewayEventBatch, GatewayState, GatewayStore, GatewayStoreError};
use artel_types::{Event, Failure, FailureCode, RecordedText};
use futures_util::future::BoxFuture;

/// Largest text that is stored inside an event, in bytes. Larger texts become blobs, so
/// that reading events stays fast.
const LARGEST_INLINE: usize = 4 * 1024;

/// The projection from events to the gateway's state. Raise the version whenever a fold
/// changes.
pub(crate) const ACCOUNT: JournalProjection<GatewayState> = JournalProjection {
    name: "gateway",
    version: 2,
    fold: GatewayState::fold,
};

pub(crate) struct JournalGatewayStore(Journal);

impl JournalGatewayStore {
    pub(crate) fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

impl GatewayStore for JournalGatewayStore {
    fn open(&self) -> Result<(GatewayState, u64), Failure> {
        Ok(ACCOUNT.state(self.0.reader())?)
    }

    fn read_on(&self, after: u64, visit: &mut dyn FnMut(&Event)) -> Result<u64, Failure> {
        let query = EventQuery::all().after(after);
        let last = self
            .0
            .reader()
            .visit_kinds(&query, GatewayState::concerns, |event| visit(&event))?;
        Ok(last)
    }

    fn append(
        &self,
        entries: GatewayEventBatch,
    ) -> BoxFuture<'static, Result<(), GatewayStoreError>> {
        let mut batch = EventBatch::of(entries.drafts);
        if let Some((stream, position)) = entries.expecting {
            batch = batch.expecting(stream, position);
        }
        let ack = self.0.append(batch);
        Box::pin(async move {
            match ack.await {
                Ok(_) => Ok(()),
                Err(JournalAppendError::Conflict { .. }) => Err(GatewayStoreError::Moved),
                Err(error) => Err(GatewayStoreError::Failed(error.into())),
            }
        })
    }

    /// A blob must be on disk before an event names it. Writing takes time, so it happens on
    /// another thread.
    fn keep(&self, text: String) -> BoxFuture<'static, Result<RecordedText, Failure>> {
        if text.len() <= LARGEST_INLINE {
            return Box::pin(async { Ok(RecordedText::Inline(text)) });
        }
        let blobs = self.0.blobs().clone();
        let stored = tokio::task::spawn_blocking(move || blobs.put(text.as_bytes()));
        Box::pin(async move {
            match stored.await {
                Ok(stored) => Ok(RecordedText::Kept(stored?)),
                Err(error) => Err(Failure::new(FailureCode::X001, error.to_string())),
            }
        })
    }
}
