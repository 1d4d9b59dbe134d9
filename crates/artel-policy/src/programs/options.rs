//! Parses options: clusters, glued values, abbreviations, the end of options.

use super::index::{self, KnownProgramOption, ProgramOptionIndex};
use super::table::{
    DoubtReason, OptionEffect, OptionValueSyntax, ProgramOptionEntry, ProgramOptionStyle,
    ProgramSpec, UnknownOptionHandling, lists,
};
use super::view::{CommandInspector, UNKNOWN_WORD};

/// The words of a command, split into options and operands.
#[derive(Debug, Default)]
pub(super) struct ParsedProgramArguments<'w> {
    /// Words that are neither an option nor the value of one.
    pub(super) operands: Vec<&'w str>,
    /// Number of operands before `--`.
    pub(super) before_end: usize,
    /// The options that the table knows, as it spells them, with their values.
    pub(super) seen: Vec<(&'static str, &'w str)>,
}

impl<'w> ParsedProgramArguments<'w> {
    /// Returns whether one of these options was given.
    pub(super) fn has(&self, options: &str) -> bool {
        self.values_of(options).next().is_some()
    }

    /// Returns the values of these options, in order.
    pub(super) fn values_of(&self, options: &str) -> impl Iterator<Item = &'w str> {
        let seen = self.seen.iter();
        seen.filter(move |(option, _)| lists(options, option))
            .map(|(_, value)| *value)
    }
}

/// Splits the words and records what the options do.
pub(super) fn read<'w>(
    view: &mut CommandInspector<'_>,
    program: &'static ProgramSpec,
    words: &'w [String],
) -> ParsedProgramArguments<'w> {
    let mut reader = ProgramArgumentReader {
        program,
        index: index::of(program),
        words,
        at: 0,
        parsed: ParsedProgramArguments::default(),
        found: Vec::new(),
    };
    if program.style == ProgramOptionStyle::Raw {
        reader.take_rest();
    }
    while let Some(word) = words.get(reader.at) {
        reader.at += 1;
        if word == "--" {
            reader.parsed.before_end = reader.parsed.operands.len();
            reader.take_rest();
            break;
        }
        if may_become_option(word) && program.has_harm() {
            view.doubt_word(DoubtReason::OpenWords, word);
        }
        if !word.starts_with('-') || word == "-" {
            reader.parsed.operands.push(word);
            reader.parsed.before_end += 1;
            if program.style == ProgramOptionStyle::Posix {
                reader.take_rest();
            }
        } else if program.style == ProgramOptionStyle::Dash {
            reader.dash(view, word);
        } else if word.starts_with("--") {
            reader.long(view, word);
        } else {
            reader.cluster(view, word);
        }
    }
    reader.finish(view)
}

struct ProgramArgumentReader<'w> {
    program: &'static ProgramSpec,
    index: &'static ProgramOptionIndex,
    words: &'w [String],
    at: usize,
    parsed: ParsedProgramArguments<'w>,
    found: Vec<(&'static ProgramOptionEntry, &'static str, &'w str)>,
}

impl<'w> ProgramArgumentReader<'w> {
    fn take_rest(&mut self) {
        let rest = self.words.get(self.at..).unwrap_or_default();
        self.parsed.operands.extend(rest.iter().map(String::as_str));
        self.at = self.words.len();
    }

