//! Many clients that read and write at once, each over a connection that stays open: how
//! long they wait.
//!
//! Requests are due at fixed moments, whether or not earlier responses have arrived: a
//! client that waits does not slow the others down, and all of its waiting time counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artel_journal::{EventBatch, Journal};
use artel_types::{
    Actor, EventDraft, Fact, NoteAdded, RunFinished, RunId, RunStarted, StreamName, TraceId,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::daemon::Daemon;
use crate::figure::{Figure, Goal, median, percentile};
use crate::past;

/// Number of connections; one in ten of them writes.
const CONNECTIONS: usize = 200;

/// Reads per second by all clients together; `WRITES` is the same for writes.
const READS: f64 = 2_000.0;
const WRITES: f64 = 50.0;

/// Number of runs in the list.
const RUNS: usize = 10_000;

/// Number of events, a kilobyte each, of one long run that is among the pages read.
const EVENTS: usize = 50_000;

/// The size of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) rounds: usize,
    pub(crate) seconds: u64,
    /// The divisor for all quantities.
    pub(crate) scale: usize,
}

pub(crate) const WHOLE: Extent = Extent {
    rounds: 5,
    seconds: 10,
    scale: 1,
};

pub(crate) const QUICK: Extent = Extent {
    rounds: 1,
    seconds: 3,
    scale: 10,
};

/// Results of one round: response times in milliseconds.
#[derive(Default)]
struct Went {
    reads: Vec<f64>,
    writes: Vec<f64>,
    errors: usize,
}

/// Runs the measurements and prints the figures.
pub(crate) async fn measure(folder: &Path, extent: Extent) {
    let (runs, events) = (RUNS / extent.scale, EVENTS / extent.scale);
    let long = RunId::from_random([0xcd; 16]);
    let daemon = Daemon::start_with(folder, |journal| {
        past::record(journal, runs);
        record_long(journal, long, events);
    });
    let daemon = Arc::new(daemon);
    let project = tempfile::tempdir_in(folder).unwrap();
    let portal = serde_json::json!({ "path": project.path(), "name": "shop" });
    daemon.post("/api/v1/portals", &portal.to_string()).await;
    daemon.post("/api/v1/daemon/pause", "{}").await;
    let bare = vec!["/healthz".to_owned()];
    let pages = pages(&long.to_string());
    alone(&daemon, &pages).await;
    let (mut floor, mut went) = (Vec::new(), Vec::new());
    for round in 0..extent.rounds {
        floor.push(go(&daemon, &bare, extent).await);
        went.push(go(&daemon, &pages, extent).await);
        let last = &went[round];
        println!(
            "{} read, {} written, {} errors; reads p50 {:.1} ms, p99 {:.1} ms, writes p99 {:.1} ms",
            last.reads.len(),
            last.writes.len(),
            last.errors,
            percentile(last.reads.iter().copied(), 50),
            percentile(last.reads.iter().copied(), 99),
            percentile(last.writes.iter().copied(), 99)
        );
    }
    let load =
        format!("{CONNECTIONS} connections, {READS:.0} read/s, {WRITES:.0} written/s, {runs} runs");
    let of = |all: &[Went], read: fn(&Went) -> &Vec<f64>, percent| {
        median(
            all.iter()
                .map(|it| percentile(read(it).iter().copied(), percent)),
        )
    };
    let print = |name: &str, read: fn(&Went) -> &Vec<f64>, percent, goal| {
        let name = format!("{name} p{percent}, {load}");
        Figure::new(name, of(&went, read, percent), "ms", Goal::Below(goal))
            .against(of(&floor, read, percent))
            .print();
    };
    alone(&daemon, &pages).await;
    print("read", |it| &it.reads, 50, 10.0);
    print("read", |it| &it.reads, 99, 100.0);
    print("written", |it| &it.writes, 99, 200.0);
    let errors: usize = went.iter().chain(&floor).map(|it| it.errors).sum();
    Figure::new("errors meanwhile", errors as f64, "", Goal::Below(1.0)).print();
    Figure::new(
        "memory after it",
        daemon.memory() / 1024.0,
        "MB",
        Goal::None,
    )
    .print();
}

/// Returns the pages that people and programs read: lists, pages, a long run.
fn pages(long: &str) -> Vec<String> {
    let often = [
        "/api/v1/runs?limit=50",
        "/api/v1/runs?limit=50&q=file+77",
        "/api/v1/waiting",
        "/api/v1/requests?limit=20",
        "/api/v1/daemon",
        "/healthz",
        "/",
        "/runs",
        "/plans",
    ];
    let mut pages: Vec<String> = Vec::new();
    for _ in 0..11 {
        pages.extend(often.map(str::to_owned));
    }
    // One in a hundred is the log of the long run.
    pages.push(format!("/runs/{long}?view=full"));
    pages
}

