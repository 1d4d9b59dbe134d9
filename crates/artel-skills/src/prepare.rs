//! Turns a skill's text into what a model reads: commands replaced by what they printed, names by
//! their values.
//!
//! There is one pass over the author's text, cut into literal text, commands and variables, and
//! each piece is replaced at most once. What a command printed and what a person typed are never
//! looked at again, so neither can become a variable or a command.
//!
//! *Commands* are `` !`git status --short` ``, anywhere but right after a letter, a digit or a
//! backslash. They are given to the caller ([`commands`]), which decides and runs them; variables
//! in them are not replaced, save for [what the system makes](SYSTEM), as the beginning
//! of a word.
//!
//! *Variables* are replaced in code blocks as elsewhere, so that an example shows what will
//! happen. `$ARGUMENTS`, `$1` to `$9` and the caller's own names work with and without braces; the
//! system's names (`${SKILL_DIR}`, `${WORKSPACE}`, `${SESSION_ID}`, `${USER}`, `${DATE}`, and
//! their `CLAUDE_` spellings) only with them, because `$USER` and `$DATE` are what shell
//! examples use themselves. A name that is not known stays as it is; it is reported unless it
//! stands in a code block, where `$HOME` is normal. `$5` stays when there is no fifth argument,
//! and `$1.50` is money.

mod command;
mod segment;
mod variables;
mod words;

use std::collections::BTreeMap;

pub use command::{Refused, SYSTEM, argv, check_command};
pub use variables::{Arguments, Variables};
pub use words::{Unbalanced, split_words};

use segment::{Segment, Segments};

/// So many unknown names are reported; a text with more is not about variables.
const MOST_UNDEFINED: usize = 50;

/// A text with its commands and variables replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    /// What the model reads.
    pub text: String,
    /// How many variables were replaced.
    pub made: usize,
    /// Names outside of code blocks that are not known, as they are written, each once.
    pub undefined: Vec<String>,
    /// The arguments were put at the end because the text does not use them.
    pub appended: bool,
}

/// Returns the distinct commands of a text, in their order.
pub fn commands(text: &str) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    let commands = Segments::of(text).filter_map(|(_, segment)| match segment {
        Segment::Command(command) => Some(command),
        _ => None,
    });
    commands.filter(|command| seen.insert(*command)).collect()
}

/// Returns every command with the line it stands on, counted from nought.
pub(crate) fn placed_commands(text: &str) -> Vec<(usize, &str)> {
    let (mut line, mut counted) = (0, 0);
    let mut found = Vec::new();
    for (at, segment) in Segments::of(text) {
        if let Segment::Command(command) = segment {
            line += text[counted..at].matches('\n').count();
            counted = at;
            found.push((line, command));
        }
    }
    found
}

/// Expands a skill's body. `injected` holds what takes the place of each command; one that is not
/// in it was not run, and says so.
pub fn expand(text: &str, variables: &Variables, injected: &BTreeMap<String, String>) -> Expanded {
    let mut expansion = Expansion::new(text, variables);
    for (_, segment) in Segments::of(text) {
        match segment {
            Segment::Command(command) => match injected.get(command) {
                Some(output) => expansion.done.text.push_str(output),
                None => {
                    expansion.done.text.push_str("[Command not allowed: ");
                    expansion.done.text.push_str(command);
                    expansion.done.text.push(']');
                }
            },
            other => expansion.take(other),
        }
    }
    let arguments = variables.arguments.text();
    let mut done = expansion.done;
    if !expansion.uses_arguments && !arguments.trim().is_empty() {
        done.text.push_str("\n\nARGUMENTS: ");
        done.text.push_str(arguments);
        done.appended = true;
    }
    done
}

/// Expands a supporting file: variables only. Its commands stay text, and nothing is appended.
pub fn expand_supporting(text: &str, variables: &Variables) -> Expanded {
    let mut expansion = Expansion::new(text, variables);
    for (_, segment) in Segments::without_commands(text) {
        expansion.take(segment);
    }
    expansion.done
}

struct Expansion<'v> {
    variables: &'v Variables,
    done: Expanded,
    uses_arguments: bool,
}

impl<'v> Expansion<'v> {
    fn new(text: &str, variables: &'v Variables) -> Self {
        let mut done = Expanded::default();
        done.text.reserve(text.len());
        Self {
            variables,
            done,
            uses_arguments: false,
        }
    }

    fn take(&mut self, segment: Segment<'_>) {
        match segment {
            Segment::Literal(text) | Segment::Command(text) => self.done.text.push_str(text),
            Segment::Variable(variable) => {
                let name = variable.name;
                match self.variables.value(name, variable.form) {
                    Some(value) => {
                        self.done.text.push_str(value);
                        self.done.made += 1;
                        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                        self.uses_arguments |= is_number || name == "ARGUMENTS";
                    }
                    None => {
                        self.done.text.push_str(variable.written);
                        self.report(&variable);
                    }
                }
            }
        }
    }

    fn report(&mut self, variable: &segment::Variable<'_>) {
        let is_name = variable
            .name
            .starts_with(|first: char| first.is_ascii_uppercase())
            && variable.name.bytes().all(|byte| !byte.is_ascii_lowercase());
        let is_number = variable
            .name
            .starts_with(|first: char| first.is_ascii_digit());
        let undefined = &mut self.done.undefined;
        if (is_name || is_number)
            && !variable.is_in_code
            && undefined.len() < MOST_UNDEFINED
            && !undefined.iter().any(|known| known == variable.written)
        {
            undefined.push(variable.written.to_owned());
        }
    }
}
