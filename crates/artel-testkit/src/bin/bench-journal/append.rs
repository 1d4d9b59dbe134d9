//! Durable appends: how many a second, and how long one takes, against SQLite alone.

use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use artel_journal::Journal;
use artel_testkit::Scratch;
use artel_types::Draft;

use crate::bare::Bare;
use crate::events::Work;
use crate::figure::{Figure, Goal, Measure, median, millis, percentile};

/// How many threads append at once, and how many events each of them appends in a round.
const APPENDERS: [(usize, usize); 3] = [(1, 800), (8, 800), (64, 250)];

/// How many rows the bare loop inserts in a round.
const BARE_ROWS: usize = 16_000;

/// One round of one contestant.
pub(crate) struct Round {
    rate: f64,
    waits: Vec<Duration>,
}

impl Round {
    pub(crate) fn new(events: usize, took: Duration, waits: Vec<Duration>) -> Self {
        Self {
            rate: events as f64 / took.as_secs_f64(),
            waits,
        }
    }
}

/// What a contestant showed in all its rounds.
struct Shown(Vec<Round>);

impl Shown {
    fn rate(&self) -> f64 {
        median(self.0.iter().map(|round| round.rate))
    }

    fn wait(&self, percent: usize) -> f64 {
        let waits = self.0.iter().flat_map(|round| &round.waits);
        percentile(waits.map(|wait| millis(*wait)), percent)
    }
}

/// Measures and prints.
pub(crate) fn measure(folder: &Path, rounds: usize) {
    let scratch = Scratch::inside(folder);
    let journal = scratch.create();
    let mut bare = Bare::new(folder, BARE_ROWS * (rounds + 1));
    let mut shown = [(); 4].map(|()| Shown(Vec::new()));
    // The first round only warms up: files grow, statements are prepared.
    for round in 0..=rounds {
        let mut order = [0, 1, 2, 3];
        if round % 2 == 1 {
            order.reverse();
        }
        for contestant in order {
            let result = match contestant {
                0 => bare.round(BARE_ROWS),
                _ => append(&journal, APPENDERS[contestant - 1], round),
            };
            if round > 0 {
                shown[contestant].0.push(result);
            }
        }
    }
    drop(journal);
    assert!(scratch.verify().ok, "what was measured must be right");
    print(&shown);
}

/// Lets `appenders` threads append `each` events, one at a time, and wait for each of them.
fn append(journal: &Journal, (appenders, each): (usize, usize), round: usize) -> Round {
    let barrier = Barrier::new(appenders + 1);
    let (mut waits, mut took) = (Vec::new(), Duration::ZERO);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..appenders)
            .map(|thread| {
                let drafts = Work::of_seed((round * 1_000 + appenders + thread) as u64).take(each);
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    drafts
                        .into_iter()
                        .map(|draft| time(journal, draft))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        barrier.wait();
        let begun = Instant::now();
        for thread in threads {
            waits.extend(thread.join().unwrap());
        }
        took = begun.elapsed();
    });
    Round::new(appenders * each, took, waits)
}

fn time(journal: &Journal, draft: Draft) -> Duration {
    let begun = Instant::now();
    journal.append(draft).wait().unwrap();
    begun.elapsed()
}

fn print(shown: &[Shown; 4]) {
    let [bare, one, _, many] = shown;
    let rate = bare.rate();
    let (typical, slow) = (bare.wait(50), bare.wait(99));
    Figure::new("bare inserts, 64 per commit", rate, "events/s", Goal::None).print();
    Figure::new("bare commit of 64, p50", typical, "ms", Goal::None).print();
    Figure::new("bare commit of 64, p99", slow, "ms", Goal::None).print();
    for ((appenders, _), shown) in APPENDERS.iter().zip(&shown[1..]) {
        let name = |what: &str| format!("append, {appenders} at once{what}");
        let mut figure = Figure::new(name(""), shown.rate(), "events/s", Goal::None).against(rate);
        if *appenders == 64 {
            figure.goal = (Measure::Ratio, Goal::AtLeast(0.5));
        }
        figure.print();
        Figure::new(name(", p50"), shown.wait(50), "ms", Goal::Below(2.0))
            .against(typical)
            .print();
        Figure::new(name(", p99"), shown.wait(99), "ms", Goal::None)
            .against(slow)
            .print();
    }
    let gain = many.rate() / one.rate();
    Figure::new(
        "append, 64 at once against 1",
        gain,
        "times",
        Goal::AtLeast(5.0),
    )
    .print();
}
