//! Sends spans to a collector: in batches, with a bounded queue, and patiently where nobody answers.
//! What is measured never holds up what is done.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use artel_journal::Filter;
use artel_types::{Code, Failure};
use reqwest::{Client, redirect};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::spans::{Span, Spans, envelope};
use crate::desk::Desk;

/// So many spans wait at most; the oldest give way to newer ones.
const MOST: usize = 4_096;

/// So many are sent at once.
const BATCH: usize = 512;

/// How long spans are gathered.
const GATHER: Duration = Duration::from_secs(2);

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first wait after a failure; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long the last spans may take once the server stops.
const LAST: Duration = Duration::from_secs(2);

/// The sending of traces, while the server runs.
pub(crate) struct Sending {
    follower: JoinHandle<()>,
    queues: JoinSet<()>,
}

impl Sending {
    /// Sends what is left, if it goes quickly.
    pub(crate) async fn rest(mut self) {
        self.follower.abort();
        let all = async { while self.queues.join_next().await.is_some() {} };
        // What nobody took by then is lost; it is in the journal.
        drop(tokio::time::timeout(LAST, all).await);
    }
}

/// Spans on their way to one collector.
struct Queue {
    place: String,
    client: Client,
    spans: VecDeque<Span>,
    /// How many gave way.
    lost: u64,
    /// How often in a row nobody took them.
    failures: u32,
}

/// Sends what happens from now on to the collectors that the settings name, for as long as the
/// server runs. Returns nothing where none is named.
pub(crate) fn send(desk: &Arc<Desk>, after: u64) -> Result<Option<Sending>, Failure> {
    let workshop = desk.workshop();
    let places = &workshop.settings.server.otlp.value;
    if places.is_empty() {
        return Ok(None);
    }
    let client = client()?;
    let mut senders = Vec::new();
    let mut queues = JoinSet::new();
    for place in places {
        let place = format!("{}/v1/traces", place.trim_end_matches('/'));
        let queue = Queue::new(place, client.clone());
        let (sender, receiver) = mpsc::channel(BATCH);
        let desk = Arc::clone(desk);
        queues.spawn(async move { queue.drain(receiver, &desk).await });
        senders.push(sender);
    }
    let desk = Arc::clone(desk);
    let follower = tokio::spawn(async move {
        let mut events = desk.journal.subscribe(Filter::default(), after);
        let mut spans = Spans::default();
        // The journal ends with the server.
        while let Ok(record) = events.next().await {
            // What this build does not know is no span.
            let Ok(event) = record.event() else { continue };
            for span in spans.take(&event) {
                for queue in &senders {
                    // A queue takes at once whatever comes, also while it waits for an answer.
                    drop(queue.send(span.clone()).await);
                }
            }
        }
    });
    Ok(Some(Sending { follower, queues }))
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

impl Queue {
    fn new(place: String, client: Client) -> Self {
        Self {
            place,
            client,
            spans: VecDeque::new(),
            lost: 0,
            failures: 0,
        }
    }

    /// Takes in what comes, and sends what there is whenever it is time.
    async fn drain(mut self, mut comes: mpsc::Receiver<Span>, desk: &Desk) {
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
                        said.iter().for_each(|text| (desk.says)(text));
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
