//! The command list being read, and the scanner's position in it.

use super::{MAX_PARTS, ShellScanLimit, ShellScanner};
use crate::command::reading::{ShellRedirection, ShellWord, SimpleShellCommand};

/// State of one command list, read up to its closing word or parenthesis.
#[derive(Debug, Default)]
pub(super) struct ShellScanFrame {
    pub(super) place: ShellWordPosition,
    pub(super) pipeline: usize,
    pub(super) words: Vec<ShellWord>,
    pub(super) assignments: Vec<String>,
    pub(super) redirections: Vec<ShellRedirection>,
    /// Byte position where the last word ended.
    pub(super) word_end: usize,
    /// Whether the preceding operator still needs a command after it.
    pub(super) is_owed: bool,
    /// Whether a line end precedes.
    is_after_line: bool,
    /// The loop variable whose values are being read.
    variable: Option<String>,
    is_coprocess: bool,
}

/// The expected kind of the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ShellWordPosition {
    /// A program or a shell keyword.
    #[default]
    Start,
    Arguments,
    /// No word can follow: a compound command just ended.
    Closed,
    /// The name of a loop variable.
    LoopName,
    /// `in`, if the loop has values.
    LoopIn,
    /// A value of a loop.
    LoopValues,
    /// The value that a `case` tests.
    CaseValue,
    /// A pattern of a `case`.
    Pattern,
    /// Part of a `[[ … ]]`.
    Test,
    /// The name of a function.
    Function,
}

/// The operator or line end after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellControlOperator {
    Line,
    Sequence,
    And,
    Or,
    Pipe,
    Background,
}

impl ShellScanFrame {
    pub(super) fn new(pipeline: usize) -> Self {
        Self {
            pipeline,
            ..Self::default()
        }
    }

    /// Creates the state for a list that starts at a pattern of a `case`.
    pub(super) fn at_pattern(pipeline: usize) -> Self {
        Self {
            place: ShellWordPosition::Pattern,
            ..Self::new(pipeline)
        }
    }

    /// Returns whether no command has begun.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.redirections.is_empty()
    }
}

