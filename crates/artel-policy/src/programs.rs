//! Effects of a program beyond what its name says: starting others, loading code, writing
//! elsewhere.
//!
//! A grant covers a program, not what the program launches. This table tells the judge the
//! difference; it works on literal words, after the shell's quotes are removed. Nearly all
//! of it is data: one `table::Program` per program says which options take a value and
//! which ones start, load, write or read something. Only the languages inside words
//! (`sed`, `awk`, `find` expressions, `git`, `tar`'s old form) have code of their own.
//!
//! These decisions hold throughout:
//!
//! - **Interpreters.** A grant for `python`, `node`, `ruby` … covers running files and
//!   modules of the project. Code in the command line (`-c`, `-e`), code from standard
//!   input, a prompt, a file outside the project and an option that preloads code are
//!   asked about.
//! - **Shells** are not interpreters of the project: `sh -c` is judged by its text, a
//!   script file is asked about.
//! - **Build and test runners** cover what the project's own build files start, but not
//!   options that name other build files, other configuration, other directories or
//!   another program.
//! - **Runners of named programs** (`uv run`, `npx`, `poetry run`, `bundle exec`) start
//!   what they name, which is judged on its own.
//! - **Programs for reading** are asked about if an option or a script makes them write.
//!   Programs for writing name what they write, and the path guard decides.
//! - **`cd`**, `pushd` and `popd` list their target among the reads; a target that leaves
//!   the project, or that cannot be known, is asked about.
//! - **Unknown programs** are granted by name: only options whose names say plainly that
//!   they start a program are asked about, and values that look like an output are checked
//!   as writes.

mod archives;
mod awk;
mod builds;
mod builtins;
mod calls;
mod checkers;
mod compilers;
mod documents;
mod files;
mod find;
mod git;
mod git_options;
mod git_table;
mod index;
mod inline;
mod interpreters;
mod languages;
mod names;
mod network;
mod operands;
mod options;
mod packages;
mod platforms;
mod sed;
mod shells;
mod systems;
mod table;
mod texts;
mod variables;
mod view;
mod why;
mod wrappers;

pub(crate) use names::are_same;
pub(crate) use view::is_known;
pub(crate) use why::is_about_effects;

use view::CommandInspector;

/// A reason not to allow a command without a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDoubt {
    /// The built-in name of the rule, such as `program.starts-another`.
    pub rule: &'static str,
    /// The explanation for a person and for the model.
    pub reason: String,
}

/// A command that another command would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NestedCommand {
    /// Exactly these words: `timeout 5 git status` starts `git status`.
    Words(Vec<String>),
    /// These words and more that are not known yet: `xargs rm` starts `rm …`.
    Open(Vec<String>),
    /// A shell text: `sh -c 'git status'`.
    Script(String),
}

/// The findings about one command of literal words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandAssessment {
    /// Why the command cannot be allowed without a question; empty if it is harmless.
    pub doubts: Vec<CommandDoubt>,
    /// The commands it would start. Each is judged on its own.
    pub starts: Vec<NestedCommand>,
    /// Whether the command only wraps others. Then those need a grant and the command itself
    /// does not.
    pub is_wrapper: bool,
    /// Paths it would write or delete, named by operand or option.
    pub writes: Vec<String>,
    /// Paths it would read, as far as operands and options name them.
    pub reads: Vec<String>,
}

/// Inspects a command: the program and its arguments, all literal.
///
/// Every absolute path counts as outside the project; [`look_within`] can tell.
pub fn look(words: &[String]) -> CommandAssessment {
    look_within(words, "")
}

/// Inspects a command whose project lies at `root`, an absolute path without links.
pub fn look_within(words: &[String], root: &str) -> CommandAssessment {
    let mut view = CommandInspector::new(root);
    view.command(words);
    view.finding
}

/// Returns the commands that code in some language would start, as far as its literal
/// texts show them.
pub(crate) fn launched_by(code: &str) -> Vec<NestedCommand> {
    let mut view = CommandInspector::new("");
    inline::note_launches(&mut view, code);
    view.finding.starts
}

/// Returns other names of the same program, as far as they are known: with or without a
/// version, or with the `g` of GNU.
pub(crate) fn same_program(name: &str) -> Vec<&'static str> {
    const SAME: [&str; 3] = [
        "make gmake bmake remake",
        "awk gawk mawk nawk",
        "vi vim nvim editor sensible-editor",
    ];
    let Some(names::KnownProgramName {
        program,
        name: bare,
        ..
    }) = names::known(name)
    else {
        return Vec::new();
    };
    let is_gnu = |long: &str, short: &str| long.strip_prefix('g') == Some(short);
    let is_same = |other: &str| {
        let is_listed = |names: &&str| table::lists(names, bare) && table::lists(names, other);
        other == bare || is_gnu(other, name) || is_gnu(name, other) || SAME.iter().any(is_listed)
    };
    let others = program.names.split(' ').filter(|other| *other != name);
    others.filter(|other| is_same(other)).collect()
}

/// Returns the names of all parts of the table, so that a test can leave out each in turn
/// and see a check fail.
#[doc(hidden)]
pub fn parts() -> Vec<String> {
    table::parts()
}

/// Inspects a command with one part of the table left out, as named by [`parts`].
#[doc(hidden)]
pub fn look_without(words: &[String], part: &str) -> CommandAssessment {
    let mut view = CommandInspector::new("");
    view.left_out = Some(part);
    view.command(words);
    view.finding
}
