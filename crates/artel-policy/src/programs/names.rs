//! Other names of the same program: with its version, with the machine it was built for,
//! or as one of several builds that a system may install in its place.
//!
//! The names of the table come first; only names that the table does not have are taken
//! apart.

use super::table::{self, ProgramSpec};

/// A name found in the table, and the version that followed it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownProgramName<'n> {
    pub(super) program: &'static ProgramSpec,
    pub(super) name: &'n str,
    version: &'n str,
}

/// Name endings that say which build of a program it is: `vim.tiny`, `emacs-nox`.
const BUILDS: &[&str] = &[
    "athena",
    "basic",
    "dbg",
    "debug",
    "distrib",
    "exe",
    "gnome",
    "gtk",
    "gtk2",
    "gtk3",
    "lucid",
    "mailutils",
    "motif",
    "nox",
    "openbsd",
    "real",
    "small",
    "static",
    "tiny",
    "traditional",
];

/// Number of parts that may be stripped from a name: `x86_64-linux-gnu-python3.13-dbg`.
const MOST: usize = 4;

/// Finds a program by the base name of the word that starts it.
pub(super) fn known(name: &str) -> Option<KnownProgramName<'_>> {
    let mut known = (name, "");
    for _ in 0..=MOST {
        let (name, version) = known;
        if let Some(program) = table::find(name) {
            return Some(KnownProgramName {
                program,
                name,
                version,
            });
        }
        let bare = without_machine(name).or_else(|| without_build(name));
        known = match bare {
            Some(bare) => (bare, version),
            None => without_version(name)?,
        };
    }
    None
}

/// Returns whether two names are one program, as far as can be told: `python3` is the same
/// as `python3.13` and `python`, but not `python2`.
pub(crate) fn are_same(one: &str, other: &str) -> bool {
    let is_taken_apart =
        |name: &str| name.contains(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if !is_taken_apart(one) && !is_taken_apart(other) {
        return one == other;
    }
    let (Some(one), Some(other)) = (known(one), known(other)) else {
        return one == other;
    };
    let is_of = |one: &str, other: &str| one.starts_with(other);
    one.name == other.name
        && (is_of(one.version, other.version) || is_of(other.version, one.version))
}

/// Strips the machine, as in `x86_64-linux-gnu-gcc` and `perl5.36-x86_64-linux-gnu`.
fn without_machine(name: &str) -> Option<&str> {
    let parts: Vec<&str> = name.split('-').collect();
    let rest = |parts: &[&str]| parts.iter().map(|part| part.len() + 1).sum::<usize>();
    let begins = match parts.as_slice() {
        [_, "linux", _, _, ..] | [_, "w64", "mingw32", _, ..] => 3,
        [_, _, "linux", _, _, ..] => 4,
        _ => 0,
    };
    if begins > 0 {
        return name.get(rest(&parts[..begins])..);
    }
    match parts.as_slice() {
        [_, .., _, "linux", _] => name.get(..name.len() - rest(&parts[parts.len() - 3..])),
        _ => None,
    }
}

fn without_build(name: &str) -> Option<&str> {
    let (bare, build) = name.rsplit_once(['.', '-'])?;
    BUILDS.contains(&build).then_some(bare)
}

/// Splits off the version, as in `python3.7`, `gcc-12`, and `python3.13t` with the letter
/// of its build.
fn without_version(name: &str) -> Option<(&str, &str)> {
    let numbered = name.trim_end_matches(['d', 'm', 't', 'u']);
    let numbered = if numbered.ends_with(|letter: char| letter.is_ascii_digit()) {
        numbered
    } else {
        name
    };
    let bare = numbered.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let version = &numbered[bare.len()..];
    let bare = bare.trim_end_matches('-');
    (bare.len() < name.len()).then_some((bare, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_versions_machines_and_builds_are_known() {
        for (name, table) in [
            ("perl5.36-x86_64-linux-gnu", "perl"),
            ("perl5.40.1", "perl"),
            ("x86_64-linux-gnu-python3.13", "python"),
            ("x86_64-pc-linux-gnu-gcc-12", "gcc"),
            ("x86_64-w64-mingw32-gcc", "gcc"),
            ("python3.13t", "python"),
            ("python3.13-dbg", "python"),
            ("vim.basic", "vim"),
            ("vim.nox", "vim"),
            ("vim.tiny", "vim"),
            ("vim.gtk3", "vim"),
            ("emacs-nox", "emacs"),
            ("nc.openbsd", "nc"),
            ("pdb3", "pdb"),
            ("pdb3.13", "pdb"),
            ("lua5.4", "lua"),
            ("tclsh8.6", "tclsh"),
            ("ruby3.1", "ruby"),
            ("php8.2", "php"),
            ("editor", "editor"),
        ] {
            let known = known(name).map(|known| known.name);
            assert_eq!(known, Some(table), "{name}");
        }
        for name in [
            "unheard-of",
            "linux",
            "-linux-",
            "x-linux-gnu",
            "3.13",
            "é.basic",
            "",
        ] {
            assert!(known(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_version_is_one_with_its_beginning() {
        for (one, other, expected) in [
            ("python3", "python3.13", true),
            ("python", "x86_64-linux-gnu-python3.13", true),
            ("python2", "python3", false),
            ("perl", "perl5.36-x86_64-linux-gnu", true),
            ("gcc-12", "gcc-13", false),
            ("vim", "vim.basic", true),
            ("vim", "vi", false),
            ("foo", "foo1", false),
        ] {
            assert_eq!(are_same(one, other), expected, "{one} {other}");
            assert_eq!(are_same(other, one), expected, "{other} {one}");
        }
    }
}
