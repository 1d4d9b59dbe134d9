//! The benchmark of the board: how long it takes to fold a long journal, and to look at it then.
//!
//! `bench-board [--quick]` prints a line `bench: name | value | unit | ratio | goal` for each
//! figure; `cargo xtask bench` collects them. The journal holds 100,000 runs and 10,000 pieces of
//! work (`--quick`: a tenth). What looks at it is measured beside one bare `SELECT count(*)` on the
//! same file: less than that cannot be read from the journal. Figures of looks are medians of 50.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures: it stops at the first trouble, prints, and reads the clock"
)]

#[path = "../../src/board/tests/facts.rs"]
mod facts;
#[expect(dead_code, reason = "the bench of the journal needs more of it")]
#[path = "../../../artel-testkit/src/bin/bench-journal/figure.rs"]
mod figure;
mod making;

use std::time::{Duration, Instant};

use artel_rules::usage::UsageDimension;
use artel_workshop::{
    DriverProcesses, RunCompletionFilter, RunIndexQuery, RunStatus, WorkIndexQuery, Workshop,
    WorkshopIndex,
};
use figure::{Figure, Goal, median, millis};

/// How often each look is taken.
const LOOKS: usize = 50;

/// The overview page has so many milliseconds in all.
const PAGE: f64 = 50.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let works = match words[..] {
        [] => 10_000,
        ["--quick"] => 1_000,
        _ => panic!("bench-board [--quick]"),
    };
    let home = tempfile::tempdir().unwrap();
    let (workshop, events) = making::workshop(home.path(), works);
    println!(
        "{events} events of {} runs and {works} pieces of work",
        works * 10
    );

    let bare = bare_count(&workshop);
    Figure::new("a bare count of all events", bare, "ms", Goal::None).print();
    let (before, worked) = (resident(), processor());
    let began = Instant::now();
    let board = workshop.board().unwrap();
    let folding = millis(began.elapsed());
    let worked = processor() - worked;
    Figure::new("folding, processor time", worked, "ms", Goal::None).print();
    Figure::new("folding the journal", folding, "ms", Goal::Below(5_000.0))
        .against(bare)
        .print();
    let bytes = (resident() - before) / (works * 10) as f64 * 1_024.0;
    Figure::new("memory of a run", bytes, "bytes", Goal::Below(600.0)).print();
    looks(&board, &workshop, bare);
}

fn looks(board: &WorkshopIndex, workshop: &Workshop, bare: f64) {
    let drivers = DriverProcesses::default();
    let runs = |wanted: RunIndexQuery| drop(board.runs(&wanted, &drivers));
    let open = || RunIndexQuery {
        stage: RunCompletionFilter::Open,
        limit: 50,
        ..RunIndexQuery::default()
    };
    let over = || RunIndexQuery {
        stage: RunCompletionFilter::Over,
        ..open()
    };
    let works = || WorkIndexQuery {
        limit: 50,
        ..WorkIndexQuery::default()
    };
    let look = |name: &str, doing: &dyn Fn()| {
        let found = median((0..LOOKS).map(|_| millis(time(doing))));
        Figure::new(name, found, "ms", Goal::Below(PAGE))
            .against(bare)
            .print();
    };
    let overview = || {
        let drivers = workshop.drivers_now().unwrap();
        drop(board.waiting(&drivers));
        runs(open());
        runs(over());
        drop(board.works(&works(), &drivers));
    };
    look("the overview, all of it", &overview);
    look("what waits", &|| drop(board.waiting(&drivers)));
    look("open runs", &|| runs(open()));
    look("runs that are over", &|| runs(over()));
    look("runs that failed", &|| {
        runs(RunIndexQuery {
            state: Some(RunStatus::Failed),
            ..over()
        });
    });
    look("runs by a word in the title", &|| {
        runs(RunIndexQuery {
            text: Some("step 7".to_owned()),
            ..over()
        });
    });
    look("pieces of work", &|| drop(board.works(&works(), &drivers)));
    look("usage of 30 days", &|| {
        drop(board.usage(
            &[UsageDimension::Day, UsageDimension::Model],
            30,
            making::now(),
        ));
    });
}

fn time(doing: &dyn Fn()) -> Duration {
    let began = Instant::now();
    doing();
    began.elapsed()
}

/// Counts the events as whoever knows nothing has to.
fn bare_count(workshop: &Workshop) -> f64 {
    let file = workshop.root().join(".artel/journal.db");
    let connection = rusqlite::Connection::open(file).unwrap();
    let count = || {
        let sql = "SELECT count(*) FROM event";
        let found: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(found > 0);
    };
    count();
    median((0..5).map(|_| millis(time(&count))))
}

/// Returns the processor time of all threads so far, in milliseconds: what neighbours do on the
/// same machine does not change it much.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[11..13]
        .iter()
        .map(|it| it.parse::<f64>().unwrap())
        .sum();
    ticks * 10.0
}

/// Returns the memory that this process has, in kilobytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
