//! The readers of live events: each has a connection of its own and counts what arrives.
//! All of them are in a separate process, as browsers are, so that handling events does not
//! count as work of the writers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::daemon::Daemon;

/// The argument that makes the program a process of readers.
pub(crate) const FOLLOW: &str = "--follow";

/// Time limit for the last event to reach every reader.
const LIMIT: Duration = Duration::from_secs(120);

/// The process of readers.
pub(crate) struct Readers {
    child: Child,
    asks: ChildStdin,
    says: BufReader<ChildStdout>,
}

/// Totals of what all readers received.
pub(crate) struct Got {
    pub(crate) gaps: u64,
    pub(crate) repeats: u64,
    /// Number of disconnections.
    pub(crate) cuts: u64,
}

impl Readers {
    /// Starts this many readers from an event on, and waits until all of them are
    /// connected.
    pub(crate) fn follow(daemon: &Daemon, count: usize, after: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([FOLLOW, &daemon.address, &daemon.token])
            .args([count.to_string(), after.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let asks = child.stdin.take().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        let mut readers = Self { child, asks, says };
        assert_eq!(readers.line(), "all follow");
        readers
    }

    /// Waits until each reader has received the event with this number.
    pub(crate) fn all_have(&mut self, last: u64) -> Got {
        writeln!(self.asks, "{last}").unwrap();
        let line = self.line();
        let got: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        Got {
            gaps: got[0],
            repeats: got[1],
            cuts: got[2],
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Default)]
struct Count {
    is_there: AtomicU64,
    last: AtomicU64,
    gaps: AtomicU64,
    repeats: AtomicU64,
    cuts: AtomicU64,
}

/// Runs the process of readers.
pub(crate) async fn be(address: &str, token: &str, count: usize, after: u64) {
    let mut tasks = JoinSet::new();
    let mut counts = Vec::new();
    for _ in 0..count {
        let count = Arc::new(Count::default());
        count.last.store(after, Ordering::Relaxed);
        counts.push(Arc::clone(&count));
        let (address, token) = (address.to_owned(), token.to_owned());
        tasks.spawn(async move { read(&address, &token, &count).await });
    }
    for count in &counts {
        while count.is_there.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    println!("all follow");
    // The number of the last event arrives when the runs are over; until then, the readers
    // only read.
    let asked = tokio::task::spawn_blocking(|| std::io::stdin().lines().next());
    let Some(asked) = asked.await.unwrap() else {
        return;
    };
    let last: u64 = asked.unwrap().parse().unwrap();
    let began = Instant::now();
    for count in &counts {
        while count.last.load(Ordering::Relaxed) < last {
            let got = count.last.load(Ordering::Relaxed);
            assert!(began.elapsed() < LIMIT, "one has {got} of {last} events");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let sum = |of: fn(&Count) -> &AtomicU64| -> u64 {
        let all = counts.iter().map(|count| of(count).load(Ordering::Relaxed));
        all.sum()
    };
    println!(
        "{} {} {}",
        sum(|count| &count.gaps),
        sum(|count| &count.repeats),
        sum(|count| &count.cuts)
    );
    // The readers stay connected until the process is killed.
    std::future::pending().await
}

/// Reads for as long as the server allows. A reader that falls too far behind is
/// disconnected, and reconnects at its last position, as browsers do.
async fn read(address: &str, token: &str, count: &Count) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let last = count.last.load(Ordering::Relaxed);
        let request = format!(
            "GET /api/v1/events?view=full&after={last} HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n\
             Last-Event-ID: {last}\r\nConnection: close\r\n\r\n"
        );
        let Ok(mut stream) = TcpStream::connect(address).await else {
            continue;
        };
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut kept = 0;
        while let Ok(read @ 1..) = stream.read(&mut bytes[kept..]).await {
            count.is_there.store(1, Ordering::Relaxed);
            let held = kept + read;
            let whole = memchr::memrchr(b'\n', &bytes[..held]).map_or(0, |at| at + 1);
            look_at(&bytes[..whole], count);
            bytes.copy_within(whole..held, 0);
            kept = held - whole;
            // A line that is longer than the whole buffer has no event number in the
            // middle.
            if kept == bytes.len() {
                kept = 0;
            }
        }
        count.cuts.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Reads the event numbers in complete lines.
fn look_at(lines: &[u8], count: &Count) {
    let first = lines.starts_with(b"id: ").then_some(4);
    let others = memchr::memmem::find_iter(lines, b"\nid: ").map(|at| at + 5);
    for start in first.into_iter().chain(others) {
        let digits = lines[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let id = digits.fold(0, |id, digit| id * 10 + u64::from(digit - b'0'));
        let last = count.last.swap(id, Ordering::Relaxed);
        if id <= last {
            count.repeats.fetch_add(1, Ordering::Relaxed);
        } else if id > last + 1 {
            count.gaps.fetch_add(1, Ordering::Relaxed);
        }
    }
}
