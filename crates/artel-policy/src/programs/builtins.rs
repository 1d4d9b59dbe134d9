//! The shell's own commands: those that change what later words mean, or evaluate a text
//! again.

use super::options::ParsedProgramArguments;
use super::table::{DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::reads("echo :").style(ProgramOptionStyle::Raw),
    ProgramSpec::reads("cd chdir pushd")
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Call(change_directory)),
    ProgramSpec::reads("popd dirs").operands(OperandMeaning::Call(pop_directory)),
    ProgramSpec::wraps("command", 0)
        .flags(&["-v -V -p"])
        .operands(OperandMeaning::Call(command)),
    ProgramSpec::wraps("builtin", 0),
    ProgramSpec::wraps("exec", 0).values(&["-a"]),
    ProgramSpec::wraps("eval", 0).operands(OperandMeaning::Call(evaluate)),
    ProgramSpec::doubtful("source .", DoubtReason::Loads).operands(OperandMeaning::Read),
    ProgramSpec::doubtful("trap", DoubtReason::Evaluates).operands(OperandMeaning::Call(trap)),
    ProgramSpec::doubtful(
        "declare typeset local readonly export set shopt alias unalias hash enable complete \
            compopt bind unset setopt unsetopt autoload zmodload emulate function",
        DoubtReason::ChangesShell,
    )
    .style(ProgramOptionStyle::Raw),
    ProgramSpec::doubtful("compgen", DoubtReason::Evaluates).style(ProgramOptionStyle::Raw),
    ProgramSpec::doubtful("let", DoubtReason::Evaluates).style(ProgramOptionStyle::Raw),
    ProgramSpec::doubtful("read mapfile readarray getopts", DoubtReason::ChangesShell)
        .style(ProgramOptionStyle::Raw),
    ProgramSpec::doubtful("fc history", DoubtReason::Evaluates).style(ProgramOptionStyle::Raw),
    ProgramSpec::doubtful("coproc", DoubtReason::Starts)
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::reads("printf")
        .style(ProgramOptionStyle::Posix)
        .entries(&[asks("-v", DoubtReason::Evaluates)])
        .operands(OperandMeaning::Call(print_format)),
    ProgramSpec::reads("test [ [[")
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(test)),
    ProgramSpec::reads(
        "type which whereis whence times help caller logout exit return break \
        continue shift",
    ),
    ProgramSpec::reads("wait").entries(&[asks("-p", DoubtReason::Evaluates)]),
    ProgramSpec::works("jobs")
        .style(ProgramOptionStyle::Posix)
        .operands(OperandMeaning::Command(0)),
    ProgramSpec::works("umask ulimit suspend disown fg bg").operands(OperandMeaning::Ignored),
    ProgramSpec::doubtful(
        "kill pkill killall killall5 xkill skill renice fuser",
        DoubtReason::Process,
    ),
    ProgramSpec::doubtful("artel", DoubtReason::OwnCli).style(ProgramOptionStyle::Raw),
];

/// Checks the target of a change of directory. Every later path depends on it, so it must
/// be known and inside the project.
fn change_directory(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    match parsed.operands.first() {
        Some(path) if *path != "-" && !path.starts_with('+') => {
            if view.strays(path) {
                view.doubt_word(DoubtReason::Elsewhere, path);
            }
            view.read(path);
        }
        _ => {
            let name = view.name.clone();
            view.doubt(DoubtReason::Elsewhere, &name);
        }
    }
}

fn pop_directory(view: &mut CommandInspector<'_>, _: &ParsedProgramArguments<'_>) {
    if view.name == "popd" {
        view.doubt(DoubtReason::Elsewhere, "popd");
    }
}

fn command(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.has("-v -V") {
        view.finding.is_wrapper = false;
    } else {
        view.start_words(&parsed.operands);
    }
}

fn evaluate(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.operands.is_empty() {
        let text = parsed.operands.join(" ");
        view.doubt_word(DoubtReason::Evaluates, &text);
        view.start_script(&text);
    }
}

fn trap(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let Some(text) = parsed.operands.first().filter(|text| **text != "-") {
        view.start_script(text);
    }
}

/// Doubts `%n`, which evaluates the name of a variable, subscript included, in some
/// shells.
fn print_format(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed
        .operands
        .first()
        .is_some_and(|format| format.contains("%n"))
    {
        view.doubt_word(DoubtReason::Evaluates, "%n");
    }
}

/// Doubts `-v name[…]`, `-R` and arithmetic comparisons: they evaluate their text,
/// subscripts included.
fn test(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let words = parsed.operands.as_slice();
    let is_arithmetic = |word: &str| matches!(word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = words.get(at + 1);
        if matches!(*word, "-v" | "-R") {
            view.doubt_word(DoubtReason::Evaluates, word);
        }
        let has_subscript = |side: Option<&&str>| side.is_some_and(|word| word.contains('['));
        if is_arithmetic(word) && (has_subscript(before) || has_subscript(after)) {
            view.doubt_word(DoubtReason::Evaluates, word);
        }
    }
}
