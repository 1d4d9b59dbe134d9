//! The project's own tasks, run as `cargo xtask <task>`. One file per task.
//!
//! Every command that a task starts is shown, and its exit code decides: no failure is
//! swallowed.
#![expect(
    clippy::disallowed_methods,
    reason = "a task runner starts programs, reads the clock and the environment"
)]
#![expect(clippy::print_stdout, reason = "it speaks to the person who ran it")]
#![expect(clippy::print_stderr, reason = "it speaks to the person who ran it")]

mod args;
mod bench;
mod docs;
mod fuzz;
mod machine;
mod process;
mod prove;
mod seed;
mod setup;
mod stop;
mod table;
mod test;
mod tidy;

use std::process::ExitCode;

use args::Args;
use stop::XtaskError;

const USAGE: &str = "\
usage: cargo xtask <task>

  test  [--quick]                             everything a change must pass
  tidy  [--list MEASURE] [--write]            words, names and shape, against xtask/tidy.toml
  setup                                       what tests need, as `test` begins with
  prove [NAME] [--list]                       the long proofs, with their figures
  bench [NAME] [--against REV [--pairs N]] [--list]
                                              the benchmarks, with their figures
  fuzz  [TARGET] [--seconds N] [--seed S] [--list]
                                              coverage-guided fuzzing
  docs  [--check]                             the reference pages in docs/";

fn main() -> ExitCode {
    match run(Args::of_this_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(XtaskError::Usage(message)) => {
            eprintln!("error: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
        Err(XtaskError::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: Args) -> Result<(), XtaskError> {
    if args.flag("--help") || args.flag("-h") || args.is_empty() {
        println!("{USAGE}");
        return Ok(());
    }
    match args.word().as_deref() {
        Some("test") => test::run(args),
        Some("tidy") => tidy::run(args),
        Some("setup") => args.finish().and_then(|()| setup::run()),
        Some("prove") => prove::run(args),
        Some("bench") => bench::run(args),
        Some("fuzz") => fuzz::run(args),
        Some("docs") => docs::run(args),
        Some(other) => Err(XtaskError::Usage(format!("there is no task `{other}`"))),
        None => args.finish(),
    }
}
