//! Live events: first the existing ones, then each new one, without gaps or repeats.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use artel_journal::EventQuery;
use artel_types::{Failure, FailureCode};
use artel_workshop::{RunVisibility, Workshop};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{Stream, unfold};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;

use super::wanted::EventListQuery;
use crate::api::ApiError;
use crate::connections::ConnectionHandle;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;
use crate::live::LiveEventBatch;

/// Number of past events that are read at once.
const PAGE: u64 = 100;

/// Interval between keep-alives on an idle stream.
const ALIVE: Duration = Duration::from_secs(15);

/// The start of every stream; a reader that was cut off reconnects after a second.
const HELLO: &[u8] = b"retry: 1000\n: events follow\n\n";

/// The keep-alive of an idle stream.
const STILL_HERE: &[u8] = b":\n\n";

/// One reader of live events.
struct LiveEventReader {
    desk: Arc<ServerState>,
    who: AuthenticatedCaller,
    eyes: RunVisibility,
    /// Notifies of changed settings, which may change what the reader may see.
    workshops: watch::Receiver<Arc<Workshop>>,
    wanted: EventListQuery,
    /// When the reader's access was last checked.
    checked: Instant,
    /// The number of the last event that was examined.
    position: u64,
    is_past_over: bool,
    news: Receiver<Arc<LiveEventBatch>>,
    _place: OwnedSemaphorePermit,
}

/// Starts a stream of events after `last`, else after `wanted.after`, else from now on.
pub(super) fn follow(
    desk: Arc<ServerState>,
    who: &AuthenticatedCaller,
    connection: Option<ConnectionHandle>,
    wanted: &EventListQuery,
    last: Option<u64>,
) -> Result<Response, ApiError> {
    // Subscribed before the reader's visibility is determined, so no change of settings is
    // missed.
    let workshops = desk.workshops();
    let eyes = wanted.eyes(&desk, who)?;
    wanted.refuse_of_pages()?;
    wanted.filter(desk.workshop().caller().clock().now())?;
    let place = Arc::clone(&desk.streams).try_acquire_owned().map_err(|_| {
        Failure::new(FailureCode::H009, "too many readers of live events")
            .advise("close some, or raise `server.event_streams`")
    })?;
    // Subscribed before past events are read, so no event is missed between the two.
    let news = desk.hub.follow().ok_or_else(|| {
        Failure::new(FailureCode::H003, "the server is stopping").advise("come again in a moment")
    })?;
    let position = match last.or(wanted.after) {
        Some(after) => after,
        None => desk.reader().head().map_err(Failure::from)?,
    };
    if let Some(connection) = connection {
        connection.becomes_reader();
    }
    let reading = LiveEventReader {
        desk,
        who: who.clone(),
        eyes,
        workshops,
        wanted: wanted.clone(),
        checked: Instant::now(),
        position,
        is_past_over: false,
        news,
        _place: place,
    };
    let head = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONNECTION, "close"),
    ];
    Ok((head, Body::from_stream(stream(reading))).into_response())
}

fn stream(reading: LiveEventReader) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let hello = futures_util::stream::once(async { Ok(Bytes::from_static(HELLO)) });
    let rest = unfold(reading, async |mut reading| {
        let sent = match tokio::time::timeout(ALIVE, reading.next()).await {
            Ok(event) => event?,
            Err(_) if reading.is_sent_away() => return None,
            Err(_) => Bytes::from_static(STILL_HERE),
        };
        Some((Ok(sent), reading))
    });
    futures_util::StreamExt::chain(hello, rest)
}

impl LiveEventReader {
    /// Returns the next events that the reader may see.
    ///
    /// Returns `None`, which ends the stream, if the reader lost access, is too far behind,
    /// or the server stops. In the last two cases the reader reconnects and continues where
    /// it was.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let events = if self.is_past_over {
                let bundle = match self.news.recv().await {
                    Ok(bundle) => bundle,
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                };
                // Sign-ins expire without an event.
                let is_due = self.checked.elapsed() >= ALIVE;
                if (bundle.sends_away() || is_due) && self.is_sent_away() {
                    return None;
                }
                self.look_at(&bundle)
            } else {
                let past = self.read_past().await?;
                if self.is_sent_away() {
                    return None;
                }
                self.look_at(&past)
            };
            let events = events.ok()?;
            if events.is_some() {
                return events;
            }
        }
    }

    /// Checks again whether the reader still has access, and returns whether it was lost.
    fn is_sent_away(&mut self) -> bool {
        self.checked = Instant::now();
        !self.desk.is_welcome(&self.who.pass).unwrap_or(false)
    }

    /// Returns the events of a batch that the reader may see, by the rules in force now. If
    /// the reader may no longer have the view it asked for, this fails and the stream ends;
    /// the reader learns why when it reconnects.
    fn look_at(&mut self, bundle: &LiveEventBatch) -> Result<Option<Bytes>, Failure> {
        if self.workshops.has_changed().unwrap_or(false) {
            self.workshops.mark_unchanged();
            self.eyes = self.wanted.eyes(&self.desk, &self.who)?;
        }
        let after = self.position;
        let Some(last) = bundle.last() else {
            return Ok(None);
        };
        self.position = after.max(last);
        Ok(bundle.shown_to(&self.eyes, after, |record| self.wanted.fits(record)))
    }

    /// Reads a page of past events on a thread that may block.
    async fn read_past(&mut self) -> Option<LiveEventBatch> {
        let (desk, after) = (Arc::clone(&self.desk), self.position);
        let now = self.desk.workshop().caller().clock().now();
        let filter = self.wanted.filter(now).ok()?;
        let read = tokio::task::spawn_blocking(move || {
            let head = desk.reader().head()?;
            let records = desk
                .reader()
                .records(&EventQuery::of(filter).after(after).limit(PAGE))?;
            Ok::<_, artel_journal::JournalError>((head, records))
        });
        let (head, records) = read.await.ok()?.ok()?;
        self.is_past_over = (records.len() as u64) < PAGE;
        if records.is_empty() {
            self.position = self.position.max(head);
        }
        Some(LiveEventBatch::of(records))
    }
}
