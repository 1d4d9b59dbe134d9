//! The text between the parentheses of a rule, and what it matches.

use artel_types::spelt_out;

use super::host::HostPattern;
use super::paths::PathPattern;
use super::{PolicyRuleError, compile, literal_words};
use crate::programs::are_same;

/// Directories whose programs can be trusted by name: agents cannot write there.
const SYSTEM_DIRECTORIES: &[&str] = &[
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
];

#[derive(Debug, Clone)]
pub(super) enum PolicyRulePattern {
    /// Everything that the tool does.
    Any,
    /// Commands that begin with these words.
    Command(CommandPattern),
    /// Paths or names.
    Glob(Box<PathPattern>),
    /// Hosts.
    Host(Box<HostPattern>),
    /// Unknown. As a ban it matches everything; it grants nothing.
    Unreadable,
}

/// The words of a command rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    pub(super) words: Vec<String>,
    /// Whether more words may follow.
    pub(super) is_open: bool,
    /// Whether a star was glued to the last word. Then a ban also catches longer words.
    pub(super) is_glued: bool,
}

impl CommandPattern {
    pub(super) fn admits(&self, words: &[String]) -> bool {
        let is_length_right = if self.is_open {
            words.len() >= self.words.len()
        } else {
            words.len() == self.words.len()
        };
        let Some((program, rest)) = self.words.split_first() else {
            return false;
        };
        is_length_right
            && words.first().is_some_and(|word| is_program(word, program))
            && rest
                .iter()
                .zip(&words[1..])
                .all(|(rule, word)| rule == word)
    }

    pub(super) fn catches(&self, words: &[String]) -> bool {
        let (Some((program, rest)), Some((word, arguments))) =
            (self.words.split_first(), words.split_first())
        else {
            return false;
        };
        let is_glued_program = self.is_glued && rest.is_empty();
        let is_program = is_same_name(word, program)
            || (is_glued_program && base_name(word).starts_with(base_name(program)));
        is_program && self.follows(rest, arguments)
    }
}

impl CommandPattern {
    /// Returns whether the words of a ban occur in order in the arguments, with only options
    /// and their values in between.
    fn follows(&self, rule: &[String], arguments: &[String]) -> bool {
        let Some((next, rest)) = rule.split_first() else {
            return true;
        };
        if let Some(letters) = cluster(next) {
            return has_letters(&letters, arguments) && self.follows(rest, arguments);
        }
        let is_glued = self.is_glued && rest.is_empty();
        let mut may_be_value = false;
        for (position, word) in arguments.iter().enumerate() {
            let is_next = word == next || (is_glued && word.starts_with(next.as_str()));
            if is_next && self.follows(rest, &arguments[position + 1..]) {
                return true;
            }
            // `cargo +nightly publish` is `cargo publish`.
            let is_option = word.starts_with(['-', '+']) && word.len() > 1;
            if !is_option && !may_be_value {
                return false;
            }
            may_be_value = is_option && !word.contains('=');
        }
        false
    }
}

/// Returns the letters of bundled short options in a ban: `-rf` means both options, in any
/// spelling.
fn cluster(word: &str) -> Option<Vec<char>> {
    let letters = word.strip_prefix('-')?;
    let is_bundle = (1..=4).contains(&letters.len())
        && letters.chars().all(|letter| letter.is_ascii_alphabetic());
    is_bundle.then(|| letters.to_lowercase().chars().collect())
}

/// Returns whether all of these options are among the arguments: bundled, separate, in
/// another order, or as a long name that begins with the letter.
fn has_letters(letters: &[char], arguments: &[String]) -> bool {
    let has = |letter: &char| {
        arguments.iter().any(|word| match word.strip_prefix("--") {
            Some(long) => long.starts_with(*letter),
            None => {
                let bundle = word.strip_prefix('-').unwrap_or_default();
                bundle.to_lowercase().contains(*letter)
            }
        })
    };
    letters.iter().all(has)
}

/// Parses the argument of a command rule.
pub(super) fn command(text: &str, argument: &str) -> Result<CommandPattern, PolicyRuleError> {
    let (body, is_open) = match argument.strip_suffix('*') {
        Some(stem) => (stem.strip_suffix(':').unwrap_or(stem), true),
        None => (argument, false),
    };
    let spaced = match body.split_once([':', ' ', '\t']) {
        // `git:status` is the program and its arguments.
        Some((program, arguments)) if body[program.len()..].starts_with(':') => {
            format!("{program} {arguments}")
        }
        _ => body.to_owned(),
    };
    let is_glued = is_open && !argument.ends_with(":*") && !body.ends_with([' ', '\t']);
    let words = match literal_words(&spaced) {
        Some(words) => words,
        None if spaced.contains('*') => return Err(PolicyRuleError::star(text)),
        None => return Err(PolicyRuleError::words(text)),
    };
    if words.first().is_none_or(String::is_empty) {
        return Err(PolicyRuleError::empty(text));
    }
    Ok(CommandPattern {
        words,
        is_open,
        is_glued,
    })
}

/// Parses the argument of a rule about hosts.
pub(super) fn host(text: &str, argument: &str) -> Result<HostPattern, PolicyRuleError> {
    let argument = named(text, argument)?;
    HostPattern::read(argument).map_err(|cause| PolicyRuleError::glob(text, &cause))
}

/// Parses the argument of any other rule.
pub(super) fn glob(text: &str, argument: &str) -> Result<PathPattern, PolicyRuleError> {
    let pattern = spelt_out(named(text, argument)?);
    PathPattern::read(&pattern).map_err(|cause| PolicyRuleError::glob(text, &cause))
}

/// Returns the pattern in an argument, which must not be empty or lead above the root.
fn named<'a>(text: &str, argument: &'a str) -> Result<&'a str, PolicyRuleError> {
    let pattern = argument.strip_prefix("./").unwrap_or(argument);
    if pattern.is_empty() {
        return Err(PolicyRuleError::empty(text));
    }
    let leaves = pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    if leaves {
        return Err(PolicyRuleError::leaves(text));
    }
    Ok(pattern)
}

/// Returns whether a word starts the program that a grant names.
fn is_program(word: &str, program: &str) -> bool {
    if word == program {
        return true;
    }
    let mut directories = SYSTEM_DIRECTORIES.iter();
    directories.any(|directory| word.strip_prefix(directory) == Some(program))
}

/// Returns whether a word may start the program that a ban names, wherever it lies. A glob
/// in the word counts for every name it can match.
fn is_same_name(word: &str, program: &str) -> bool {
    let name = base_name(word);
    let banned = base_name(program);
    name == banned
        || are_same(name, banned)
        || (name.contains(['*', '?', '['])
            && compile(name).is_ok_and(|pattern| pattern.is_match(banned)))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