/// Prints the response time of each page while no other client sends requests.
async fn alone(daemon: &Daemon, pages: &[String]) {
    let mut stream = TcpStream::connect(&daemon.address).await.unwrap();
    let mut bytes = Vec::new();
    for path in pages.iter().collect::<BTreeSet<_>>() {
        let request = daemon.reading(path);
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = Instant::now();
            stream.write_all(request.as_bytes()).await.unwrap();
            answer(&mut stream, &mut bytes).await.unwrap();
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let (took, size) = (median(times), bytes.len() / 1000);
        println!("alone: {took:.2} ms, {size} KB | {path}");
    }
}

async fn go(daemon: &Arc<Daemon>, pages: &[String], extent: Extent) -> Went {
    let writers = CONNECTIONS / 10;
    let readers = CONNECTIONS - writers;
    let span = Duration::from_secs(extent.seconds);
    let mut tasks = JoinSet::new();
    for number in 0..CONNECTIONS {
        let daemon = Arc::clone(daemon);
        let is_writer = number < writers;
        let (all, rate) = if is_writer {
            (writers, WRITES)
        } else {
            (readers, READS)
        };
        let every = Duration::from_secs_f64(all as f64 / rate);
        // The first requests are spread over the interval of a client.
        let first = every.mul_f64(number as f64 / CONNECTIONS as f64);
        let requests: Vec<String> = match is_writer {
            true => vec![daemon.writing()],
            // Each client begins with a different page.
            false => {
                let from = number * 7 % pages.len();
                let turned = pages[from..].iter().chain(&pages[..from]);
                turned.map(|path| daemon.reading(path)).collect()
            }
        };
        tasks.spawn(async move {
            let plan = Plan { first, every, span };
            (is_writer, ask(&daemon.address, &requests, plan).await)
        });
    }
    let mut went = Went::default();
    while let Some(ended) = tasks.join_next().await {
        let (is_writer, (times, errors)) = ended.unwrap();
        went.errors += errors;
        if is_writer {
            went.writes.extend(times)
        } else {
            went.reads.extend(times)
        }
    }
    went
}

/// When a client sends its requests.
struct Plan {
    first: Duration,
    every: Duration,
    span: Duration,
}

/// Sends requests over one connection, and returns how long each response took since it was
/// due, and how many failed.
async fn ask(address: &str, requests: &[String], plan: Plan) -> (Vec<f64>, usize) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let began = Instant::now();
    let (mut times, mut errors) = (Vec::new(), 0);
    let mut bytes = Vec::new();
    for number in 0.. {
        let due = plan.first + plan.every * number;
        if due >= plan.span {
            break;
        }
        tokio::time::sleep_until((began + due).into()).await;
        let request = &requests[number as usize % requests.len()];
        stream.write_all(request.as_bytes()).await.unwrap();
        match answer(&mut stream, &mut bytes).await {
            Some(200..300) => {}
            Some(_) => errors += 1,
            None => {
                errors += 1;
                stream = TcpStream::connect(address).await.unwrap();
            }
        }
        times.push((began.elapsed() - due).as_secs_f64() * 1000.0);
    }
    (times, errors)
}

/// Reads one complete response and returns its status.
async fn answer(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<u16> {
    bytes.clear();
    let head = loop {
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = memchr::memmem::find(bytes, b"\r\n\r\n") {
            break at + 4;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.split("content-length: ").nth(1)?;
    let length: usize = length.split("\r\n").next()?.parse().ok()?;
    while bytes.len() < head + length {
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
    text.split(' ').nth(1)?.parse().ok()
}

impl Daemon {
    fn reading(&self, path: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.address, self.token
        )
    }

    /// Returns an HTTP request that records a request and puts it into the inbox. The
    /// daemon is paused, so nobody plans it.
    fn writing(&self) -> String {
        self.acting(
            "/api/v1/requests",
            r#"{"words":"Write it down.","planning":"always"}"#,
        )
    }

    fn acting(&self, path: &str, body: &str) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
    }

    async fn post(&self, path: &str, body: &str) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = self.acting(path, body);
        stream.write_all(request.as_bytes()).await.unwrap();
        let status = answer(&mut stream, &mut Vec::new()).await;
        assert!(matches!(status, Some(200..300)), "{path}: {status:?}");
    }
}

/// Records a long run that has ended.
fn record_long(journal: &Journal, run: RunId, events: usize) {
    let trace = TraceId::from_random([0xcd; 16]);
    let draft = |fact: Fact| {
        EventDraft::new(StreamName::run(run), trace, Actor::agent("engineer"), fact).in_run(run)
    };
    let append = |facts: Vec<Fact>| {
        let drafts = facts.into_iter().map(draft);
        journal.append(EventBatch::of(drafts)).wait().unwrap();
    };
    append(vec![RunStarted::new(run, "A very long run").into()]);
    let remark = || NoteAdded {
        text: "x".repeat(1_000).as_str().into(),
    };
    for first in (0..events).step_by(500) {
        let count = 500.min(events - first);
        append((0..count).map(|_| remark().into()).collect());
    }
    append(vec![RunFinished::new(run, "it is over").into()]);
}
