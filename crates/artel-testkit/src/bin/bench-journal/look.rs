//! Reads a large journal the way people do, a page at a time, and measures its size on
//! disk.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_testkit::{Random, Scratch};

use crate::figure::{Figure, Goal, median, millis, percentile};

/// Number of times that each read is repeated.
const LOOKS: usize = 200;

/// Number of events on a page.
const PAGE: u64 = 100;

/// Maximum duration of a read, in milliseconds.
const LONGEST: f64 = 200.0;

/// Runs the measurements and prints the figures.
pub(crate) fn measure(scratch: &Scratch, events: usize) {
    let reader = scratch.reader();
    let bare = look(&reader, |_| EventQuery::all().newest_first().limit(1));
    let bare = median(bare);
    Figure::new("one event, looked up", bare, "ms", Goal::None).print();
    let named = named(&reader, events);
    print(
        "the newest page",
        bare,
        look(&reader, |_| page(EventFilter::default())),
    );
    let found = look(&reader, |number| {
        page(EventFilter {
            trace: Some(named[number].clone()),
            ..EventFilter::default()
        })
    });
    print("a page of one piece of work", bare, found);
    let found = look(&reader, |number| {
        // The prefix that people type.
        let begin = named[number].chars().take(8).collect();
        page(EventFilter {
            trace: Some(begin),
            ..EventFilter::default()
        })
    });
    print("the same by how its id begins", bare, found);
    let found = look(&reader, |number| {
        let kinds = ["run.finished", "budget.", "note.", "run."];
        page(EventFilter {
            kind: Some(kinds[number % kinds.len()].to_owned()),
            ..EventFilter::default()
        })
    });
    print("a page of one kind", bare, found);
    let head = reader.head().unwrap();
    let mut random = Random::of_seed(8);
    let found = look(&reader, |_| {
        page(EventFilter::default()).before(random.below(head) + 1)
    });
    print("a page from anywhere", bare, found);
    let bytes = fs::metadata(scratch.home.journal()).unwrap().len() as f64;
    let million = bytes / events as f64 * 1_000_000.0 / f64::from(1 << 20);
    // The goal is that five million events fit into 2 GB.
    Figure::new(
        "disk for a million events",
        million,
        "MiB",
        Goal::Below(400.0),
    )
    .print();
}

fn page(filter: EventFilter) -> EventQuery {
    EventQuery::of(filter).newest_first().limit(PAGE)
}

fn look(reader: &JournalReader, mut wanted: impl FnMut(usize) -> EventQuery) -> Vec<f64> {
    let one = |number| {
        let query = wanted(number);
        let begun = Instant::now();
        black_box(reader.records(&query).unwrap());
        millis(begun.elapsed())
    };
    (0..LOOKS).map(one).collect()
}

/// Returns the traces of events from all over the journal.
fn named(reader: &JournalReader, events: usize) -> Vec<String> {
    let every = (events / LOOKS).max(1) as u64;
    let at = (0..LOOKS as u64).map(|number| number * every);
    let found = at.flat_map(|seq| {
        reader
            .records(&EventQuery::all().after(seq).limit(1))
            .unwrap()
    });
    found.map(|record| record.trace).collect()
}

fn print(name: &str, bare: f64, found: Vec<f64>) {
    let slow = percentile(found, 99);
    Figure::new(format!("{name}, p99"), slow, "ms", Goal::Below(LONGEST))
        .against(bare)
        .print();
}
