//! Turns a skill's text into what a model reads: commands are replaced by their output,
//! names by their values.
//!
//! One pass cuts the author's text into literal text, commands and variables, and replaces
//! each piece at most once. The output of a command and the text that a person typed are
//! not scanned again, so neither can become a variable or a command.
//!
//! *Commands* are `` !`git status --short` ``, anywhere but right after a letter, a digit
//! or a backslash. The caller gets them ([`commands`]), decides about them and runs them.
//! Variables in them are not replaced, except [those of the system](SYSTEM) at the
//! beginning of a word.
//!
//! *Variables* are replaced in code blocks too, so that an example shows what will happen.
//! `$ARGUMENTS`, `$1` to `$9` and the caller's own names work with and without braces. The
//! system's names (`${SKILL_DIR}`, `${WORKSPACE}`, `${SESSION_ID}`, `${USER}`, `${DATE}`,
//! and their `CLAUDE_` spellings) work only with braces, because shell examples use
//! `$USER` and `$DATE` themselves. An unknown name stays as it is. It is reported unless
//! it is in a code block, where `$HOME` is normal. `$5` stays without a fifth argument,
//! and `$1.50` is money.

mod command;
mod segment;
mod variables;
mod words;

use std::collections::BTreeMap;

pub use command::{SYSTEM, SkillCommandRefusal, argv, check_command};
pub use variables::{SkillArguments, SkillVariables};
pub use words::{UnbalancedQuoteError, split_words};

use segment::{SkillTextSegment, SkillTextSegmenter};

/// Largest number of unknown names reported; a text with more is not about variables.
const MOST_UNDEFINED: usize = 50;

/// A text with its commands and variables replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpandedSkillText {
    /// The text that the model reads.
    pub text: String,
    /// Number of replaced variables.
    pub made: usize,
    /// Unknown names outside code blocks, as they are written, each once.
    pub undefined: Vec<String>,
    /// Whether the arguments were added at the end because the text does not use them.
    pub appended: bool,
}

/// Returns the distinct commands of a text, in order.
pub fn commands(text: &str) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    let commands = SkillTextSegmenter::of(text).filter_map(|(_, segment)| match segment {
        SkillTextSegment::Command(command) => Some(command),
        _ => None,
    });
    commands.filter(|command| seen.insert(*command)).collect()
}

/// Returns every command with its line number, counted from 0.
pub(crate) fn placed_commands(text: &str) -> Vec<(usize, &str)> {
    let (mut line, mut counted) = (0, 0);
    let mut found = Vec::new();
    for (at, segment) in SkillTextSegmenter::of(text) {
        if let SkillTextSegment::Command(command) = segment {
            line += text[counted..at].matches('\n').count();
            counted = at;
            found.push((line, command));
        }
    }
    found
}

/// Expands a skill's body. `injected` maps each command to its replacement. A command
/// without an entry was not run, and the text says so.
pub fn expand(
    text: &str,
    variables: &SkillVariables,
    injected: &BTreeMap<String, String>,
) -> ExpandedSkillText {
    let mut expansion = SkillTextExpander::new(text, variables);
    for (_, segment) in SkillTextSegmenter::of(text) {
        match segment {
            SkillTextSegment::Command(command) => match injected.get(command) {
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

/// Expands a supporting file: only variables. Its commands stay text, and no arguments are
/// appended.
pub fn expand_supporting(text: &str, variables: &SkillVariables) -> ExpandedSkillText {
    let mut expansion = SkillTextExpander::new(text, variables);
    for (_, segment) in SkillTextSegmenter::without_commands(text) {
        expansion.take(segment);
    }
    expansion.done
}

struct SkillTextExpander<'v> {
    variables: &'v SkillVariables,
    done: ExpandedSkillText,
    uses_arguments: bool,
}

impl<'v> SkillTextExpander<'v> {
    fn new(text: &str, variables: &'v SkillVariables) -> Self {
        let mut done = ExpandedSkillText::default();
        done.text.reserve(text.len());
        Self {
            variables,
            done,
            uses_arguments: false,
        }
    }

    fn take(&mut self, segment: SkillTextSegment<'_>) {
        match segment {
            SkillTextSegment::Literal(text) | SkillTextSegment::Command(text) => {
                self.done.text.push_str(text)
            }
            SkillTextSegment::Variable(variable) => {
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

    fn report(&mut self, variable: &segment::SkillVariableReference<'_>) {
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
