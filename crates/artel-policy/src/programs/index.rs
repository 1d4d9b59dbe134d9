//! The options of each program, sorted once so that lookups are cheap.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::table::{
    FAMILIES, OptionValueSyntax, ProgramOptionEntry, ProgramOptionStyle, ProgramSpec,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct KnownProgramOption {
    pub(super) spelling: &'static str,
    pub(super) takes: OptionValueSyntax,
    /// The effect of the option, or `None` if it is harmless.
    pub(super) entry: Option<&'static ProgramOptionEntry>,
}

#[derive(Debug, Default)]
pub(super) struct ProgramOptionIndex {
    shorts: HashMap<char, KnownProgramOption>,
    /// Long options, sorted; among equal names, the first in the table comes first. In
    /// [`ProgramOptionStyle::Dash`] all options are here, without their dashes.
    longs: Vec<(&'static str, KnownProgramOption)>,
    /// Prefixes of options, in [`ProgramOptionStyle::Dash`].
    patterns: Vec<(&'static str, KnownProgramOption)>,
}

type Indexes = HashMap<&'static str, (&'static ProgramSpec, OnceLock<ProgramOptionIndex>)>;

static INDEXES: LazyLock<Indexes> = LazyLock::new(|| {
    let programs = FAMILIES.iter().flat_map(|family| family.iter());
    programs
        .map(|program| (program.names, (program, OnceLock::new())))
        .collect()
});

/// Returns the index of a program, empty if the program is in no family.
pub(super) fn of(program: &ProgramSpec) -> &'static ProgramOptionIndex {
    static NONE: LazyLock<ProgramOptionIndex> = LazyLock::new(ProgramOptionIndex::default);
    match INDEXES.get(program.names) {
        Some((program, index)) => index.get_or_init(|| ProgramOptionIndex::new(program)),
        None => &NONE,
    }
}

impl ProgramOptionIndex {
    fn new(program: &'static ProgramSpec) -> Self {
        let mut index = Self::default();
        for known in spelled(program) {
            if program.style == ProgramOptionStyle::Dash {
                let bare = known.spelling.trim_start_matches('-');
                match bare.strip_suffix('*') {
                    Some(beginning) => index.patterns.push((beginning, known)),
                    None => index.longs.push((bare, known)),
                }
            } else if known.spelling.starts_with("--") {
                index.longs.push((known.spelling, known));
            } else if let Some(letter) = known.spelling.chars().nth(1) {
                index.shorts.entry(letter).or_insert(known);
            }
        }
        index.longs.sort_by_key(|(name, _)| *name);
        index
    }

    /// Finds an option by its letter.
    pub(super) fn short(&self, letter: char) -> Option<KnownProgramOption> {
        self.shorts.get(&letter).copied()
    }

    /// Finds a long option: by exact spelling, else as the abbreviation of a harmful option,
    /// else of a harmless one, else as the `--no-` form of one. Some programs accept `_` for
    /// `-`.
    pub(super) fn long(&self, name: &str) -> Option<KnownProgramOption> {
        let dashed = name.replace('_', "-");
        let known = self.exact(name).or_else(|| self.exact(&dashed));
        known.or_else(|| self.abbreviated(&dashed)).or_else(|| {
            let denied = dashed
                .strip_prefix("--no-")
                .filter(|rest| !rest.is_empty())?;
            self.abbreviated(&format!("--{denied}"))
                .map(|_| KnownProgramOption {
                    spelling: "--no",
                    takes: OptionValueSyntax::Nothing,
                    entry: None,
                })
        })
    }

    /// Finds an option of one dash and a word, with its glued value. Two dashes mean the same.
    pub(super) fn dash<'w>(&self, word: &'w str) -> Option<(KnownProgramOption, Option<&'w str>)> {
        let body = word.trim_start_matches('-');
        let (name, glued) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let pattern = self
            .patterns
            .iter()
            .find(|(beginning, _)| *beginning == name);
        let pattern = pattern.map(|(_, known)| *known);
        if let Some(known) = self.exact(name).or(pattern) {
            return Some((known, glued));
        }
        self.patterns.iter().find_map(|(beginning, known)| {
            let rest = body.strip_prefix(beginning)?;
            Some((*known, Some(rest.strip_prefix('=').unwrap_or(rest))))
        })
    }

    fn exact(&self, name: &str) -> Option<KnownProgramOption> {
        let at = self.longs.partition_point(|(listed, _)| *listed < name);
        let (listed, known) = self.longs.get(at)?;
        (*listed == name).then_some(*known)
    }

    fn abbreviated(&self, name: &str) -> Option<KnownProgramOption> {
        let at = self.longs.partition_point(|(listed, _)| *listed < name);
        let rest = self.longs.get(at..).unwrap_or_default();
        let mut meant = rest
            .iter()
            .take_while(|(listed, _)| listed.starts_with(name));
        let first = meant.clone().next();
        let harmful = meant.find(|(_, known)| known.entry.is_some());
        harmful.or(first).map(|(_, known)| *known)
    }
}

/// Returns every option of a program as spelled in the table. A `?` after a flag means a
/// glued value.
fn spelled(program: &'static ProgramSpec) -> impl Iterator<Item = KnownProgramOption> {
    let entries = program.all_entries().flat_map(|entry| {
        let options = entry.options.split_ascii_whitespace();
        options.map(move |spelling| KnownProgramOption {
            spelling,
            takes: entry.takes,
            entry: Some(entry),
        })
    });
    let harmless = |lists: &'static [&'static str], takes: OptionValueSyntax| {
        let options = lists.iter().flat_map(|list| list.split_ascii_whitespace());
        options.map(move |option| {
            let spelling = option.trim_end_matches('?');
            let is_glued = spelling.len() < option.len();
            KnownProgramOption {
                spelling,
                takes: if is_glued {
                    OptionValueSyntax::Glued
                } else {
                    takes
                },
                entry: None,
            }
        })
    };
    entries
        .chain(harmless(program.values, OptionValueSyntax::Value))
        .chain(harmless(program.flags, OptionValueSyntax::Nothing))
}
