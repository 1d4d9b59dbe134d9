//! Everyday programs behave inside the walls as they do outside: the same rows run on both sides,
//! with the same environment, and must end and print the same.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests start processes, read the environment and fail by panicking"
)]

mod both;
mod git;
mod rows;

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;

use artel_sandbox::SandboxLimits;

use both::{ROW, Row, compare, is_installed};

/// How many rows must run for the list to say something about a machine.
const FEWEST: usize = 25;

#[test]
fn everyday_programs_behave_inside_as_outside() {
    let (installed, missing) = sorted(rows::everyday());
    let failures = compare_all(&installed, SandboxLimits::default());
    let all = installed.len() + missing.len();
    println!(
        "figure: compatibility: {} of {all} rows ran",
        installed.len()
    );
    if !missing.is_empty() {
        println!(
            "figure: compatibility: SKIPPED, not installed: {}",
            names(&missing)
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let is_long = std::env::var_os("ARTEL_PROOF").is_some_and(|word| word == "long");
    assert!(
        !is_long || missing.is_empty(),
        "a proof runs every row, and these were skipped because their programs are not installed: {}",
        names(&missing)
    );
    assert!(
        installed.len() >= FEWEST,
        "only {} of the rows are installed",
        installed.len()
    );
}

#[test]
fn the_limits_of_a_script_leave_room_for_its_interpreter() {
    let (installed, missing) = sorted(rows::SCRIPTS.iter().collect());
    println!("not installed: {}", names(&missing));
    let failures = compare_all(&installed, SandboxLimits::of_a_script());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(!installed.is_empty(), "no interpreter is installed");
}

#[test]
fn a_row_that_differs_is_told() {
    let row = Row {
        name: "own network",
        script: "readlink /proc/self/ns/net",
        says: r"^net:",
        ..ROW
    };
    let told = compare(&row, SandboxLimits::default()).unwrap_err();
    assert!(told.starts_with("own network: differs inside"), "{told}");
}

/// Parts the rows into those whose programs are here and the others.
fn sorted(rows: Vec<&'static Row>) -> (Vec<&'static Row>, Vec<&'static Row>) {
    rows.into_iter()
        .partition(|row| row.needs.iter().all(|program| is_installed(program)))
}

fn names(rows: &[&Row]) -> String {
    let names: Vec<_> = rows.iter().map(|row| row.name).collect();
    names.join(", ")
}

/// Compares every row, as many at a time as there are processors, and tells all that differ.
fn compare_all(rows: &[&'static Row], limits: SandboxLimits) -> Vec<String> {
    let waiting = Mutex::new(rows.iter());
    let next = || waiting.lock().unwrap().next();
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(row) = next() {
            let difference = compare(row, limits);
            failures.lock().unwrap().extend(difference.err());
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    failures.into_inner().unwrap()
}
