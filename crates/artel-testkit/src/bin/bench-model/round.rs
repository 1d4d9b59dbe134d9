//! One round: a server and a reader, each in a process of its own.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::reader::READ;
use crate::server::SERVE;

/// The way replies are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Bare,
    Gateway,
}

impl Way {
    /// Parses the word for it.
    pub(crate) fn of(word: &str) -> Self {
        let known = [Self::Bare, Self::Gateway];
        let way = known.into_iter().find(|way| way.word() == word);
        way.unwrap_or_else(|| panic!("there is no way `{word}`"))
    }

    /// Returns the word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Gateway => "gateway",
        }
    }
}

/// The results of one round.
pub(crate) struct Round {
    /// Memory growth of the process per stream, in KB.
    pub(crate) memory: f64,
    /// Median time from the server's clock to the reader's, in microseconds.
    pub(crate) typical: f64,
    /// The same as the 99th percentile: one piece in a hundred took longer.
    pub(crate) slow: f64,
    /// Processor time per piece, in microseconds.
    pub(crate) work: f64,
}

impl Round {
    /// Returns the line in which a reader reports the round.
    pub(crate) fn to_line(&self) -> String {
        let Self {
            memory,
            typical,
            slow,
            work,
        } = self;
        format!("{memory} {typical} {slow} {work}")
    }

    fn of_line(line: &str) -> Self {
        let numbers: Vec<f64> = line
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        let [memory, typical, slow, work] = numbers[..] else {
            panic!("the reader said `{line}`");
        };
        Self {
            memory,
            typical,
            slow,
            work,
        }
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            memory,
            typical,
            slow,
            work,
        } = self;
        write!(
            f,
            "p50 {typical:.1} µs, p99 {slow:.1} µs, {memory:.1} KB/stream, {work:.2} µs/piece"
        )
    }
}

/// Runs a reader against a server.
pub(crate) fn run(way: Way, pieces: usize) -> Round {
    let (_server, url) = Server::start(pieces);
    let read = ourselves()
        .args([READ, way.word(), &url, &pieces.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(read.status.success(), "the reader failed");
    Round::of_line(&String::from_utf8(read.stdout).unwrap())
}

/// A running server, which is killed when dropped.
struct Server(Child);

impl Server {
    fn start(pieces: usize) -> (Self, String) {
        let mut child = ourselves()
            .args([SERVE, &pieces.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut url).unwrap();
        (Self(child), url.trim_end().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn ourselves() -> Command {
    Command::new(std::env::current_exe().unwrap())
}
