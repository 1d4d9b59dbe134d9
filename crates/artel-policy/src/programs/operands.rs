//! What the operands of a program mean.

use super::options::Parsed;
use super::table::{Operands, Program, Subs, Why, lists};
use super::view::View;

/// Notes what the operands of a program do.
pub(super) fn take(view: &mut View<'_>, program: &'static Program, parsed: &Parsed<'_>) {
    let subs = match program.operands {
        Operands::Subs(subs) => subs,
        _ if !view.has_part(program, "operands") => return,
        _ => return take_plain(view, program, parsed),
    };
    take_sub(view, program, subs, parsed);
}

fn take_plain(view: &mut View<'_>, program: &'static Program, parsed: &Parsed<'_>) {
    let operands = parsed.operands.as_slice();
    match program.operands {
        Operands::Ignored | Operands::Subs(_) => {}
        Operands::Read => operands.iter().for_each(|path| view.read(path)),
        Operands::Write => operands.iter().for_each(|path| view.write(path)),
        Operands::SkipThenRead(unless) => {
            let files = &operands[own_words(parsed, unless)..];
            files.iter().for_each(|path| view.read(path));
        }
        Operands::SkipThenWrite(unless) => {
            let files = &operands[own_words(parsed, unless)..];
            files.iter().for_each(|path| view.write(path));
        }
        Operands::Command(own) => {
            view.start_words(operands.get(own..).unwrap_or_default());
        }
        Operands::Doubt(why) => {
            if let Some(operand) = operands.first() {
                view.doubt_word(why, operand);
            }
        }
        Operands::Call(call) => call(view, parsed),
    }
}

/// How many operands are no files: one, unless an option said it already.
fn own_words(parsed: &Parsed<'_>, unless: &str) -> usize {
    usize::from(!parsed.has(unless)).min(parsed.operands.len())
}

fn take_sub(view: &mut View<'_>, program: &'static Program, subs: &Subs, parsed: &Parsed<'_>) {
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
    if lists("exec x run dlx", sub) && !lists(subs.starting, sub) && !rest.is_empty() {
        // What is doubtful anyway may still start something that a rule denies.
        note_started(view, subs, sub, rest);
    }
}

fn note_started(view: &mut View<'_>, subs: &Subs, sub: &str, rest: &[&str]) {
    let launches = |(names, why): &(&str, Why)| lists(names, sub) && *why == Why::Starts;
    if subs.doubtful.iter().any(launches) {
        view.start_words(rest);
    }
}
