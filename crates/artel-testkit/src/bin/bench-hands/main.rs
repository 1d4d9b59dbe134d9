//! Measures the tool runner: starting processes behind walls, judging a command, redacting,
//! searching.
//!
//! The lower bound or the competitor is measured in the same run: a plain spawn and `bwrap`
//! with the same view, a bare copy of the bytes, `rg` and `fd` on the same tree. Programs
//! that are not installed are reported.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, prints, and fails loudly"
)]

mod judge;
mod redact;
mod search;
mod start;

use std::time::{Duration, Instant};

fn main() {
    artel_sandbox::enter_if_asked();
    start::measure();
    judge::measure();
    redact::measure();
    search::measure();
}

/// Prints one figure in the form that the task runner collects.
fn figure(name: &str, value: f64, unit: &str, ratio: &str, goal: &str) {
    println!("bench: {name} | {value:.2} | {unit} | {ratio} | {goal}");
}

/// Runs `work` several times and returns the median duration.
fn median(times: usize, mut work: impl FnMut()) -> Duration {
    let mut taken: Vec<_> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    taken.sort();
    taken[taken.len() / 2]
}

/// Finds a program in the usual folders.
fn program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
