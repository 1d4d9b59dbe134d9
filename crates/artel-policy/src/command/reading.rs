//! What was read in a shell text, in a form that can be shown to a person.

use serde::Serialize;

use crate::programs::{Doubt, Finding};

/// One simple command, as it is written.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Part {
    pub(super) words: Vec<Word>,
    /// Assignments in front of it, such as `PATH=/tmp`.
    pub(super) assignments: Vec<String>,
    pub(super) redirections: Vec<Redirection>,
    /// Parts of one pipeline share this.
    #[serde(skip)]
    pub(super) pipeline: usize,
}

/// One word of a command.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Word {
    /// The word without its quotes; of what the shell computes, only what is known.
    pub(super) text: String,
    /// Whether the shell still computes something of it.
    pub(super) is_computed: bool,
    /// Whether it has neither quotes nor escapes: only then can it be a word of the grammar.
    #[serde(skip)]
    pub(super) is_bare: bool,
    /// Where an unquoted pattern begins.
    #[serde(skip)]
    pub(super) glob_at: Option<usize>,
    /// Where a brace that makes several words begins.
    #[serde(skip)]
    pub(super) brace_at: Option<usize>,
    /// Whether the shell splits it at blanks.
    #[serde(skip)]
    pub(super) is_split: bool,
}

/// A redirection of a command.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Redirection {
    pub(super) descriptor: Option<String>,
    pub(super) operator: &'static str,
    pub(super) target: Word,
}

/// A command that would really be started: as written, or by a wrapper.
#[derive(Debug, Clone, Default)]
pub(super) struct Launch {
    pub(super) words: Vec<String>,
    /// Whether more words follow that nobody knows yet.
    pub(super) is_open: bool,
    /// Whether the shell still turns one of the words into names of files.
    pub(super) has_pattern: bool,
    /// The command line that starts it, and where its own words begin there. A rule that names the
    /// wrapper together with what it starts (`npx tsc`) grants both.
    pub(super) outer: Option<(Vec<String>, usize)>,
    pub(super) finding: Finding,
}

/// A shell text, read.
#[derive(Debug, Default)]
pub struct Reading {
    pub(super) parts: Vec<Part>,
    pub(super) launches: Vec<Launch>,
    /// Commands in text that may be fed to a shell; bans apply to them too.
    pub(super) hints: Vec<Vec<String>>,
    /// Commands that it may come to by other names, or through programs that nobody knows. Only bans
    /// and questions of a person count for them.
    pub(super) also: Vec<Vec<String>>,
    pub(super) doubts: Vec<Doubt>,
    /// Why it is not judged at all.
    pub(super) refusal: Option<Doubt>,
    pub(super) has_operators: bool,
    /// Whether a here-document is handed to one of its commands.
    pub(super) has_input: bool,
    /// Whether every redirection in it is a plain write, to a file that is named.
    pub(super) writes_plainly: bool,
}

impl Part {
    /// Returns its words; the first is the program.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the assignments in front of it.
    pub fn assignments(&self) -> &[String] {
        &self.assignments
    }

    /// Returns its redirections.
    pub fn redirections(&self) -> &[Redirection] {
        &self.redirections
    }

