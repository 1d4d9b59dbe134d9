//! The shell's own commands: those that change what later words mean, or evaluate a text
//! again.

use super::options::Parsed;
use super::table::{Operands, Program, Style, Why, asks};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::reads("echo :").style(Style::Raw),
    Program::reads("cd chdir pushd")
        .style(Style::Posix)
        .operands(Operands::Call(change_directory)),
    Program::reads("popd dirs").operands(Operands::Call(pop_directory)),
    Program::wraps("command", 0)
        .flags(&["-v -V -p"])
        .operands(Operands::Call(command)),
    Program::wraps("builtin", 0),
    Program::wraps("exec", 0).values(&["-a"]),
    Program::wraps("eval", 0).operands(Operands::Call(evaluate)),
    Program::doubtful("source .", Why::Loads).operands(Operands::Read),
    Program::doubtful("trap", Why::Evaluates).operands(Operands::Call(trap)),
    Program::doubtful(
        "declare typeset local readonly export set shopt alias unalias hash enable complete \
            compopt bind unset setopt unsetopt autoload zmodload emulate function",
        Why::ChangesShell,
    )
    .style(Style::Raw),
    Program::doubtful("compgen", Why::Evaluates).style(Style::Raw),
    Program::doubtful("let", Why::Evaluates).style(Style::Raw),
    Program::doubtful("read mapfile readarray getopts", Why::ChangesShell).style(Style::Raw),
    Program::doubtful("fc history", Why::Evaluates).style(Style::Raw),
    Program::doubtful("coproc", Why::Starts)
        .style(Style::Posix)
        .operands(Operands::Command(0)),
    Program::reads("printf")
        .style(Style::Posix)
        .entries(&[asks("-v", Why::Evaluates)])
        .operands(Operands::Call(print_format)),
    Program::reads("test [ [[")
        .style(Style::Raw)
        .operands(Operands::Call(test)),
    Program::reads(
        "type which whereis whence times help caller logout exit return break \
        continue shift",
    ),
    Program::reads("wait").entries(&[asks("-p", Why::Evaluates)]),
    Program::works("jobs")
        .style(Style::Posix)
        .operands(Operands::Command(0)),
    Program::works("umask ulimit suspend disown fg bg").operands(Operands::Ignored),
    Program::doubtful(
        "kill pkill killall killall5 xkill skill renice fuser",
        Why::Process,
    ),
    Program::doubtful("artel", Why::OwnCli).style(Style::Raw),
];

/// Checks the target of a change of directory. Every later path depends on it, so it must
/// be known and inside the project.
fn change_directory(view: &mut View<'_>, parsed: &Parsed<'_>) {
    match parsed.operands.first() {
        Some(path) if *path != "-" && !path.starts_with('+') => {
            if view.strays(path) {
                view.doubt_word(Why::Elsewhere, path);
            }
            view.read(path);
        }
        _ => {
            let name = view.name.clone();
            view.doubt(Why::Elsewhere, &name);
        }
    }
}

fn pop_directory(view: &mut View<'_>, _: &Parsed<'_>) {
    if view.name == "popd" {
        view.doubt(Why::Elsewhere, "popd");
    }
}

fn command(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if parsed.has("-v -V") {
        view.finding.is_wrapper = false;
    } else {
        view.start_words(&parsed.operands);
    }
}

fn evaluate(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if !parsed.operands.is_empty() {
        let text = parsed.operands.join(" ");
        view.doubt_word(Why::Evaluates, &text);
        view.start_script(&text);
    }
}

fn trap(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if let Some(text) = parsed.operands.first().filter(|text| **text != "-") {
        view.start_script(text);
    }
}

/// Doubts `%n`, which evaluates the name of a variable, subscript included, in some
/// shells.
fn print_format(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if parsed
        .operands
        .first()
        .is_some_and(|format| format.contains("%n"))
    {
        view.doubt_word(Why::Evaluates, "%n");
    }
}

/// Doubts `-v name[…]`, `-R` and arithmetic comparisons: they evaluate their text,
/// subscripts included.
fn test(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let words = parsed.operands.as_slice();
    let is_arithmetic = |word: &str| matches!(word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = words.get(at + 1);
        if matches!(*word, "-v" | "-R") {
            view.doubt_word(Why::Evaluates, word);
        }
        let has_subscript = |side: Option<&&str>| side.is_some_and(|word| word.contains('['));
        if is_arithmetic(word) && (has_subscript(before) || has_subscript(after)) {
            view.doubt_word(Why::Evaluates, word);
        }
    }
}
