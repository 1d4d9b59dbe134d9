//! The benchmarks: programs that print `bench: name | value | unit | ratio | goal`. The
//! lines are collected into one table, headed by the machine, commit and date.

mod against;

use crate::args::Args;
use crate::machine;
use crate::process::{self, OutputEcho};
use crate::stop::XtaskError;
use crate::table::{self, TextTable};

struct BenchmarkSpec {
    name: &'static str,
    shows: &'static str,
    program: &'static str,
    place: BenchmarkLocation,
    /// Arguments that make it short, for a comparison that runs it many times.
    quick: &'static [&'static str],
}

/// Where the program of a benchmark lives.
enum BenchmarkLocation {
    /// A binary of the test kit.
    Kit,
    /// An example of this crate, the one it measures; the test kit must not depend on that
    /// crate.
    Example(&'static str),
}

const BENCHES: [BenchmarkSpec; 7] = [
    BenchmarkSpec {
        name: "journal",
        shows: "appending, reading, verifying, opening and looking into a journal",
        program: "bench-journal",
        place: BenchmarkLocation::Kit,
        quick: &["--quick"],
    },
    BenchmarkSpec {
        name: "model",
        shows: "a thousand answers at once, through the gateway and through bare HTTP",
        program: "bench-model",
        place: BenchmarkLocation::Kit,
        quick: &["--quick"],
    },
    BenchmarkSpec {
        name: "hands",
        shows: "starting behind walls, judging a command, redacting, searching a large tree",
        program: "bench-hands",
        place: BenchmarkLocation::Kit,
        quick: &[],
    },
    BenchmarkSpec {
        name: "runs",
        shows: "one run of 15 turns from the outside, a thousand at once in one process",
        program: "bench-runs",
        place: BenchmarkLocation::Kit,
        quick: &["--quick"],
    },
    BenchmarkSpec {
        name: "plans",
        shows: "conducting a plan of 200 steps, beyond what its journal costs",
        program: "bench-plans",
        place: BenchmarkLocation::Kit,
        quick: &["--quick"],
    },
    BenchmarkSpec {
        name: "board",
        shows: "folding a journal of 100,000 runs once, and looking at it then",
        program: "bench-board",
        place: BenchmarkLocation::Example("artel-workshop"),
        quick: &[],
    },
    BenchmarkSpec {
        name: "server",
        shows: "what readers of live events cost writers, the overview with very many runs, many who \
                read and write at once",
        program: "bench-server",
        place: BenchmarkLocation::Kit,
        quick: &["--quick"],
    },
];

/// Builds and runs one benchmark or all of them, here or in turns with an older commit.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let lists = args.flag("--list");
    let revision = args.value::<String>("--against")?;
    let pairs = args.value("--pairs")?.unwrap_or(against::PAIRS);
    let wanted = args.word();
    args.finish()?;
    if lists {
        let mut table = TextTable::new(["bench", "shows"]);
        BENCHES
            .iter()
            .for_each(|bench| table.row([bench.name.to_owned(), bench.shows.to_owned()]));
        print!("{}", table.render());
        return Ok(());
    }
    let chosen: Vec<&BenchmarkSpec> = BENCHES
        .iter()
        .filter(|bench| wanted.as_deref().is_none_or(|name| name == bench.name))
        .collect();
    if chosen.is_empty() {
        let name = wanted.unwrap_or_default();
        return Err(XtaskError::Usage(format!(
            "there is no bench `{name}`; `--list` shows them"
        )));
    }

    if let Some(revision) = revision {
        for bench in chosen {
            println!("\n== {}, beside {revision}: {}", bench.name, bench.shows);
            let compared = against::compare(bench, &revision, pairs)?;
            println!("\n{}\n\n{}", machine::describe(), compared.render());
        }
        return Ok(());
    }
    let mut figures = TextTable::new(["bench", "value", "unit", "ratio", "goal"]);
    for bench in chosen {
        println!("\n== {}: {}", bench.name, bench.shows);
        measure(bench, &mut figures)?;
    }
    if figures.is_empty() {
        return Err(XtaskError::Failed("no bench printed a figure".to_owned()));
    }
    println!("\n{}\n\n{}", machine::describe(), figures.render());
    Ok(())
}

fn measure(bench: &BenchmarkSpec, figures: &mut TextTable) -> Result<(), XtaskError> {
    if ["bench-runs", "bench-server"].contains(&bench.program) {
        // It measures the `artel` program itself and looks for it in its own folder.
        let build = ["build", "--release", "--locked", "-p", "artel", "-q"];
        let mut command = process::cargo(build);
        let status = process::run_reading(&mut command, |_| OutputEcho::Show)?;
        process::judge(&command, status)?;
    }
    let (package, sort) = match bench.place {
        BenchmarkLocation::Kit => ("artel-testkit", "--bin"),
        BenchmarkLocation::Example(package) => (package, "--example"),
    };
    let mut args = vec!["run", "--release", "--locked", "-p", package];
    args.extend([sort, bench.program]);
    let mut command = process::cargo(args);
    let status = process::run_reading(&mut command, |line| {
        if let Some(cells) = table::marked_cells(line, "bench:") {
            figures.row(cells);
        }
        OutputEcho::Show
    })?;
    process::judge(&command, status)
}
