//! Checks that every command named in a message can be typed as it stands.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use crate::arguments::ArtelArgs;

/// Returns the source files of all crates, without their tests.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open: Vec<PathBuf> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"))
        .filter(|path| path.is_dir())
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_test = name.contains("tests");
            if path.is_dir() && !is_test {
                open.push(path);
            } else if name.ends_with(".rs") && !is_test {
                files.push(path);
            }
        }
    }
    files
}

/// Returns the commands between backticks in string literals.
fn commands(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    // A literal that continues on the next line leaves out its indentation.
    let mut text = String::new();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        match line.strip_suffix('\\') {
            Some(line) if text.ends_with('\n') => text.push_str(line),
            Some(line) => text.push_str(line.trim_start()),
            None if text.ends_with('\n') || text.is_empty() => {
                text.push_str(line);
                text.push('\n');
            }
            None => {
                text.push_str(line.trim_start());
                text.push('\n');
            }
        }
    }
    let ticks = text.split('`').skip(1);
    let named = ticks.filter(|it| it.starts_with("artel ") && !it.contains('\n'));
    named.map(str::to_owned).collect()
}

/// Stands for values that the code fills in.
const SAMPLE: &str = "5d2f41c0";

/// Splits a command into words as a shell would. Returns `None` if the command is only
/// hinted at.
fn words(command: &str) -> Option<Vec<String>> {
    let mut text = command.replace("\\\"", "\"");
    while let Some(from) = text.find('{') {
        let to = from + text[from..].find('}')?;
        text.replace_range(from..=to, SAMPLE);
    }
    let mut words: Vec<String> = Vec::new();
    let mut parts = text.split('"');
    while let Some(plain) = parts.next() {
        words.extend(plain.split_whitespace().map(str::to_owned));
        words.extend(parts.next().map(str::to_owned));
    }
    let is_hint = words.get(1).is_some_and(|it| it == "…")
        || words.get(2).is_some_and(|it| it == "…")
        || text.contains('\\');
    words.truncate(
        words
            .iter()
            .position(|it| it == ">" || it == "<")
            .unwrap_or(words.len()),
    );
    (!is_hint).then_some(words)
}

/// Returns whether a command is only named, without arguments, as in "what `artel token
/// create` prints".
fn is_name(words: &[String]) -> bool {
    let mut here = &ArtelArgs::command();
    let mut rest = words[1..].iter();
    rest.all(|word| match here.find_subcommand(word) {
        Some(next) => {
            here = next;
            true
        }
        None => false,
    })
}

/// Returns whether a rejected value stands for a real one.
fn is_sample(words: &[String]) -> bool {
    let stands = |word: &String| {
        word == SAMPLE || (word.len() > 1 && word.chars().all(|it| it.is_ascii_uppercase()))
    };
    words.iter().any(stands)
}

#[test]
fn every_command_that_a_message_names_can_be_typed() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for command in commands(&source) {
            let Some(words) = words(&command) else {
                continue;
            };
            count += 1;
            let Err(error) = ArtelArgs::try_parse_from(&words) else {
                continue;
            };
            let is_right = match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
                ErrorKind::ValueValidation | ErrorKind::InvalidValue => is_sample(&words),
                _ => is_name(&words),
            };
            if !is_right {
                wrong.push(format!("{}: `{command}`", file.display()));
            }
        }
    }
    assert!(count > 200, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
