//! Parses the output of test runners with pure functions over text. Every text gives a
//! result, and output that is not understood is left out, never guessed.

mod cargo;
mod coverage;
mod go;
mod javascript;
mod jest;
mod mocha;
mod names;
mod other;
mod pytest;
mod tap;
mod text;
mod unittest;
mod vitest;

use super::report::TestRunReport;
use super::runner::TestRunner;

pub(crate) use text::plain;

/// The output of a test runner, with the data needed to parse it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TestRunnerOutput<'p> {
    pub(crate) stdout: &'p str,
    pub(crate) stderr: &'p str,
    /// The name of the Go module, which prefixes the names of packages.
    pub(crate) module: &'p str,
}

/// Parses the output of a runner.
pub(crate) fn parse(runner: TestRunner, printed: TestRunnerOutput<'_>) -> TestRunReport {
    let stdout = plain(printed.stdout);
    let stderr = plain(printed.stderr);
    let both = format!("{stdout}\n{stderr}");
    let mut report = match runner {
        TestRunner::Cargo => cargo::parse(&both),
        TestRunner::Go => go::parse(&stdout, &stderr, printed.module),
        TestRunner::Vitest => vitest::parse(&both),
        TestRunner::Jest => jest::parse(&both),
        TestRunner::Mocha => mocha::parse(&both),
        TestRunner::Node => tap::parse(&stdout),
        TestRunner::Npm => javascript::parse(&both),
        TestRunner::Pytest => pytest::parse(&both),
        TestRunner::Unittest => unittest::parse(&both),
        TestRunner::Bun
        | TestRunner::Rspec
        | TestRunner::Minitest
        | TestRunner::Gradle
        | TestRunner::Maven
        | TestRunner::Ctest
        | TestRunner::Mix
        | TestRunner::Phpunit => other::parse(runner, &both),
    };
    if report.names.is_none() {
        report.names = names::of(runner, &both, report.counts);
    }
    report.coverage = coverage::of(&both);
    report
}

#[cfg(test)]
mod tests;
