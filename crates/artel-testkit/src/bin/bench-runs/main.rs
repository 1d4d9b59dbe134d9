//! The benchmark of runs: one run of 15 turns in the sandbox, measured from outside, and a
//! thousand runs of 15 turns at once in one process.
//!
//! `bench-runs [--quick]` prints a line `bench: name | value | unit | ratio | goal` for
//! each figure; `cargo xtask bench` collects them. The single run is the program `artel`
//! next to this one, against a stand-in that speaks Chat Completions; the time of the
//! stand-in itself is measured by sending it the same requests without Artel. Figures are
//! medians of their rounds.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

// The application's own module, not a copy that would be measured in its place.
#[path = "../../../../artel-workshop/src/book.rs"]
mod book;
mod driving;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../bench-journal/figure.rs"]
mod figure;
mod many;
mod one;
#[path = "../bench-journal/place.rs"]
mod place;

/// The size of the measurement.
#[derive(Clone, Copy)]
struct Extent {
    runs: usize,
    rounds: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let extent = match words[..] {
        [] => Extent {
            runs: 1_000,
            rounds: 5,
        },
        ["--quick"] => Extent {
            runs: 200,
            rounds: 2,
        },
        // The arguments with which the program starts itself again, because memory is a
        // property of a whole process.
        [many::MANY, runs] => return many::run(runs.parse().unwrap()),
        _ => panic!("bench-runs [--quick]"),
    };
    one::measure(extent.rounds);
    many::measure(extent.runs, extent.rounds);
}
