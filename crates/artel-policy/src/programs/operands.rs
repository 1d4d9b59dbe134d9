//! The meaning of a program's operands.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, ProgramSubcommands,
    UnknownOptionHandling, lists,
};
use super::view::CommandInspector;

/// Records what the operands of a program do.
pub(super) fn take(
    view: &mut CommandInspector<'_>,
    program: &'static ProgramSpec,
    parsed: &ParsedProgramArguments<'_>,
) {
    if program.unknown == UnknownOptionHandling::Inside && view.has_part(program, "confined") {
        keep_inside(view, program, parsed);
    }
    let subs = match program.operands {
        OperandMeaning::Subs(subs) => subs,
        _ if !view.has_part(program, "operands") => return,
        _ => return take_plain(view, program, parsed),
    };
    take_sub(view, program, subs, parsed);
}

/// Asks about operands that lead out of the project. Words after `--` belong to the
/// program that is started; the labels of some tools begin with two slashes.
fn keep_inside(
    view: &mut CommandInspector<'_>,
    program: &ProgramSpec,
    parsed: &ParsedProgramArguments<'_>,
) {
    let has_labels = lists("bazel bazelisk buck2", &view.name);
    let own = match program.style {
        ProgramOptionStyle::Posix => parsed
            .operands
            .iter()
            .take_while(|word| **word != "--")
            .count(),
        _ => parsed.before_end,
    };
    for operand in parsed.operands.iter().take(own) {
        let is_label = has_labels && operand.starts_with("//");
        if !is_label && view.leads_out(operand) {
            view.doubt_word(DoubtReason::Elsewhere, operand);
        }
    }
}

fn take_plain(
    view: &mut CommandInspector<'_>,
    program: &'static ProgramSpec,
    parsed: &ParsedProgramArguments<'_>,
) {
    let operands = parsed.operands.as_slice();
    match program.operands {
        OperandMeaning::Ignored | OperandMeaning::Subs(_) => {}
        OperandMeaning::Read => operands.iter().for_each(|path| view.read(path)),
        OperandMeaning::Write => operands.iter().for_each(|path| view.write(path)),
        OperandMeaning::SkipThenRead(unless) => {
            let files = &operands[own_words(parsed, unless)..];
            files.iter().for_each(|path| view.read(path));
        }
        OperandMeaning::SkipThenWrite(unless) => {
            let files = &operands[own_words(parsed, unless)..];
            files.iter().for_each(|path| view.write(path));
        }
        OperandMeaning::Command(own) => {
            view.start_words(operands.get(own..).unwrap_or_default());
        }
        OperandMeaning::Doubt(why) => {
            if let Some(operand) = operands.first() {
                view.doubt_word(why, operand);
            }
        }
        OperandMeaning::Call(call) => call(view, parsed),
    }
}

/// Returns how many leading operands are not files: one, unless an option replaces it.
fn own_words(parsed: &ParsedProgramArguments<'_>, unless: &str) -> usize {
    usize::from(!parsed.has(unless)).min(parsed.operands.len())
}

fn take_sub(
    view: &mut CommandInspector<'_>,
    program: &'static ProgramSpec,
    subs: &ProgramSubcommands,
    parsed: &ParsedProgramArguments<'_>,
) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    if lists(subs.plain, sub) {
        return;
    }
    if let Some((names, why)) = subs.doubtful.iter().find(|(names, _)| lists(names, sub)) {
        if view.has_part(program, names) {
            view.doubt_word(*why, sub);
        }
    } else if lists(subs.starting, sub) {
        if view.has_part(program, subs.starting) {
            view.start_words(rest);
        }
    } else if lists(subs.writing, sub) {
        if view.has_part(program, subs.writing) {
            rest.iter().for_each(|path| view.write(path));
        }
    } else if let Some(why) = subs.unknown {
        view.doubt_word(why, sub);
    }
    let is_doubtful = subs.doubtful.iter().any(|(names, _)| lists(names, sub));
    let behind = parsed.operands.get(parsed.before_end..).unwrap_or_default();
    if is_doubtful && !behind.is_empty() && program.style != ProgramOptionStyle::Posix {
        // A doubtful subcommand may still start something that a rule denies.
        view.start_words(behind);
    } else if lists("exec x run dlx", sub) && !lists(subs.starting, sub) && !rest.is_empty() {
        note_started(view, subs, sub, rest);
    }
}

fn note_started(
    view: &mut CommandInspector<'_>,
    subs: &ProgramSubcommands,
    sub: &str,
    rest: &[&str],
) {
    let launches =
        |(names, why): &(&str, DoubtReason)| lists(names, sub) && *why == DoubtReason::Starts;
    if subs.doubtful.iter().any(launches) {
        view.start_words(rest);
    }
}
