//! The binary: parse, call, print. It has no logic of its own.

mod arguments;
mod commands;
mod prompt;
mod render;
mod runtime;
mod screen;
mod signals;
mod usage;

use std::process::ExitCode;

use artel_types::{ActorSurface, Failure, FailureCode, FailureKind};
use artel_workshop::{CommandContext, WorkshopFailures};

use crate::arguments::ArtelArgs;
use crate::screen::CliOutput;

fn main() -> ExitCode {
    // When started as the sandbox's starter, the program does only that, here, and exits.
    artel_sandbox::enter_if_asked();
    screen::show_panics_as_failures();
    // If this fails, a file that exceeds the size limit ends the process, which is the
    // system's default.
    drop(signals::survive_file_limit());
    // The hook has already reported a panic; only the exit code is left.
    std::panic::catch_unwind(run).unwrap_or_else(|_| ExitCode::from(70))
}

fn run() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let arguments = match usage::parse(&words) {
        Ok(arguments) => arguments,
        Err(usage::CommandLineExit::Text(text)) => return CliOutput::plain().finish_text(&text),
        Err(usage::CommandLineExit::Wrong(failure)) => {
            return CliOutput::for_words(&words).finish_problems(&failure.into());
        }
    };
    let caller = CommandContext::from_process(arguments.flags(), ActorSurface::Cli);
    let mut screen = CliOutput::new(arguments.readers(), caller.as_ref().ok());
    if let Ok(caller) = &caller {
        let tell = screen.teller();
        caller.room().told_by(move |text| tell(text));
        signals::ends_waiting(caller.room());
    }
    let done = dispatch(
        &arguments,
        caller.as_ref().map_err(Clone::clone),
        &mut screen,
    );
    screen.finish(done)
}

/// Carries out one command. The result says whether it did what was asked, or found
/// something bad and has already shown it. Explaining a code works without a caller, which
/// needs a home folder.
fn dispatch(
    arguments: &ArtelArgs,
    caller: Result<&CommandContext, Failure>,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    use arguments::Command as Do;
    match &arguments.command {
        Do::Demo(args) => commands::demo::run(args, caller?, screen),
        Do::Init(args) => commands::init::run(args, caller?, screen),
        Do::Ask(args) => commands::ask::run(args, caller?, screen),
        Do::Request(args) => commands::request::run(args, caller?, screen),
        Do::Plan(args) => commands::plan::run(args, caller?, screen),
        Do::Waiting(args) => commands::waiting::run(args, caller?, screen),
        Do::Answer(args) => commands::answer::run(args, caller?, screen),
        Do::Inbox(args) => commands::inbox::run(args, caller?, screen),
        Do::Resume(args) => commands::resume::run(args, caller?, screen),
        Do::Runs(args) => commands::runs::run(args, caller?, screen),
        Do::Pause(args) => commands::steer::pause(args, caller?, screen),
        Do::Cancel(args) => commands::steer::cancel(args, caller?, screen),
        Do::Hint(args) => commands::steer::hint(args, caller?, screen),
        Do::Apply(args) => commands::apply::run(args, caller?, screen),
        Do::Replay(args) => commands::replay::run(args, caller?, screen),
        Do::Fork(args) => commands::fork::run(args, caller?, screen),
        Do::Run(args) => commands::run::run(args, caller?, screen),
        Do::Serve(args) => commands::serve::run(args, caller?, screen),
        Do::Daemon(args) => commands::daemon::run(args, caller?, screen),
        Do::Open(args) => commands::open::run(args, caller?, screen),
        Do::Token(args) => commands::token::run(args, caller?, screen),
        Do::Changeset(args) => commands::changeset::run(args, caller?, screen),
        Do::Report(args) => commands::report::run(args, caller?, screen),
        Do::Doctor(args) => commands::doctor::run(args, caller?, screen),
        Do::Auth(args) => commands::auth::run(args, caller?, screen),
        Do::Model(args) => commands::model::run(args, caller?, screen),
        Do::Policy(args) => commands::policy::run(args, caller?, screen),
        Do::Sandbox(args) => commands::sandbox::run(args, caller?, screen),
        Do::Portal(args) => commands::portal::run(args, caller?, screen),
        Do::Agent(args) => commands::agent::run(args, caller?, screen),
        Do::Skill(args) => commands::skill::run(args, caller?, screen),
        Do::Hook(args) => commands::hook::run(args, caller?, screen),
        Do::Feedback(args) => commands::feedback::run(args, caller?, screen),
        Do::Tool(args) => commands::tool::run(args, caller?, screen),
        Do::Usage(args) => commands::usage::run(args, caller?, screen),
        Do::Journal(args) => commands::journal::run(args, caller?, screen),
        Do::Trace(args) => commands::trace::run(args, caller?, screen),
        Do::Config(args) => commands::config::run(args, caller?, screen),
        Do::Workshop(args) => commands::workshop::run(args, caller?, screen),
        Do::Clean(args) => commands::clean::run(args, caller?, screen),
        Do::Explain(args) => commands::explain::run(args, screen),
    }
}

/// The outcome of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CliCommandOutcome {
    /// The command did what was asked.
    Done,
    /// The command found something bad, which its output describes.
    Bad(FailureKind),
    /// The command ran another program, whose exit code this is.
    Exit(u8),
}

/// Turns an error of the output itself into a failure.
pub(crate) fn output_failed(error: &std::io::Error) -> Failure {
    Failure::new(FailureCode::C008, "the output could not be written")
        .because(error.to_string())
        .advise("write it to a place with room: `artel … > FILE`")
}
