//! The result of parsing a shell text, in a form that can be shown to a person.

use serde::Serialize;

use crate::programs::{CommandAssessment, CommandDoubt};

/// One simple command as written.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SimpleShellCommand {
    pub(super) words: Vec<ShellWord>,
    /// Leading assignments, such as `PATH=/tmp`.
    pub(super) assignments: Vec<String>,
    pub(super) redirections: Vec<ShellRedirection>,
    /// The number of the pipeline; all its commands share it.
    #[serde(skip)]
    pub(super) pipeline: usize,
}

/// One word of a command.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ShellWord {
    /// The word without its quotes. Where the shell computes something, only the known part.
    pub(super) text: String,
    /// Whether the shell still computes part of it.
    pub(super) is_computed: bool,
    /// Whether it has neither quotes nor escapes: only then can it be a shell keyword.
    #[serde(skip)]
    pub(super) is_bare: bool,
    /// Byte position of the first unquoted pattern.
    #[serde(skip)]
    pub(super) glob_at: Option<usize>,
    /// Byte position of a brace that expands to several words.
    #[serde(skip)]
    pub(super) brace_at: Option<usize>,
    /// Whether the shell splits the word at blanks.
    #[serde(skip)]
    pub(super) is_split: bool,
}

/// A redirection of a command.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ShellRedirection {
    pub(super) descriptor: Option<String>,
    pub(super) operator: &'static str,
    pub(super) target: ShellWord,
}

/// A command that would really start, as written or through a wrapper.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandLaunch {
    pub(super) words: Vec<String>,
    /// Whether more words follow that are not known yet.
    pub(super) is_open: bool,
    /// Whether the shell still expands one of the words to file names.
    pub(super) has_pattern: bool,
    /// The command line that starts it, and the index there of its first word. A rule that
    /// names the wrapper together with the inner command (`npx tsc`) grants both.
    pub(super) outer: Option<(Vec<String>, usize)>,
    pub(super) finding: CommandAssessment,
}

/// A redirection, with the number of commands launched before the shell opens its file.
#[derive(Debug, Clone)]
pub(super) struct PlacedRedirection {
    pub(super) redirection: ShellRedirection,
    pub(super) launches_before: usize,
}

/// One thing that the shell does when it runs a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Open(&'a ShellRedirection),
    CommandLaunch(&'a CommandLaunch),
}

/// A parsed shell text.
#[derive(Debug, Default)]
pub struct ShellAnalysis {
    pub(super) parts: Vec<SimpleShellCommand>,
    pub(super) launches: Vec<CommandLaunch>,
    /// The redirections of the text and of every script in it, in the order in which the
    /// shell opens them.
    pub(super) redirections: Vec<PlacedRedirection>,
    /// Commands in text that may be fed to a shell. Bans apply to them too.
    pub(super) hints: Vec<Vec<String>>,
    /// Commands it may run under other names or through unknown programs. Only bans and the
    /// person's ask rules apply to them.
    pub(super) also: Vec<Vec<String>>,
    pub(super) doubts: Vec<CommandDoubt>,
    /// Why the text is not judged at all.
    pub(super) refusal: Option<CommandDoubt>,
    pub(super) has_operators: bool,
    /// Whether one of the commands gets a here-document.
    pub(super) has_input: bool,
    /// Whether every redirection is a plain write to a named file.
    pub(super) writes_plainly: bool,
}

impl SimpleShellCommand {
    /// Returns the words of the command; the first is the program.
    pub fn words(&self) -> &[ShellWord] {
        &self.words
    }

    /// Returns the leading assignments.
    pub fn assignments(&self) -> &[String] {
        &self.assignments
    }

    /// Returns the redirections as written.
    pub fn redirections(&self) -> &[ShellRedirection] {
        &self.redirections
    }

    /// Returns the words as the shell would most likely pass them on. Computed parts are
    /// filled in as far as the text shows them; an unset variable is empty and dropped.
    pub(super) fn likely_words(&self) -> Vec<String> {
        self.words.iter().flat_map(ShellWord::likely).collect()
    }
}

