//! Appends to a journal from many threads until it is done or killed.
//!
//! `journal_child STATE DATA WORKSHOP TAG TASKS BATCH ROUNDS [follow TOTAL]`
//!
//! For each acknowledged batch it prints `ack <tag> <task> <round> <first seq>`. With `follow` it
//! also subscribes from the start and prints `saw <n>` once it has seen TOTAL events in order.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of the tests"
)]

use std::io::Write as _;
use std::time::{Duration, Instant};

use artel_journal::{EventBatch, EventFilter, Journal, JournalFolders, JournalOptions};
use artel_testkit::{note, system_clock};
use artel_types::TraceId;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [state, data, workshop, tag, tasks, batch, rounds, more @ ..] = &arguments[..] else {
        panic!("journal_child STATE DATA WORKSHOP TAG TASKS BATCH ROUNDS [follow TOTAL]");
    };
    let number = |text: &String| text.parse::<u64>().unwrap();
    let home = JournalFolders::new(state, data);
    let options = JournalOptions {
        patience: Duration::from_secs(60),
        ..JournalOptions::new(system_clock(), TraceId::from_random([2; 16]))
    };
    let opened = match Journal::open(&home, workshop.parse().unwrap(), options) {
        Ok(opened) => opened,
        Err(error) => {
            println!("error {error}");
            std::process::exit(1);
        }
    };
    let journal = opened.journal;
    println!("ready");
    std::thread::scope(|scope| {
        for task in 0..number(tasks) {
            let journal = journal.clone();
            scope.spawn(move || append(&journal, tag, task, number(batch), number(rounds)));
        }
        if let [word, total] = more
            && word == "follow"
        {
            let total = number(total);
            let journal = journal.clone();
            scope.spawn(move || follow(&journal, total));
        }
    });
}

fn append(journal: &Journal, tag: &str, task: u64, batch: u64, rounds: u64) {
    let stream = format!("{tag}/{task}");
    let mut longest = Duration::ZERO;
    for round in 1.. {
        if rounds > 0 && round > rounds {
            break;
        }
        let drafts = (0..batch).map(|part| note(&stream, &format!("{round}.{part}")));
        let started = Instant::now();
        let answer = journal.append(EventBatch::of(drafts)).wait();
        longest = longest.max(started.elapsed());
        // One write per line, so a complete line that the parent reads was acknowledged.
        let line = match answer {
            Ok(receipt) => format!("ack {tag} {task} {round} {}\n", receipt.seqs.start()),
            Err(error) => format!("error {tag} {task} {round} {error}\n"),
        };
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
    println!("longest {} ms", longest.as_millis());
}

fn follow(journal: &Journal, total: u64) {
    let mut subscription = journal.subscribe(EventFilter::default(), 0);
    let mut seen = 0;
    while seen < total {
        let Some(record) = subscription.wait(Duration::from_secs(60)).unwrap() else {
            println!("stopped at {seen}");
            return;
        };
        assert_eq!(record.seq, seen + 1, "no gap and no repeat");
        seen += 1;
    }
    println!("saw {seen}");
}
