//! Many runs at once in one process: rehearsed models, read-only tools, a journal on disk.

use std::process::Command;
use std::time::Instant;

use artel_testkit::Scratch;

use crate::driving::{Crowd, TURNS, complete, script};
use crate::figure::{Figure, Goal, median};
use crate::place;

/// The argument with which the program starts itself again.
pub(crate) const MANY: &str = "--many";

/// Measures the rounds, each in a process of its own.
pub(crate) fn measure(runs: usize, rounds: usize) {
    let (mut speeds, mut memories, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program)
            .args([MANY, &runs.to_string()])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("many: {}", text.trim());
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map(|it| it.parse().unwrap())
            .collect();
        speeds.push(numbers[0]);
        memories.push(numbers[1]);
        spreads.push(numbers[2]);
    }
    let name = |what: &str| format!("{runs} runs of {TURNS} turns at once, {what}");
    let middle = |numbers: Vec<f64>| median(numbers);
    Figure::new(name("turns"), middle(speeds), "/s", Goal::AtLeast(3_000.0)).print();
    Figure::new(
        name("memory of one"),
        middle(memories),
        "KB",
        Goal::Below(200.0),
    )
    .print();
    Figure::new(
        name("slowest over median"),
        middle(spreads),
        "times",
        Goal::None,
    )
    .print();
}

/// Runs one round and prints turns per second, kilobytes per run, and the slowest run
/// relative to the median.
pub(crate) fn run(runs: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .enable_all()
        .build()
        .unwrap();
    let scratch = Scratch::inside(&place::on_disk().folder);
    let files = tempfile::tempdir().unwrap();
    let (speed, times) = runtime.block_on(async {
        let crowd = Crowd::new(&scratch.create(), files.path(), runs);
        let script = script(None);
        let drivers: Vec<_> = (0..runs)
            .map(|number| crowd.driver(number, &script))
            .collect();
        let began = Instant::now();
        let tasks: Vec<_> = drivers
            .into_iter()
            .map(|driver| {
                tokio::spawn(async move {
                    complete(driver).await;
                    Instant::now()
                })
            })
            .collect();
        let mut times = Vec::new();
        for task in tasks {
            times.push(task.await.unwrap().duration_since(began).as_secs_f64());
        }
        let speed = (runs * TURNS) as f64 / began.elapsed().as_secs_f64();
        (speed, times)
    });
    let slowest = times.iter().copied().fold(0.0, f64::max);
    let spread = slowest / median(times);
    println!("{speed:.0} {:.1} {spread:.2}", peak() / runs as f64);
}

/// Returns the peak memory in kilobytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
