//! Hints after a shell line that failed, based on the output of its programs.

mod git;
mod python;

use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_files::FileEntryKind;
use artel_policy::TargetTree;
use serde_json::json;

use git::git_hint;
use python::{missing_modules, wrong_name};

use super::LONGEST;
use crate::process::ToolSandbox;
use crate::similar::nearest_paths;
use crate::{ToolContext, ToolError, ToolErrorKind, nearest};

/// Largest part of an output that is searched, in bytes.
const SEARCHED: usize = 32 * 1024;

/// Largest file that is examined, in bytes.
const LOOKED_AT: u64 = 4 << 20;

/// Returns hints, the most specific first.
pub(super) fn after(
    command: &str,
    text: &str,
    bench: &ToolContext,
    room: &ToolSandbox,
) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(SEARCHED)];
    let here = here(bench);
    let mut hints = missing_programs(text, room);
    hints.extend(git_hint(command));
    hints.extend(wrong_flag(command, text));
    hints.extend(script_of_the_skill(command, bench, &here));
    hints.extend(missing_paths(text, &here));
    hints.extend(folders(text, &here));
    hints.extend(not_executable(text, &here));
    hints.extend(missing_modules(command, text, &here));
    hints.extend(missing_target(text, bench));
    hints.extend(other_encoding(command, text, bench));
    hints.extend(wrong_name(text, bench));
    hints.extend(mount_point(text));
    hints.extend(passing(text));
    hints.extend(lacks_network(text).then(|| network_hint(command)));
    hints.dedup();
    hints
}

/// Returns the shell's current folder.
fn here(bench: &ToolContext) -> PathBuf {
    bench.tree.path().join(&bench.notes().cwd)
}

/// Reads a file of the tree, if this call may read it.
fn content(bench: &ToolContext, path: &Path) -> Option<Vec<u8>> {
    let inside = path.strip_prefix(bench.tree.path()).ok()?;
    let guard = bench.guard.in_place(&TargetTree::Worktree);
    bench.tree.read(inside, LOOKED_AT, &*guard).ok()
}

/// Adds hints to the error of a command that was ended or never began.
pub(super) fn with_hints(command: &str, limit: Duration, mut trouble: ToolError) -> ToolError {
    trouble.hints.extend(git_hint(command));
    if trouble.kind == ToolErrorKind::TimedOut {
        let longer = (limit.as_secs().max(1) * 10).min(LONGEST);
        if longer > limit.as_secs() {
            trouble.hints.push(format!(
                "write `timeout` as `{longer}` if it only needs longer"
            ));
        }
        trouble
            .hints
            .push("write `background` as `true` if it is meant to go on".to_owned());
    }
    trouble
}

/// Returns alternatives to programs that the shell did not find.
fn missing_programs(text: &str, room: &ToolSandbox) -> Vec<String> {
    let missing = text.lines().filter_map(|line| {
        let before = line.strip_suffix(": command not found")?;
        before.rsplit(": ").next()
    });
    let hints = missing.filter_map(|program| room.instead_of(program));
    hints.collect()
}

/// Returns the known flag most similar to the one that a program refused. Programs that
/// refuse a flag often list the valid ones.
fn wrong_flag(command: &str, text: &str) -> Option<String> {
    const SAID: [&str; 5] = ["option", "argument", "flag", "switch", "usage"];
    let words: Vec<&str> = command.split_whitespace().collect();
    let used = words
        .iter()
        .filter(|word| word.len() > 2 && word.starts_with("--"));
    let mut used = used.map(|word| word.split('=').next().unwrap_or_default());
    let is_named = |line: &str, flag: &str| {
        let line = line.to_lowercase();
        let bare = flag.trim_start_matches('-').to_lowercase();
        SAID.iter().any(|said| line.contains(said)) && line.contains(&bare)
    };
    let wrong = used.find(|flag| {
        let lines = text.lines().filter(|line| !line.starts_with("usage"));
        let mut lines = lines.filter(|line| !line.trim_start().starts_with("--"));
        lines.any(|line| is_named(line, flag))
    })?;
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let known = text
        .split(|letter: char| !is_part(letter))
        .filter(|word| word.len() > 2 && word.starts_with("--") && *word != wrong);
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let meant = nearest(wrong, known, 1);
    let meant = meant.first()?;
    Some(format!("`{wrong}` is not known; did you mean `{meant}`?"))
}

