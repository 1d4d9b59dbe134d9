//! Checks that apply to every program, and those for programs that no table lists.

use super::table::DoubtReason;
use super::view::CommandInspector;

/// Asks about words that name a device or something that belongs to another process.
pub(super) fn check_devices(view: &mut CommandInspector<'_>, words: &[String]) {
    for word in words {
        if let Some(path) = named_in(word, "/dev/").find(|path| !is_plain_device(path)) {
            view.doubt_word(DoubtReason::Device, path);
        }
        if let Some(path) = named_in(word, "/proc/").find(|path| is_process(path)) {
            view.doubt_word(DoubtReason::Device, path);
        }
    }
}

/// Returns the paths in a word that begin with `beginning`, at its start or after a sign
/// such as `=`. A directory of the project that is merely called `dev` does not count.
fn named_in<'w>(word: &'w str, beginning: &'static str) -> impl Iterator<Item = &'w str> {
    let is_path = |letter: char| letter.is_alphanumeric() || "._-~{}".contains(letter);
    word.match_indices(beginning).filter_map(move |(at, _)| {
        let before = word.get(..at)?.trim_end_matches('/');
        let climbs = before.ends_with("/..") || before.ends_with("/.");
        if before.ends_with(is_path) && !climbs {
            return None;
        }
        let path = word.get(at..)?;
        let ends = |letter: char| !is_path(letter) && letter != '/';
        Some(&path[..path.find(ends).unwrap_or(path.len())])
    })
}

/// Inspects a program that is in no table. The grant names it, so only options and paths
/// that speak for themselves count.
pub(super) fn unknown_program(view: &mut CommandInspector<'_>, words: &[String]) {
    let is_value = |word: &&String| !word.starts_with('-');
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if view.leads_out(word) {
            view.doubt_word(DoubtReason::Elsewhere, word);
        }
        if !word.starts_with('-') || word == "-" {
            view.read(word);
            continue;
        }
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        match name {
            "--exec" | "--exec-batch" | "--exec-cmd" | "--shell-cmd" | "--pager" | "--editor"
            | "--rsh" | "--shell" | "--on-change" | "--hook" | "--wrapper" | "--launcher"
            | "--runner" | "--test-runner" | "--debugger" | "--browser" | "--compiler"
            | "--linker" => view.doubt_word(DoubtReason::Starts, name),
            "--plugin" | "--plugins" | "--preload" | "--init-script" | "--require" | "--load"
            | "--loader" | "--import" | "--bootstrap" | "--addon" | "--extension"
            | "--init-file" | "--rulesdir" => view.doubt_word(DoubtReason::Loads, name),
            "--eval" | "--execute" | "--command" => view.doubt_word(DoubtReason::Inline, name),
            "-o" | "--output" | "--out" | "--outfile" | "--output-file" | "--output-dir"
            | "--out-dir" | "--outdir" | "--out-file" | "--log-file" | "--logfile" => {
                let value = glued.or_else(|| words.next_if(is_value).map(String::as_str));
                view.write(value.unwrap_or_default());
            }
            "--config" | "--config-file" | "--rcfile" => {
                let value = glued.or_else(|| words.next_if(is_value).map(String::as_str));
                if value.is_some_and(|value| view.strays(value)) {
                    view.doubt_word(DoubtReason::Loads, name);
                }
            }
            _ => {}
        }
    }
    for word in words {
        view.read(word);
    }
}

fn is_plain_device(path: &str) -> bool {
    let name = path.trim_start_matches("/dev/");
    matches!(
        name,
        "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr" | "tty"
    )
}

/// Returns whether a path below `/proc` leads to a process, the kernel's settings or
/// memory.
fn is_process(path: &str) -> bool {
    let first = path
        .split('/')
        .find(|part| !matches!(*part, "" | "." | "proc"));
    first.is_some_and(|first| {
        matches!(
            first,
            "self" | "thread-self" | "sys" | "kcore" | "kmem" | "sysrq-trigger" | ".."
        ) || first.starts_with(|letter: char| letter.is_ascii_digit())
    })
}