    /// Returns the words as the shell would most likely pass them on. What it computes is filled
    /// in as far as the text says it; a variable that nobody set is empty and gone.
    pub(super) fn likely_words(&self) -> Vec<String> {
        self.words.iter().flat_map(Word::likely).collect()
    }
}

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_bare: true,
            ..Self::default()
        }
    }

    /// Returns the word, if it is what the shell would pass on.
    pub fn as_literal(&self) -> Option<&str> {
        (!self.is_computed && self.glob_at.is_none()).then_some(&self.text)
    }

    /// Tells whether a pattern in it cannot turn into an option or into another program: a path
    /// stands in front of it, or it is the value of a long option. Names that begin with a dot
    /// are not left to a pattern.
    pub(super) fn is_anchored(&self) -> bool {
        let Some(prefix) = self.glob_at.map(|at| &self.text[..at]) else {
            return true;
        };
        match prefix.rsplit_once('/') {
            Some((_, name)) => !prefix.starts_with('-') && !name.starts_with('.'),
            None => prefix.starts_with("--") && prefix.ends_with('='),
        }
    }

    /// Splits `NAME=value` and `NAME[index]=value`.
    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        is_assignable(name).then_some((name, value))
    }

    pub(super) fn compute(&mut self) {
        self.is_computed = true;
        self.is_bare = false;
    }

    fn likely(&self) -> Vec<String> {
        if self.is_computed && self.text.is_empty() {
            return Vec::new();
        }
        if let Some(open) = self.brace_at {
            return braces(&self.text, open);
        }
        if self.is_split {
            return self.text.split_whitespace().map(str::to_owned).collect();
        }
        vec![self.text.clone()]
    }
}

impl Redirection {
    /// Returns the operator, such as `>>`.
    pub fn operator(&self) -> &str {
        self.operator
    }

    /// Returns the file or descriptor it leads to.
    pub fn target(&self) -> &Word {
        &self.target
    }

    /// Tells whether a file may be written through it.
    pub fn is_write(&self) -> bool {
        self.operator.contains('>')
    }

    /// Tells whether it writes to a file that is named, and does nothing else.
    pub(super) fn is_plain_write(&self) -> bool {
        matches!(self.operator, ">" | ">>")
            && matches!(self.descriptor.as_deref(), None | Some("1" | "2"))
            && self
                .target
                .as_literal()
                .is_some_and(|target| !target.is_empty())
            && self.target.brace_at.is_none()
    }

    /// Tells whether it only joins the two outputs, or throws one away.
    pub(super) fn is_harmless(&self) -> bool {
        if !self.target.is_bare {
            return false;
        }
        let descriptor = self.descriptor.as_deref();
        match (self.operator, self.target.text.as_str()) {
            (">", "/dev/null") => matches!(descriptor, None | Some("1" | "2")),
            ("&>", "/dev/null") => true,
            (">&", "1" | "2") => matches!(descriptor, None | Some("1" | "2")),
            _ => false,
        }
    }
}

impl Reading {
    /// Returns every simple command that stands in the text, wherever.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the words of every command that would be started: as written, through wrappers,
    /// and in texts that are handed to a shell.
    pub fn words(&self) -> impl Iterator<Item = &[String]> {
        let launched = self.launches.iter().map(|launch| launch.words.as_slice());
        launched.chain(self.hints.iter().map(Vec::as_slice))
    }

    /// The same with what it may come to.
    pub(super) fn likely_words(&self) -> impl Iterator<Item = &[String]> {
        self.words().chain(self.also.iter().map(Vec::as_slice))
    }

    /// Returns why it cannot be allowed without a question, as far as the text itself goes.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// Returns why it is not judged at all, if it is not.
    pub fn refusal(&self) -> Option<&Doubt> {
        self.refusal.as_ref()
    }

    /// Tells whether it is made of literal words joined by plain operators.
    pub fn is_plain(&self) -> bool {
        self.doubts.is_empty() && self.refusal.is_none()
    }
}

/// Tells whether a value can be assigned to this.
pub(super) fn is_assignable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = match name.split_once('[') {
        Some((name, index)) if index.ends_with(']') => name,
        Some(_) => return false,
        None => name,
    };
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Expands the first pair of braces of a word; what lies deeper is left as it is.
fn braces(text: &str, open: usize) -> Vec<String> {
    let (before, rest) = text.split_at(open);
    let Some((inner, after)) = rest[1..].rsplit_once('}') else {
        return vec![text.to_owned()];
    };
    let expanded = inner.split(',').take(64);
    expanded
        .map(|middle| format!("{before}{middle}{after}"))
        .filter(|word| !word.is_empty())
        .collect()
}
