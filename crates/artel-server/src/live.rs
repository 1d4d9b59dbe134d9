//! What is new, for all who follow: the journal is read once, each reader gets what they may see.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use artel_journal::{Filter, Record};
use artel_workshop::{Eyes, View, Viewer, seen};
use axum::body::Bytes;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::desk::Desk;

/// How many bundles a reader may be behind before they are sent away, to come again from where
/// they were: what one who never reads keeps in memory is bounded by it.
const BEHIND: usize = 8;

/// Readers are woken at most once in so long, for all that happened meanwhile; nobody sees the
/// difference.
const GATHER: Duration = Duration::from_millis(50);

/// So many events are handed on at once.
const AT_ONCE: usize = 100;

/// Readers stand in so many rows, and the rows are woken one after the other: hundreds who wake
/// together would hold every core just when somebody has an event to write.
const ROWS: usize = 25;

/// Events that came together, with what each sort of reader is sent of them: made once, and shared
/// by all of them.
#[derive(Debug)]
pub(crate) struct Bundle {
    records: Vec<Record>,
    /// Whether somebody was sent away by one of them.
    sends_away: bool,
    forms: [OnceLock<Form>; 8],
}

/// What one sort of reader is sent of a bundle.
#[derive(Debug, Clone)]
struct Form {
    /// What was hidden when it was made.
    hidden: Vec<String>,
    text: Bytes,
    /// Where the text of each event is; empty if it is not theirs to see.
    places: Vec<Range<usize>>,
}

impl Bundle {
    pub(crate) fn of(records: Vec<Record>) -> Self {
        let away = ["token.revoked", "login.ended", "journal.restored"];
        Self {
            sends_away: records.iter().any(|it| away.contains(&it.kind.as_str())),
            records,
            forms: Default::default(),
        }
    }

    /// Tells whether by one of them somebody may no longer be here.
    pub(crate) fn sends_away(&self) -> bool {
        self.sends_away
    }

    /// Returns the number of the last event.
    pub(crate) fn last(&self) -> Option<u64> {
        self.records.last().map(|record| record.seq)
    }

    /// Returns those after an event that are wanted, as a stream of events has them; nothing if
    /// none is theirs to see.
    pub(crate) fn shown_to(
        &self,
        eyes: &Eyes,
        after: u64,
        is_wanted: impl Fn(&Record) -> bool,
    ) -> Option<Bytes> {
        let form = &*self.form(eyes);
        let is_sent = |record: &Record| record.seq > after && is_wanted(record);
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

    /// Returns what is sent to whoever has such eyes. Where the settings hide something else by now
    /// than when it was made for the others, it is made anew.
    fn form(&self, eyes: &Eyes) -> Cow<'_, Form> {
        let bits = [
            eyes.role == Viewer::Admin,
            eyes.view == View::Full,
            eyes.most == View::Full,
        ];
        let sort = bits
            .iter()
            .fold(0, |sort, bit| 2 * sort + usize::from(*bit));
        let made = || Form::new(eyes, &self.records);
        let form = self.forms[sort].get_or_init(made);
        match form.hidden == eyes.hidden {
            true => Cow::Borrowed(form),
            false => Cow::Owned(made()),
        }
    }
}

impl Form {
    fn new(eyes: &Eyes, records: &[Record]) -> Self {
        let (mut text, mut places) = (String::new(), Vec::with_capacity(records.len()));
        for record in records {
            let start = text.len();
            let seen = seen(eyes, record).map(|seen| serde_json::to_string(&seen));
            if let Some(Ok(data)) = seen {
                // JSON has no line ends of its own, so it is one line of data.
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

type Row = broadcast::Sender<Arc<Bundle>>;

/// Hands what is new to everybody who follows.
pub(crate) struct Hub(Mutex<Vec<Row>>);

impl Hub {
    pub(crate) fn new() -> Self {
        let rows = (0..ROWS).map(|_| broadcast::Sender::new(BEHIND));
        Self(Mutex::new(rows.collect()))
    }

    /// Follows from now on, in the row with the fewest; nothing once the server stops.
    pub(crate) fn follow(&self) -> Option<broadcast::Receiver<Arc<Bundle>>> {
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

    /// Hands a bundle to one row. Says whether somebody was there to get it.
    fn send(&self, row: usize, bundle: &Arc<Bundle>) -> Heard {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = rows.get(row).map(|row| row.send(Arc::clone(bundle)));
        match sent {
            Some(Ok(_)) => Heard::BySome,
            Some(Err(_)) | None => Heard::ByNobody,
        }
    }
}

#[derive(PartialEq, Eq)]
enum Heard {
    BySome,
    ByNobody,
}

/// Reads the journal for as long as the server runs.
pub(crate) fn follow(desk: &Arc<Desk>, after: u64) -> JoinHandle<()> {
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let (news, arrived) = mpsc::channel(AT_ONCE * 2);
        tokio::join!(read(&desk, after, news), hand_on(&desk.hub, arrived));
        desk.hub.close();
    })
}

async fn read(desk: &Desk, after: u64, news: mpsc::Sender<Record>) {
    let mut events = desk.journal.subscribe(Filter::default(), after);
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

/// Hands on what arrives: at once after a silence, otherwise gathered, row by row. When much
/// arrives, nobody is waited for.
async fn hand_on(hub: &Hub, mut arrived: mpsc::Receiver<Record>) {
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
        let bundle = Arc::new(Bundle::of(std::mem::take(&mut records)));
        for row in 0..ROWS {
            if hub.send(row, &bundle) == Heard::BySome && arrived.len() < AT_ONCE {
                sleep(GATHER / ROWS as u32).await;
            }
        }
    }
}
