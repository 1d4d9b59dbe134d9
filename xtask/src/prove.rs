//! The long proofs. A proof is a set of tests that read `ARTEL_PROOF` and scale themselves:
//! short by default, full length here.
//!
//! The tests print lines such as `figure: kills | 2000 | 0 lost`, which are collected into
//! one table. `ARTEL_SEED` is passed on to the tests; without it they pick a seed and print
//! it.

use crate::args::Args;
use crate::fuzz;
use crate::process::{self, OutputEcho};
use crate::stop::XtaskError;
use crate::table::{self, TextTable};
use crate::{machine, seed};

struct LongProof {
    name: &'static str,
    shows: &'static str,
    work: LongProofWork,
}

enum LongProofWork {
    /// The tests of one package that a nextest filter selects.
    Tests {
        package: &'static str,
        filter: &'static str,
    },
    /// Every fuzz target, for this long each.
    Fuzz { seconds: u64 },
}

const fn tests(package: &'static str, filter: &'static str) -> LongProofWork {
    LongProofWork::Tests { package, filter }
}

const PROOFS: [LongProof; 18] = [
    LongProof {
        name: "kill",
        shows: "killed at any moment, nothing acknowledged is lost and nothing happens twice",
        work: tests("artel-journal", "test(/(^|::)proof_kill/)"),
    },
    LongProof {
        name: "two-processes",
        shows: "processes that share a journal take turns and never break the chain",
        work: tests("artel-journal", "test(/(^|::)proof_two_processes/)"),
    },
    LongProof {
        name: "tamper",
        shows: "a flipped bit, a missing or forged event and a rolled-back file are all found",
        work: tests("artel-journal", "test(/(^|::)proof_tamper/)"),
    },
    LongProof {
        name: "faults",
        shows: "a full, failing or read-only disk is named, and nothing acknowledged is lost",
        work: tests("artel-journal", "test(/(^|::)proof_faults/)"),
    },
    LongProof {
        name: "power-cut",
        shows: "when unsynced writes vanish or tear, everything acknowledged is still there",
        work: tests("artel-journal", "test(/(^|::)proof_power_cut/)"),
    },
    LongProof {
        name: "keyring",
        shows: "keys reach a real desktop's store, and the file where it is locked or gone (needs \
                dbus, gnome-keyring and libsecret-tools)",
        work: tests("artel-keyring", "test(/(^|::)proof_keyring/)"),
    },
    LongProof {
        name: "sandbox",
        shows: "whatever a command does, its whole tree ends, memory stays bounded, nothing leaks",
        work: tests("artel-sandbox", "test(/(^|::)proof_(ends|floods|many)/)"),
    },
    LongProof {
        name: "scripts",
        shows: "a skill's script that never ends is ended after its two minutes",
        work: tests("artel", "test(/(^|::)proof_scripts/)"),
    },
    LongProof {
        name: "resume",
        shows: "a run killed at any append of its journal ends in the same files and answer",
        work: tests("artel", "test(/(^|::)proof_resume/)"),
    },
    LongProof {
        name: "story",
        shows: "from request to merge, killed at any append, it ends in the same files and commits",
        work: tests("artel", "test(/(^|::)proof_story/)"),
    },
    LongProof {
        name: "flood",
        shows: "ten thousand files at once, good and bad, are each what they are, the most urgent \
                first, though the daemon is killed",
        work: tests("artel", "test(/(^|::)proof_flood/)"),
    },
    LongProof {
        name: "console",
        shows: "pages stay quick and small with 10,000 runs and a run of 200,000 events, and go on \
                though the daemon is restarted 50 times (needs chromium)",
        work: tests("artel", "test(/(^|::)proof_console/)"),
    },
    LongProof {
        name: "stop",
        shows: "a daemon that does not listen is killed after 10 s, and the next does its work",
        work: tests("artel", "test(/(^|::)proof_stop/)"),
    },
    LongProof {
        name: "plans",
        shows: "a plan comes out as one step after another would, whatever fails, waits or is killed",
        work: tests("artel-engine", "test(/(^|::)proof_plans/)"),
    },
    LongProof {
        name: "recovery",
        shows: "told what to try next, a mediocre model recovers from nine faults in ten; untold, \
                from hardly any",
        work: tests("artel-workshop", "test(/(^|::)proof_recovery/)"),
    },
    LongProof {
        name: "readers",
        shows: "10,000 readers of live events, one after the other from where the last one was: no \
                gap, no repeat, and the daemon grows by nothing",
        work: tests("artel", "test(/(^|::)proof_reconnects/)"),
    },
    LongProof {
        name: "readme",
        shows: "the first command of the README plays the whole story in a fresh clone",
        work: tests("artel", "test(/(^|::)proof_readme/)"),
    },
    LongProof {
        name: "fuzz",
        shows: "no input makes a reader panic, hang for a second or take 512 MB",
        work: LongProofWork::Fuzz { seconds: 30 * 60 },
    },
];

