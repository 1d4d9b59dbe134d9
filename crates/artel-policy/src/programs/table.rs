//! The shape of the table: the properties of a program, and how to find it.
//!
//! Option names stand in one string, separated by blanks, as a person would list them.
//! Short ones are a dash and a letter. A `?` after a short one means that a value may be
//! glued to it; a `*` in [`ProgramOptionStyle::Dash`] means that any option with this prefix matches.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::view::CommandInspector;
pub(super) use super::why::DoubtReason;
use super::{
    archives, awk, builds, builtins, checkers, compilers, documents, files, find, git, git_table,
    interpreters, languages, network, packages, platforms, sed, shells, systems, texts, wrappers,
};

/// The properties of one program, or of one subcommand of `git`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramSpec {
    /// The program's names, separated by blanks; `git log` is called `git-log`.
    pub(super) names: &'static str,
    pub(super) style: ProgramOptionStyle,
    pub(super) role: ProgramPurpose,
    /// Harmless options without a value of their own. They need to be listed only where they
    /// could be taken for the abbreviation of a harmful option, or where unknown options are
    /// asked about.
    pub(super) flags: &'static [&'static str],
    /// Harmless options that take a value.
    pub(super) values: &'static [&'static str],
    pub(super) entries: &'static [ProgramOptionEntry],
    /// Entries shared with other programs.
    pub(super) shared: &'static [ProgramOptionEntry],
    pub(super) operands: OperandMeaning,
    pub(super) unknown: UnknownOptionHandling,
    /// The doubt that applies whenever the program runs.
    pub(super) always: Option<DoubtReason>,
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramOptionStyle {
    /// Like GNU's `getopt`: clusters, glued values, abbreviations, options after operands.
    Getopt,
    /// Like `Getopt`, but the first operand ends the options: the rest belongs to another
    /// command.
    Posix,
    /// A dash and a word: `-name value`, `-name=value`.
    Dash,
    /// In its own way: every word is passed on as an operand.
    Raw,
}

/// The purpose that a program is granted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramPurpose {
    /// Reading: any write is doubtful.
    Reads,
    /// Working: writes are checked as paths.
    Works,
    /// Only starting another command.
    Wraps,
}

/// The treatment of an option that is not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownOptionHandling {
    Fine,
    /// Neither the option nor any operand may name something protected or outside the project.
    Inside,
    Asks,
}

/// The spellings of one option, and its effect.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramOptionEntry {
    pub(super) options: &'static str,
    pub(super) takes: OptionValueSyntax,
    pub(super) act: OptionEffect,
    /// The subcommands that have the option; empty means all.
    pub(super) only: &'static str,
}

