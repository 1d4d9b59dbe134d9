//! The benchmark of the journal: appending, folding, verifying, opening.
//!
//! `bench-journal [--quick]` prints a line `bench: name | value | unit | ratio | goal` for
//! each figure; `cargo xtask bench` collects them. Every figure is the median of several
//! rounds, because a shared machine is never quiet. `--quick` makes the journal smaller and
//! the rounds fewer.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

mod append;
mod bare;
mod events;
mod figure;
mod look;
mod place;
mod read;

use artel_journal::JournalFolders;

/// The size of the measurement.
#[derive(Clone, Copy)]
struct Extent {
    /// Number of events in the large journal.
    events: usize,
    /// Number of rounds of appending.
    rounds: usize,
}

const WHOLE: Extent = Extent {
    events: 1_000_000,
    rounds: 9,
};

const QUICK: Extent = Extent {
    events: 200_000,
    rounds: 5,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => measure(WHOLE),
        ["--quick"] => measure(QUICK),
        // The arguments with which the program starts itself again, because peak memory is
        // a property of a whole process.
        [read::VERIFY, state, data, workshop] => {
            read::tell_memory(&JournalFolders::new(state, data), workshop.parse().unwrap());
        }
        _ => panic!("bench-journal [--quick]"),
    }
}

fn measure(extent: Extent) {
    let place = place::on_disk();
    println!("in {}, on {}", place.folder.display(), place.system);
    append::measure(&place.folder, extent.rounds);
    read::measure(&place.folder, extent.events);
}
