//! Follows the journal: first the existing events, then new ones, with no gap and no
//! repeat.
//!
//! A subscription is a position and a notifier. It reads pages from the file at its own
//! pace, so a slow one costs the writer nothing, and the notifier only says that there is
//! more. Other processes do not notify; a small thread watches the head for their events.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;

use crate::error::JournalError;
use crate::query::{EventFilter, EventQuery};
use crate::reader::JournalReader;
use crate::record::JournalRecord;
use crate::wait;

/// Poll interval for events that other processes wrote.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Number of events read at once.
const PAGE: u64 = 256;

/// The notifier that all subscriptions of a journal share.
pub(crate) struct SubscriptionNotifier {
    heads: watch::Sender<u64>,
    watcher: OnceLock<Sender<()>>,
}

impl SubscriptionNotifier {
    pub(crate) fn new(heads: watch::Sender<u64>) -> Self {
        Self {
            heads,
            watcher: OnceLock::new(),
        }
    }

    /// Starts the thread that looks for other processes' events. It ends with the notifier.
    fn listen(&self, reader: &Arc<JournalReader>) {
        self.watcher.get_or_init(|| {
            let (stop, stopped) = channel::<()>();
            let (heads, reader) = (self.heads.clone(), Arc::clone(reader));
            std::thread::spawn(move || {
                while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    // A file that cannot be read now may be readable at the next look.
                    let Ok(seq) = reader.head() else { continue };
                    heads.send_if_modified(|known| {
                        let is_new = seq > *known;
                        *known = seq.max(*known);
                        is_new
                    });
                }
            });
            stop
        });
    }
}

/// Events in order, one at a time, for as long as the caller asks.
pub struct JournalSubscription {
    reader: Arc<JournalReader>,
    filter: EventFilter,
    position: u64,
    identity: Option<(u64, u64)>,
    page: VecDeque<JournalRecord>,
    heads: watch::Receiver<u64>,
    _bell: Arc<SubscriptionNotifier>,
}

impl JournalSubscription {
    pub(crate) fn new(
        reader: Arc<JournalReader>,
        bell: Arc<SubscriptionNotifier>,
        filter: EventFilter,
        after: u64,
    ) -> Self {
        bell.listen(&reader);
        let heads = bell.heads.subscribe();
        Self {
            identity: reader.identity(),
            reader,
            filter,
            position: after,
            page: VecDeque::new(),
            heads,
            _bell: bell,
        }
    }

    /// Follows a journal that this process does not write.
    pub fn read_only(reader: Arc<JournalReader>, filter: EventFilter, after: u64) -> Self {
        let bell = Arc::new(SubscriptionNotifier::new(watch::channel(after).0));
        Self::new(reader, bell, filter, after)
    }

    /// Waits for the next matching event.
    pub async fn next(&mut self) -> Result<JournalRecord, JournalError> {
        loop {
            // Mark the head as seen before reading: a change during the read notifies again.
            self.heads.borrow_and_update();
            if let Some(record) = self.take()? {
                return Ok(record);
            }
            if self.heads.changed().await.is_err() {
                return Err(JournalError::Closed);
            }
        }
    }

    /// Waits for the next event outside of async code. Returns `None` if none came within
    /// `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<Option<JournalRecord>, JournalError> {
        wait::within(pin!(self.next()), limit).transpose()
    }

    fn take(&mut self) -> Result<Option<JournalRecord>, JournalError> {
        if self.page.is_empty() {
            self.turn_page()?;
        }
        Ok(self.page.pop_front())
    }

    /// Notices a restore. The numbers then continue from an earlier event, so reading starts
    /// again at the event that records the restore.
    fn notice_restore(&mut self) -> Result<(), JournalError> {
        let now = self.reader.identity();
        if now == self.identity {
            return Ok(());
        }
        self.identity = now;
        let restored = EventFilter {
            kind: Some("journal.restored".to_owned()),
            ..EventFilter::default()
        };
        let last = EventQuery::of(restored).newest_first().limit(1);
        if let Some(record) = self.reader.records(&last)?.first() {
            self.position = record.seq - 1;
        }
        Ok(())
    }

    fn turn_page(&mut self) -> Result<(), JournalError> {
        // The head is read first: the next look sees events between it and the page, and a
        // filter that matches nothing does not make us read the same events again.
        self.notice_restore()?;
        let head = self.reader.head()?;
        let query = EventQuery::of(self.filter.clone())
            .after(self.position)
            .limit(PAGE);
        let records = self.reader.records(&query)?;
        let is_full = records.len() as u64 == PAGE;
        let last = records.last().map_or(0, |record| record.seq);
        self.position = if is_full {
            last
        } else {
            last.max(head).max(self.position)
        };
        self.page.extend(records);
        Ok(())
    }
}

impl std::fmt::Debug for JournalSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JournalSubscription(after {})", self.position)
    }
}