/// The value that an option takes, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValueSyntax {
    Nothing,
    Value,
    /// An optional value, glued to the option or after `=`.
    Glued,
    /// One value; all later words belong to what the value names.
    Last,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OptionEffect {
    Doubt(DoubtReason),
    /// Writes the file named by the value.
    Write,
    /// Reads the file named by the value.
    Read,
    /// Starts the value as a command.
    Start,
    /// Uses the path named by the value, which is doubtful outside the project.
    Inside(DoubtReason),
    /// Doubtful depending on the value.
    Check(fn(&str) -> Option<DoubtReason>),
    /// Handled by code.
    Call(fn(&mut CommandInspector<'_>, &str)),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OperandMeaning {
    Ignored,
    /// Files to read.
    Read,
    /// Files to write or delete.
    Write,
    /// The first operand is not a file, unless one of these options was given; the others are
    /// read.
    SkipThenRead(&'static str),
    /// The first operand is not a file, unless one of these options was given; the others are
    /// written.
    SkipThenWrite(&'static str),
    /// This many operands of the program itself, then another command.
    Command(usize),
    /// Any operand is doubtful.
    Doubt(DoubtReason),
    /// The first operand is a subcommand.
    Subs(&'static ProgramSubcommands),
    /// Handled by code.
    Call(fn(&mut CommandInspector<'_>, &super::options::ParsedProgramArguments<'_>)),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramSubcommands {
    /// Harmless subcommands.
    pub(super) plain: &'static str,
    /// Doubtful subcommands.
    pub(super) doubtful: &'static [(&'static str, DoubtReason)],
    /// Subcommands that start the words after them.
    pub(super) starting: &'static str,
    /// Subcommands whose operands are written.
    pub(super) writing: &'static str,
    /// The doubt about all other subcommands, or `None` if they are fine.
    pub(super) unknown: Option<DoubtReason>,
}

impl ProgramSpec {
    /// Creates a program for reading, in the common style, with no other properties.
    pub(super) const fn reads(names: &'static str) -> Self {
        Self {
            names,
            style: ProgramOptionStyle::Getopt,
            role: ProgramPurpose::Reads,
            flags: &[],
            values: &[],
            entries: &[],
            shared: &[],
            operands: OperandMeaning::Ignored,
            unknown: UnknownOptionHandling::Fine,
            always: None,
        }
    }

    /// Creates a program for working.
    pub(super) const fn works(names: &'static str) -> Self {
        let mut made = Self::reads(names);
        made.role = ProgramPurpose::Works;
        made
    }

    /// Creates a wrapper that has `operands` operands of its own.
    pub(super) const fn wraps(names: &'static str, operands: usize) -> Self {
        let mut made = Self::reads(names);
        made.role = ProgramPurpose::Wraps;
        made.style = ProgramOptionStyle::Posix;
        made.operands = OperandMeaning::Command(operands);
        made
    }

    /// Creates a program that is always doubtful.
    pub(super) const fn doubtful(names: &'static str, why: DoubtReason) -> Self {
        let mut made = Self::works(names);
        made.always = Some(why);
        made
    }

    pub(super) const fn style(mut self, style: ProgramOptionStyle) -> Self {
        self.style = style;
        self
    }

    pub(super) const fn flags(mut self, flags: &'static [&'static str]) -> Self {
        self.flags = flags;
        self
    }

    pub(super) const fn values(mut self, values: &'static [&'static str]) -> Self {
        self.values = values;
        self
    }

    pub(super) const fn entries(mut self, entries: &'static [ProgramOptionEntry]) -> Self {
        self.entries = entries;
        self
    }

    pub(super) const fn shared(mut self, shared: &'static [ProgramOptionEntry]) -> Self {
        self.shared = shared;
        self
    }

    pub(super) const fn operands(mut self, operands: OperandMeaning) -> Self {
        self.operands = operands;
        self
    }

    pub(super) const fn role(mut self, role: ProgramPurpose) -> Self {
        self.role = role;
        self
    }

    /// Makes unknown options doubtful.
    pub(super) const fn strict(mut self) -> Self {
        self.unknown = UnknownOptionHandling::Asks;
        self
    }

    /// Keeps unknown options and all operands inside the project.
    pub(super) const fn confined(mut self) -> Self {
        self.unknown = UnknownOptionHandling::Inside;
        self
    }

    /// Returns whether a word taken for an option could do harm.
    pub(super) fn has_harm(&self) -> bool {
        let harms = |entry: &ProgramOptionEntry| !matches!(entry.act, OptionEffect::Read);
        self.unknown != UnknownOptionHandling::Fine || self.all_entries().any(harms)
    }

    pub(super) fn all_entries(&self) -> impl Iterator<Item = &'static ProgramOptionEntry> + use<> {
        self.entries.iter().chain(self.shared)
    }

    /// Returns the name that identifies the program's parts.
    pub(super) fn first_name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }
}

impl ProgramOptionEntry {
    const fn new(options: &'static str, takes: OptionValueSyntax, act: OptionEffect) -> Self {
        Self {
            options,
            takes,
            act,
            only: "",
        }
    }

    /// Limits the entry to these subcommands.
    pub(super) const fn of(mut self, only: &'static str) -> Self {
        self.only = only;
        self
    }

    /// Marks the option as the last: the words after its value belong to what the value names.
    pub(super) const fn last(mut self) -> Self {
        self.takes = OptionValueSyntax::Last;
        self
    }

    /// Makes the value optional and glued.
    pub(super) const fn glued(mut self) -> Self {
        self.takes = OptionValueSyntax::Glued;
        self
    }
}

/// Creates options whose value is a file to write.
pub(super) const fn writes(options: &'static str) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Write)
}

/// Creates options whose value is a file to read.
pub(super) const fn reads(options: &'static str) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Read)
}

/// Creates options whose value is a command.
pub(super) const fn starts(options: &'static str) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Start)
}

/// Creates doubtful options that take a value.
pub(super) const fn asks(options: &'static str, why: DoubtReason) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Doubt(why))
}

