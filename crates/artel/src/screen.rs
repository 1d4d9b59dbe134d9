//! The only place that prints: data to standard output, everything else to standard error.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::process::ExitCode;
use std::sync::Arc;

use artel_config::OutputColorChoice;
use artel_types::{ActorSurface, Failure, FailureCode, FailureKind, SecretRedactor};
use artel_workshop::{CommandContext, GlobalFlags, WorkshopFailures};
use serde::Serialize;

use crate::{CliCommandOutcome, output_failed, prompt};

/// Writes data to stdout and messages to stderr.
pub(crate) struct CliOutput {
    out: BufWriter<StdoutLock<'static>>,
    /// Whether programs read the output.
    pub(crate) json: bool,
    colour_out: ColourSwitch,
    colour_err: ColourSwitch,
    /// Whether messages to the person can be redrawn in place.
    pub(crate) redraws: bool,
    redactor: SecretRedactor,
}

/// The audience of the output: people or programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputAudience {
    People,
    Programs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColourSwitch {
    On,
    Off,
}

/// The destination of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CliOutputDestination {
    ToTerminal,
    Elsewhere,
}

impl From<bool> for CliOutputDestination {
    fn from(is_terminal: bool) -> Self {
        if is_terminal {
            Self::ToTerminal
        } else {
            Self::Elsewhere
        }
    }
}

/// The colour of a word, if there are colours.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StatusColour {
    Good,
    Doubtful,
    Bad,
}

impl CliOutput {
    pub(crate) fn new(readers: OutputAudience, caller: Option<&CommandContext>) -> Self {
        let colour = |is_terminal: bool| match (readers, caller) {
            (OutputAudience::People, Some(caller)) if is_wanted(caller, is_terminal.into()) => {
                ColourSwitch::On
            }
            _ => ColourSwitch::Off,
        };
        Self {
            out: BufWriter::new(io::stdout().lock()),
            json: readers == OutputAudience::Programs,
            colour_out: colour(io::stdout().is_terminal()),
            colour_err: colour(io::stderr().is_terminal()),
            redraws: readers == OutputAudience::People
                && io::stderr().is_terminal()
                && !caller.is_some_and(is_dumb),
            redactor: caller.map_or_else(SecretRedactor::none, CommandContext::redactor),
        }
    }

    pub(crate) fn plain() -> Self {
        Self::new(OutputAudience::People, None)
    }

    /// Creates a screen for a command line that could not be parsed, so that no flag
    /// counts.
    pub(crate) fn for_words(words: &[OsString]) -> Self {
        let readers = if words.iter().any(|word| word == "--json") {
            OutputAudience::Programs
        } else {
            OutputAudience::People
        };
        let caller = CommandContext::from_process(GlobalFlags::default(), ActorSurface::Cli);
        Self::new(readers, caller.as_ref().ok())
    }

    /// Prints one line of data.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), WorkshopFailures> {
        self.raw(text.as_ref())?;
        self.raw("\n")
    }

    /// Prints text unchanged.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), WorkshopFailures> {
        self.out.write_all(text.as_bytes()).map_err(stopped)
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<(), WorkshopFailures> {
        serde_json::to_writer(&mut self.out, value).map_err(|error| stopped(error.into()))?;
        self.raw("\n")
    }

    /// Flushes what was printed so far, for output that continues.
    pub(crate) fn flush(&mut self) -> Result<(), WorkshopFailures> {
        self.out.flush().map_err(stopped)
    }

    /// Returns the underlying writer, for formats that write by themselves.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Prints a message for the person, with secrets removed.
    pub(crate) fn say(&mut self, text: impl AsRef<str>) {
        // If the message cannot be printed, the command continues.
        let text = self.redactor.redact(text.as_ref());
        drop(writeln!(io::stderr(), "{text}"));
    }

    /// Prints notes for the person.
    pub(crate) fn notes(&mut self, notes: &[String]) {
        for note in notes {
            if self.json {
                self.say(serde_json::json!({ "note": note }).to_string());
            } else {
                self.say(format!("note: {}", crate::render::harmless(note)));
            }
        }
    }

    /// Returns a function that prints notes while the screen is in use, like
    /// [`CliOutput::notes`] but with their line breaks kept.
    pub(crate) fn teller(&self) -> std::sync::Arc<dyn Fn(&str) + Send + Sync> {
        self.teller_beside(|_| ())
    }

    /// Like `teller`, but also passes each printed line to `keep`.
    pub(crate) fn teller_beside(
        &self,
        keep: impl Fn(&str) + Send + Sync + 'static,
    ) -> std::sync::Arc<dyn Fn(&str) + Send + Sync> {
        let (json, redactor) = (self.json, self.redactor.clone());
        std::sync::Arc::new(move |note: &str| {
            let note = redactor.redact(note);
            let line = if json {
                serde_json::json!({ "note": note }).to_string()
            } else {
                format!("note: {}", crate::render::in_lines(&note))
            };
            drop(writeln!(io::stderr(), "{line}"));
            keep(&line);
        })
    }

    /// Asks the person to confirm. Without a terminal nobody can answer, and the answer is
    /// a refusal.
    pub(crate) fn confirm(
        &mut self,
        question: &str,
        yes: YesFlag,
    ) -> Result<bool, WorkshopFailures> {
        if yes == YesFlag::Given {
            return Ok(true);
        }
        if self.json || !io::stdin().is_terminal() {
            return Err(Failure::new(
                FailureCode::C006,
                format!("{question}: nobody is here to say yes"),
            )
            .advise("run it in a terminal, or add `--yes` if you mean it")
            .into());
        }
        self.flush()?;
        let question = format!("{}? [y/N] ", crate::render::harmless(question));
        let answer = prompt::alone(|gone| prompt::is_yes(&question, gone))?;
        Ok(answer == Some(true))
    }

    /// Colours a word for standard output.
    pub(crate) fn paint(&self, text: &str, paint: StatusColour) -> String {
        painted(text, paint, self.colour_out)
    }

    /// Colours a word for standard error.
    pub(crate) fn paint_told(&self, text: &str, paint: StatusColour) -> String {
        painted(text, paint, self.colour_err)
    }

    pub(crate) fn finish_text(mut self, text: &str) -> ExitCode {
        let done = self.raw(text).map(|()| CliCommandOutcome::Done);
        self.finish(done)
    }

    pub(crate) fn finish_problems(self, problems: &WorkshopFailures) -> ExitCode {
        self.finish(Err(problems.clone()))
    }

    /// Reports the failures, if there are any, and returns the exit code.
    pub(crate) fn finish(mut self, done: Result<CliCommandOutcome, WorkshopFailures>) -> ExitCode {
        let done = done.and_then(|verdict| self.flush().map(|()| verdict));
        match done {
            Ok(CliCommandOutcome::Done) => ExitCode::SUCCESS,
            Ok(CliCommandOutcome::Exit(code)) => ExitCode::from(code),
            Ok(CliCommandOutcome::Bad(kind)) => ExitCode::from(kind.exit_code().0),
            Err(problems) if is_broken_pipe(&problems) => ExitCode::SUCCESS,
            Err(problems) => {
                // What was printed before the failure is shown before it.
                drop(self.out.flush());
                self.show(&problems)
            }
        }
    }

    /// Reports failures that do not end the command.
    pub(crate) fn tell(&mut self, WorkshopFailures(failures): &WorkshopFailures) {
        for failure in failures {
            if self.json {
                let shown = serde_json::json!({ "error": failure });
                self.say(shown.to_string());
            } else {
                self.say(failure_text(failure, self.colour_err));
            }
        }
    }

    fn show(&mut self, problems: &WorkshopFailures) -> ExitCode {
        self.tell(problems);
        let WorkshopFailures(failures) = problems;
        let kind = failures.first().map_or(FailureKind::Bug, Failure::kind);
        ExitCode::from(kind.exit_code().0)
    }
}

