//! The benchmark of the server: what readers of live events cost the writers, how long the
//! overview takes with very many recorded runs, how soon a person's question is served
//! while much other work is ready, and how long many clients wait that read and write at
//! once.
//!
//! `bench-server [--quick] [--load|--urgent]` prints a line `bench: name | value | unit |
//! ratio | goal` for each figure; `cargo xtask bench` collects them. `--load` and
//! `--urgent` restrict the benchmark to that part. The daemon is the program itself, in a
//! process of its own; the runs are in another process on the same journal, like those of a
//! terminal.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

// The application's own module, not a copy that would be measured in its place.
#[path = "../../../../artel-workshop/src/book.rs"]
mod book;
mod daemon;
#[path = "../bench-runs/driving.rs"]
mod driving;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../bench-journal/figure.rs"]
mod figure;
mod load;
mod past;
#[path = "../bench-journal/place.rs"]
mod place;
mod readers;
mod runs;
mod urgent;

use artel_journal::Journal;
use daemon::Daemon;
use driving::{Crowd, TURNS};
use figure::{Figure, Goal, Measure, median};
use readers::Readers;
use runs::Went;

/// Number of readers at once.
const READERS: usize = 500;

/// Number of runs in progress meanwhile.
const RUNS: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (rounds, many, load) = match words[..] {
        [] => (7, 100_000, load::WHOLE),
        ["--quick"] => (1, 10_000, load::QUICK),
        ["--load"] => (0, 0, load::WHOLE),
        ["--quick", "--load"] => (0, 0, load::QUICK),
        ["--urgent"] => {
            let place = place::on_disk();
            return runtime.block_on(urgent::measure(&place.folder, urgent::WHOLE));
        }
        [readers::FOLLOW, address, token, count, after] => {
            let (count, after) = (count.parse().unwrap(), after.parse().unwrap());
            return runtime.block_on(readers::be(address, token, count, after));
        }
        _ => panic!("bench-server [--quick] [--load|--urgent]"),
    };
    let place = place::on_disk();
    println!("in {}, on {}", place.folder.display(), place.system);
    runtime.block_on(async {
        if rounds > 0 {
            follow(&place.folder, rounds).await;
            overview(&place.folder, many).await;
            let asked = if rounds > 1 {
                urgent::WHOLE
            } else {
                urgent::QUICK
            };
            urgent::measure(&place.folder, asked).await;
        }
        load::measure(&place.folder, load).await;
    });
}

/// Measures the runs alone and with readers, in turns, and then what the readers got.
async fn follow(folder: &std::path::Path, rounds: usize) {
    let daemon = Daemon::start(folder);
    let journal = daemon.journal();
    let files = tempfile::tempdir().unwrap();
    let crowd = Crowd::new(&journal, files.path(), RUNS);
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    let mut memory = Vec::new();
    for round in 0..rounds {
        let first = round * 2 * RUNS;
        let went = runs::go(&crowd, &journal, first..first + RUNS).await;
        println!("nobody follows: {went}");
        alone.push(went);
        let before = daemon.memory();
        let began = head(&journal);
        let mut readers = Readers::follow(&daemon, READERS, began);
        let went = runs::go(&crowd, &journal, first + RUNS..first + 2 * RUNS).await;
        let last = head(&journal);
        let got = readers.all_have(last);
        assert_eq!(got.gaps, 0, "events were lost");
        assert_eq!(got.repeats, 0, "events came twice");
        println!(
            "{READERS} follow: {went}; {} events each, {} cut for being behind",
            last - began,
            got.cuts
        );
        memory.push((daemon.memory() - before) / READERS as f64);
        watched.push(went);
    }
    compare(
        &format!("append p50 beside {RUNS} runs"),
        "ms",
        (&alone, &watched),
        |it| it.p50,
        Goal::None,
    );
    compare(
        &format!("append p99 beside {RUNS} runs"),
        "ms",
        (&alone, &watched),
        |it| it.p99,
        Goal::Below(1.5),
    );
    let all = format!("{RUNS} runs of {TURNS} turns");
    compare(&all, "s", (&alone, &watched), |it| it.seconds, Goal::None);
    let most = median(memory);
    Figure::new(
        "memory for each who follows and keeps up",
        most,
        "KB",
        Goal::Below(64.0),
    )
    .print();
}

/// Prints a figure without and with readers, and a goal for the comparison.
fn compare(
    name: &str,
    unit: &'static str,
    (alone, watched): (&[Went], &[Went]),
    read: fn(&Went) -> f64,
    goal: Goal,
) {
    let of = |all: &[Went]| median(all.iter().map(read));
    let bare = of(alone);
    Figure::new(format!("{name}, nobody follows"), bare, unit, Goal::None).print();
    let name = format!("{name}, {READERS} follow");
    let mut figure = Figure::new(name, of(watched), unit, Goal::None).against(bare);
    figure.goal = (Measure::Ratio, goal);
    figure.print();
}

/// Measures the overview page with many recorded runs.
async fn overview(folder: &std::path::Path, many: usize) {
    let daemon = Daemon::start_with(folder, |journal| past::record(journal, many));
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
