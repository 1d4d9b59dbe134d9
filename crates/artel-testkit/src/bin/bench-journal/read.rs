//! A large journal: filling, folding, verifying and opening it.

use std::fs;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use artel_journal::{
    CommitDurability, EventBatch, EventQuery, Journal, JournalFolders, JournalOptions,
    JournalReader, JournalSigningKeys,
};
use artel_testkit::Scratch;
use artel_types::WorkshopId;

use crate::events::Work;
use crate::figure::{Figure, Goal, median, millis};
use crate::look;

/// Number of events per batch while the journal is filled.
const BATCH: usize = 256;

/// The argument that asks for one verification in a separate process.
pub(crate) const VERIFY: &str = "verify";

/// Number of stored events held in memory for decoding.
const HELD: u64 = 100_000;

/// Runs the measurements and prints the figures.
pub(crate) fn measure(folder: &Path, events: usize) {
    let scratch = Scratch::inside(folder);
    let took = fill(&scratch, events);
    rate("fill, batches of 256, not synced", events, took, Goal::None);
    verify(&scratch, events);
    open(&scratch);
    fold(&scratch, events);
    look::measure(&scratch, events);
}

fn rate(name: &str, events: usize, took: Duration, goal: Goal) {
    Figure::new(name, events as f64 / took.as_secs_f64(), "events/s", goal).print();
}

/// Appends batches, with several of them in flight.
fn fill(scratch: &Scratch, events: usize) -> Duration {
    let options = JournalOptions {
        durability: CommitDurability::Normal,
        ..scratch.options.clone()
    };
    let opened = Journal::create(&scratch.home, scratch.workshop, options).unwrap();
    let mut work = Work::of_seed(1);
    let mut under_way = std::collections::VecDeque::new();
    let begun = Instant::now();
    let mut left = events;
    while left > 0 {
        let count = left.min(BATCH);
        under_way.push_back(opened.journal.append(EventBatch::of(work.take(count))));
        left -= count;
        if under_way.len() > 8 {
            under_way.pop_front().unwrap().wait().unwrap();
        }
    }
    for answer in under_way {
        answer.wait().unwrap();
    }
    begun.elapsed()
}

fn verify(scratch: &Scratch, events: usize) {
    let spans = repeat(5, || {
        let verified = scratch.verify();
        assert!(
            verified.ok && verified.events == events as u64,
            "{verified:?}"
        );
    });
    let took = median(spans);
    Figure::new(
        "verify",
        events as f64 / took,
        "events/s",
        Goal::AtLeast(300_000.0),
    )
    .print();
    let child = Command::new(std::env::current_exe().unwrap())
        .arg(VERIFY)
        .args([scratch.home.state(), scratch.home.data()])
        .arg(scratch.workshop.to_string())
        .output()
        .unwrap();
    let grown: f64 = String::from_utf8(child.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    Figure::new("verify, peak memory", grown, "MiB", Goal::Below(128.0)).print();
}

/// Verifies once in this process, and prints its peak memory growth.
pub(crate) fn tell_memory(home: &JournalFolders, workshop: WorkshopId) {
    let keys = JournalSigningKeys::load(home.data(), workshop).unwrap();
    let before = memory("VmHWM:");
    assert!(artel_journal::verify(home, workshop, &keys).unwrap().ok);
    println!("{}", memory("VmHWM:") - before);
}

fn open(scratch: &Scratch) {
    let mut spans = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        let journal = scratch.open();
        spans.push(millis(begun.elapsed()));
        drop(journal);
    }
    Figure::new("open to write", median(spans), "ms", Goal::Below(50.0)).print();
    let spans = repeat(5, || {
        black_box(scratch.reader().head().unwrap());
    });
    let took = median(spans) * 1_000.0;
    Figure::new("open to read", took, "ms", Goal::Below(50.0)).print();
}

fn fold(scratch: &Scratch, events: usize) {
    let reader: JournalReader = scratch.reader();
    let records = reader.records(&EventQuery::all().limit(HELD)).unwrap();
    let bytes: usize = records.iter().map(|record| record.payload.len()).sum();
    println!("payloads have {} bytes on average", bytes / records.len());
    let spans = repeat(5, || {
        for record in &records {
            black_box(record.event().unwrap());
        }
    });
    let took = Duration::from_secs_f64(median(spans));
    let goal = Goal::AtLeast(500_000.0);
    rate("fold, from memory", records.len(), took, goal);
    let spans = repeat(3, || {
        let mut count = 0;
        reader
            .visit_events(&EventQuery::all(), |event| {
                black_box(event);
                count += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(count, events);
    });
    let took = Duration::from_secs_f64(median(spans));
    let goal = Goal::AtLeast(150_000.0);
    rate("fold, from disk", events, took, goal);
}

/// Returns the duration of each repetition in seconds.
fn repeat(times: usize, mut work: impl FnMut()) -> Vec<f64> {
    let one = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64()
    };
    (0..times).map(one).collect()
}

/// Returns a size from the system's information about this process, in MiB.
fn memory(field: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib: f64 = line
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .unwrap();
    kib / 1_024.0
}
