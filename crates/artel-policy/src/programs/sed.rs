//! `sed`: its scripts can run commands and write files, so they are read command by
//! command.
//!
//! Where implementations differ (a delimiter inside brackets), the script is read both
//! ways and both results count.

use std::iter::Peekable;
use std::str::Chars;

use super::options::ParsedProgramArguments;
use super::table::{DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramSpec, asks, asks_flag};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[ProgramSpec::reads("sed gsed")
    .values(&["-e --expression -l --line-length"])
    .flags(&[
        "-n --quiet --silent -E -r --regexp-extended -s --separate -z --null-data",
        "-u --unbuffered --posix --debug --sandbox --follow-symlinks --help --version",
    ])
    .entries(ENTRIES)
    .operands(OperandMeaning::Call(sed))];

const ENTRIES: &[ProgramOptionEntry] = &[
    asks("-f --file", DoubtReason::Loads),
    asks_flag("-i -I --in-place", DoubtReason::Writes).glued(),
];

/// The effects of a script beyond editing a stream.
#[derive(Debug, Default, PartialEq, Eq)]
struct SedScriptEffects {
    runs: bool,
    /// The commands it runs, as far as the script names them.
    commands: Vec<String>,
    writes: Vec<String>,
    reads: Vec<String>,
}

/// The reading of a delimiter inside brackets: it ends the text (`Plain`) or does not
/// (`Shielding`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SedBracketReading {
    Plain,
    Shielding,
}

fn sed(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut files = parsed.operands.as_slice();
    let mut script: String = parsed
        .values_of("-e --expression")
        .collect::<Vec<_>>()
        .join("\n");
    if !parsed.has("-e --expression -f --file") {
        let Some((first, rest)) = files.split_first() else {
            return;
        };
        script.push_str(first);
        files = rest;
    }
    judge(view, &script);
    for file in files {
        if parsed.has("-i -I --in-place") {
            view.finding.writes.push((*file).to_owned());
        } else {
            view.read(file);
        }
    }
}

fn judge(view: &mut CommandInspector<'_>, script: &str) {
    view.doubt_open_text(script);
    let readings = [SedBracketReading::Plain, SedBracketReading::Shielding]
        .map(|brackets| read(script, brackets));
    if readings.iter().all(Option::is_none) {
        return view.doubt_word(DoubtReason::Unknown, script);
    }
    for deeds in readings.into_iter().flatten() {
        if deeds.runs {
            view.doubt_word(DoubtReason::Starts, script);
        }
        deeds
            .commands
            .iter()
            .for_each(|text| view.start_script(text));
        deeds.writes.iter().for_each(|path| view.write(path));
        deeds.reads.iter().for_each(|path| view.read(path));
    }
}

/// Reads a whole script, or returns `None` if it cannot be understood.
fn read(script: &str, brackets: SedBracketReading) -> Option<SedScriptEffects> {
    let mut reader = SedScriptReader {
        rest: script.chars().peekable(),
        brackets,
        deeds: SedScriptEffects::default(),
    };
    while reader.command()? {}
    Some(reader.deeds)
}

struct SedScriptReader<'s> {
    rest: Peekable<Chars<'s>>,
    brackets: SedBracketReading,
    deeds: SedScriptEffects,
}

