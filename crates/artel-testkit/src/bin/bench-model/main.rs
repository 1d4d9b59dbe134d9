//! The benchmark of the gateway: a thousand replies at once, read with and without it.
//!
//! `bench-model [--quick]` prints a line `bench: name | value | unit | ratio | goal` for
//! each figure; `cargo xtask bench` collects them. A server in a separate process speaks
//! Chat Completions and writes the time of sending into every piece; a reader in another
//! process, with two threads, reads it from there. Bare reading is what `reqwest` alone
//! does: it takes the bytes and looks into none of them before the clock is read. Both ways
//! are measured in turn, each round in fresh processes, and every figure is the median of
//! its rounds. `--quick` makes replies shorter and rounds fewer.
//!
//! Other programs on the same two cores add far more to a piece than what is measured here.
//! They only ever add, so the quietest rounds of both ways are compared too; and when run
//! as `chrt --rr 5 bench-model`, the benchmark does not notice them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

mod bare;
// The application's own module, not a copy that would be measured in its place.
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

/// Number of replies at once.
const STREAMS: usize = 1_000;

/// Time between two pieces of a reply.
const PACE: Duration = Duration::from_millis(50);

/// The size of the measurement.
#[derive(Clone, Copy)]
struct Extent {
    /// Number of pieces per reply.
    pieces: usize,
    /// Number of rounds for each way.
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
        // The arguments with which the program starts itself again, because memory and
        // processor time are properties of a whole process.
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
