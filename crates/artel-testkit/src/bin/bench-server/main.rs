//! The benchmark of the server: what readers of live events cost those who write, and how long the
//! overview takes with very many runs on record.
//!
//! `bench-server [--quick]` prints a line `bench: name | value | unit | ratio | goal` for each
//! figure; `cargo xtask bench` collects them. The daemon is the program itself, in a process of its
//! own; the writers are another process on the same journal, as the runs of a terminal are.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

mod daemon;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../bench-journal/figure.rs"]
mod figure;
#[path = "../bench-journal/place.rs"]
mod place;
mod readers;
mod writers;

use std::time::Duration;

use artel_journal::Journal;
use daemon::Daemon;
use figure::{Figure, Goal, Measure, median};
use readers::Readers;
use writers::Written;

/// How many follow at once.
const READERS: usize = 500;

/// How many runs go on meanwhile.
const RUNS: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (rounds, events, many) = match words[..] {
        [] => (3, 60, 100_000),
        ["--quick"] => (1, 20, 10_000),
        _ => panic!("bench-server [--quick]"),
    };
    let place = place::on_disk();
    println!("in {}, on {}", place.folder.display(), place.system);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        follow(&place.folder, rounds, events).await;
        overview(&place.folder, many).await;
    });
}

/// Writers alone and with readers, in turns; then what the readers got.
async fn follow(folder: &std::path::Path, rounds: usize, events: usize) {
    let daemon = Daemon::start(folder);
    let journal = daemon.journal();
    // The first round only warms up.
    writers::write(&journal, RUNS, 5).await;
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    let mut memory = Vec::new();
    for _ in 0..rounds {
        alone.push(writers::write(&journal, RUNS, events).await);
        let before = daemon.memory();
        let readers = Readers::follow(&daemon, READERS, head(&journal)).await;
        let written = writers::write(&journal, RUNS, events).await;
        let got = readers
            .all_have(written.events, Duration::from_secs(120))
            .await;
        assert_eq!(got.gaps, 0, "events were lost");
        assert_eq!(got.repeats, 0, "events came twice");
        println!("{} readers, {} cut for being behind", READERS, got.cuts);
        memory.push((daemon.memory() - before) / READERS as f64);
        watched.push(written);
        drop(readers);
    }
    let of = |all: &[Written], read: fn(&Written) -> f64| median(all.iter().map(read));
    for (name, read) in [
        ("p50", (|it: &Written| it.p50) as fn(&Written) -> f64),
        ("p99", |it: &Written| it.p99),
    ] {
        let bare = of(&alone, read);
        Figure::new(
            format!("append {name}, {RUNS} writers, nobody follows"),
            bare,
            "ms",
            Goal::None,
        )
        .print();
        let mut figure = Figure::new(
            format!("append {name}, {RUNS} writers, {READERS} follow"),
            of(&watched, read),
            "ms",
            Goal::None,
        )
        .against(bare);
        if name == "p99" {
            figure.goal = (Measure::Ratio, Goal::Below(1.5));
        }
        figure.print();
    }
    let most = median(memory);
    Figure::new(
        "memory for each who follows and keeps up",
        most,
        "KB",
        Goal::Below(64.0),
    )
    .print();
}

/// The overview page with many runs on record.
async fn overview(folder: &std::path::Path, many: usize) {
    let daemon = Daemon::start_with(folder, |journal| writers::runs(journal, many));
    println!(
        "{many} runs on record; the daemon was up after {:.0} ms",
        daemon.up_after
    );
    Figure::new(
        format!("start with {many} runs"),
        daemon.up_after,
        "ms",
        Goal::None,
    )
    .print();
    let mut bare = Vec::new();
    let mut shown = Vec::new();
    for round in 0..30 {
        let alive = daemon.time("/healthz").await;
        let page = daemon.time("/").await;
        if round >= 5 {
            bare.push(alive);
            shown.push(page);
        }
    }
    let bare = median(bare);
    Figure::new("an answer without content", bare, "ms", Goal::None).print();
    Figure::new(
        format!("the overview with {many} runs"),
        median(shown),
        "ms",
        Goal::Below(50.0),
    )
    .against(bare)
    .print();
    Figure::new(
        "memory with them",
        daemon.memory() / 1024.0,
        "MB",
        Goal::None,
    )
    .print();
}

fn head(journal: &Journal) -> u64 {
    journal.reader().head().unwrap()
}
