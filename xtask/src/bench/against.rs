//! Compares a benchmark in an older commit with this tree, in alternating pairs.
//!
//! Running all of one and then all of the other would compare two moments of the machine.
//! The two runs of a pair follow each other directly, and their order alternates, so a
//! machine that slows down affects both alike. The result is the median of the pairs'
//! ratios; if the ratios spread too widely, the verdict is `not decided`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{BenchmarkLocation, BenchmarkSpec};
use crate::process::{self, OutputEcho};
use crate::stop::XtaskError;
use crate::table::{self, TextTable};

/// Default number of pairs; `--pairs` overrides it.
pub(super) const PAIRS: usize = 9;

/// A median ratio of at most this, in either direction, counts as equal.
const EQUAL: f64 = 1.1;

/// If the middle half of the ratios spreads wider than this, the verdict is `not decided`.
const WIDEST_SPREAD: f64 = 0.15;

/// One figure that a benchmark printed.
#[derive(Debug, Clone, PartialEq)]
struct BenchmarkFigure {
    name: String,
    value: f64,
    unit: String,
}

/// Compares one benchmark with the same benchmark at `revision`.
pub(super) fn compare(
    bench: &BenchmarkSpec,
    revision: &str,
    pairs: usize,
) -> Result<TextTable, XtaskError> {
    let old_tree = check_out(revision)?;
    let old = build(bench, &old_tree)?;
    let new = build(bench, &process::root())?;
    let mut rounds = Vec::new();
    for pair in 0..pairs {
        println!("pair {} of {pairs}", pair + 1);
        let (before, after) = if pair % 2 == 0 {
            let before = readings(bench, &old)?;
            (before, readings(bench, &new)?)
        } else {
            let after = readings(bench, &new)?;
            (readings(bench, &old)?, after)
        };
        rounds.push((before, after));
    }
    Ok(judge(&rounds))
}

/// Checks the revision out below `target/bench`, where it stays for the next comparison.
fn check_out(revision: &str) -> Result<PathBuf, XtaskError> {
    let commit = format!("{revision}^{{commit}}");
    let output = Command::new("git")
        .args(["rev-parse", "--verify", "--quiet", &commit])
        .current_dir(process::root())
        .output()
        .map_err(|cause| XtaskError::because("git cannot be started", cause))?;
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if id.is_empty() {
        return Err(XtaskError::Usage(format!(
            "there is no commit `{revision}`"
        )));
    }
    let folder = process::root().join("target/bench").join(&id);
    if !folder.join("Cargo.toml").is_file() {
        let mut command = Command::new("git");
        command
            .args(["clone", "--quiet", "--shared", "--no-checkout", "."])
            .arg(&folder)
            .current_dir(process::root());
        process::run(&mut command)?;
        let mut command = Command::new("git");
        command
            .args(["checkout", "--quiet", "--detach", &id])
            .current_dir(&folder);
        process::run(&mut command)?;
    }
    Ok(folder)
}

/// Builds the benchmark and the programs it measures in `tree`; returns the benchmark's
/// path.
fn build(bench: &BenchmarkSpec, tree: &Path) -> Result<PathBuf, XtaskError> {
    let mut args = vec!["build", "--release", "--locked", "-p", "artel"];
    let folder = match bench.place {
        BenchmarkLocation::Kit => {
            args.extend(["-p", "artel-testkit", "--bins"]);
            ""
        }
        BenchmarkLocation::Example(package) => {
            args.extend(["-p", package, "--example", bench.program]);
            "examples"
        }
    };
    // Each tree keeps its own build output: a shared folder would rebuild everything at
    // each turn.
    let target = tree.join("target");
    let mut command = process::cargo(args);
    command.current_dir(tree).env("CARGO_TARGET_DIR", &target);
    process::run(&mut command)?;
    Ok(target.join("release").join(folder).join(bench.program))
}

fn readings(bench: &BenchmarkSpec, program: &Path) -> Result<Vec<BenchmarkFigure>, XtaskError> {
    let mut found = Vec::new();
    let mut command = Command::new(program);
    command.args(bench.quick);
    let status = process::run_reading(&mut command, |line| {
        found.extend(reading(line));
        OutputEcho::Hide
    })?;
    process::judge(&command, status)?;
    Ok(found)
}

fn reading(line: &str) -> Option<BenchmarkFigure> {
    let cells = table::marked_cells(line, "bench:")?;
    let [name, value, unit, ..] = &cells[..] else {
        return None;
    };
    Some(BenchmarkFigure {
        name: name.clone(),
        value: value.parse().ok()?,
        unit: unit.clone(),
    })
}