impl ShellScanner<'_> {
    /// Ends the list and reports a missing last command.
    pub(super) fn finish(&mut self, frame: &mut ShellScanFrame) {
        let is_empty = frame.is_empty() && frame.place != ShellWordPosition::Closed;
        if is_empty && frame.is_owed {
            self.doubt("shell.unfinished", "a command is missing at the end");
        }
        self.push(frame);
    }

    /// Ends a command and starts the next one.
    pub(super) fn end(&mut self, frame: &mut ShellScanFrame, end: ShellControlOperator) {
        let is_empty = frame.is_empty() && frame.place != ShellWordPosition::Closed;
        if end == ShellControlOperator::Line
            && is_empty
            && frame.place != ShellWordPosition::LoopValues
        {
            return;
        }
        let is_grammar = !matches!(
            frame.place,
            ShellWordPosition::Start | ShellWordPosition::Arguments | ShellWordPosition::Closed
        );
        if is_empty && !is_grammar {
            self.doubt("shell.syntax", "a command is missing before an operator");
        }
        self.push(frame);
        let pipeline = match end {
            ShellControlOperator::Pipe => frame.pipeline,
            _ => self.next_pipeline(),
        };
        *frame = ShellScanFrame {
            is_owed: matches!(
                end,
                ShellControlOperator::And | ShellControlOperator::Or | ShellControlOperator::Pipe
            ),
            is_after_line: end == ShellControlOperator::Line,
            ..ShellScanFrame::new(pipeline)
        };
    }

    fn push(&mut self, frame: &mut ShellScanFrame) {
        if frame.is_empty() {
            return;
        }
        if frame.words.is_empty() && !frame.redirections.is_empty() {
            self.doubt(
                "shell.redirection",
                "a redirection stands without a command",
            );
        }
        if self.found.parts.len() >= MAX_PARTS {
            return self.stop(ShellScanLimit::Parts);
        }
        self.found.parts.push(SimpleShellCommand {
            words: std::mem::take(&mut frame.words),
            assignments: std::mem::take(&mut frame.assignments),
            redirections: std::mem::take(&mut frame.redirections),
            pipeline: frame.pipeline,
        });
    }

    /// Adds the next word to the list.
    pub(super) fn put(&mut self, frame: &mut ShellScanFrame, word: ShellWord) {
        if frame.is_after_line && !self.found.parts.is_empty() {
            self.found.has_lines = true;
        }
        frame.is_after_line = false;
        frame.word_end = self.at;
        let bare = word.is_bare.then_some(word.text.as_str());
        match frame.place {
            ShellWordPosition::Start | ShellWordPosition::Closed => {
                if !bare.is_some_and(|text| self.keyword(frame, text)) {
                    self.begin(frame, word);
                }
            }
            ShellWordPosition::Arguments => self.argument(frame, word),
            ShellWordPosition::LoopName => {
                frame.variable = Some(word.text);
                frame.place = ShellWordPosition::LoopIn;
            }
            ShellWordPosition::LoopIn if bare == Some("in") => {
                frame.place = ShellWordPosition::LoopValues
            }
            ShellWordPosition::LoopIn => {
                frame.place = ShellWordPosition::Start;
                self.put(frame, word);
            }
            ShellWordPosition::LoopValues => {
                if let Some(name) = frame.variable.take() {
                    self.assign(&name, &word.text);
                }
            }
            ShellWordPosition::CaseValue if bare == Some("in") => {
                frame.place = ShellWordPosition::Pattern
            }
            ShellWordPosition::Pattern if bare == Some("esac") => {
                frame.place = ShellWordPosition::Closed
            }
            ShellWordPosition::Test if bare == Some("]]") => {
                frame.place = ShellWordPosition::Closed
            }
            ShellWordPosition::CaseValue | ShellWordPosition::Pattern | ShellWordPosition::Test => {
            }
            ShellWordPosition::Function => frame.place = ShellWordPosition::Start,
        }
    }

    fn argument(&mut self, frame: &mut ShellScanFrame, word: ShellWord) {
        if frame.is_coprocess && word.is_bare && word.text == "{" {
            frame.words.clear();
            frame.place = ShellWordPosition::Start;
            return;
        }
        if word.glob_at.is_some() && !word.is_anchored() {
            self.doubt(
                "shell.glob",
                "a pattern without a path in front can become anything, also an option",
            );
        }
        frame.words.push(word);
    }

    /// Handles the first word of a command.
    fn begin(&mut self, frame: &mut ShellScanFrame, word: ShellWord) {
        if let Some((name, value)) = word.assignment() {
            self.doubt("shell.assignment", "an assignment is never part of a grant");
            self.assign(name.trim_end_matches('+'), value);
            frame.assignments.push(word.text);
            frame.place = ShellWordPosition::Start;
            return;
        }
        if word.glob_at.is_some() {
            self.doubt("shell.glob", "a pattern stands where the program should");
        }
        let is_time_option = word.is_bare && matches!(word.text.as_str(), "-p" | "--");
        let is_after_time = frame.words.first().is_some_and(|word| word.text == "time");
        frame.place = if is_after_time && is_time_option {
            ShellWordPosition::Start
        } else {
            ShellWordPosition::Arguments
        };
        frame.words.push(word);
    }

    /// Handles a shell keyword; returns `false` for any other word.
    fn keyword(&mut self, frame: &mut ShellScanFrame, text: &str) -> bool {
        let place = match text {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" => {
                ShellWordPosition::Start
            }
            "fi" | "done" | "esac" | "}" | "]]" => ShellWordPosition::Closed,
            "for" | "select" => ShellWordPosition::LoopName,
            "case" => ShellWordPosition::CaseValue,
            "[[" => ShellWordPosition::Test,
            "function" => ShellWordPosition::Function,
            "coproc" => {
                frame.is_coprocess = true;
                ShellWordPosition::Start
            }
            // The one keyword that changes nothing; it is judged as a wrapper.
            "time" if frame.words.is_empty() => {
                frame.words.push(ShellWord::literal(text));
                frame.place = ShellWordPosition::Start;
                return true;
            }
            _ => return false,
        };
        self.doubt("shell.control-flow", "the shell decides what of it runs");
        frame.place = place;
        true
    }
}
