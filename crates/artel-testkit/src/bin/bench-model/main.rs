//! The benchmark of the gateway: a thousand answers at once, read through it and without it.
//!
//! `bench-model [--quick]` prints a line `bench: name | value | unit | ratio | goal` for each
//! figure; `cargo xtask bench` collects them. A server in a process of its own speaks Chat
//! Completions and writes into every piece when it was sent; a reader in another process, with two
//! threads, takes it from there. Bare reading is what `reqwest` alone does: it takes the bytes and
//! looks into none of them before the clock is read. Both ways are measured by turns, each round in
//! fresh processes, and every figure is the median of its rounds. `--quick` makes answers shorter
//! and rounds fewer.
//!
//! Other programs on the same two cores add far more to a piece than what is measured here. They
//! only ever add, so the quietest rounds of both ways are compared too; and run as
//! `chrt --rr 5 bench-model`, it does not notice them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

mod bare;
// The application's own, not a copy that would be measured in its place.
#[path = "../../../../artel-workshop/src/book.rs"]
mod book;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../bench-journal/figure.rs"]
mod figure;
mod meter;
#[path = "../bench-journal/place.rs"]
mod place;
mod question;
mod reader;
mod round;
mod server;
mod through;

use std::time::Duration;

use figure::{Figure, Goal, median};
use round::{Round, Way};

/// How many answers come at once.
const STREAMS: usize = 1_000;

/// How long it is from one piece of an answer to the next.
const PACE: Duration = Duration::from_millis(50);

/// How much is measured.
#[derive(Clone, Copy)]
struct Extent {
    /// Pieces of one answer.
    pieces: usize,
    /// Rounds of each way.
    rounds: usize,
}

const WHOLE: Extent = Extent {
    pieces: 200,
    rounds: 5,
};

const QUICK: Extent = Extent {
    pieces: 60,
    rounds: 3,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => measure(WHOLE),
        ["--quick"] => measure(QUICK),
        // What it calls itself with: memory and processor time are those of a whole process.
        [server::SERVE, pieces] => server::serve(STREAMS, pieces.parse().unwrap()),
        [reader::READ, way, url, pieces] => {
            reader::read(Way::of(way), url, pieces.parse().unwrap());
        }
        _ => panic!("bench-model [--quick]"),
    }
}

fn measure(extent: Extent) {
    let (mut bare, mut gateway) = (Vec::new(), Vec::new());
    for number in 0..extent.rounds {
        let mut order = [(Way::Bare, &mut bare), (Way::Gateway, &mut gateway)];
        if number % 2 == 1 {
            order.reverse();
        }
        for (way, rounds) in order {
            let round = round::run(way, extent.pieces);
            println!("{}: {round}", way.word());
            rounds.push(round);
        }
    }
    print(&bare, &gateway);
}

fn print(bare: &[Round], gateway: &[Round]) {
    type Pick = fn(&Round) -> f64;
    let middle = |rounds: &[Round], pick: Pick| median(rounds.iter().map(pick));
    let both = |what: &str, unit: &'static str, goal: Goal, pick: Pick| {
        let (alone, through) = (middle(bare, pick), middle(gateway, pick));
        Figure::new(format!("bare, {what}"), alone, unit, Goal::None).print();
        Figure::new(format!("gateway, {what}"), through, unit, goal)
            .against(alone)
            .print();
        through - alone
    };
    let typical = both("piece, p50", "µs", Goal::None, |round| round.typical);
    let slow = both("piece, p99", "µs", Goal::None, |round| round.slow);
    let least = |rounds: &[Round]| {
        rounds
            .iter()
            .map(|round| round.typical)
            .fold(f64::MAX, f64::min)
    };
    let quietest = least(gateway) - least(bare);
    let goal = Goal::Below(50.0);
    Figure::new("added to a piece, p50", typical, "µs", goal).print();
    Figure::new(
        "added to a piece, p50, quietest rounds",
        quietest,
        "µs",
        goal,
    )
    .print();
    Figure::new("added to a piece, p99", slow, "µs", Goal::None).print();
    both("memory", "KB/stream", Goal::Below(100.0), |round| {
        round.memory
    });
    both("processor time", "µs/piece", Goal::None, |round| {
        round.work
    });
}
