//! One pass over shell text that finds every simple command anywhere in it.
//!
//! The pass is linear and its recursion is bounded, whatever the text. It knows quotes,
//! substitutions, here-documents, control flow and functions well enough to see the
//! commands in them; it does not evaluate anything. Text that raises no doubt is *plain*:
//! literal words joined by `&&`, `||`, `;`, `|` and line ends. Only plain text can be
//! allowed, so where this parser is generous (a word list taken for a command) the price
//! is an unnecessary question at most.

mod frame;
mod redirect;
mod word;

use std::collections::HashMap;

use super::reading::{ShellWord, SimpleShellCommand};
use crate::programs::CommandDoubt;
use frame::{ShellControlOperator, ShellScanFrame, ShellWordPosition};
use redirect::PendingHeredoc;

/// Limit on the nesting of parentheses, substitutions and quotes.
pub(super) const MAX_NESTING: usize = 50;

/// Limit on the number of commands in one text.
pub(super) const MAX_PARTS: usize = 20_000;

/// Longest variable value that is remembered, in bytes, and how many variables.
const MAX_VALUE: usize = 64;
const MAX_VARIABLES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct ShellScanResult {
    pub(super) parts: Vec<SimpleShellCommand>,
    /// The bodies of here-documents and here-strings.
    pub(super) bodies: Vec<String>,
    pub(super) doubts: Vec<CommandDoubt>,
    /// `&&`, `||`, `;` and `|`, with the byte position of each.
    pub(super) operators: Vec<(usize, &'static str)>,
    /// Whether line ends separate commands.
    pub(super) has_lines: bool,
    /// The limit that stopped the scan, if one did.
    pub(super) limit: Option<ShellScanLimit>,
    variables: HashMap<String, String>,
    pipelines: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellScanLimit {
    Nesting,
    Parts,
}

pub(super) struct ShellScanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Nesting of arithmetic, where `<<` shifts and `#` gives a base.
    arithmetic: usize,
    pending: Vec<PendingHeredoc>,
    found: ShellScanResult,
}

/// Scans a text from beginning to end.
pub(super) fn scan(text: &str) -> ShellScanResult {
    let mut scan = ShellScanner::over(text);
    scan.script(None);
    scan.found
}

impl<'a> ShellScanner<'a> {
    fn over(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            arithmetic: 0,
            pending: Vec::new(),
            found: ShellScanResult::default(),
        }
    }

    fn byte(&self) -> Option<u8> {
        self.byte_at(0)
    }

    fn byte_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Records why the text is not plain, once per rule.
    fn doubt(&mut self, rule: &'static str, reason: &str) {
        if self.found.doubts.iter().all(|doubt| doubt.rule != rule) {
            self.found.doubts.push(CommandDoubt {
                rule,
                reason: reason.to_owned(),
            });
        }
    }

    fn stop(&mut self, limit: ShellScanLimit) {
        self.found.limit.get_or_insert(limit);
        self.at = self.text.len();
    }

    /// Reads one level deeper, unless the nesting limit is reached.
    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_NESTING {
            self.stop(ShellScanLimit::Nesting);
            return;
        }
        self.depth += 1;
        read(self);
        self.depth -= 1;
    }

    /// Reads another text as part of this one, such as a text between backquotes.
    fn other_text(&mut self, text: &str, read: impl FnOnce(&mut ShellScanner<'_>)) {
        let mut inner = ShellScanner {
            depth: self.depth,
            found: std::mem::take(&mut self.found),
            ..ShellScanner::over(text)
        };
        inner.deeper(read);
        self.found = inner.found;
        if self.found.limit.is_some() {
            self.at = self.text.len();
        }
    }

    /// Reads the commands up to a closing parenthesis.
    fn group(&mut self) {
        self.deeper(|scan| scan.script(Some(b')')));
    }

    fn script(&mut self, close: Option<u8>) {
        let mut frame = ShellScanFrame::new(self.next_pipeline());
        loop {
            self.skip_blanks();
            let Some(byte) = self.byte() else {
                self.finish(&mut frame);
                if close.is_some() {
                    self.doubt("shell.unfinished", "a parenthesis is not closed");
                }
                return;
            };
            if frame.place == ShellWordPosition::Test && b"&|()<>;\n".contains(&byte) {
                self.at += 1;
                continue;
            }
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.end(&mut frame, ShellControlOperator::Line);
                    self.read_bodies();
                }
                b'#' if self.arithmetic == 0 => self.skip_comment(),
                b';' => self.semicolon(&mut frame),
                b'&' | b'|' => self.operator(&mut frame),
                b'(' => self.open(&mut frame),
                b')' => {
                    self.at += 1;
                    if frame.place == ShellWordPosition::Pattern {
                        frame.place = ShellWordPosition::Start;
                    } else if close == Some(b')') {
                        self.finish(&mut frame);
                        return;
                    } else {
                        self.doubt(
                            "shell.syntax",
                            "a parenthesis is closed that was not opened",
                        );
                    }
                }
                b'<' | b'>' => self.redirection(&mut frame),
                _ => {
                    let word = self.word();
                    self.put(&mut frame, word);
                }
            }
        }
    }

    fn next_pipeline(&mut self) -> usize {
        self.found.pipelines += 1;
        self.found.pipelines
    }

    /// Skips blanks and escaped line ends.
    fn skip_blanks(&mut self) {
        loop {
            match self.byte() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte_at(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += line;
    }

    fn semicolon(&mut self, frame: &mut ShellScanFrame) {
        let start = self.at;
        self.at += 1;
        if matches!(self.byte(), Some(b';' | b'&')) {
            while matches!(self.byte(), Some(b';' | b'&')) {
                self.at += 1;
            }
            self.doubt("shell.control-flow", "it chooses between cases");
            self.finish(frame);
            *frame = ShellScanFrame::at_pattern(self.next_pipeline());
            return;
        }
        self.found.operators.push((start, ";"));
        self.end(frame, ShellControlOperator::Sequence);
    }

    fn operator(&mut self, frame: &mut ShellScanFrame) {
        let start = self.at;
        let rest = self.rest();
        let (operator, end) = if rest.starts_with("&&") {
            ("&&", ShellControlOperator::And)
        } else if rest.starts_with("||") {
            ("||", ShellControlOperator::Or)
        } else if rest.starts_with("&>") {
            return self.redirection(frame);
        } else if rest.starts_with("|&") {
            self.doubt("shell.operator", "`|&` joins it to the next command");
            ("|&", ShellControlOperator::Pipe)
        } else if rest.starts_with('|') {
            if frame.place == ShellWordPosition::Pattern {
                self.at += 1;
                return;
            }
            ("|", ShellControlOperator::Pipe)
        } else {
            self.doubt("shell.background", "`&` starts it in the background");
            ("&", ShellControlOperator::Background)
        };
        self.at += operator.len();
        self.found.operators.push((start, operator));
        self.end(frame, end);
    }

    /// Reads what follows an opening parenthesis that is not part of a word.
    fn open(&mut self, frame: &mut ShellScanFrame) {
        self.at += 1;
        if frame.place == ShellWordPosition::Pattern {
            return;
        }
        self.skip_blanks();
        if self.byte() == Some(b')') && !frame.is_empty() {
            self.at += 1;
            self.doubt("shell.function", "it defines a function");
            *frame = ShellScanFrame::new(frame.pipeline);
            return;
        }
        self.doubt("shell.subshell", "commands stand in parentheses");
        let is_arithmetic = self.byte() == Some(b'(');
        self.arithmetic += usize::from(is_arithmetic);
        self.group();
        self.arithmetic -= usize::from(is_arithmetic);
        if frame.place == ShellWordPosition::Start {
            frame.place = ShellWordPosition::Closed;
        }
    }

    /// Remembers a literal value, so that a command spelled through a variable is still seen.
    fn assign(&mut self, name: &str, value: &str) {
        let known = self.found.variables.contains_key(name);
        if value.len() <= MAX_VALUE && (known || self.found.variables.len() < MAX_VARIABLES) {
            self.found
                .variables
                .insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Reads a text as one word, or returns `None` if it is more than one.
pub(super) fn single_word(text: &str) -> Option<ShellWord> {
    let mut scan = ShellScanner::over(text);
    let word = scan.word();
    (scan.at == text.len()).then_some(word)
}
