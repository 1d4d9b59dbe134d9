//! Coverage-guided fuzzing with libFuzzer on stable Rust.
//!
//! A target is a file in `fuzz/src/bin`; its first doc line says what it shows, and
//! `fuzz/seeds/<target>` holds its initial inputs. There is no other list of targets. No
//! sanitizer is used: the code under test has no unsafe code, so only panics, hangs and
//! memory use can go wrong.

mod outcome;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::process::{self, OutputEcho};
use crate::seed;
use crate::stop::XtaskError;
use crate::table::TextTable;

pub(crate) use outcome::FuzzOutcomes;
use outcome::FuzzTargetOutcome;

/// Manifest of the fuzz workspace, relative to the workspace root.
pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// The instrumentation flags that cargo-fuzz uses; `-C passes` and `-C llvm-args` are
/// stable.
const INSTRUMENTED: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// Limits for libFuzzer: an input that takes a second or 512 MB is a finding, as is a
/// panic.
const LIMITS: [&str; 3] = ["-max_len=4096", "-timeout=1", "-rss_limit_mb=512"];
const REPORT: [&str; 3] = ["-print_final_stats=1", "-print_funcs=0", "-reload=0"];

const SHORT_SECONDS: u64 = 5;
const DEFAULT_SECONDS: u64 = 60;

/// Where inputs that reached new code are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FuzzCorpusChoice {
    /// In `fuzz/corpus`; the next run starts from them.
    Kept,
    /// Nowhere: the run depends only on the seed inputs and the seed number.
    Fresh,
}

struct FuzzOptions {
    seconds: u64,
    seed: u32,
    corpus: FuzzCorpusChoice,
}

/// Fuzzes one target or all of them.
pub(crate) fn run(mut args: Args) -> Result<(), XtaskError> {
    let lists = args.flag("--list");
    let seconds = args.value("--seconds")?.unwrap_or(DEFAULT_SECONDS);
    let seed = args.value("--seed")?.unwrap_or_else(seed::choose).max(1);
    let wanted = args.word();
    args.finish()?;

    let mut targets = targets()?;
    if lists {
        let mut table = TextTable::new(["target", "shows"]);
        targets
            .iter()
            .for_each(|target| table.row([target.name.clone(), target.shows.clone()]));
        print!("{}", table.render());
        return Ok(());
    }
    targets.retain(|target| wanted.as_deref().is_none_or(|name| name == target.name));
    if targets.is_empty() {
        let name = wanted.unwrap_or_default();
        return Err(XtaskError::Usage(format!(
            "there is no fuzz target `{name}`; `--list` shows them"
        )));
    }
    let found = fuzz(
        &targets,
        &FuzzOptions {
            seconds,
            seed,
            corpus: FuzzCorpusChoice::Kept,
        },
    )?;
    println!("\n{}", found.render());
    found.judge()
}

/// Lints the targets and fuzzes each for a few seconds: the check that every change must
/// pass.
pub(crate) fn short() -> Result<(), XtaskError> {
    process::run(cargo("clippy")?.args(["--", "-D", "warnings"]))?;
    let plan = FuzzOptions {
        seconds: SHORT_SECONDS,
        seed: seed::choose(),
        corpus: FuzzCorpusChoice::Fresh,
    };
    let found = fuzz(&targets()?, &plan)?;
    println!("\n{}", found.render());
    found.judge()
}

/// Fuzzes every target for `seconds`.
pub(crate) fn long(seconds: u64, seed: u32) -> Result<FuzzOutcomes, XtaskError> {
    fuzz(
        &targets()?,
        &FuzzOptions {
            seconds,
            seed,
            corpus: FuzzCorpusChoice::Kept,
        },
    )
}

struct FuzzTarget {
    name: String,
    shows: String,
}

/// Returns all targets, sorted by name.
fn targets() -> Result<Vec<FuzzTarget>, XtaskError> {
    let folder = process::root().join("fuzz/src/bin");
    let unreadable = |cause| XtaskError::because(folder.display(), cause);
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let (Some(name), Some("rs")) = (stem(&path), path.extension().and_then(|e| e.to_str()))
        else {
            continue;
        };
        let source = fs::read_to_string(&path).map_err(unreadable)?;
        let first = source
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("//!"));
        targets.push(FuzzTarget {
            name,
            shows: first.unwrap_or_default().trim().to_owned(),
        });
    }
    targets.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(targets)
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

fn fuzz(targets: &[FuzzTarget], plan: &FuzzOptions) -> Result<FuzzOutcomes, XtaskError> {
    println!("fuzz seed: {}", plan.seed);
    process::run(&mut cargo("build")?)?;
    let mut findings = FuzzOutcomes::default();
    for target in targets {
        println!("\n-- {}: {}", target.name, target.shows);
        findings.add(fuzz_one(&target.name, plan)?);
    }
    Ok(findings)
}

fn fuzz_one(name: &str, plan: &FuzzOptions) -> Result<FuzzTargetOutcome, XtaskError> {
    let corpus = match plan.corpus {
        FuzzCorpusChoice::Kept => process::root().join("fuzz/corpus").join(name),
        FuzzCorpusChoice::Fresh => emptied(target_folder().join("fresh-corpus").join(name))?,
    };
    let artifacts = process::root().join("fuzz/artifacts").join(name);
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).map_err(|cause| XtaskError::because(folder.display(), cause))?;
    }
    let program = target_folder().join(host()?).join("release").join(name);
    let seeds = process::root().join("fuzz/seeds").join(name);
    let mut command = Command::new(&program);
    command
        .arg(&corpus)
        .args(seeds.is_dir().then_some(&seeds))
        .args(LIMITS)
        .args(REPORT)
        .args([
            format!("-seed={}", plan.seed),
            format!("-max_total_time={}", plan.seconds),
            format!("-artifact_prefix={}/", artifacts.display()),
        ]);

    let mut outcome = FuzzTargetOutcome::new(name, plan.seed);
    let status = process::run_reading(&mut command, |line| {
        outcome.read(line);
        if outcome::is_noise(line) {
            OutputEcho::Hide
        } else {
            OutputEcho::Show
        }
    })?;
    outcome.end(status, &program);
    Ok(outcome)
}

/// Creates a cargo command for the fuzz workspace. It names the target platform explicitly,
/// because cargo then leaves build scripts and macros uninstrumented.
fn cargo(subcommand: &str) -> Result<Command, XtaskError> {
    let mut command = process::cargo([subcommand, "--manifest-path", MANIFEST]);
    command.args([
        "--release",
        "--locked",
        "--target",
        &host()?,
        "--target-dir",
    ]);
    command.arg(target_folder()).env("RUSTFLAGS", INSTRUMENTED);
    Ok(command)
}

fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(shared) => process::root().join(shared).join("fuzz"),
        None => process::root().join("fuzz/target"),
    }
}

fn host() -> Result<String, XtaskError> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|cause| XtaskError::because("`rustc -vV`", cause))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| XtaskError::Failed("`rustc -vV` names no host".to_owned()))
}

fn emptied(folder: PathBuf) -> Result<PathBuf, XtaskError> {
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|cause| XtaskError::because(folder.display(), cause))?;
    }
    Ok(folder)
}
