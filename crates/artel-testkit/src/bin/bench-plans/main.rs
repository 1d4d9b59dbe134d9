//! The benchmark of plans: the cost of conducting a plan of 200 steps, beyond the cost of
//! its journal.
//!
//! `bench-plans [--quick]` prints a line `bench: name | value | unit | ratio | goal` for
//! each figure; `cargo xtask bench` collects them. The work itself takes no time, so what
//! is left is scheduling and appending. The share of appending is measured by appending the
//! same events to the same journal, in as many batches and with nothing else. Figures are
//! medians of their rounds.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

mod crew;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../bench-journal/figure.rs"]
mod figure;
#[path = "../bench-journal/place.rs"]
mod place;
mod round;

use artel_journal::CommitDurability;
use artel_testkit::Scratch;

use figure::{Figure, Goal, median};
use round::{Round, STEPS};

/// Numbers of steps that run at once.
const AT_ONCE: [usize; 3] = [1, 2, 8];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let rounds = match words[..] {
        [] => 5,
        ["--quick"] => 2,
        _ => panic!("bench-plans [--quick]"),
    };
    let place = place::on_disk();
    println!("in {}, on {}", place.folder.display(), place.system);
    let alone = median((0..rounds).map(|round| round::machine(round as u64)));
    Figure::new("a step, the machine alone", alone, "ms", Goal::None).print();
    for (durability, word) in [
        (CommitDurability::Full, "on disk"),
        (CommitDurability::Normal, "with the system"),
    ] {
        let mut scratch = Scratch::inside(&place.folder);
        scratch.options.durability = durability;
        let journal = scratch.create();
        let mut shown = AT_ONCE.map(|at_once| (at_once, Vec::new()));
        // The first round is only a warm-up: files grow and statements are prepared.
        for round in 0..=rounds {
            for (at_once, taken) in &mut shown {
                let one = round::conduct(&journal, *at_once, round as u64);
                if round > 0 {
                    taken.push(one);
                }
            }
        }
        drop(journal);
        assert!(scratch.verify().ok, "what was measured must be right");
        for (at_once, rounds) in &shown {
            print(word, *at_once, rounds);
        }
    }
}

fn print(word: &str, at_once: usize, rounds: &[Round]) {
    let name = |what: &str| format!("a step, {at_once} at once, {word}{what}");
    let of = |read: fn(&Round) -> f64| median(rounds.iter().map(read)) / STEPS as f64;
    let bare = of(|round| round.bare);
    Figure::new(name(""), of(|round| round.conducted), "ms", Goal::None)
        .against(bare)
        .print();
    Figure::new(
        name(": beyond its appends"),
        of(|round| round.conducted - round.bare),
        "ms",
        Goal::Below(2.0),
    )
    .print();
    let busy = of(|round| round.busy);
    let limit = Goal::Below(2.0);
    Figure::new(name(": processor time beyond them"), busy, "ms", limit).print();
    let appends = of(|round| round.appends as f64);
    Figure::new(name(": appends"), appends, "", Goal::None).print();
}
