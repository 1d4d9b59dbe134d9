//! `go test`, as text or with `-json`. The output of each test is kept under its name,
//! because it contains the place and the message.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::text::{location, millis};
use crate::checks::report::{TestCounts, TestFailureDetail, TestNamesByOutcome, TestRunReport};

/// The tests of all packages, sorted by name.
#[derive(Default)]
struct GoTestCollector<'m> {
    module: &'m str,
    all: BTreeMap<(String, String), GoTestRecord>,
    millis: Option<u64>,
    /// Output outside of tests, needed for packages that do not build.
    outside: String,
}

#[derive(Default)]
struct GoTestRecord {
    output: String,
    end: Option<GoTestOutcome>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GoTestOutcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoTestEvent {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
    #[serde(default)]
    elapsed: f64,
}

pub(super) fn parse(stdout: &str, stderr: &str, module: &str) -> TestRunReport {
    let mut tests = GoTestCollector {
        module,
        ..GoTestCollector::default()
    };
    let mut text = String::new();
    for line in stdout.lines() {
        match serde_json::from_str::<GoTestEvent>(line) {
            Ok(event) => tests.event(event),
            Err(_) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    tests.text(&text);
    tests.outside.push_str(stderr);
    tests.report()
}

impl GoTestCollector<'_> {
    fn event(&mut self, event: GoTestEvent) {
        if event.test.is_empty() {
            if matches!(event.action.as_str(), "pass" | "fail") {
                self.took(event.elapsed);
            }
            self.outside.push_str(&event.output);
            return;
        }
        let test = self.all.entry((event.package, event.test)).or_default();
        match event.action.as_str() {
            "output" => test.output.push_str(&event.output),
            "pass" => test.end = Some(GoTestOutcome::Passed),
            "fail" => test.end = Some(GoTestOutcome::Failed),
            "skip" => test.end = Some(GoTestOutcome::Skipped),
            _ => {}
        }
    }

    fn took(&mut self, seconds: f64) {
        let took = millis(&format!("{seconds}s")).unwrap_or(0);
        self.millis = Some(self.millis.unwrap_or(0).saturating_add(took));
    }

    /// Parses plain text. The name of a package comes after its tests.
    fn text(&mut self, text: &str) {
        let mut current = String::new();
        let mut open: BTreeMap<String, GoTestRecord> = BTreeMap::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("=== ") {
                current = rest
                    .split_whitespace()
                    .nth(1)
                    .unwrap_or_default()
                    .to_owned();
                continue;
            }
            if let Some((name, end)) = ended(line) {
                open.entry(name.clone()).or_default().end = Some(end);
                current = name;
                continue;
            }
            if let Some((package, took)) = package_line(line) {
                let tests = std::mem::take(&mut open).into_iter();
                self.all
                    .extend(tests.map(|(name, test)| ((package.clone(), name), test)));
                self.millis = Some(self.millis.unwrap_or(0).saturating_add(took));
                current.clear();
                continue;
            }
            let place = if current.is_empty() {
                &mut self.outside
            } else {
                &mut open.entry(current.clone()).or_default().output
            };
            place.push_str(line);
            place.push('\n');
        }
        let left = open
            .into_iter()
            .map(|(name, test)| ((String::new(), name), test));
        self.all.extend(left);
    }

    fn report(self) -> TestRunReport {
        let mut report = TestRunReport {
            millis: self.millis,
            ..TestRunReport::default()
        };
        let is_parent = |package: &str, name: &str| {
            let below = (package.to_owned(), format!("{name}/"));
            let next = self.all.range(below..).next();
            next.is_some_and(|((other, test), _)| {
                other == package
                    && test
                        .strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('/'))
            })
        };
        for ((package, name), test) in &self.all {
            let Some(end) = test.end else { continue };
            if is_parent(package, name) {
                continue;
            }
            let names = report.names.get_or_insert_default();
            let full = format!("{package} {name}").trim().to_owned();
            match end {
                GoTestOutcome::Passed => names.passed.push(full),
                GoTestOutcome::Skipped => names.skipped.push(full),
                GoTestOutcome::Failed => {}
            }
            let counts = report.counts.get_or_insert_default();
            counts.add(match end {
                GoTestOutcome::Passed => TestCounts {
                    passed: 1,
                    ..TestCounts::default()
                },
                GoTestOutcome::Failed => TestCounts {
                    failed: 1,
                    ..TestCounts::default()
                },
                GoTestOutcome::Skipped => TestCounts {
                    skipped: 1,
                    ..TestCounts::default()
                },
            });
            if end == GoTestOutcome::Failed {
                report.add(failure(name, &test.output, &folder(package, self.module)));
            }
        }
        broken(&self.outside, &mut report);
        report.names = report.names.map(TestNamesByOutcome::told_apart);
        report
    }
}

/// Parses `    --- FAIL: TestTable/one (0.00s)`.
fn ended(line: &str) -> Option<(String, GoTestOutcome)> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (end, rest) = rest.split_once(": ")?;
    let end = match end {
        "PASS" => GoTestOutcome::Passed,
        "FAIL" => GoTestOutcome::Failed,
        "SKIP" => GoTestOutcome::Skipped,
        _ => return None,
    };
    let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
    Some((name.to_owned(), end))
}

/// Parses a package's line: outcome, name and time, separated by tabs.
fn package_line(line: &str) -> Option<(String, u64)> {
    let mut parts = line.split('\t');
    let word = parts.next()?.trim();
    let package = parts.next()?;
    let took = parts.next().and_then(millis).unwrap_or(0);
    matches!(word, "ok" | "FAIL" | "?").then(|| (package.trim().to_owned(), took))
}

/// Returns the folder of a package, relative to the module's folder.
fn folder(package: &str, module: &str) -> String {
    let inside = package.strip_prefix(module).filter(|_| !module.is_empty());
    inside
        .map(|inside| inside.trim_start_matches('/').to_owned())
        .unwrap_or_default()
}

fn failure(name: &str, output: &str, folder: &str) -> TestFailureDetail {
    let is_note = |line: &&str| line.starts_with("=== ") || ended(line).is_some();
    let lines: Vec<_> = output.lines().filter(|line| !is_note(line)).collect();
    let place = lines.iter().find_map(|line| place_in(line));
    let place = place.map(|(file, line)| {
        if file.contains('/') || folder.is_empty() {
            (file, line)
        } else {
            (format!("{folder}/{file}"), line)
        }
    });
    TestFailureDetail::new(name, place, &lines.join("\n"))
}

/// Finds `sum_test.go:12` in a line of a message or stack trace.
fn place_in(line: &str) -> Option<(String, u64)> {
    let at = line.find(".go:")?;
    let start = line[..at]
        .rfind(char::is_whitespace)
        .map_or(0, |space| space + 1);
    let digits = line[at + 4..].find(|letter: char| !letter.is_ascii_digit());
    let end = digits.map_or(line.len(), |digits| at + 4 + digits);
    location(&line[start..end])
}

/// Parses build errors: `./sum.go:3:5: undefined: x` outside of any test.
fn broken(outside: &str, report: &mut TestRunReport) {
    for line in outside.lines() {
        let Some((place, message)) = line.split_once(": ") else {
            continue;
        };
        if place.contains(".go:")
            && let Some((file, line)) = location(place)
        {
            let file = file.trim_start_matches("./").to_owned();
            report.add(TestFailureDetail::new(
                "(does not build)",
                Some((file, line)),
                message,
            ));
        }
    }
}
