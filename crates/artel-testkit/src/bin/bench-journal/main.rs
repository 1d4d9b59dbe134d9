//! The benchmark of the journal: appending, folding, verifying, opening.
//!
//! `bench-journal [--quick]` prints a line `bench: name | value | unit | ratio | goal` for each
//! figure; `cargo xtask bench` collects them. Every figure is the median of several rounds, because
//! a shared machine is never quiet. `--quick` makes the journal smaller and the rounds fewer.
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
mod place;
mod read;

/// How much is measured.
struct Extent {
    /// Events in the large journal.
    events: usize,
    /// Rounds of appending.
    rounds: usize,
}

fn main() {
    let extent = match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => Extent {
            events: 1_000_000,
            rounds: 9,
        },
        [flag] if flag == "--quick" => Extent {
            events: 200_000,
            rounds: 5,
        },
        _ => panic!("bench-journal [--quick]"),
    };
    let place = place::on_disk();
    println!("in {}, on {}", place.folder.display(), place.system);
    append::measure(&place.folder, extent.rounds);
    read::measure(&place.folder, extent.events);
}
