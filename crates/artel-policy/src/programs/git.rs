//! `git`: the options before its subcommand, where it may fetch from and push to, and what
//! its operands name. The options of each subcommand are in [`super::git_table`].

use super::options::{self, ParsedProgramArguments};
use super::table::{
    self, DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, asks_flag, lists,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[ProgramSpec::works("git")
    .style(ProgramOptionStyle::Posix)
    .strict()
    .values(&["--attr-source --list-cmds"])
    .flags(&[
        "-v --version -h --help --html-path --man-path --info-path -P --no-pager \
            --no-optional-locks",
        "--no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs",
        "--icase-pathspecs --no-lazy-fetch --no-advice",
    ])
    .entries(&[
        asks("-c --config-env", DoubtReason::Loads),
        asks(
            "-C --git-dir --work-tree --namespace --super-prefix",
            DoubtReason::Elsewhere,
        ),
        asks_flag("--bare", DoubtReason::Elsewhere),
        asks("--exec-path", DoubtReason::Loads).glued(),
        asks_flag("-p --paginate", DoubtReason::Starts),
    ])
    .operands(OperandMeaning::Call(git))];

/// Inspects the subcommand by its own entry in the table. A subcommand without an entry is
/// asked about, because it may be an alias or a separate program.
fn git(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for setting in parsed.values_of("-c") {
        // If a setting starts a program, a rule may deny that program.
        if let Some((_, value)) = setting.split_once('=') {
            view.start_script(value.trim_start_matches('!'));
        }
    }
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    let Some(program) = table::find(&format!("git-{sub}")) else {
        return view.doubt_word(DoubtReason::Unknown, sub);
    };
    view.name = format!("git {sub}");
    let words: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    view.role = program.role;
    if let Some(why) = program.always
        && view.has_part(program, "always")
    {
        let name = view.name.clone();
        view.doubt(why, &name);
    }
    let parsed = options::read(view, program, &words);
    super::operands::take(view, program, &parsed);
}

/// Checks revisions and paths: paths are read and must not lead out of the project.
pub(super) fn paths(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        // `HEAD:src/main.rs` names a file of a revision; `:(glob)x` and `:/x` are patterns.
        let path = match operand.split_once(':') {
            Some((revision, path)) if !revision.is_empty() => path,
            _ => operand,
        };
        let is_path = path == ".."
            || ["../", "/", "~"]
                .iter()
                .any(|start| path.starts_with(start));
        if is_path && view.strays(path) {
            view.doubt_word(DoubtReason::Elsewhere, operand);
        }
        view.read(path);
    }
}

/// Like [`paths`], and records as written whatever is surely a path and not a branch.
pub(super) fn checkout(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    paths(view, parsed);
    let restores = view.name.ends_with("restore");
    let named = match parsed.operands.as_slice() {
        operands if restores || parsed.before_end == 0 => operands,
        [_, paths @ ..] => paths,
        [] => &[],
    };
    for path in named.iter().filter(|path| **path != ".") {
        view.finding.writes.push((*path).to_owned());
    }
}

/// Asks if the first operand is a repository other than a configured remote.
pub(super) fn remote(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some(place) = parsed.operands.first() else {
        return;
    };
    if place.contains([':', '/', '\\', '.']) || place.starts_with(['~', '-']) {
        view.doubt_word(DoubtReason::Elsewhere, place);
    }
}

/// Asks if a tag is signed or verified. For branches the same options mean other things.
pub(super) fn references(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let signs = "-s --sign -u --local-user -v --verify";
    if view.name == "git tag" && parsed.has(signs) {
        view.doubt_word(DoubtReason::Starts, "-s");
    }
}

/// Like [`remote`], and the push must not overwrite or delete.
pub(super) fn push(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    remote(view, parsed);
    for reference in &parsed.operands {
        if reference.starts_with(['+', ':']) {
            view.doubt_word(DoubtReason::Loses, reference);
        }
    }
}

/// Checks that the repository comes from the network, and records the directory it is
/// cloned into.
pub(super) fn clone(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some(place) = parsed.operands.first() else {
        return;
    };
    if !is_plain_url(place) {
        view.doubt_word(DoubtReason::Elsewhere, place);
    }
    if let Some(directory) = parsed.operands.get(1) {
        view.write(directory);
    }
}

