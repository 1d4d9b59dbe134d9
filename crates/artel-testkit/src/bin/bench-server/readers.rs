//! Those who follow: each over a connection of its own, counting what comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::daemon::Daemon;

pub(crate) struct Readers {
    counts: Vec<Arc<Count>>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Count {
    is_there: AtomicU64,
    last: AtomicU64,
    gaps: AtomicU64,
    repeats: AtomicU64,
    cuts: AtomicU64,
}

/// What all of them got.
pub(crate) struct Got {
    pub(crate) gaps: u64,
    pub(crate) repeats: u64,
    /// How often one was cut.
    pub(crate) cuts: u64,
}

impl Readers {
    /// Has so many follow from an event on, and waits until all do.
    pub(crate) async fn follow(daemon: &Daemon, count: usize, after: u64) -> Self {
        let mut tasks = JoinSet::new();
        let mut counts = Vec::new();
        for _ in 0..count {
            let count = Arc::new(Count::default());
            counts.push(Arc::clone(&count));
            count.last.store(after, Ordering::Relaxed);
            let path = format!("/api/v1/events?view=full&after={after}");
            let request = daemon.request(&path, "text/event-stream");
            let address = daemon.address.clone();
            tasks.spawn(async move { read(&address, &request, &count).await });
        }
        for count in &counts {
            while count.is_there.load(Ordering::Relaxed) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Self {
            counts,
            _tasks: tasks,
        }
    }

    /// Waits until each has got the event with this number.
    pub(crate) async fn all_have(&self, last: u64, limit: Duration) -> Got {
        let began = Instant::now();
        for count in &self.counts {
            while count.last.load(Ordering::Relaxed) < last {
                let got = count.last.load(Ordering::Relaxed);
                assert!(began.elapsed() < limit, "one has {got} of {last} events");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let sum = |read: fn(&Count) -> &AtomicU64| {
            let all = self
                .counts
                .iter()
                .map(|count| read(count).load(Ordering::Relaxed));
            all.sum()
        };
        Got {
            gaps: sum(|count| &count.gaps),
            repeats: sum(|count| &count.repeats),
            cuts: sum(|count| &count.cuts),
        }
    }
}

/// Reads for as long as it is let; whoever falls too far behind is cut, and comes again from where
/// it was, as browsers do.
async fn read(address: &str, request: &str, count: &Count) {
    loop {
        let last = count.last.load(Ordering::Relaxed);
        let end = format!("\r\nLast-Event-ID: {last}\r\n\r\n");
        let request = request.replacen("\r\n\r\n", &end, 1);
        let Ok(mut stream) = TcpStream::connect(address).await else {
            continue;
        };
        stream.write_all(request.as_bytes()).await.unwrap();
        let (mut stream, mut line) = (BufReader::new(stream), String::new());
        while stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
            count.is_there.store(1, Ordering::Relaxed);
            let id = line.strip_prefix("id: ").map(|id| id.trim_end().parse());
            line.clear();
            let Some(id) = id else { continue };
            let id: u64 = id.unwrap();
            let last = count.last.swap(id, Ordering::Relaxed);
            if id <= last {
                count.repeats.fetch_add(1, Ordering::Relaxed);
            } else if id > last + 1 {
                count.gaps.fetch_add(1, Ordering::Relaxed);
            }
        }
        count.cuts.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
