//! The command list being read, and the scanner's position in it.

use super::{Limit, MAX_PARTS, Scan};
use crate::command::reading::{Part, Redirection, Word};

/// State of one command list, read up to its closing word or parenthesis.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) place: Place,
    pub(super) pipeline: usize,
    pub(super) words: Vec<Word>,
    pub(super) assignments: Vec<String>,
    pub(super) redirections: Vec<Redirection>,
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
pub(super) enum Place {
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
pub(super) enum End {
    Line,
    Sequence,
    And,
    Or,
    Pipe,
    Background,
}

impl Frame {
    pub(super) fn new(pipeline: usize) -> Self {
        Self {
            pipeline,
            ..Self::default()
        }
    }

    /// Creates the state for a list that starts at a pattern of a `case`.
    pub(super) fn at_pattern(pipeline: usize) -> Self {
        Self {
            place: Place::Pattern,
            ..Self::new(pipeline)
        }
    }

    /// Returns whether no command has begun.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.redirections.is_empty()
    }
}

impl Scan<'_> {
    /// Ends the list and reports a missing last command.
    pub(super) fn finish(&mut self, frame: &mut Frame) {
        let is_empty = frame.is_empty() && frame.place != Place::Closed;
        if is_empty && frame.is_owed {
            self.doubt("shell.unfinished", "a command is missing at the end");
        }
        self.push(frame);
    }

    /// Ends a command and starts the next one.
    pub(super) fn end(&mut self, frame: &mut Frame, end: End) {
        let is_empty = frame.is_empty() && frame.place != Place::Closed;
        if end == End::Line && is_empty && frame.place != Place::LoopValues {
            return;
        }
        let is_grammar = !matches!(frame.place, Place::Start | Place::Arguments | Place::Closed);
        if is_empty && !is_grammar {
            self.doubt("shell.syntax", "a command is missing before an operator");
        }
        self.push(frame);
        let pipeline = match end {
            End::Pipe => frame.pipeline,
            _ => self.next_pipeline(),
        };
        *frame = Frame {
            is_owed: matches!(end, End::And | End::Or | End::Pipe),
            is_after_line: end == End::Line,
            ..Frame::new(pipeline)
        };
    }

    fn push(&mut self, frame: &mut Frame) {
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
            return self.stop(Limit::Parts);
        }
        self.found.parts.push(Part {
            words: std::mem::take(&mut frame.words),
            assignments: std::mem::take(&mut frame.assignments),
            redirections: std::mem::take(&mut frame.redirections),
            pipeline: frame.pipeline,
        });
    }

    /// Adds the next word to the list.
    pub(super) fn put(&mut self, frame: &mut Frame, word: Word) {
        if frame.is_after_line && !self.found.parts.is_empty() {
            self.found.has_lines = true;
        }
        frame.is_after_line = false;
        frame.word_end = self.at;
        let bare = word.is_bare.then_some(word.text.as_str());
        match frame.place {
            Place::Start | Place::Closed => {
                if !bare.is_some_and(|text| self.keyword(frame, text)) {
                    self.begin(frame, word);
                }
            }
            Place::Arguments => self.argument(frame, word),
            Place::LoopName => {
                frame.variable = Some(word.text);
                frame.place = Place::LoopIn;
            }
            Place::LoopIn if bare == Some("in") => frame.place = Place::LoopValues,
            Place::LoopIn => {
                frame.place = Place::Start;
                self.put(frame, word);
            }
            Place::LoopValues => {
                if let Some(name) = frame.variable.take() {
                    self.assign(&name, &word.text);
                }
            }
            Place::CaseValue if bare == Some("in") => frame.place = Place::Pattern,
            Place::Pattern if bare == Some("esac") => frame.place = Place::Closed,
            Place::Test if bare == Some("]]") => frame.place = Place::Closed,
            Place::CaseValue | Place::Pattern | Place::Test => {}
            Place::Function => frame.place = Place::Start,
        }
    }

    fn argument(&mut self, frame: &mut Frame, word: Word) {
        if frame.is_coprocess && word.is_bare && word.text == "{" {
            frame.words.clear();
            frame.place = Place::Start;
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
    fn begin(&mut self, frame: &mut Frame, word: Word) {
        if let Some((name, value)) = word.assignment() {
            self.doubt("shell.assignment", "an assignment is never part of a grant");
            self.assign(name.trim_end_matches('+'), value);
            frame.assignments.push(word.text);
            frame.place = Place::Start;
            return;
        }
        if word.glob_at.is_some() {
            self.doubt("shell.glob", "a pattern stands where the program should");
        }
        let is_time_option = word.is_bare && matches!(word.text.as_str(), "-p" | "--");
        let is_after_time = frame.words.first().is_some_and(|word| word.text == "time");
        frame.place = if is_after_time && is_time_option {
            Place::Start
        } else {
            Place::Arguments
        };
        frame.words.push(word);
    }

    /// Handles a shell keyword; returns `false` for any other word.
    fn keyword(&mut self, frame: &mut Frame, text: &str) -> bool {
        let place = match text {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" => Place::Start,
            "fi" | "done" | "esac" | "}" | "]]" => Place::Closed,
            "for" | "select" => Place::LoopName,
            "case" => Place::CaseValue,
            "[[" => Place::Test,
            "function" => Place::Function,
            "coproc" => {
                frame.is_coprocess = true;
                Place::Start
            }
            // The one keyword that changes nothing; it is judged as a wrapper.
            "time" if frame.words.is_empty() => {
                frame.words.push(Word::literal(text));
                frame.place = Place::Start;
                return true;
            }
            _ => return false,
        };
        self.doubt("shell.control-flow", "the shell decides what of it runs");
        frame.place = place;
        true
    }
}
