//! Sends spans to the collectors in the settings, in batches and with a bounded queue for
//! each. If a collector does not answer, sending is retried with growing waits. Telemetry
//! never delays the work itself.

mod queue;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use artel_journal::EventFilter;
use artel_types::{Failure, FailureCode};
use artel_workshop::Workshop;
use reqwest::{Client, redirect};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use self::queue::{BATCH, SpanExportQueue};
use super::spans::{TelemetrySpan, TelemetrySpanFold};
use crate::desk::ServerState;

/// Time limit for a collector's response.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time limit for sending the last spans when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// Handle of the running span exporter.
pub(crate) struct SpanExporterHandle {
    going: JoinHandle<()>,
    /// Stops the exporter when it is dropped.
    ends: oneshot::Sender<()>,
}

impl SpanExporterHandle {
    /// Stops the exporter and waits briefly for the remaining spans to be sent.
    pub(crate) async fn rest(self) {
        drop(self.ends);
        // Spans that are not sent by then are lost; the journal still has their events.
        drop(tokio::time::timeout(LAST, self.going).await);
    }
}

/// Starts sending what happens after event `after` to the collectors in the settings. While
/// there are no collectors, the journal is not followed.
pub(crate) fn send(desk: &Arc<ServerState>, after: u64) -> SpanExporterHandle {
    let (ends, ended) = oneshot::channel();
    let sender = SpanExporter {
        workshops: desk.workshops(),
        desk: Arc::clone(desk),
        ended,
        queues: BTreeMap::new(),
        draining: JoinSet::new(),
        client: None,
    };
    let going = tokio::spawn(sender.go(after));
    SpanExporterHandle { going, ends }
}

struct SpanExporter {
    desk: Arc<ServerState>,
    /// The workshop, notified of each change of settings.
    workshops: watch::Receiver<Arc<Workshop>>,
    ended: oneshot::Receiver<()>,
    /// The channel to the queue of each collector, by URL.
    queues: BTreeMap<String, mpsc::Sender<TelemetrySpan>>,
    draining: JoinSet<()>,
    /// Created when the first collector is configured.
    client: Option<Client>,
}

/// Whether the exporter continues.
#[derive(Debug, PartialEq, Eq)]
enum SpanExporterFlow {
    On,
    Over,
}

impl SpanExporter {
    async fn go(mut self, after: u64) {
        let mut after = Some(after);
        loop {
            self.look();
            let goes = if self.queues.is_empty() {
                self.wait().await
            } else {
                self.follow(after).await
            };
            if goes == SpanExporterFlow::Over {
                break;
            }
            // A collector that is configured later only gets events from then on.
            after = None;
        }
        self.queues.clear();
        while self.draining.join_next().await.is_some() {}
    }

    /// Waits until the settings change.
    async fn wait(&mut self) -> SpanExporterFlow {
        tokio::select! {
            _ = &mut self.ended => SpanExporterFlow::Over,
            changed = self.workshops.changed() => match changed {
                Ok(()) => SpanExporterFlow::On,
                Err(_) => SpanExporterFlow::Over,
            },
        }
    }

    /// Follows the journal as long as there are collectors.
    async fn follow(&mut self, after: Option<u64>) -> SpanExporterFlow {
        let after = match after.map_or_else(|| self.desk.reader().head(), Ok) {
            Ok(after) => after,
            Err(error) => {
                (self.desk.says)(&format!("traces are not sent: {error}"));
                return self.wait().await;
            }
        };
        let mut events = self.desk.journal.subscribe(EventFilter::default(), after);
        let mut spans = TelemetrySpanFold::default();
        while !self.queues.is_empty() {
            let record = tokio::select! {
                _ = &mut self.ended => return SpanExporterFlow::Over,
                changed = self.workshops.changed() => {
                    if changed.is_err() {
                        return SpanExporterFlow::Over;
                    }
                    self.look();
                    continue;
                }
                record = events.next() => record,
            };
            // The subscription fails only when the server stops.
            let Ok(record) = record else {
                return SpanExporterFlow::Over;
            };
            // Events unknown to this build have no spans.
            let Ok(event) = record.event() else { continue };
            for span in spans.take(&event) {
                for queue in self.queues.values() {
                    // The queue always receives at once, even while it waits for a
                    // response.
                    drop(queue.send(span.clone()).await);
                }
            }
        }
        SpanExporterFlow::On
    }

    /// Starts queues for new collectors, and closes those of removed ones.
    fn look(&mut self) {
        let workshop = Arc::clone(&self.workshops.borrow_and_update());
        let named = workshop.settings.server.otlp.value.iter();
        let named: Vec<String> = named
            .map(|place| format!("{}/v1/traces", place.trim_end_matches('/')))
            .collect();
        // A queue whose sender is dropped sends what it has and ends.
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
            let queue = SpanExportQueue::new(place.clone(), client);
            let (sender, receiver) = mpsc::channel(BATCH);
            self.draining
                .spawn(queue.drain(receiver, Arc::clone(&self.desk.says)));
            self.queues.insert(place, sender);
        }
    }
}

fn client() -> Result<Client, Failure> {
    // Only the first installation takes effect, and all of them install the same provider.
    drop(rustls::crypto::ring::default_provider().install_default());
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .timeout(PATIENCE)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| {
        Failure::new(FailureCode::X001, "traces cannot be sent").because(error.to_string())
    })
}