/// Returns paths similar to those that programs did not find.
fn missing_paths(text: &str, here: &Path) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| line.contains("No such file or directory"));
    let missing = lines.filter_map(|line| path_in(line, "No such file or directory", here));
    let mut hints: Vec<String> = missing
        .filter_map(|path| {
            let alike = nearest_paths(here, &path, 3);
            let alike: Vec<_> = alike.iter().map(|path| format!("`{path}`")).collect();
            let alike = alike.join(", ");
            (!alike.is_empty()).then(|| format!("paths similar to `{path}`: {alike}"))
        })
        .take(3)
        .collect();
    hints.dedup();
    hints
}

/// Returns the call for a skill's script that was looked for in the project: texts of
/// skills name their files relative to the skill's own folder.
fn script_of_the_skill(command: &str, bench: &ToolContext, here: &Path) -> Option<String> {
    let skill = bench.skill.as_ref()?;
    let mut words = command.split_whitespace();
    let path = words.find(|word| {
        let is_there = skill.resolve(Path::new(word));
        let is_there = is_there.is_ok_and(|found| {
            found
                .about
                .is_some_and(|it| it.found == FileEntryKind::File)
        });
        word.contains('/') && is_there && !here.join(word).exists()
    })?;
    let path = path.trim_start_matches("./");
    let args: Vec<&str> = words
        .take_while(|word| !word.contains(['|', ';', '&', '<', '>']))
        .collect();
    let call = json!({ "path": path, "args": args });
    Some(format!(
        "`{path}` lies in the skill's folder: call `script {call}`"
    ))
}

/// Returns the call that lists a folder which a program took for a file.
fn folders(text: &str, here: &Path) -> Option<String> {
    let line = text.lines().find(|line| line.contains("s a directory"))?;
    let path = path_in(line, "Is a directory", here)?;
    let call = json!({ "path": path });
    Some(format!(
        "`{path}` is a folder: `list {call}` shows what is in it"
    ))
}

/// Returns the path that a line complains about, relative to a folder: in quotes, or
/// before the words.
fn path_in(line: &str, words: &str, here: &Path) -> Option<String> {
    // The quote in "can't" does not open anything.
    let opened = line.split_once(" '").map(|(_, rest)| rest);
    let quoted = opened.and_then(|rest| rest.split('\'').next());
    let quoted = quoted.filter(|path| !path.is_empty());
    let before = || {
        let (before, _) = line.split_once(words)?;
        let before = before.trim_end().trim_end_matches(':');
        before.rsplit(": ").next()
    };
    let path = quoted.or_else(before)?.trim();
    let inside = Path::new(path)
        .strip_prefix(here)
        .unwrap_or(Path::new(path));
    let path = inside.to_str()?.to_owned();
    (!path.is_empty() && path.len() < 256).then_some(path)
}

/// Returns a command that runs a file without execute permission.
fn not_executable(text: &str, here: &Path) -> Option<String> {
    let line = text
        .lines()
        .find(|line| line.ends_with(": Permission denied"))?;
    let path = path_in(line, "Permission denied", here)?;
    if !here.join(&path).is_file() {
        return None;
    }
    let instead = match Path::new(&path)
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some("py") => format!("python3 {path}"),
        Some("js" | "mjs") => format!("node {path}"),
        _ => format!("chmod +x {path} && {path}"),
    };
    Some(format!("instead of `{path}`: `{instead}`"))
}

