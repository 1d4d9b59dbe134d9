//! Spans on their way to one collector: a bounded queue that never holds up who fills it.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Client;
use tokio::sync::mpsc;

use crate::Says;
use crate::telemetry::spans::{Span, envelope};

/// So many spans wait at most; the oldest give way to newer ones.
const MOST: usize = 4_096;

/// So many are sent at once.
pub(super) const BATCH: usize = 512;

/// How long spans are gathered.
const GATHER: Duration = Duration::from_secs(2);

/// The first wait after a failure; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Spans on their way to one collector.
pub(super) struct Queue {
    place: String,
    client: Client,
    spans: VecDeque<Span>,
    /// How many gave way.
    lost: u64,
    /// How often in a row nobody took them.
    failures: u32,
}

impl Queue {
    pub(super) fn new(place: String, client: Client) -> Self {
        Self {
            place,
            client,
            spans: VecDeque::new(),
            lost: 0,
            failures: 0,
        }
    }

    /// Takes in what comes, and sends what there is whenever it is time.
    pub(super) async fn drain(mut self, mut comes: mpsc::Receiver<Span>, says: Says) {
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
        // The last ones get one try.
        if let Some((_, body)) = self.sent() {
            drop(post(&self.client, &self.place, body).await);
        }
    }

    fn put(&mut self, span: Span) {
        if self.spans.len() >= MOST {
            self.spans.pop_front();
            self.lost += 1;
        }
        self.spans.push_back(span);
    }

    /// Returns what is sent next.
    fn sent(&self) -> Option<(usize, String)> {
        let batch: Vec<Span> = self.spans.iter().take(BATCH).cloned().collect();
        (!batch.is_empty()).then(|| (batch.len(), envelope(&batch).to_string()))
    }

    /// Sends a batch while more comes in. Returns what people should read.
    async fn post(
        &mut self,
        batch: usize,
        body: String,
        comes: &mut mpsc::Receiver<Span>,
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
                // Some of the batch may have given way meanwhile.
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

    /// Returns how long nothing is sent.
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
    match answer.status().is_success() {
        true => Ok(()),
        false => Err(format!("it answers {}", answer.status())),
    }
}
