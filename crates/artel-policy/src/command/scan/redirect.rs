//! Redirections and here-documents.

use super::ShellScanner;
use super::frame::{ShellScanFrame, ShellWordPosition};
use crate::command::reading::{ShellRedirection, ShellWord};

/// A here-document whose body begins on the next line.
#[derive(Debug)]
pub(super) struct PendingHeredoc {
    delimiter: String,
    is_quoted: bool,
    strips_tabs: bool,
    body: usize,
}

const OPERATORS: &[&str] = &[
    "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">",
];

impl ShellScanner<'_> {
    pub(super) fn redirection(&mut self, frame: &mut ShellScanFrame) {
        let rest = self.rest();
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return self.process_substitution(frame);
        }
        let operator = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator))
            .copied()
            .unwrap_or("<");
        let descriptor = self.descriptor(frame, operator);
        self.at += operator.len();
        match operator {
            "<<" | "<<-" if self.arithmetic == 0 => self.heredoc(operator),
            "<<<" => {
                self.doubt("shell.redirection", "a text is handed to the command");
                self.skip_blanks();
                let text = self.word();
                self.found.bodies.push(text.text);
            }
            _ => self.file(frame, descriptor, operator),
        }
    }

    /// Takes the number directly before an operator.
    fn descriptor(&mut self, frame: &mut ShellScanFrame, operator: &str) -> Option<String> {
        if frame.word_end != self.at || operator.starts_with('&') {
            return None;
        }
        let last = frame.words.last()?;
        let is_number = last.is_bare && last.text.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = last.text.starts_with('{') && last.text.ends_with('}');
        if is_name {
            self.doubt(
                "shell.redirection",
                "a file descriptor is kept in a variable",
            );
        }
        if !is_number && !is_name {
            return None;
        }
        let word = frame.words.pop()?;
        if frame.words.is_empty() {
            frame.place = ShellWordPosition::Start;
        }
        Some(word.text)
    }

    fn process_substitution(&mut self, frame: &mut ShellScanFrame) {
        self.doubt(
            "shell.substitution",
            "the output of another command is handed over as a file",
        );
        self.at += 2;
        self.group();
        frame.words.push(ShellWord {
            is_computed: true,
            ..ShellWord::default()
        });
        frame.place = ShellWordPosition::Arguments;
    }

    fn file(
        &mut self,
        frame: &mut ShellScanFrame,
        descriptor: Option<String>,
        operator: &'static str,
    ) {
        self.skip_blanks();
        let is_missing = self.byte().is_none_or(|byte| b"\n;&|<>()".contains(&byte));
        if is_missing && self.arithmetic == 0 {
            if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
                self.doubt("shell.substitution", "it is redirected to another command");
                self.at += 2;
                return self.group();
            }
            return self.doubt("shell.syntax", "a redirection leads nowhere");
        }
        if is_missing {
            return;
        }
        let target = self.word();
        let redirection = ShellRedirection {
            descriptor,
            operator,
            target,
        };
        if !redirection.is_harmless() {
            self.doubt("shell.redirection", "it is redirected to a file");
        }
        frame.redirections.push(redirection);
    }

    fn heredoc(&mut self, operator: &str) {
        self.doubt("shell.heredoc", "a here-document is handed to the command");
        self.skip_blanks();
        let start = self.at;
        let is_end = |c: char| " \t\n;&|()<>".contains(c);
        let mut quote = None;
        let mut is_escaped = false;
        let length = self.rest().find(|c| match (quote, c) {
            _ if std::mem::take(&mut is_escaped) => false,
            (None, '\\') => {
                is_escaped = true;
                false
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                false
            }
            (Some(open), _) => {
                if c == open {
                    quote = None;
                }
                false
            }
            (None, _) => is_end(c),
        });
        self.at += length.unwrap_or(self.rest().len());
        let raw = &self.text[start..self.at];
        let body = self.found.bodies.len();
        self.pending.push(PendingHeredoc {
            delimiter: raw.replace(['\'', '"', '\\'], ""),
            is_quoted: raw.contains(['\'', '"', '\\']),
            strips_tabs: operator == "<<-",
            body,
        });
        self.found.bodies.push(String::new());
    }

    /// Reads the here-document bodies that begin on this line.
    pub(super) fn read_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let length = self.rest().find('\n');
                let mut line = &self.text[self.at..length.map_or(self.text.len(), |l| self.at + l)];
                self.at += length.map_or(line.len(), |length| length + 1);
                if heredoc.strips_tabs {
                    line = line.trim_start_matches('\t');
                }
                if line == heredoc.delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if !heredoc.is_quoted {
                self.other_text(&body, |scan| scan.body());
            }
            self.found.bodies[heredoc.body] = body;
        }
    }
}