/// Creates doubtful options without a value.
pub(super) const fn asks_flag(options: &'static str, why: DoubtReason) -> ProgramOptionEntry {
    ProgramOptionEntry::new(
        options,
        OptionValueSyntax::Nothing,
        OptionEffect::Doubt(why),
    )
}

/// Creates options whose value is a path that must lie in the project.
pub(super) const fn inside(options: &'static str, why: DoubtReason) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Inside(why))
}

/// Creates options whose value decides whether they are doubtful.
pub(super) const fn checks(
    options: &'static str,
    check: fn(&str) -> Option<DoubtReason>,
) -> ProgramOptionEntry {
    ProgramOptionEntry::new(
        options,
        OptionValueSyntax::Value,
        OptionEffect::Check(check),
    )
}

/// Creates options whose value is handled by code.
pub(super) const fn calls(
    options: &'static str,
    call: fn(&mut CommandInspector<'_>, &str),
) -> ProgramOptionEntry {
    ProgramOptionEntry::new(options, OptionValueSyntax::Value, OptionEffect::Call(call))
}

/// Returns whether a blank-separated list contains this name.
pub(super) fn lists(names: &str, name: &str) -> bool {
    !name.is_empty() && names.split_ascii_whitespace().any(|listed| listed == name)
}

/// All programs, by family.
pub(super) const FAMILIES: &[&[ProgramSpec]] = &[
    archives::TABLE,
    awk::TABLE,
    builds::TABLE,
    builtins::TABLE,
    checkers::TABLE,
    compilers::TABLE,
    documents::TABLE,
    files::TABLE,
    find::TABLE,
    git::TABLE,
    git_table::TABLE,
    interpreters::TABLE,
    languages::TABLE,
    network::TABLE,
    packages::TABLE,
    platforms::TABLE,
    sed::TABLE,
    shells::TABLE,
    systems::TABLE,
    texts::TABLE,
    wrappers::TABLE,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static ProgramSpec>> = LazyLock::new(|| {
    let programs = FAMILIES.iter().flat_map(|family| family.iter());
    programs
        .flat_map(|program| program.names.split(' ').map(move |name| (name, program)))
        .collect()
});

/// Finds a program by its base name.
pub(super) fn find(name: &str) -> Option<&'static ProgramSpec> {
    BY_NAME.get(name).copied()
}

/// Returns the names of the parts of all programs: entries, operands, permanent doubts,
/// subcommands.
pub(super) fn parts() -> Vec<String> {
    let mut parts = Vec::new();
    for program in FAMILIES.iter().flat_map(|family| family.iter()) {
        let name = program.first_name();
        let entries = program.all_entries();
        parts.extend(entries.map(|entry| part(name, entry.options)));
        if program.always.is_some() {
            parts.push(part(name, "always"));
        }
        if program.unknown == UnknownOptionHandling::Inside {
            parts.push(part(name, "confined"));
        }
        match program.operands {
            OperandMeaning::Ignored => {}
            OperandMeaning::Subs(subs) => {
                let doubtful = subs.doubtful.iter().map(|(names, _)| *names);
                let lists = doubtful.chain([subs.starting, subs.writing]);
                let named = lists.filter(|names| !names.is_empty());
                parts.extend(named.map(|names| part(name, names)));
            }
            _ => parts.push(part(name, "operands")),
        }
    }
    parts
}

/// Returns the name of one part of a program.
pub(super) fn part(program: &str, what: &str) -> String {
    format!("{program}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_in_the_table_twice() {
        let names: Vec<_> = FAMILIES
            .iter()
            .flat_map(|family| family.iter())
            .flat_map(|program| program.names.split(' '))
            .collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "`{name}` is listed twice");
            assert!(!name.is_empty());
        }
    }

    #[test]
    fn every_option_is_written_as_its_style_demands() {
        for program in FAMILIES.iter().flat_map(|family| family.iter()) {
            let lists = program.all_entries().map(|entry| entry.options);
            let lists = lists.chain(program.flags.iter().chain(program.values).copied());
            for option in lists.flat_map(str::split_ascii_whitespace) {
                let body = option.trim_end_matches(['?', '*']);
                let good = match program.style {
                    ProgramOptionStyle::Dash => option.starts_with('-') && body.len() > 1,
                    _ if body.starts_with("--") => body.len() > 2 && !option.ends_with('?'),
                    _ => body.starts_with('-') && body.chars().count() == 2,
                };
                assert!(good, "`{option}` of {}", program.names);
            }
        }
    }
}