/// Returns the makefile target most similar to a missing one.
fn missing_target(text: &str, bench: &ToolContext) -> Option<String> {
    let (_, rest) = text.split_once("No rule to make target ")?;
    let wanted = rest.trim_start_matches(['\'', '`', '"']);
    let wanted = wanted.split(['\'', '`', '"']).next()?;
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let text = names.iter().find_map(|name| {
        let bytes = content(bench, &here(bench).join(name))?;
        String::from_utf8(bytes).ok()
    })?;
    let targets = text.lines().filter_map(|line| {
        let (names, _) = line.split_once(':')?;
        let is_rule = !names.starts_with(['\t', '#', '.', ' ']) && !names.contains(['=', '$']);
        is_rule.then_some(names)
    });
    let targets = targets.flat_map(str::split_whitespace);
    let alike = nearest(wanted, targets, 1);
    let meant = alike.first()?;
    Some(format!(
        "there is no target `{wanted}`; did you mean `{meant}`?"
    ))
}

/// Says that a busy file may be a mount point. A path kept read-only in a sandbox is one,
/// and a second try cannot move it.
fn mount_point(text: &str) -> Option<String> {
    const SAID: &str = "Device or resource busy";
    let line = text.lines().find(|line| line.contains(SAID))?;
    let quoted = line.split(['\'', '`', '\u{2018}', '\u{2019}']).nth(1);
    let named = match quoted {
        Some(name) if !name.is_empty() => format!("`{name}`"),
        _ => "it".to_owned(),
    };
    Some(format!(
        "\"{SAID}\": {named} may be a mount point of the sandbox, which can be neither moved nor \
         removed; trying again does not help, so leave it where it is"
    ))
}

/// Says that an error of this kind may pass by itself.
fn passing(text: &str) -> Option<String> {
    const SAID: [&str; 4] = [
        "Connection reset by peer",
        "temporarily unavailable",
        "database is locked",
        "Could not get lock",
    ];
    let said = SAID.iter().find(|said| text.contains(**said))?;
    Some(format!("\"{said}\" may pass: try again"))
}

/// Names the file on the command line that is not UTF-8, if a program expected UTF-8.
fn other_encoding(command: &str, text: &str, bench: &ToolContext) -> Option<String> {
    const SAID: [&str; 4] = [
        "UnicodeDecodeError",
        "invalid utf-8",
        "not valid UTF-8",
        "invalid byte sequence",
    ];
    if !SAID.iter().any(|said| text.contains(said)) {
        return None;
    }
    let is_between = |letter: char| letter.is_whitespace() || "'\"()=,;<>|&".contains(letter);
    let words = command.split(is_between).filter(|word| !word.is_empty());
    let other = words.filter(|word| !word.starts_with('/')).find(|word| {
        let bytes = content(bench, &here(bench).join(word));
        bytes.is_some_and(|bytes| std::str::from_utf8(&bytes).is_err())
    })?;
    let call = json!({ "path": other });
    Some(format!(
        "`{other}` is not UTF-8: `read {call}` finds out its encoding and shows it"
    ))
}

/// Returns how to reach the network, with the call if the line contains an address.
fn network_hint(command: &str) -> String {
    let words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']));
    let mut addresses = words.filter(|word| word.starts_with("http"));
    match addresses.next() {
        Some(url) => {
            let call = json!({ "url": url });
            format!(
                "commands have no network unless they name its hosts in `network`; the `fetch` tool \
                 has: `fetch {call}`"
            )
        }
        None => "commands have no network unless they name its hosts in `network`; the `fetch` tool can \
                 get a page"
            .to_owned(),
    }
}

/// Returns whether a program reported that it could not reach a host.
fn lacks_network(text: &str) -> bool {
    const SAID: &[&str] = &[
        "Could not resolve host",
        "Temporary failure in name resolution",
        "Name or service not known",
        "Network is unreachable",
        "getaddrinfo EAI_AGAIN",
    ];
    SAID.iter().any(|said| text.contains(said))
}