    /// Returns the value of an option, unless the word is a harmful option itself. If the
    /// table is wrong about which options take a value, nothing harmful can hide behind them.
    fn next_word(&mut self) -> &'w str {
        let word = self.words.get(self.at).map_or("", String::as_str);
        if self.is_harmful(word) {
            return "";
        }
        self.at += 1;
        word
    }

    fn is_harmful(&self, word: &str) -> bool {
        let is_long = word.starts_with("--");
        let known = match word.strip_prefix('-').and_then(|rest| rest.chars().next()) {
            None => return false,
            Some(_) if self.program.style == ProgramOptionStyle::Dash => {
                self.index.dash(word).map(|(known, _)| known)
            }
            Some(_) if is_long => self.index.long(word.split('=').next().unwrap_or(word)),
            Some(letter) => self.index.short(letter),
        };
        let entry = known.and_then(|known| known.entry);
        entry.is_some_and(|entry| !matches!(entry.act, OptionEffect::Read)) && word != "--"
    }

    fn note(&mut self, known: KnownProgramOption, value: &'w str) {
        self.parsed.seen.push((known.spelling, value));
        if known.takes == OptionValueSyntax::Last {
            self.take_rest();
        }
        if let Some(entry) = known.entry {
            self.found.push((entry, known.spelling, value));
        }
    }

    fn unknown(&self, view: &mut CommandInspector<'_>, word: &str) {
        match self.program.unknown {
            UnknownOptionHandling::Fine => {}
            UnknownOptionHandling::Asks => view.doubt_word(DoubtReason::Unknown, word),
            UnknownOptionHandling::Inside => {
                if view.leads_out(word) && view.has_part(self.program, "confined") {
                    view.doubt_word(DoubtReason::Elsewhere, word);
                }
            }
        }
    }

    fn long(&mut self, view: &mut CommandInspector<'_>, word: &'w str) {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let Some(known) = self.index.long(name) else {
            return self.unknown(view, word);
        };
        let value = match (glued, known.takes) {
            (Some(value), _) => value,
            (None, OptionValueSyntax::Value | OptionValueSyntax::Last) => self.next_word(),
            _ => "",
        };
        self.note(known, value);
    }

    fn cluster(&mut self, view: &mut CommandInspector<'_>, word: &'w str) {
        for (at, letter) in word.char_indices().skip(1) {
            let rest = word.get(at + letter.len_utf8()..).unwrap_or_default();
            let Some(known) = self.index.short(letter) else {
                if !letter.is_ascii_digit() {
                    self.unknown(view, word);
                }
                continue;
            };
            match known.takes {
                OptionValueSyntax::Nothing => self.note(known, ""),
                OptionValueSyntax::Value | OptionValueSyntax::Last if rest.is_empty() => {
                    let value = self.next_word();
                    return self.note(known, value);
                }
                OptionValueSyntax::Value | OptionValueSyntax::Glued | OptionValueSyntax::Last => {
                    return self.note(known, rest);
                }
            }
        }
    }

    fn dash(&mut self, view: &mut CommandInspector<'_>, word: &'w str) {
        let Some((known, glued)) = self.index.dash(word) else {
            return self.unknown(view, word);
        };
        let value = match (glued, known.takes) {
            (Some(value), _) => value,
            (None, OptionValueSyntax::Value) => self.next_word(),
            _ => "",
        };
        self.note(known, value);
    }

    /// Applies the options. This comes last because the subcommand decides which of them it
    /// has.
    fn finish(self, view: &mut CommandInspector<'_>) -> ParsedProgramArguments<'w> {
        let sub = self.parsed.operands.first().copied().unwrap_or_default();
        for (entry, spelling, value) in self.found {
            let counts = entry.only.is_empty() || lists(entry.only, sub);
            if counts && view.has_part(self.program, entry.options) {
                act(view, entry, spelling, value);
            }
        }
        self.parsed
    }
}

fn act(view: &mut CommandInspector<'_>, entry: &ProgramOptionEntry, spelling: &str, value: &str) {
    match entry.act {
        OptionEffect::Doubt(why) => view.doubt_word(why, spelling),
        OptionEffect::Write => {
            view.write(value);
            if value.is_empty() {
                view.doubt_word(DoubtReason::Writes, spelling);
            }
        }
        OptionEffect::Read => view.read(value),
        OptionEffect::Start => {
            view.doubt_word(DoubtReason::Starts, spelling);
            if !value.is_empty() {
                view.start_script(value);
            }
        }
        OptionEffect::Inside(why) => {
            if view.strays(value) {
                view.doubt_word(why, &format!("{spelling} {value}"));
            }
        }
        OptionEffect::Check(check) => {
            if let Some(why) = check(value) {
                view.doubt_word(why, &format!("{spelling} {value}"));
            }
        }
        OptionEffect::Call(call) => call(view, value),
    }
}

/// Returns whether the unknown part of a word could decide which option it is.
fn may_become_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    word.starts_with(UNKNOWN_WORD) || word.starts_with('-') && name.contains(UNKNOWN_WORD)
}
