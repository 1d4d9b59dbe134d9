//! Live events for all readers. The journal is read once, and each reader gets what it may
//! see.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use artel_journal::{EventFilter, JournalRecord};
use artel_workshop::{RunVisibility, TimelineDetailLevel, ViewerRole, seen};
use axum::body::Bytes;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::desk::ServerState;

/// Number of batches that a reader may lag behind before it is disconnected; it then
/// reconnects where it was. This bounds the memory used by a reader that never reads.
const BEHIND: usize = 8;

/// Minimum interval between wake-ups of a reader; events are gathered meanwhile. People do
/// not notice the delay.
const GATHER: Duration = Duration::from_millis(50);

/// Maximum number of events in a batch.
const AT_ONCE: usize = 100;

/// Number of channels. Readers are spread over them and the channels are woken one after
/// the other: hundreds of readers that wake together would occupy every core just when an
/// event is to be written.
const ROWS: usize = 25;

/// Events that arrived together, rendered for each kind of reader. Each rendering is made
/// once and shared.
#[derive(Debug)]
pub(crate) struct LiveEventBatch {
    records: Vec<JournalRecord>,
    /// Whether one of the events revoked access or restored the journal.
    sends_away: bool,
    forms: [OnceLock<RenderedEventBatch>; 8],
}

/// A batch as rendered for one kind of reader.
#[derive(Debug, Clone)]
struct RenderedEventBatch {
    /// The hidden tools when it was rendered.
    hidden: Vec<String>,
    text: Bytes,
    /// Range of each event in `text`; empty if the reader may not see the event.
    places: Vec<Range<usize>>,
}

impl LiveEventBatch {
    pub(crate) fn of(records: Vec<JournalRecord>) -> Self {
        let away = ["token.revoked", "login.ended", "journal.restored"];
        Self {
            sends_away: records.iter().any(|it| away.contains(&it.kind.as_str())),
            records,
            forms: Default::default(),
        }
    }

    /// Returns whether readers must have their access checked because of one of the events.
    pub(crate) fn sends_away(&self) -> bool {
        self.sends_away
    }

    /// Returns the number of the last event.
    pub(crate) fn last(&self) -> Option<u64> {
        self.records.last().map(|record| record.seq)
    }

    /// Returns the wanted events after `after` in event-stream format, or `None` if the
    /// reader may see none of them.
    pub(crate) fn shown_to(
        &self,
        eyes: &RunVisibility,
        after: u64,
        is_wanted: impl Fn(&JournalRecord) -> bool,
    ) -> Option<Bytes> {
        let form = &*self.form(eyes);
        let is_sent = |record: &JournalRecord| record.seq > after && is_wanted(record);
        let text = if self.records.iter().all(is_sent) {
            form.text.clone()
        } else {
            let parts = self.records.iter().zip(&form.places);
            let sent = parts.filter(|(record, _)| is_sent(record));
            let sent: Vec<&[u8]> = sent.map(|(_, place)| &form.text[place.clone()]).collect();
            Bytes::from(sent.concat())
        };
        (!text.is_empty()).then_some(text)
    }

    /// Returns the batch as rendered for this visibility. It is rendered again if the
    /// hidden tools in the settings have changed since it was rendered for others.
    fn form(&self, eyes: &RunVisibility) -> Cow<'_, RenderedEventBatch> {
        let bits = [
            eyes.role == ViewerRole::Admin,
            eyes.view == TimelineDetailLevel::Full,
            eyes.most == TimelineDetailLevel::Full,
        ];
        let sort = bits
            .iter()
            .fold(0, |sort, bit| 2 * sort + usize::from(*bit));
        let made = || RenderedEventBatch::new(eyes, &self.records);
        let form = self.forms[sort].get_or_init(made);
        if form.hidden == eyes.hidden {
            Cow::Borrowed(form)
        } else {
            Cow::Owned(made())
        }
    }
}

impl RenderedEventBatch {
    fn new(eyes: &RunVisibility, records: &[JournalRecord]) -> Self {
        let (mut text, mut places) = (String::new(), Vec::with_capacity(records.len()));
        for record in records {
            let start = text.len();
            let seen = seen(eyes, record).map(|seen| serde_json::to_string(&seen));
            if let Some(Ok(data)) = seen {
                // JSON contains no raw line breaks, so it fits into one line of data.
                let event = format!("id: {}\nevent: record\ndata: {data}\n\n", record.seq);
                text.push_str(&event);
            }
            places.push(start..text.len());
        }
        let text = Bytes::from(text);
        let hidden = eyes.hidden.clone();
        Self {
            hidden,
            text,
            places,
        }
    }
}

type LiveEventChannel = broadcast::Sender<Arc<LiveEventBatch>>;

/// Sends new events to all readers.
pub(crate) struct LiveEventBroadcaster(Mutex<Vec<LiveEventChannel>>);

impl LiveEventBroadcaster {
    pub(crate) fn new() -> Self {
        let rows = (0..ROWS).map(|_| broadcast::Sender::new(BEHIND));
        Self(Mutex::new(rows.collect()))
    }

    /// Subscribes to events from now on, in the channel with the fewest readers. Returns
    /// `None` once the server stops.
    pub(crate) fn follow(&self) -> Option<broadcast::Receiver<Arc<LiveEventBatch>>> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = rows.iter().min_by_key(|row| row.receiver_count())?;
        Some(row.subscribe())
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Sends a batch to one channel, and returns whether anyone received it.
    fn send(&self, row: usize, bundle: &Arc<LiveEventBatch>) -> BatchDelivery {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = rows.get(row).map(|row| row.send(Arc::clone(bundle)));
        match sent {
            Some(Ok(_)) => BatchDelivery::BySome,
            Some(Err(_)) | None => BatchDelivery::ByNobody,
        }
    }
}

#[derive(PartialEq, Eq)]
enum BatchDelivery {
    BySome,
    ByNobody,
}

/// Reads the journal and sends new events for as long as the server runs.
pub(crate) fn follow(desk: &Arc<ServerState>, after: u64) -> JoinHandle<()> {
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let (news, arrived) = mpsc::channel(AT_ONCE * 2);
        tokio::join!(read(&desk, after, news), hand_on(&desk.hub, arrived));
        desk.hub.close();
    })
}

async fn read(desk: &ServerState, after: u64, news: mpsc::Sender<JournalRecord>) {
    let mut events = desk.journal.subscribe(EventFilter::default(), after);
    loop {
        match events.next().await {
            Ok(record) => {
                if let Err(failure) = desk.take(&record) {
                    (desk.says)(&failure.to_string());
                }
                if news.send(record).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                (desk.says)(&format!("live events stopped: {error}"));
                return;
            }
        }
    }
}

/// Sends events as they arrive: at once after a pause, otherwise gathered, channel by
/// channel. If many events arrive, it sends them without delays.
async fn hand_on(hub: &LiveEventBroadcaster, mut arrived: mpsc::Receiver<JournalRecord>) {
    let mut due = Instant::now();
    let mut records = Vec::new();
    while let Some(first) = arrived.recv().await {
        if arrived.len() < AT_ONCE {
            sleep_until(due).await;
        }
        due = Instant::now() + GATHER;
        records.push(first);
        while records.len() < AT_ONCE
            && let Ok(record) = arrived.try_recv()
        {
            records.push(record);
        }
        let bundle = Arc::new(LiveEventBatch::of(std::mem::take(&mut records)));
        for row in 0..ROWS {
            if hub.send(row, &bundle) == BatchDelivery::BySome && arrived.len() < AT_ONCE {
                sleep(GATHER / ROWS as u32).await;
            }
        }
    }
}
