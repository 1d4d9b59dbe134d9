//! Runs everything a change must pass, from setting up a fresh machine to the last fuzz
//! target.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::process::{self, OutputEcho};
use crate::stop::XtaskError;
use crate::table::TextTable;
use crate::{docs, fuzz, setup, tidy};

/// The extent of a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestExtent {
    Full,
    /// Skips the slow phases that rarely fail.
    Quick,
}

struct TestPhase {
    name: &'static str,
    needed: TestExtent,
    work: fn(&mut TestClosingNotes) -> Result<(), XtaskError>,
}

/// Notes that are repeated at the very end, where people look for them.
#[derive(Default)]
struct TestClosingNotes {
    summary: Option<String>,
}

const fn phase(
    name: &'static str,
    work: fn(&mut TestClosingNotes) -> Result<(), XtaskError>,
) -> TestPhase {
    TestPhase {
        name,
        needed: TestExtent::Quick,
        work,
    }
}

const fn long_phase(
    name: &'static str,
    work: fn(&mut TestClosingNotes) -> Result<(), XtaskError>,
) -> TestPhase {
    TestPhase {
        name,
        needed: TestExtent::Full,
        work,
    }
}

const PHASES: [TestPhase; 10] = [
    phase("set-up", |_| setup::run()),
    phase("format", |_| format()),
    phase("tidy", |_| tidy::check()),
    phase("lint", |_| lint()),
    phase("dependencies", |_| dependencies()),
    phase("reference pages", |_| docs::check()),
    phase("tests", tests),
    phase("doc tests", |_| doc_tests()),
    long_phase("rustdoc", |_| rustdoc()),
    long_phase("fuzz", |_| fuzz::short()),
];

/// Runs the phases in order and stops at the first failure.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let extent = if args.flag("--quick") {
        TestExtent::Quick
    } else {
        TestExtent::Full
    };
    args.finish()?;

    let begun = Instant::now();
    let mut notes = TestClosingNotes::default();
    let mut table = TextTable::new(["phase", "took", "result"]);
    let mut failure = None;
    for phase in PHASES {
        if failure.is_some() || (extent == TestExtent::Quick && phase.needed == TestExtent::Full) {
            table.row([phase.name.to_owned(), String::new(), "not run".to_owned()]);
            continue;
        }
        println!("\n== {}", phase.name);
        let phase_begun = Instant::now();
        let result = (phase.work)(&mut notes);
        let word = if result.is_ok() { "ok" } else { "failed" };
        table.row([
            phase.name.to_owned(),
            seconds(phase_begun.elapsed()),
            word.to_owned(),
        ]);
        failure = result.err();
    }
    table.row(["all".to_owned(), seconds(begun.elapsed())]);
    println!("\n{}", table.render());
    if let Some(summary) = notes.summary {
        println!("{summary}");
    }
    failure.map_or(Ok(()), Err)
}

fn format() -> Result<(), XtaskError> {
    process::run(&mut process::cargo(["fmt", "--all", "--check"]))?;
    process::run(&mut process::cargo([
        "fmt",
        "--check",
        "--manifest-path",
        fuzz::MANIFEST,
    ]))
}

fn lint() -> Result<(), XtaskError> {
    let args = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    process::run(&mut process::cargo(args))
}

fn dependencies() -> Result<(), XtaskError> {
    let licences = ["deny", "--locked", "check", "licenses", "bans", "sources"];
    process::run(&mut process::cargo(licences))?;
    // Fuzz targets are not distributed, so their licences are not checked.
    let sources = [
        "deny",
        "--locked",
        "--manifest-path",
        fuzz::MANIFEST,
        "--config",
        "deny.toml",
    ];
    process::run(process::cargo(sources).args(["check", "bans", "sources"]))
}

fn tests(notes: &mut TestClosingNotes) -> Result<(), XtaskError> {
    let mut command = process::cargo(["nextest", "run", "--workspace", "--locked"]);
    if std::io::stdout().is_terminal() {
        command.args(["--color", "always"]);
    }
    let status = process::run_reading(&mut command, |line| {
        let plain = process::without_colour(line);
        if plain.trim_start().starts_with("Summary [") {
            notes.summary = Some(line.to_owned());
        }
        OutputEcho::Show
    })?;
    process::judge(&command, status)
}

fn doc_tests() -> Result<(), XtaskError> {
    process::run(&mut process::cargo([
        "test",
        "--doc",
        "--workspace",
        "--locked",
    ]))
}

fn rustdoc() -> Result<(), XtaskError> {
    let mut command = process::cargo(["doc", "--no-deps", "--workspace", "--locked"]);
    process::run(command.env("RUSTDOCFLAGS", "-Dwarnings"))
}

fn seconds(span: Duration) -> String {
    format!("{:7.1} s", span.as_secs_f64())
}