fn is_plain_url(place: &str) -> bool {
    if let Some((scheme, _)) = place.split_once("://") {
        return matches!(scheme, "https" | "http" | "ssh" | "git") && !place.contains("://-");
    }
    let host = place.split_once(':').map(|(host, _)| host);
    !place.contains("::")
        && host
            .is_some_and(|host| host.contains('@') && !host.contains('/') && !host.starts_with('-'))
}

pub(super) fn made(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    parsed.operands.iter().for_each(|path| view.write(path));
}

/// Asks about changes of settings; reading one is harmless.
pub(super) fn config(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let operands = parsed.operands.as_slice();
    let reads = parsed.has(
        "--get --get-all --get-regexp --get-urlmatch --get-color \
        --get-colorbool -l --list",
    );
    let writes = match operands {
        _ if reads => false,
        ["list" | "get", ..] => false,
        [
            "set" | "unset" | "rename-section" | "remove-section" | "edit",
            ..,
        ] => true,
        [] | [_] => false,
        _ => true,
    };
    if writes {
        view.doubt_word(DoubtReason::Loads, &operands.join(" "));
    }
}

pub(super) fn stash(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    only(
        view,
        parsed,
        "push save list show apply pop drop branch create",
        DoubtReason::Loses,
    );
}

pub(super) fn worktree(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    match parsed.operands.as_slice() {
        [] | ["list" | "prune", ..] => {}
        ["add", path, ..] => view.write(path),
        ["remove" | "move" | "lock" | "unlock" | "repair", paths @ ..] => {
            paths.iter().for_each(|path| view.write(path));
        }
        [sub, ..] => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

pub(super) fn submodule(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let ["foreach", command @ ..] = parsed.operands.as_slice() {
        view.doubt_word(DoubtReason::Starts, "foreach");
        return view.start_script(&command.join(" "));
    }
    only(
        view,
        parsed,
        "status init update sync summary",
        DoubtReason::Elsewhere,
    );
}

pub(super) fn remotes(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    only(
        view,
        parsed,
        "show get-url prune update",
        DoubtReason::Loads,
    );
}

pub(super) fn bisect(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let ["run", command @ ..] = parsed.operands.as_slice() {
        view.doubt_word(DoubtReason::Starts, "run");
        return view.start_words(command);
    }
    only(
        view,
        parsed,
        "start good bad old new skip reset log terms next",
        DoubtReason::Interactive,
    );
}

/// Like [`paths`], and asks about reflog subcommands that delete.
pub(super) fn history(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let sub = parsed
        .operands
        .first()
        .filter(|_| view.name.ends_with("reflog"));
    if let Some(sub) = sub.filter(|sub| lists("expire delete drop write", sub)) {
        view.doubt_word(DoubtReason::Loses, sub);
    }
    paths(view, parsed);
}

pub(super) fn notes(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    only(
        view,
        parsed,
        "list show add append copy get-ref",
        DoubtReason::Interactive,
    );
}

pub(super) fn bundle(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    match parsed.operands.as_slice() {
        ["create", path, ..] => view.write(path),
        ["verify" | "list-heads", path, ..] => view.read(path),
        operands => view.doubt_word(
            DoubtReason::Unknown,
            operands.first().copied().unwrap_or_default(),
        ),
    }
}

pub(super) fn symbolic_ref(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.operands.len() > 1 {
        view.doubt_word(DoubtReason::Loses, parsed.operands[0]);
    }
}

/// Asks about applying a patch: it names the files it writes, and nobody has read it yet.
pub(super) fn apply(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.has("--check --stat --numstat --summary") || parsed.has("--apply") {
        let name = view.name.clone();
        view.doubt(DoubtReason::Writes, &name);
    }
    parsed.operands.iter().for_each(|path| view.read(path));
}

pub(super) fn clean(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.has("-n --dry-run") {
        let name = view.name.clone();
        view.doubt(DoubtReason::Loses, &name);
    }
}

/// Asks about subcommands that are not listed.
fn only(
    view: &mut CommandInspector<'_>,
    parsed: &ParsedProgramArguments<'_>,
    plain: &str,
    why: DoubtReason,
) {
    if let Some(sub) = parsed.operands.first().filter(|sub| !lists(plain, sub)) {
        view.doubt_word(why, sub);
    }
}
