//! Sends spans to the collectors that the settings name, for as long as they do: in batches, with a
//! bounded queue, and patiently where nobody answers. What is measured never holds up what is done.

mod queue;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use artel_journal::Filter;
use artel_types::{Code, Failure};
use artel_workshop::Workshop;
use reqwest::{Client, redirect};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use self::queue::{BATCH, Queue};
use super::spans::{Span, Spans};
use crate::desk::Desk;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the last spans may take once the server stops.
const LAST: Duration = Duration::from_secs(2);

/// The sending of traces, while the server runs.
pub(crate) struct Sending {
    going: JoinHandle<()>,
    /// Ends it when it is dropped.
    ends: oneshot::Sender<()>,
}

impl Sending {
    /// Sends what is left, if it goes quickly.
    pub(crate) async fn rest(self) {
        drop(self.ends);
        // What nobody took by then is lost; it is in the journal.
        drop(tokio::time::timeout(LAST, self.going).await);
    }
}

/// Sends what happens after an event to the collectors that the settings name. Where none is named
/// nothing is followed until one is.
pub(crate) fn send(desk: &Arc<Desk>, after: u64) -> Sending {
    let (ends, ended) = oneshot::channel();
    let sender = Sender {
        workshops: desk.workshops(),
        desk: Arc::clone(desk),
        ended,
        queues: BTreeMap::new(),
        draining: JoinSet::new(),
        client: None,
    };
    let going = tokio::spawn(sender.go(after));
    Sending { going, ends }
}

struct Sender {
    desk: Arc<Desk>,
    /// The workshop, each time that its settings are other ones.
    workshops: watch::Receiver<Arc<Workshop>>,
    ended: oneshot::Receiver<()>,
    /// The way to each collector.
    queues: BTreeMap<String, mpsc::Sender<Span>>,
    draining: JoinSet<()>,
    /// Made when the first collector is named.
    client: Option<Client>,
}

/// Whether there is more to do.
#[derive(Debug, PartialEq, Eq)]
enum Goes {
    On,
    Over,
}

impl Sender {
    async fn go(mut self, after: u64) {
        let mut after = Some(after);
        loop {
            self.look();
            let goes = match self.queues.is_empty() {
                true => self.wait().await,
                false => self.follow(after).await,
            };
            if goes == Goes::Over {
                break;
            }
            // Whoever is named later is told of what happens from then on.
            after = None;
        }
        self.queues.clear();
        while self.draining.join_next().await.is_some() {}
    }

    /// Waits until the settings are other ones.
    async fn wait(&mut self) -> Goes {
        tokio::select! {
            _ = &mut self.ended => Goes::Over,
            changed = self.workshops.changed() => match changed {
                Ok(()) => Goes::On,
                Err(_) => Goes::Over,
            },
        }
    }

    /// Follows the journal for as long as somebody is to be told.
    async fn follow(&mut self, after: Option<u64>) -> Goes {
        let after = match after.map_or_else(|| self.desk.reader().head(), Ok) {
            Ok(after) => after,
            Err(error) => {
                (self.desk.says)(&format!("traces are not sent: {error}"));
                return self.wait().await;
            }
        };
        let mut events = self.desk.journal.subscribe(Filter::default(), after);
        let mut spans = Spans::default();
        while !self.queues.is_empty() {
            let record = tokio::select! {
                _ = &mut self.ended => return Goes::Over,
                changed = self.workshops.changed() => {
                    if changed.is_err() {
                        return Goes::Over;
                    }
                    self.look();
                    continue;
                }
                record = events.next() => record,
            };
            // The journal ends with the server.
            let Ok(record) = record else {
                return Goes::Over;
            };
            // What this build does not know is no span.
            let Ok(event) = record.event() else { continue };
            for span in spans.take(&event) {
                for queue in self.queues.values() {
                    // A queue takes at once whatever comes, also while it waits for an answer.
                    drop(queue.send(span.clone()).await);
                }
            }
        }
        Goes::On
    }

    /// Lets go of the collectors that are named no more, and finds the way to new ones.
    fn look(&mut self) {
        let workshop = Arc::clone(&self.workshops.borrow_and_update());
        let named = workshop.settings.server.otlp.value.iter();
        let named: Vec<String> = named
            .map(|place| format!("{}/v1/traces", place.trim_end_matches('/')))
            .collect();
        // One whose sender is gone sends what it has, and ends.
        self.queues.retain(|place, _| named.contains(place));
        for place in named {
            if self.queues.contains_key(&place) {
                continue;
            }
            let client = match self.client.clone().map_or_else(client, Ok) {
                Ok(client) => self.client.insert(client).clone(),
                Err(failure) => {
                    (self.desk.says)(&failure.to_string());
                    return;
                }
            };
            let queue = Queue::new(place.clone(), client);
            let (sender, receiver) = mpsc::channel(BATCH);
            self.draining
                .spawn(queue.drain(receiver, Arc::clone(&self.desk.says)));
            self.queues.insert(place, sender);
        }
    }
}

fn client() -> Result<Client, Failure> {
    // Whoever installs first wins, and everybody installs the same.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .timeout(PATIENCE)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| {
        Failure::new(Code::X001, "traces cannot be sent").because(error.to_string())
    })
}
