//! Programs that create, move, change and delete files: what they write is named.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, asks_flag, inside, reads,
    starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("cp gcp")
        .values(&["-S --suffix --backup --sparse --context --no-preserve"])
        .flags(&["--backup --context --preserve --reflink -s --symbolic-link -l --link"])
        .entries(&[writes("-t --target-directory")])
        .operands(OperandMeaning::Call(copy)),
    ProgramSpec::works("install ginstall")
        .values(&["-m --mode -o --owner -g --group -S --suffix"])
        .flags(&["-d --directory"])
        .entries(&[writes("-t --target-directory"), starts("--strip-program")])
        .operands(OperandMeaning::Call(install)),
    ProgramSpec::works("mv gmv")
        .values(&["-S --suffix"])
        .entries(&[writes("-t --target-directory")])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("ln gln")
        .values(&["-S --suffix"])
        .flags(&["-s --symbolic -r --relative"])
        .entries(&[writes("-t --target-directory")])
        .operands(OperandMeaning::Call(link)),
    ProgramSpec::works("link").operands(OperandMeaning::Call(link)),
    ProgramSpec::works("rm grm unlink rmdir shred srm trash trash-put")
        .values(&["-n --iterations -s --size --random-source"])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("mkdir gmkdir mkfifo")
        .values(&["-m --mode"])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("mknod").operands(OperandMeaning::Doubt(DoubtReason::Device)),
    ProgramSpec::works("touch gtouch")
        .values(&["-d --date -t --time"])
        .entries(&[reads("-r --reference")])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("truncate")
        .values(&["-s --size"])
        .entries(&[reads("-r --reference")])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("fallocate")
        .values(&["-l --length -o --offset"])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("chmod gchmod")
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(change_mode)),
    ProgramSpec::works("chown gchown chgrp chcon setfacl chattr")
        .entries(&[reads(
            "--reference --restore -M --modify-file -X --remove-file",
        )])
        .operands(OperandMeaning::SkipThenWrite("--reference")),
    ProgramSpec::works("setcap").operands(OperandMeaning::Doubt(DoubtReason::Privilege)),
    ProgramSpec::works("split gsplit")
        .values(&[
            "-a --suffix-length -b --bytes -C --line-bytes -l --lines -n --number -t \
            --separator",
        ])
        .flags(&["--additional-suffix --hex-suffixes --numeric-suffixes -x -d -e -u"])
        .entries(&[starts("--filter")])
        .operands(OperandMeaning::Call(split)),
    ProgramSpec::works("csplit")
        .values(&["-b --suffix-format -n --digits"])
        .entries(&[writes("-f --prefix")])
        .operands(OperandMeaning::Ignored),
    ProgramSpec::works("mktemp")
        .values(&["--suffix"])
        .entries(&[writes("-p --tmpdir")])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("dd").operands(OperandMeaning::Call(dd)),
    ProgramSpec::works("patch")
        .values(&["-p --strip -F --fuzz -V -B --prefix -z --suffix -Y -D --ifdef"])
        .flags(&["--dry-run"])
        .entries(&[
            writes("-o --output -r --reject-file"),
            reads("-i --input"),
            asks("-d --directory", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Call(patch)),
    ProgramSpec::works("rename prename perl-rename file-rename")
        .entries(&[asks("-e", DoubtReason::Inline)])
        .operands(OperandMeaning::Call(rename)),
    ProgramSpec::works("mmv vidir qmv").operands(OperandMeaning::Doubt(DoubtReason::Interactive)),
    ProgramSpec::works("rsync")
        .values(&[
            "-f --filter --exclude --include --bwlimit --max-size --min-size --block-size --port",
            "--chmod --chown --timeout --contimeout --info --debug --suffix --out-format --usermap",
            "--groupmap --skip-compress --compress-choice --compress-level --modify-window -B",
        ])
        .flags(&[
            "--delete --delete-after --delete-before --delete-during --delete-excluded \
            --dry-run",
        ])
        .entries(&[
            starts("-e --rsh"),
            starts("--rsync-path"),
            asks_flag(
                "--daemon --server --sender --remove-source-files",
                DoubtReason::Service,
            ),
            asks(
                "--config --sockopts --early-input -M --remote-option",
                DoubtReason::Loads,
            ),
            writes(
                "--log-file --backup-dir --temp-dir -T --partial-dir --write-batch \
                --only-write-batch",
            ),
            asks(
                "--password-file --files-from --exclude-from --include-from --read-batch",
                DoubtReason::Sends,
            ),
            inside(
                "--copy-dest --compare-dest --link-dest",
                DoubtReason::Elsewhere,
            ),
        ])
        .operands(OperandMeaning::Call(rsync)),
    ProgramSpec::works("symlinks cryfs fusermount mount umount losetup mkfs fdisk parted swapon")
        .operands(OperandMeaning::Doubt(DoubtReason::Privilege)),
];

/// Records the operands of `install`: with `-d`, each is a directory to create.
fn install(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let operands = parsed.operands.as_slice();
    if parsed.has("-d --directory") {
        return operands.iter().for_each(|path| view.write(path));
    }
    copy(view, parsed);
}

/// Records the last operand as written, unless an option names the target, and checks
/// links like `ln` does.
fn copy(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let operands = parsed.operands.as_slice();
    let sources = match operands.split_last() {
        Some((last, sources)) if !parsed.has("-t --target-directory") => {
            view.write(last);
            sources
        }
        _ => operands,
    };
    let links = parsed.has("-s --symbolic-link -l --link") && view.name != "install";
    for path in sources {
        if links && view.strays(path) {
            view.doubt_word(DoubtReason::LinksOut, path);
        }
        view.read(path);
    }
}

/// Asks about a link that leads out of the project: writing through it would leave the
/// project too.
fn link(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let operands = parsed.operands.as_slice();
    let is_target_named = parsed.has("-t --target-directory");
    let targets = match operands {
        [_] => operands,
        [targets @ .., last] if !is_target_named => {
            view.write(last);
            targets
        }
        _ => operands,
    };
    // A symbolic link is resolved from where it lies: `ln -s ../x sub/y` stays in the project.
    let from = match operands {
        [_, made]
            if parsed.has("-s --symbolic")
                && !parsed.has("-t --target-directory -r --relative")
                && !made.contains("..") =>
        {
            made.rsplit_once('/').map(|(directory, _)| directory)
        }
        _ => None,
    };
    for target in targets {
        let seen = match from {
            Some(directory) if !target.starts_with(['/', '~']) => format!("{directory}/{target}"),
            _ => (*target).to_owned(),
        };
        let climbs = from.is_none() && (target.starts_with("..") || target.contains("/.."));
        if view.strays(&seen) || climbs {
            view.doubt_word(DoubtReason::LinksOut, target);
        }
        // Another name for a protected file is a way to write it.
        if crate::path::protected(target).is_some() {
            view.write(target);
        }
        view.read(&seen);
    }
    if operands.len() == 1 && !is_target_named {
        let made = super::view::base_name(operands[0]).to_owned();
        view.write(&made);
    }
}

/// Reads the words by code, because a mode may begin with a dash like an option.
fn change_mode(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let is_option = |word: &str| {
        let keys = word.strip_prefix('-').unwrap_or_default();
        !keys.is_empty() && keys.chars().all(|key| "Rvcf-".contains(key))
    };
    let mut has_mode = false;
    for word in parsed.operands.iter().filter(|word| !is_option(word)) {
        if let Some(long) = word.strip_prefix("--") {
            if let Some((_, path)) = long.split_once('=').filter(|_| long.starts_with("ref")) {
                view.read(path);
                has_mode = true;
            }
        } else if has_mode {
            view.write(word);
        } else {
            has_mode = true;
            let is_number = word.chars().all(|digit| digit.is_ascii_digit());
            if word.contains('s') || is_number && word.len() == 4 && !word.starts_with('0') {
                view.doubt_word(DoubtReason::Privilege, word);
            }
        }
    }
}

fn split(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let Some(input) = parsed.operands.first() {
        view.read(input);
    }
    for prefix in parsed.operands.iter().skip(1) {
        view.write(prefix);
    }
}

fn dd(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        if let Some(path) = operand.strip_prefix("of=") {
            view.write(path);
        } else if let Some(path) = operand.strip_prefix("if=") {
            view.read(path);
        }
    }
}

/// Asks about a patch: it names the files it writes, and nobody has read it yet.
fn patch(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if !parsed.has("--dry-run") {
        let name = view.name.clone();
        view.doubt(DoubtReason::Writes, &name);
    }
    if let Some(path) = parsed.operands.first() {
        view.write(path);
    }
    parsed
        .operands
        .iter()
        .skip(1)
        .for_each(|path| view.read(path));
}

/// Asks about `rename`: Perl's version runs its first operand, the other takes two words.
fn rename(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((expression, files)) = parsed.operands.split_first() else {
        return;
    };
    view.doubt_word(DoubtReason::Inline, expression);
    files.iter().for_each(|path| view.write(path));
}

fn rsync(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for path in &parsed.operands {
        let host = path.split('/').next().unwrap_or_default();
        if host.contains(':') {
            view.doubt_word(DoubtReason::Sends, path);
        }
    }
    let Some((last, sources)) = parsed.operands.split_last() else {
        return;
    };
    sources.iter().for_each(|path| view.read(path));
    if sources.is_empty() {
        view.read(last);
    } else {
        view.write(last);
    }
}