/// Summarises the pairs in one row per figure that both sides printed.
fn judge(rounds: &[(Vec<BenchmarkFigure>, Vec<BenchmarkFigure>)]) -> TextTable {
    let mut table = TextTable::new(["figure", "old", "new", "unit", "ratio", "spread", "verdict"]);
    let names = rounds.first().map_or(&[][..], |(before, _)| before);
    for first in names {
        let value = |side: &[BenchmarkFigure]| {
            let found = side.iter().find(|one| one.name == first.name);
            found.map(|one| one.value)
        };
        let (old, new): (Vec<f64>, Vec<f64>) = rounds
            .iter()
            .filter_map(|(before, after)| value(before).zip(value(after)))
            .unzip();
        let ratios: Vec<f64> = old
            .iter()
            .zip(&new)
            .map(|(old, new)| times_as_bad(&first.unit, *old, *new))
            .collect();
        let (ratio, spread) = (quantile(&ratios, 0.5), spread(&ratios));
        table.row([
            first.name.clone(),
            format!("{:.2}", quantile(&old, 0.5)),
            format!("{:.2}", quantile(&new, 0.5)),
            first.unit.clone(),
            format!("{ratio:.2}"),
            format!("{:.0} %", spread * 100.0),
            verdict(ratio, spread).to_owned(),
        ]);
    }
    table
}

/// Returns how many times worse the new value is; below 1 it is better.
fn times_as_bad(unit: &str, old: f64, new: f64) -> f64 {
    let more_is_better = unit.ends_with("/s");
    if more_is_better { old / new } else { new / old }
}

/// Returns the interquartile range of the ratios as a share of their median.
fn spread(ratios: &[f64]) -> f64 {
    (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / quantile(ratios, 0.5)
}

fn verdict(ratio: f64, spread: f64) -> &'static str {
    if !ratio.is_finite() || ratio <= 0.0 || spread > WIDEST_SPREAD {
        "not decided"
    } else if ratio > EQUAL {
        "worse"
    } else if ratio < 1.0 / EQUAL {
        "better"
    } else {
        "equal"
    }
}

/// Returns the quantile of `values` at `share` (0.5 is the median), or `NaN` if there are
/// none.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a short list"
    )]
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(
        unit: &str,
        pairs: &[(f64, f64)],
    ) -> Vec<(Vec<BenchmarkFigure>, Vec<BenchmarkFigure>)> {
        let one = |value| BenchmarkFigure {
            name: "a turn".to_owned(),
            value,
            unit: unit.to_owned(),
        };
        pairs
            .iter()
            .map(|(old, new)| (vec![one(*old)], vec![one(*new)]))
            .collect()
    }

    fn row(unit: &str, pairs: &[(f64, f64)]) -> String {
        let text = judge(&rounds(unit, pairs)).render();
        let row = text.lines().last().unwrap_or_default();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_median_of_the_pairs_decides_and_one_bad_pair_does_not() {
        let pairs = [(1.0, 1.0), (1.0, 1.02), (1.0, 9.0), (1.0, 1.01), (1.0, 1.0)];
        assert_eq!(row("ms", &pairs), "a turn 1.00 1.01 ms 1.01 2 % equal");
    }

    #[test]
    fn more_in_a_second_is_better_and_more_milliseconds_are_worse() {
        let pairs = [(100.0, 200.0); 3];
        assert!(row("turns/s", &pairs).ends_with("0.50 0 % better"));
        assert!(row("ms", &pairs).ends_with("2.00 0 % worse"));
    }

    #[test]
    fn pairs_that_disagree_decide_nothing() {
        let pairs = [(1.0, 1.0), (1.0, 1.5), (1.0, 2.0), (1.0, 1.0), (1.0, 1.6)];
        assert!(row("ms", &pairs).ends_with("not decided"));
        assert!(row("ms", &[(0.0, 1.0)]).ends_with("not decided"));
        assert!(row("ms", &[(0.0, 0.0)]).ends_with("not decided"));
    }

    #[test]
    fn lines_without_a_number_are_no_reading() {
        assert_eq!(reading("bench: rg | absent | - | | "), None);
        let found = reading("bench: a turn | 2.40 | ms | - | < 2.00: missed");
        assert_eq!(found.map(|one| one.value), Some(2.4));
    }
}
