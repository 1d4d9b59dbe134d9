//! Parses the command line, and explains in Artel's own words what is wrong with it.

use std::ffi::OsString;

use artel_types::{Failure, FailureCode};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use crate::arguments::ArtelArgs;

#[cfg(test)]
mod advice_tests;

/// The reason why no command is carried out.
pub(crate) enum CommandLineExit {
    /// Help or version was requested.
    Text(String),
    /// The command line is not valid.
    Wrong(Failure),
}

pub(crate) fn parse(words: &[OsString]) -> Result<ArtelArgs, CommandLineExit> {
    let asked = asks_for_help(words);
    let words = asked.as_deref().unwrap_or(words);
    ArtelArgs::try_parse_from(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            CommandLineExit::Text(error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            CommandLineExit::Wrong(missing_command(words))
        }
        _ => CommandLineExit::Wrong(explain(&error, words)),
    })
}

/// Returns `artel COMMAND --help` for `artel help COMMAND`.
fn asks_for_help(words: &[OsString]) -> Option<Vec<OsString>> {
    let tree = ArtelArgs::command();
    let mut at = 1;
    while let Some(flag) = words.get(at)?.to_string_lossy().strip_prefix("--") {
        at += 1 + usize::from(takes_value(&tree, flag));
    }
    if words[at] != "help" {
        return None;
    }
    let (before, after) = (&words[..at], &words[at + 1..]);
    let asks = std::iter::once(OsString::from("--help"));
    let all = before.iter().chain(after).cloned();
    Some(all.chain(asks).collect())
}

/// Returns the part of the command line that names the command, such as `artel journal`.
/// Flags may come before and in between, and the value of a flag is not a command.
fn command(words: &[OsString]) -> String {
    let tree = ArtelArgs::command();
    let (mut name, mut here) = ("artel".to_owned(), &tree);
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--") {
            if takes_value(&tree, flag) {
                words.next();
            }
        } else if let Some(next) = here.find_subcommand(&*word) {
            name = format!("{name} {word}");
            here = next;
        } else if !word.starts_with('-') {
            break;
        }
    }
    name
}

fn takes_value(tree: &clap::Command, flag: &str) -> bool {
    tree.get_arguments()
        .any(|known| known.get_long() == Some(flag) && known.get_action().takes_values())
}

fn missing_command(words: &[OsString]) -> Failure {
    let command = command(words);
    Failure::new(
        FailureCode::C005,
        format!("`{command}` needs to be told what to do"),
    )
    .advise(format!("`{command} --help` lists the commands"))
}

fn explain(error: &Error, words: &[OsString]) -> Failure {
    let command = command(words);
    let help = format!("`{command} --help`");
    let text = |kind: ContextKind| error.get(kind).map(shown);
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        // For the command that stores keys, any surplus argument may be a key, so it is not
        // repeated.
        ErrorKind::UnknownArgument
            if command == "artel auth set" && text(ContextKind::SuggestedArg).is_none() =>
        {
            key_in_words(&command)
        }
        ErrorKind::InvalidSubcommand => {
            let wrong = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let what = if command == "artel auth" && !is_name(&wrong) {
                format!("`{command}` has no such command")
            } else {
                format!("`{command}` has no command `{wrong}`")
            };
            let failure = Failure::new(FailureCode::C003, what);
            match error
                .get(ContextKind::SuggestedSubcommand)
                .and_then(nearest)
            {
                Some(near) => failure.advise(format!("`{command} {near}`")),
                None => failure.advise(help),
            }
        }
        ErrorKind::UnknownArgument if !argument.starts_with('-') => Failure::new(
            FailureCode::C001,
            format!("`{command}` cannot do anything with `{argument}`"),
        )
        .advise(help),
        ErrorKind::UnknownArgument => {
            let failure = Failure::new(
                FailureCode::C002,
                format!("`{command}` has no flag `{argument}`"),
            );
            match text(ContextKind::SuggestedArg) {
                Some(near) => failure.advise(format!("`{near}`, or {help}")),
                None => failure.advise(help),
            }
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => bad_value(
            error,
            &argument,
            &text(ContextKind::InvalidValue).unwrap_or_default(),
            help,
        ),
        ErrorKind::MissingRequiredArgument => {
            Failure::new(FailureCode::C005, format!("`{command}` needs {argument}")).advise(help)
        }
        _ => {
            let first = error.to_string();
            let line = first.lines().next().unwrap_or_default();
            let what = line.strip_prefix("error: ").unwrap_or(line).to_owned();
            Failure::new(FailureCode::C001, what).advise(help)
        }
    }
}

/// Returns whether a word looks like a name that somebody meant to type, and not like a
/// key.
pub(crate) fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    word.len() <= 20 && word.bytes().all(is_plain)
}

fn key_in_words(command: &str) -> Failure {
    Failure::new(FailureCode::K004, "a key is not given on the command line")
        .because("others on this machine could see it there, and shells keep what was typed")
        .advise(format!(
            "`{command} PROVIDER` asks for it; `{command} PROVIDER < FILE` reads it"
        ))
}

fn bad_value(error: &Error, argument: &str, value: &str, help: String) -> Failure {
    use std::error::Error as _;
    if value.is_empty() && error.source().is_none() {
        return Failure::new(FailureCode::C005, format!("{argument} needs a value")).advise(help);
    }
    let failure = Failure::new(
        FailureCode::C004,
        format!("`{value}` is not a value for {argument}"),
    );
    let allowed = error
        .get(ContextKind::ValidValue)
        .map(shown)
        .filter(|list| !list.is_empty());
    match (allowed, error.source()) {
        (Some(allowed), _) => failure.because(format!("allowed: {allowed}")).advise(help),
        (None, Some(why)) => failure.because(why.to_string()).advise(help),
        (None, None) => failure.advise(help),
    }
}

/// Returns the best of several suggestions, which is the last one.
fn nearest(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::Strings(several) => several.last().cloned(),
        other => Some(shown(other)),
    }
}

fn shown(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(several) => several.join(", "),
        ContextValue::StyledStr(text) => text.to_string(),
        ContextValue::StyledStrs(several) => several
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}
