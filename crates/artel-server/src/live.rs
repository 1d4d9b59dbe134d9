//! What is new, for all who follow: the journal is read once, each reader gets what they may see.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use artel_journal::{Filter, Record};
use artel_workshop::{Eyes, View, Viewer, seen};
use axum::body::Bytes;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::desk::Desk;

/// How many events a reader may be behind before they are sent away, to come again from where
/// they were.
const BEHIND: usize = 1_000;

/// What is new is gathered for so long: readers are woken once for all that happens in a moment,
/// and nobody sees the difference.
const GATHER: Duration = Duration::from_millis(50);

/// So much is handed on at once.
const AT_ONCE: usize = 100;

/// One event, with what each sort of reader is sent of it: made once, and shared by all of them.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) record: Record,
    forms: [OnceLock<Option<Bytes>>; 4],
}

impl News {
    pub(crate) fn of(record: Record) -> Self {
        Self {
            record,
            forms: Default::default(),
        }
    }

    /// Returns the event as a stream of events has it, with its data as JSON; nothing if it is not
    /// theirs to see.
    pub(crate) fn shown_to(&self, eyes: &Eyes) -> Option<Bytes> {
        let form = match (eyes.role, eyes.view) {
            (Viewer::User, _) => 0,
            (Viewer::Developer, View::Summary) | (Viewer::Admin, View::Summary) => 1,
            (Viewer::Developer, View::Full) => 2,
            (Viewer::Admin, View::Full) => 3,
        };
        let made = self.forms[form].get_or_init(|| {
            let seen = seen(eyes, &self.record)?;
            // JSON has no line ends of its own, so it is one line of data.
            let data = serde_json::to_string(&seen).ok()?;
            let id = self.record.seq;
            Some(Bytes::from(format!(
                "id: {id}\nevent: record\ndata: {data}\n\n"
            )))
        });
        made.clone()
    }
}

/// Hands what is new to everybody who follows.
pub(crate) struct Hub(Mutex<Option<broadcast::Sender<Arc<News>>>>);

impl Hub {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(broadcast::Sender::new(BEHIND))))
    }

    /// Follows from now on; nothing once the server stops.
    pub(crate) fn follow(&self) -> Option<broadcast::Receiver<Arc<News>>> {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().map(broadcast::Sender::subscribe)
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn send(&self, gathered: &mut Vec<Arc<News>>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for news in gathered.drain(..) {
            if let Some(sender) = sender.as_ref() {
                // Nobody may be there to hear it.
                drop(sender.send(news));
            }
        }
    }
}

/// Reads the journal for as long as the server runs.
pub(crate) fn follow(desk: &Arc<Desk>, after: u64) -> JoinHandle<()> {
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let mut events = desk.journal.subscribe(Filter::default(), after);
        let (mut gathered, mut due) = (Vec::new(), Instant::now());
        loop {
            if gathered.len() >= AT_ONCE || (!gathered.is_empty() && Instant::now() >= due) {
                desk.hub.send(&mut gathered);
            }
            let next = tokio::select! {
                next = events.next() => next,
                () = tokio::time::sleep_until(due), if !gathered.is_empty() => continue,
            };
            match next {
                Ok(record) => {
                    if let Err(failure) = desk.take(&record) {
                        (desk.says)(&failure.to_string());
                    }
                    if gathered.is_empty() {
                        due = Instant::now() + GATHER;
                    }
                    gathered.push(Arc::new(News::of(record)));
                }
                Err(error) => {
                    let text = format!("live events stopped: {error}");
                    (desk.says)(&text);
                    desk.hub.close();
                    return;
                }
            }
        }
    })
}