/// Advance confirmation by the person, given or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YesFlag {
    Given,
    Ask,
}

impl From<bool> for YesFlag {
    fn from(is_given: bool) -> Self {
        if is_given { Self::Given } else { Self::Ask }
    }
}

/// Follows `output.color`. With the default, only a terminal that supports colours gets
/// them, and `NO_COLOR` is respected.
fn is_wanted(caller: &CommandContext, goes: CliOutputDestination) -> bool {
    let settings = caller
        .workshop()
        .map(|workshop| workshop.settings)
        .or_else(|_| caller.settings().map(Arc::new));
    let wish = settings.map_or(OutputColorChoice::Auto, |settings| {
        settings.output.color.value
    });
    let no_color = caller
        .environment()
        .get("NO_COLOR")
        .is_some_and(|text| !text.is_empty());
    match wish {
        OutputColorChoice::Always => true,
        OutputColorChoice::Never => false,
        OutputColorChoice::Auto => {
            goes == CliOutputDestination::ToTerminal && !no_color && !is_dumb(caller)
        }
    }
}

/// Returns whether the terminal can only print one line after the other.
fn is_dumb(caller: &CommandContext) -> bool {
    let kind = caller.environment().get("TERM");
    kind.is_some_and(|kind| kind == "dumb")
}

fn painted(text: &str, paint: StatusColour, colour: ColourSwitch) -> String {
    let code = match paint {
        StatusColour::Good => "32",
        StatusColour::Doubtful => "33",
        StatusColour::Bad => "31;1",
    };
    match colour {
        ColourSwitch::On => format!("\x1b[{code}m{text}\x1b[0m"),
        ColourSwitch::Off => text.to_owned(),
    }
}

fn failure_text(failure: &Failure, colour: ColourSwitch) -> String {
    use crate::render::{harmless, harmless_below};
    // The failure and the advice are one line each: a name with line breaks in it must not
    // look like another part. The lines of the reason are indented, so they cannot either.
    let below = |text: &String| harmless_below(text, "       ");
    let line = |text: &String| harmless(text);
    let clean = Failure {
        code: failure.code,
        what: harmless(&failure.what),
        why: failure.why.as_ref().map(below),
        advice: failure.advice.as_ref().map(line),
    };
    let text = clean.to_string();
    let head = format!("error[{}]", failure.code);
    text.replacen(&head, &painted(&head, StatusColour::Bad, colour), 1)
}

const BROKEN_PIPE: &str = "the reader stopped";

/// Turns a write error into problems. A reader that stops early is not an error; everything
/// else is.
pub(crate) fn stopped(error: io::Error) -> WorkshopFailures {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::new(FailureCode::C008, BROKEN_PIPE).into();
    }
    output_failed(&error).into()
}

fn is_broken_pipe(WorkshopFailures(failures): &WorkshopFailures) -> bool {
    failures
        .iter()
        .any(|failure| failure.code == FailureCode::C008 && failure.what == BROKEN_PIPE)
}

/// Reports a panic as a bug of Artel, without a stack trace.
pub(crate) fn show_panics_as_failures() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or(String::new(), |place| {
            format!("{}:{}", place.file(), place.line())
        });
        let said = panic.payload_as_str().unwrap_or("no message");
        let failure = Failure::new(FailureCode::X001, format!("a mistake in Artel: {said}"))
            .because(format!("at {place}"))
            .advise("please report this message with what you did");
        drop(writeln!(io::stderr(), "{failure}"));
    }));
}
