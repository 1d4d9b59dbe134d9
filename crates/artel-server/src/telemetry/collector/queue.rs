//! The queue of spans for one collector. It is bounded and never blocks the exporter.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Client;
use tokio::sync::mpsc;

use crate::DaemonMessageSink;
use crate::telemetry::spans::{TelemetrySpan, envelope};

/// Maximum number of spans in the queue; when it is full, the oldest are dropped.
const MOST: usize = 4_096;

/// Maximum number of spans in a batch.
pub(super) const BATCH: usize = 512;

/// Time for which spans are gathered before they are sent.
const GATHER: Duration = Duration::from_secs(2);

/// Base of the wait after failures, which doubles with each failure in a row.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) struct SpanExportQueue {
    place: String,
    client: Client,
    spans: VecDeque<TelemetrySpan>,
    /// Number of spans that were dropped.
    lost: u64,
    /// Number of failures in a row.
    failures: u32,
}

impl SpanExportQueue {
    pub(super) fn new(place: String, client: Client) -> Self {
        Self {
            place,
            client,
            spans: VecDeque::new(),
            lost: 0,
            failures: 0,
        }
    }

    /// Receives spans and sends them in batches until the channel is closed.
    pub(super) async fn drain(
        mut self,
        mut comes: mpsc::Receiver<TelemetrySpan>,
        says: DaemonMessageSink,
    ) {
        let mut due = tokio::time::interval(GATHER);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                span = comes.recv() => match span {
                    Some(span) => self.put(span),
                    None => break,
                },
                _ = due.tick() => {
                    let sending = self.sent();
                    if let Some((batch, body)) = sending {
                        let said = self.post(batch, body, &mut comes).await;
                        said.iter().for_each(|text| says(text));
                        due.reset_after(self.wait());
                    }
                }
            }
        }
        // The last spans get one attempt.
        if let Some((_, body)) = self.sent() {
            drop(post(&self.client, &self.place, body).await);
        }
    }

    fn put(&mut self, span: TelemetrySpan) {
        if self.spans.len() >= MOST {
            self.spans.pop_front();
            self.lost += 1;
        }
        self.spans.push_back(span);
    }

    /// Returns the next batch as its size and the request body, or `None` if there are no
    /// spans.
    fn sent(&self) -> Option<(usize, String)> {
        let batch: Vec<TelemetrySpan> = self.spans.iter().take(BATCH).cloned().collect();
        (!batch.is_empty()).then(|| (batch.len(), envelope(&batch).to_string()))
    }

    /// Sends a batch while receiving more spans. Returns a message for people, if there is
    /// one.
    async fn post(
        &mut self,
        batch: usize,
        body: String,
        comes: &mut mpsc::Receiver<TelemetrySpan>,
    ) -> Option<String> {
        let (client, place) = (self.client.clone(), self.place.clone());
        let posting = post(&client, &place, body);
        tokio::pin!(posting);
        let lost = self.lost;
        let taken = loop {
            tokio::select! {
                taken = &mut posting => break taken,
                Some(span) = comes.recv() => self.put(span),
            }
        };
        match taken {
            Ok(()) => {
                // Some spans of the batch may have been dropped from the queue meanwhile.
                let gone = usize::try_from(self.lost - lost).unwrap_or(batch);
                self.spans
                    .drain(..batch.saturating_sub(gone).min(self.spans.len()));
                let was_bad = std::mem::take(&mut self.failures) > 0;
                was_bad.then(|| format!("traces go to {place} again; {} were lost", self.lost))
            }
            Err(why) => {
                self.failures = self.failures.saturating_add(1);
                (self.failures == 1).then(|| format!("traces do not go to {place}: {why}"))
            }
        }
    }

    /// Returns how long to wait before the next batch.
    fn wait(&self) -> Duration {
        match self.failures {
            0 if self.spans.len() >= BATCH => Duration::ZERO,
            0 => GATHER,
            failures => FIRST_WAIT
                .saturating_mul(1 << failures.min(10))
                .min(LONGEST_WAIT),
        }
    }
}

async fn post(client: &Client, place: &str, body: String) -> Result<(), String> {
    let request = client
        .post(place)
        .header("content-type", "application/json")
        .body(body);
    let answer = request.send().await.map_err(|error| error.to_string())?;
    if answer.status().is_success() {
        Ok(())
    } else {
        Err(format!("it answers {}", answer.status()))
    }
}
