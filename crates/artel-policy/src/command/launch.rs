//! From the commands as written to the programs that would start: wrappers, inner scripts,
//! text fed to a shell.

use std::collections::HashMap;

use super::guard;
use super::opinion;
use super::reading::{CommandLaunch, PlacedRedirection, ShellAnalysis, SimpleShellCommand};
use super::scan::{MAX_PARTS, ShellScanResult, scan};
use super::soften::soften;
use crate::programs::{CommandDoubt, NestedCommand, is_known, launched_by, look, same_program};

/// Programs that run shell text given to them.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "busybox", "toybox", "eval",
    "source", ".", "xargs", "parallel", "at", "batch",
];

/// Programs that give a file another name.
const COPIES: &[&str] = &["cp", "gcp", "ln", "gln", "link", "mv", "gmv", "install"];

/// Number of words of an unknown program that may begin a command it starts.
const MAX_TAILS: usize = 8;

/// Number of new command names that are remembered.
const MAX_RENAMED: usize = 64;

/// Number of words of a wrapper's line that are kept with the command it starts.
const MAX_OUTER: usize = 64;

/// Reads a text whose length is within the limit.
pub(super) fn read(text: &str) -> ShellAnalysis {
    let mut reading = ShellAnalysis::default();
    if let Some(c) = guard::hidden(text) {
        reading.doubts.push(guard::hidden_doubt(c));
        let visible: String = text.chars().filter(|c| !guard::is_hidden(*c)).collect();
        hint(&mut reading, &visible, 0);
    }
    let mut found = scan(text);
    reading.writes_plainly = soften(text, &mut found);
    reading.has_input = !found.bodies.is_empty();
    examine(text, &mut found, &mut reading);
    follow(&mut reading, &found, 0);
    reading.parts = found.parts;
    reading
}

/// Has the other parsers check a text, and records the doubts.
fn examine(text: &str, found: &mut ShellScanResult, reading: &mut ShellAnalysis) {
    if let Some(limit) = found.limit {
        reading.refusal.get_or_insert(guard::beyond(limit));
        return;
    }
    if found.doubts.is_empty() && found.bodies.is_empty() {
        found.doubts.extend(opinion::disagreement(text, found));
    }
    reading.has_operators |= !found.operators.is_empty() || found.has_lines;
    for doubt in &found.doubts {
        if !reading.doubts.contains(doubt) {
            reading.doubts.push(doubt.clone());
        }
    }
}

/// Follows every command to the commands it starts.
fn follow(reading: &mut ShellAnalysis, found: &ShellScanResult, depth: usize) {
    let mut renamed = CommandAliases::default();
    for part in &found.parts {
        let words = part.likely_words();
        renamed.note(part, &words);
        if let Some(text) = renamed.meant(&words) {
            hint(reading, &text, depth + 1);
        }
        // The shell opens the files of a command before it launches the command.
        let launches_before = reading.launches.len();
        let placed = part.redirections.iter().map(|one| PlacedRedirection {
            redirection: one.clone(),
            launches_before,
        });
        reading.redirections.extend(placed);
        if !words.is_empty() {
            let next = CommandLaunch {
                words,
                has_pattern: part.words.iter().any(|word| word.glob_at.is_some()),
                ..CommandLaunch::default()
            };
            launch(reading, next, depth);
        }
    }
    for text in fed_texts(found) {
        hint(reading, &text, depth + 1);
    }
    for body in &found.bodies {
        // The program reading the body may run it as code that starts programs.
        for start in launched_by(body) {
            match start {
                NestedCommand::Script(text) => hint(reading, &text, depth + 1),
                NestedCommand::Words(words) | NestedCommand::Open(words) => {
                    reading.hints.push(words)
                }
            }
        }
    }
}

/// New names that a text gives to commands, recorded so that a ban still sees the real
/// program.
#[derive(Debug, Default)]
struct CommandAliases(HashMap<String, String>);

impl CommandAliases {
    /// Notes `alias a=rm`, `BASH_ALIASES[a]=rm`, `hash -p /bin/rm a` and `ln -s /bin/rm a`.
    fn note(&mut self, part: &SimpleShellCommand, words: &[String]) {
        for assignment in &part.assignments {
            let entry = assignment.strip_prefix("BASH_ALIASES[");
            if let Some((name, meaning)) = entry.and_then(|entry| entry.split_once("]=")) {
                self.insert(name, meaning);
            }
        }
        match words {
            [first, rest @ ..] if first == "alias" => {
                for (name, meaning) in rest.iter().filter_map(|word| word.split_once('=')) {
                    self.insert(name, meaning);
                }
            }
            [first, option, path, name, ..] if first == "hash" && option == "-p" => {
                self.insert(name, path);
            }
            [first, rest @ ..] if COPIES.contains(&base_name(first)) => {
                let operands: Vec<_> = rest.iter().filter(|word| !word.starts_with('-')).collect();
                if let [.., path, name] = operands.as_slice() {
                    self.insert(base_name(name), path);
                }
            }
            _ => {}
        }
    }

    fn insert(&mut self, name: &str, meaning: &str) {
        if self.0.len() < MAX_RENAMED {
            self.0.insert(name.to_owned(), meaning.to_owned());
        }
    }

    /// Returns the real command behind one of the new names.
    fn meant(&self, words: &[String]) -> Option<String> {
        let (name, rest) = words.split_first()?;
        let known = self.0.get(name).or_else(|| self.0.get(base_name(name)));
        let meaning = known.filter(|meaning| *meaning != name)?;
        Some(format!("{meaning} {}", rest.join(" ")))
    }
}

