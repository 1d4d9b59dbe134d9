//! The shape of the table: what is said about a program, and where to find it.
//!
//! Names of options stand in one string, apart by blanks, as a person would list them. Short
//! ones are a dash and a letter. A `?` behind a short one means that a value may be glued to it,
//! a `*` in [`Style::Dash`] that the option is anything that begins so.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::view::View;
pub(super) use super::why::Why;
use super::{
    archives, awk, builds, builtins, checkers, compilers, documents, files, find, git, git_table,
    interpreters, languages, network, packages, platforms, sed, shells, systems, texts, wrappers,
};

/// All that is known about one program, or about one subcommand of `git`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// Its names, apart by blanks; `git log` is called `git-log`.
    pub(super) names: &'static str,
    pub(super) style: Style,
    pub(super) role: Role,
    /// Harmless options without a value of their own. They have to be listed only where they
    /// could be taken for the abbreviation of a harmful one, or where unknown ones are asked about.
    pub(super) flags: &'static [&'static str],
    /// Harmless options that take a value.
    pub(super) values: &'static [&'static str],
    pub(super) entries: &'static [Entry],
    /// Entries that it has in common with others.
    pub(super) shared: &'static [Entry],
    pub(super) operands: Operands,
    pub(super) unknown: Unknown,
    /// What is doubtful about the program as such.
    pub(super) always: Option<Why>,
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As GNU's `getopt`: clusters, glued values, abbreviations, options after operands.
    Getopt,
    /// The same, but the first operand ends the options: what follows belongs to another command.
    Posix,
    /// A dash and a word: `-name value`, `-name=value`.
    Dash,
    /// In a way of its own: every word is handed on as an operand.
    Raw,
}

/// What a program is granted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Reading: that it writes is doubtful, wherever.
    Reads,
    /// Working: what it writes is checked as a path.
    Works,
    /// Starting another command, and nothing else.
    Wraps,
}

/// What is thought of an option that is not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Fine,
    /// It may name nothing outside the project and nothing protected, and neither may operands.
    Inside,
    Asks,
}

/// Some spellings of one option and what it does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) options: &'static str,
    pub(super) takes: Takes,
    pub(super) act: Act,
    /// The subcommands that have it; empty for all.
    pub(super) only: &'static str,
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// One that may be glued to it, or stand behind `=`.
    Glued,
    /// One, and whatever follows is for what it names.
    Last,
}

/// What an option does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Doubt(Why),
    /// Writes the file that the value names.
    Write,
    /// Reads the file that the value names.
    Read,
    /// Starts the value as a command.
    Start,
    /// Uses the path that the value names, which is doubtful outside the project.
    Inside(Why),
    /// The value decides.
    Check(fn(&str) -> Option<Why>),
    /// The value is looked at by code.
    Call(fn(&mut View<'_>, &str)),
}

/// What the operands are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operands {
    Ignored,
    /// Files to read.
    Read,
    /// Files to write or delete.
    Write,
    /// The first is no file, unless one of these options was given; the others are read.
    SkipThenRead(&'static str),
    /// The first is no file, unless one of these options was given; the others are written.
    SkipThenWrite(&'static str),
    /// So many of their own, then another command.
    Command(usize),
    /// Any operand is doubtful.
    Doubt(Why),
    /// The first one is a subcommand.
    Subs(&'static Subs),
    /// Code decides.
    Call(fn(&mut View<'_>, &super::options::Parsed<'_>)),
}

/// The subcommands of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subs {
    /// Harmless ones.
    pub(super) plain: &'static str,
    /// Doubtful ones.
    pub(super) doubtful: &'static [(&'static str, Why)],
    /// Those that start the words behind them.
    pub(super) starting: &'static str,
    /// Those whose operands are written.
    pub(super) writing: &'static str,
    /// What is thought of the others.
    pub(super) unknown: Option<Why>,
}

impl Program {
    /// A program for reading, in the common style, about which nothing else is said.
    pub(super) const fn reads(names: &'static str) -> Self {
        Self {
            names,
            style: Style::Getopt,
            role: Role::Reads,
            flags: &[],
            values: &[],
            entries: &[],
            shared: &[],
            operands: Operands::Ignored,
            unknown: Unknown::Fine,
            always: None,
        }
    }

    /// A program for working.
    pub(super) const fn works(names: &'static str) -> Self {
        let mut made = Self::reads(names);
        made.role = Role::Works;
        made
    }

    /// A wrapper that has so many operands of its own.
    pub(super) const fn wraps(names: &'static str, operands: usize) -> Self {
        let mut made = Self::reads(names);
        made.role = Role::Wraps;
        made.style = Style::Posix;
        made.operands = Operands::Command(operands);
        made
    }

    /// A program that is doubtful whatever it is told.
    pub(super) const fn doubtful(names: &'static str, why: Why) -> Self {
        let mut made = Self::works(names);
        made.always = Some(why);
        made
    }