/// Runs one proof or all of them. If one fails, the others still run.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let lists = args.flag("--list");
    let wanted = args.word();
    args.finish()?;
    if lists {
        list();
        return Ok(());
    }
    let chosen: Vec<&LongProof> = PROOFS
        .iter()
        .filter(|proof| wanted.as_deref().is_none_or(|name| name == proof.name))
        .collect();
    if chosen.is_empty() {
        let name = wanted.unwrap_or_default();
        return Err(XtaskError::Usage(format!(
            "there is no proof `{name}`; `--list` shows them"
        )));
    }

    let mut figures = TextTable::new(["proof", "figure"]);
    let mut failures = Vec::new();
    for proof in chosen {
        println!("\n== {}: {}", proof.name, proof.shows);
        if let Err(stop) = prove(proof, &mut figures) {
            figures.row([proof.name.to_owned(), "FAILED".to_owned()]);
            failures.push((proof.name, stop));
        }
    }
    println!("\n{}\n\n{}", machine::describe(), figures.render());
    conclude(failures)
}

fn list() {
    let mut table = TextTable::new(["proof", "shows"]);
    PROOFS
        .iter()
        .for_each(|proof| table.row([proof.name.to_owned(), proof.shows.to_owned()]));
    print!("{}", table.render());
}

fn prove(proof: &LongProof, figures: &mut TextTable) -> Result<(), XtaskError> {
    match proof.work {
        LongProofWork::Tests { package, filter } => {
            prove_by_tests(proof.name, package, filter, figures)
        }
        LongProofWork::Fuzz { seconds } => {
            let found = fuzz::long(seconds, seed::choose())?;
            found
                .figures()
                .for_each(|cells| figures.row(labelled(proof.name, cells)));
            found.judge()
        }
    }
}

fn prove_by_tests(
    name: &str,
    package: &str,
    filter: &str,
    figures: &mut TextTable,
) -> Result<(), XtaskError> {
    // Some tests start programs of other packages, which `cargo nextest -p` does not build.
    let programs = [
        "build",
        "--release",
        "--locked",
        "--workspace",
        "--exclude",
        "xtask",
        "--bins",
    ];
    process::run(&mut process::cargo(programs))?;
    let args = [
        "nextest",
        "run",
        "--release",
        "--locked",
        "--profile",
        "proof",
        "--no-capture",
    ];
    let mut command = process::cargo(args);
    command
        .args(["-p", package, "-E", filter])
        .env("ARTEL_PROOF", "long");
    let status = process::run_reading(&mut command, |line| {
        if let Some(cells) = table::marked_cells(line, "figure:") {
            figures.row(labelled(name, cells));
        }
        OutputEcho::Show
    })?;
    process::judge(&command, status)
}

fn labelled(name: &str, cells: Vec<String>) -> impl Iterator<Item = String> {
    std::iter::once(name.to_owned()).chain(cells)
}

fn conclude(failures: Vec<(&str, XtaskError)>) -> Result<(), XtaskError> {
    if failures.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = failures
        .into_iter()
        .map(|(name, stop)| match stop {
            XtaskError::Failed(message) | XtaskError::Usage(message) => {
                format!("\n  {name}: {message}")
            }
        })
        .collect();
    Err(XtaskError::Failed(format!("not proven:{}", lines.concat())))
}