fn launch(reading: &mut ShellAnalysis, mut launched: CommandLaunch, depth: usize) {
    if depth > guard::MAX_WRAPPERS || reading.launches.len() > 2 * MAX_PARTS {
        reading.refusal.get_or_insert_with(guard::too_many_wrappers);
        return;
    }
    reading.also.extend(other_names(&launched.words));
    if launched.words.first().is_some_and(|word| !is_known(word)) {
        reading.also.extend(tails(&launched.words));
    }
    let mut finding = look(&launched.words);
    let starts = std::mem::take(&mut finding.starts);
    finding.is_wrapper &= !starts.is_empty();
    launched.finding = finding;
    let has_pattern = launched.has_pattern;
    let outer = match &launched.outer {
        Some((words, _)) => words.clone(),
        None if starts.is_empty() => Vec::new(),
        None => launched.words.clone(),
    };
    reading.launches.push(launched);
    for inner in starts {
        let (words, is_open) = match inner {
            NestedCommand::Words(words) => (words, false),
            NestedCommand::Open(words) => (words, true),
            NestedCommand::Script(text) => {
                script(reading, &text, depth + 1);
                continue;
            }
        };
        if words.is_empty() {
            reading.doubts.push(nameless());
            continue;
        }
        let begins = outer.len().saturating_sub(words.len());
        let is_tail = outer.len() <= MAX_OUTER && outer.ends_with(&words) && !is_open;
        let next = CommandLaunch {
            words,
            is_open,
            has_pattern,
            outer: is_tail.then(|| (outer.clone(), begins)),
            ..CommandLaunch::default()
        };
        launch(reading, next, depth + 1);
    }
}

/// Returns a command under the other names of its program: a ban on `make` also covers
/// `gmake`, and one on `git commit` also covers `git-commit`.
fn other_names(words: &[String]) -> Vec<Vec<String>> {
    let Some((program, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let name = base_name(program);
    let by = |words: Vec<&str>| {
        let words = words.into_iter().map(str::to_owned);
        words.chain(arguments.iter().cloned()).collect()
    };
    let subcommand = name.strip_prefix("git-").filter(|it| !it.is_empty());
    let mut others: Vec<Vec<String>> = same_program(name)
        .into_iter()
        .map(|it| by(vec![it]))
        .collect();
    others.extend(subcommand.map(|it| by(vec!["git", it])));
    others
}

/// Returns the commands that an unknown program may start, such as `make` in `ccache
/// make`.
fn tails(words: &[String]) -> Vec<Vec<String>> {
    let begins = (1..words.len()).filter(|at| !words[*at].starts_with('-'));
    begins
        .take(MAX_TAILS)
        .map(|at| words[at..].to_vec())
        .collect()
}

fn script(reading: &mut ShellAnalysis, text: &str, depth: usize) {
    if depth > guard::MAX_WRAPPERS {
        reading.refusal.get_or_insert_with(guard::too_many_wrappers);
        return;
    }
    let mut found = scan(text);
    examine(text, &mut found, reading);
    reading.writes_plainly &= found.doubts.is_empty();
    follow(reading, &found, depth);
}

fn nameless() -> CommandDoubt {
    CommandDoubt {
        rule: "program.unknown",
        reason: "it starts a command that is not named".to_owned(),
    }
}

/// Looks for commands in a text that may be run, so that bans apply to them.
fn hint(reading: &mut ShellAnalysis, text: &str, depth: usize) {
    if depth > guard::MAX_WRAPPERS {
        reading.refusal.get_or_insert_with(guard::too_many_wrappers);
        return;
    }
    let mut inner = ShellAnalysis::default();
    let found = scan(text);
    follow(&mut inner, &found, depth);
    reading.hints.extend(inner.words().map(<[String]>::to_vec));
    reading.also.append(&mut inner.also);
    if let Some(refusal) = inner.refusal {
        reading.refusal.get_or_insert(refusal);
    }
}

/// Returns the texts that a shell among the commands may read: here-documents, and the
/// output of `echo` and `printf`. In plain text they must be in the same pipeline as the
/// shell.
fn fed_texts(found: &ShellScanResult) -> Vec<String> {
    let is_shell = |part: &SimpleShellCommand| {
        let mut names = part.words.iter().map(|word| base_name(&word.text));
        !is_printer(part) && names.any(|name| SHELLS.contains(&name))
    };
    let mut shells: Vec<usize> = found
        .parts
        .iter()
        .filter(|part| is_shell(part))
        .map(|part| part.pipeline)
        .collect();
    shells.sort_unstable();
    if shells.is_empty() {
        return Vec::new();
    }
    let is_plain = found.doubts.is_empty();
    let mut texts = found.bodies.clone();
    for part in &found.parts {
        let reaches = !is_plain || shells.binary_search(&part.pipeline).is_ok();
        if reaches && is_printer(part) {
            let words = part.likely_words().into_iter().skip(1);
            let arguments: Vec<String> = words.filter(|word| !word.starts_with('-')).collect();
            texts.push(arguments.join(" ").replace("\\n", "\n").replace("%s", ""));
        }
    }
    texts
}

fn is_printer(part: &SimpleShellCommand) -> bool {
    let program = part.words.first().map(|word| base_name(&word.text));
    matches!(program, Some("echo" | "printf"))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
