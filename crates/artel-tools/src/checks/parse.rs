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

use super::report::Report;
use super::runner::Runner;

pub(crate) use text::plain;

/// The output of a test runner, with the data needed to parse it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Printed<'p> {
    pub(crate) stdout: &'p str,
    pub(crate) stderr: &'p str,
    /// The name of the Go module, which prefixes the names of packages.
    pub(crate) module: &'p str,
}

/// Parses the output of a runner.
pub(crate) fn parse(runner: Runner, printed: Printed<'_>) -> Report {
    let stdout = plain(printed.stdout);
    let stderr = plain(printed.stderr);
    let both = format!("{stdout}\n{stderr}");
    let mut report = match runner {
        Runner::Cargo => cargo::parse(&both),
        Runner::Go => go::parse(&stdout, &stderr, printed.module),
        Runner::Vitest => vitest::parse(&both),
        Runner::Jest => jest::parse(&both),
        Runner::Mocha => mocha::parse(&both),
        Runner::Node => tap::parse(&stdout),
        Runner::Npm => javascript::parse(&both),
        Runner::Pytest => pytest::parse(&both),
        Runner::Unittest => unittest::parse(&both),
        Runner::Bun
        | Runner::Rspec
        | Runner::Minitest
        | Runner::Gradle
        | Runner::Maven
        | Runner::Ctest
        | Runner::Mix
        | Runner::Phpunit => other::parse(runner, &both),
    };
    if report.names.is_none() {
        report.names = names::of(runner, &both, report.counts);
    }
    report.coverage = coverage::of(&both);
    report
}

#[cfg(test)]
mod tests;
