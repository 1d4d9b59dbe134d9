//! What is new, for all who follow: the journal is read once, each reader gets what they may see.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use artel_journal::{Filter, Record};
use artel_workshop::{Eyes, View, Viewer, seen};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use crate::desk::Desk;

/// How many events a reader may be behind before they are sent away, to come again from where
/// they were.
const BEHIND: usize = 1_000;

/// One event, with what each sort of reader is shown of it.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) record: Record,
    forms: [OnceLock<Option<Arc<str>>>; 4],
}

impl News {
    pub(crate) fn of(record: Record) -> Self {
        Self {
            record,
            forms: Default::default(),
        }
    }

    /// Returns the event as JSON for whoever looks; nothing if it is not theirs to see.
    pub(crate) fn shown_to(&self, eyes: &Eyes) -> Option<Arc<str>> {
        let form = match (eyes.role, eyes.view) {
            (Viewer::User, _) => 0,
            (Viewer::Developer, View::Summary) | (Viewer::Admin, View::Summary) => 1,
            (Viewer::Developer, View::Full) => 2,
            (Viewer::Admin, View::Full) => 3,
        };
        let made = self.forms[form].get_or_init(|| {
            let seen = seen(eyes, &self.record)?;
            serde_json::to_string(&seen).ok().map(Arc::from)
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

    fn send(&self, news: Arc<News>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref() {
            // Nobody may be there to hear it.
            drop(sender.send(news));
        }
    }
}

/// Reads the journal for as long as the server runs.
pub(crate) fn follow(desk: &Arc<Desk>, after: u64) -> JoinHandle<()> {
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let mut events = desk.journal.subscribe(Filter::default(), after);
        loop {
            match events.next().await {
                Ok(record) => {
                    if let Err(failure) = desk.take(&record) {
                        (desk.says)(&failure.to_string());
                    }
                    desk.hub.send(Arc::new(News::of(record)));
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