impl SedScriptReader<'_> {
    /// Reads one command with its addresses. Returns `Some(false)` at the end of the script.
    fn command(&mut self) -> Option<bool> {
        self.skip(|letter| letter.is_whitespace() || letter == ';');
        if self.rest.peek().is_none() {
            return Some(false);
        }
        self.address()?;
        self.skip(char::is_whitespace);
        if self.rest.next_if_eq(&',').is_some() {
            self.skip(char::is_whitespace);
            self.rest.next_if(|letter| matches!(letter, '+' | '~'));
            self.address()?;
        }
        self.skip(|letter| letter.is_whitespace() || letter == '!');
        let Some(command) = self.rest.next() else {
            return Some(false);
        };
        match command {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => {
                self.skip(|letter| letter == ' ' || letter.is_ascii_digit());
            }
            'e' => {
                self.deeds.runs = true;
                let command = self.line();
                self.deeds.commands.push(command);
            }
            'w' | 'W' => {
                let path = self.line();
                self.deeds.writes.push(path);
            }
            'r' | 'R' => {
                let path = self.line();
                self.deeds.reads.push(path);
            }
            'a' | 'i' | 'c' => self.text(),
            'b' | 't' | 'T' | ':' | 'v' => self.skip(|letter| !matches!(letter, ';' | '\n' | '}')),
            '#' => {
                self.line();
            }
            's' => self.substitute()?,
            'y' => {
                let delimiter = self.rest.next()?;
                self.delimited(delimiter, SedBracketReading::Plain)?;
                self.delimited(delimiter, SedBracketReading::Plain)?;
            }
            _ => return None,
        }
        Some(true)
    }

    fn address(&mut self) -> Option<()> {
        match self.rest.peek().copied() {
            Some('0'..='9') => {
                self.skip(|letter| letter.is_ascii_digit());
                if self.rest.next_if_eq(&'~').is_some() {
                    self.skip(|letter| letter.is_ascii_digit());
                }
            }
            Some('$') => {
                self.rest.next();
            }
            Some('/') => {
                self.rest.next();
                self.delimited('/', self.brackets)?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
            }
            Some('\\') => {
                self.rest.next();
                let delimiter = self.rest.next()?;
                self.delimited(delimiter, self.brackets)?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
            }
            _ => {}
        }
        Some(())
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.rest.next()?;
        if matches!(delimiter, '\n' | '\\') {
            return None;
        }
        self.delimited(delimiter, self.brackets)?;
        let replacement = self.delimited(delimiter, SedBracketReading::Plain)?;
        loop {
            match self.rest.peek().copied() {
                Some('e') => {
                    self.deeds.runs = true;
                    self.deeds.commands.push(replacement.clone());
                    self.rest.next();
                }
                Some('w') => {
                    self.rest.next();
                    let path = self.line();
                    self.deeds.writes.push(path);
                    return Some(());
                }
                // Some implementations accept blanks between flags, so a flag may still
                // follow.
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' | ' ' | '\t' | '\r') => {
                    self.rest.next();
                }
                Some(';' | '\n' | '}' | '#') | None => return Some(()),
                Some(_) => return None,
            }
        }
    }

    /// Reads up to an unescaped delimiter and returns the text before it.
    fn delimited(&mut self, delimiter: char, brackets: SedBracketReading) -> Option<String> {
        let mut in_brackets = 0_usize;
        let mut text = String::new();
        loop {
            let letter = self.rest.next()?;
            if letter != delimiter && letter != '\\' {
                text.push(letter);
            }
            match letter {
                '\\' if in_brackets == 0 => text.push(self.rest.next()?),
                _ if letter == delimiter && in_brackets == 0 => return Some(text),
                '[' if brackets == SedBracketReading::Shielding && in_brackets == 0 => {
                    in_brackets = 1;
                    self.rest.next_if_eq(&'^');
                    self.rest.next_if_eq(&']');
                }
                ']' => in_brackets = 0,
                _ => {}
            }
        }
    }

    /// Returns the rest of the line, without leading blanks.
    fn line(&mut self) -> String {
        self.skip(|letter| letter == ' ' || letter == '\t');
        let mut line = String::new();
        while let Some(letter) = self.rest.next_if(|letter| *letter != '\n') {
            line.push(letter);
        }
        line
    }

    /// Skips the text of `a`, `i` and `c`, up to the end of a line that does not end with a
    /// backslash.
    fn text(&mut self) {
        self.skip(|letter| letter == ' ' || letter == '\t');
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => {
                    self.rest.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.rest.next_if(|letter| skipped(*letter)).is_some() {}
    }
}