impl ShellWord {
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_bare: true,
            ..Self::default()
        }
    }

    /// Returns the text of the word, if the shell would pass it on unchanged.
    pub fn as_literal(&self) -> Option<&str> {
        (!self.is_computed && self.glob_at.is_none()).then_some(&self.text)
    }

    /// Returns whether a pattern in the word cannot turn into an option or another program,
    /// because a path stands in front of it or it is the value of a long option. A name that
    /// begins with a dot must be written out.
    pub(super) fn is_anchored(&self) -> bool {
        let Some(prefix) = self.glob_at.map(|at| &self.text[..at]) else {
            return true;
        };
        match prefix.rsplit_once('/') {
            Some((_, name)) => !prefix.starts_with('-') && !name.starts_with('.'),
            None => prefix.starts_with("--") && prefix.ends_with('='),
        }
    }

    /// Splits `NAME=value` and `NAME[index]=value`, or returns `None` for any other word.
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

impl ShellRedirection {
    /// Returns the operator, such as `>>`.
    pub fn operator(&self) -> &str {
        self.operator
    }

    /// Returns the file or descriptor it redirects to or from.
    pub fn target(&self) -> &ShellWord {
        &self.target
    }

    /// Returns whether a file may be written through it.
    pub fn is_write(&self) -> bool {
        self.operator.contains('>')
    }

    /// Returns whether it reads a named file. A here-document does not name one.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.operator, "<" | "<>")
    }

    /// Returns whether it writes to a named file and does nothing else.
    pub(super) fn is_plain_write(&self) -> bool {
        matches!(self.operator, ">" | ">>")
            && matches!(self.descriptor.as_deref(), None | Some("1" | "2"))
            && self
                .target
                .as_literal()
                .is_some_and(|target| !target.is_empty())
            && self.target.brace_at.is_none()
    }

    /// Returns whether it only joins the two output streams or discards one.
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

impl ShellAnalysis {
    /// Returns every simple command in the text, wherever it stands.
    pub fn parts(&self) -> &[SimpleShellCommand] {
        &self.parts
    }

    /// Returns the words of every command that would start: as written, through wrappers, and
    /// in texts handed to a shell.
    pub fn words(&self) -> impl Iterator<Item = &[String]> {
        let launched = self.launches.iter().map(|launch| launch.words.as_slice());
        launched.chain(self.hints.iter().map(Vec::as_slice))
    }

    /// Returns the launches and redirections in the order in which the shell handles them. A
    /// change of directory affects the steps after it.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let mut opened = self.redirections.iter().peekable();
        let mut launched = self.launches.iter().enumerate().peekable();
        std::iter::from_fn(move || {
            let next = launched.peek().map_or(usize::MAX, |(at, _)| *at);
            if let Some(one) = opened.next_if(|one| one.launches_before <= next) {
                return Some(Step::Open(&one.redirection));
            }
            launched
                .next()
                .map(|(_, launch)| Step::CommandLaunch(launch))
        })
    }

    /// Like [`ShellAnalysis::words`], with the other commands that may be run.
    pub(super) fn likely_words(&self) -> impl Iterator<Item = &[String]> {
        self.words().chain(self.also.iter().map(Vec::as_slice))
    }

    /// Returns why the text itself cannot be allowed without a question.
    pub fn doubts(&self) -> &[CommandDoubt] {
        &self.doubts
    }

    /// Returns why the text is not judged at all, or `None` if it is.
    pub fn refusal(&self) -> Option<&CommandDoubt> {
        self.refusal.as_ref()
    }

    /// Returns whether the text consists of literal words joined by plain operators.
    pub fn is_plain(&self) -> bool {
        self.doubts.is_empty() && self.refusal.is_none()
    }
}

/// Returns whether a name can be assigned to.
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

/// Expands the first pair of braces in a word; nested braces are left as they are.
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