    pub(super) const fn style(mut self, style: Style) -> Self {
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

    pub(super) const fn entries(mut self, entries: &'static [Entry]) -> Self {
        self.entries = entries;
        self
    }

    pub(super) const fn shared(mut self, shared: &'static [Entry]) -> Self {
        self.shared = shared;
        self
    }

    pub(super) const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    pub(super) const fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Makes unknown options doubtful.
    pub(super) const fn strict(mut self) -> Self {
        self.unknown = Unknown::Asks;
        self
    }

    /// Keeps unknown options and all operands inside the project.
    pub(super) const fn confined(mut self) -> Self {
        self.unknown = Unknown::Inside;
        self
    }

    /// Tells whether a word taken for an option could do harm.
    pub(super) fn has_harm(&self) -> bool {
        let harms = |entry: &Entry| !matches!(entry.act, Act::Read);
        self.unknown != Unknown::Fine || self.all_entries().any(harms)
    }

    pub(super) fn all_entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.entries.iter().chain(self.shared)
    }

    /// The name by which its parts are called.
    pub(super) fn first_name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }
}

impl Entry {
    const fn new(options: &'static str, takes: Takes, act: Act) -> Self {
        Self {
            options,
            takes,
            act,
            only: "",
        }
    }

    /// Counts only with these subcommands.
    pub(super) const fn of(mut self, only: &'static str) -> Self {
        self.only = only;
        self
    }

    /// Ends the options: what follows its value is for what the value names.
    pub(super) const fn last(mut self) -> Self {
        self.takes = Takes::Last;
        self
    }

    /// May have its value glued to it, and has none otherwise.
    pub(super) const fn glued(mut self) -> Self {
        self.takes = Takes::Glued;
        self
    }
}

/// Options whose value is written.
pub(super) const fn writes(options: &'static str) -> Entry {
    Entry::new(options, Takes::Value, Act::Write)
}

/// Options whose value is read.
pub(super) const fn reads(options: &'static str) -> Entry {
    Entry::new(options, Takes::Value, Act::Read)
}

/// Options whose value is a command.
pub(super) const fn starts(options: &'static str) -> Entry {
    Entry::new(options, Takes::Value, Act::Start)
}

/// Options that are doubtful and take a value.
pub(super) const fn asks(options: &'static str, why: Why) -> Entry {
    Entry::new(options, Takes::Value, Act::Doubt(why))
}

/// Options that are doubtful and take none.
pub(super) const fn asks_flag(options: &'static str, why: Why) -> Entry {
    Entry::new(options, Takes::Nothing, Act::Doubt(why))
}

/// Options whose value is a path that has to lie in the project.
pub(super) const fn inside(options: &'static str, why: Why) -> Entry {
    Entry::new(options, Takes::Value, Act::Inside(why))
}

/// Options whose value decides.
pub(super) const fn checks(options: &'static str, check: fn(&str) -> Option<Why>) -> Entry {
    Entry::new(options, Takes::Value, Act::Check(check))
}

/// Options whose value is looked at by code.
pub(super) const fn calls(options: &'static str, call: fn(&mut View<'_>, &str)) -> Entry {
    Entry::new(options, Takes::Value, Act::Call(call))
}

/// Tells whether a list of names, apart by blanks, has this one.
pub(super) fn lists(names: &str, name: &str) -> bool {
    !name.is_empty() && names.split_ascii_whitespace().any(|listed| listed == name)
}

/// All programs, by family.
pub(super) const FAMILIES: &[&[Program]] = &[
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

static BY_NAME: LazyLock<HashMap<&'static str, &'static Program>> = LazyLock::new(|| {
    let programs = FAMILIES.iter().flat_map(|family| family.iter());
    programs
        .flat_map(|program| program.names.split(' ').map(move |name| (name, program)))
        .collect()
});

/// Finds a program by its base name.
pub(super) fn find(name: &str) -> Option<&'static Program> {
    BY_NAME.get(name).copied()
}

/// Names the parts of all programs: entries, operands, what is always doubtful, subcommands.
pub(super) fn parts() -> Vec<String> {
    let mut parts = Vec::new();
    for program in FAMILIES.iter().flat_map(|family| family.iter()) {
        let name = program.first_name();
        let entries = program.all_entries();
        parts.extend(entries.map(|entry| part(name, entry.options)));
        if program.always.is_some() {
            parts.push(part(name, "always"));
        }
        if program.unknown == Unknown::Inside {
            parts.push(part(name, "confined"));
        }
        match program.operands {
            Operands::Ignored => {}
            Operands::Subs(subs) => {
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

/// The name of one part of a program.
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
                    Style::Dash => option.starts_with('-') && body.len() > 1,
                    _ if body.starts_with("--") => body.len() > 2 && !option.ends_with('?'),
                    _ => body.starts_with('-') && body.chars().count() == 2,
                };
                assert!(good, "`{option}` of {}", program.names);
            }
        }
    }
}
