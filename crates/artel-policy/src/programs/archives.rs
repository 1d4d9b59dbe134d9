//! Archives and compression: `tar` above all, which can start programs in many ways.

use super::options::{self, ParsedProgramArguments};
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramPurpose,
    ProgramSpec, asks, asks_flag, calls, checks, reads, starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::works("tar gtar bsdtar")
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(tar)),
    TAR,
    ProgramSpec::works("zip")
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(zip)),
    ProgramSpec::works("unzip")
        .values(&["-P -x"])
        .entries(&[writes("-d"), asks_flag("-:", DoubtReason::Elsewhere)])
        .flags(&["-l -t -v -p -c -z -Z"])
        .operands(OperandMeaning::Call(unzip)),
    ProgramSpec::works(
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lzip zstd unzstd lz4 pigz \
        pbzip2 brotli compress uncompress",
    )
    .values(&["-S --suffix -T --threads -F --format -b -M --memlimit --block-size"])
    .flags(&["-c --stdout --to-stdout -t --test -l --list"])
    .entries(&[
        writes("-o --output --output-dir-flat --output-dir-mirror"),
        reads("-D --files --filelist --patch-from"),
    ])
    .operands(OperandMeaning::Call(compress)),
    ProgramSpec::works("7z 7za 7zr 7zz p7zip")
        .style(ProgramOptionStyle::Dash)
        .entries(&[
            writes("-o*"),
            asks_flag("-sdel", DoubtReason::Writes),
            asks("-w*", DoubtReason::Writes),
        ])
        .operands(OperandMeaning::Call(seven_zip)),
    ProgramSpec::works("rar unrar").operands(OperandMeaning::Call(seven_zip)),
    ProgramSpec::works("cpio")
        .values(&["-H --format -C --io-size -M --message -R --owner"])
        .entries(&[
            writes("-O -F --file"),
            starts("--rsh-command"),
            asks_flag("--absolute-filenames", DoubtReason::Elsewhere),
            asks_flag("-i --extract -p --pass-through", DoubtReason::Writes),
            asks("-D --directory", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("ar gar llvm-ar ranlib")
        .entries(&[asks("--plugin", DoubtReason::Loads)])
        .operands(OperandMeaning::Call(ar)),
    ProgramSpec::works("pax shar unshar").operands(OperandMeaning::Doubt(DoubtReason::Starts)),
    ProgramSpec::works("zipinfo zipgrep zipnote")
        .role(ProgramPurpose::Reads)
        .operands(OperandMeaning::Read),
];

/// The options of `tar`, kept apart because the old form is first turned into them.
const TAR: ProgramSpec = ProgramSpec::works("tar-options")
    .values(&[
        "-b --blocking-factor -H --format -K --starting-file -L --tape-length -N --newer",
        "--after-date -V --label --exclude --group --owner --mtime --mode --pax-option \
            --quoting-style",
        "--record-size --sort --strip-components --suffix --warning \
            --newer-mtime",
        "--occurrence --level --hole-detection --sparse-version --anchored --include --options",
    ])
    .flags(TAR_FLAGS)
    .entries(TAR_ENTRIES)
    .operands(OperandMeaning::Call(tar_operands));

const TAR_FLAGS: &[&str] = &[
    "-c --create -x --extract --get -t --list -r --append -u --update -A --catenate --concatenate",
    "-d --diff --compare --delete --checkpoint --to-stdout -O --totals --verbose --verify --backup",
    "--occurrence --gzip --bzip2 --xz --zstd --lzma --force-local",
];

const TAR_ENTRIES: &[ProgramOptionEntry] = &[
    starts("-I --use-compress-program"),
    starts("--to-command"),
    starts("-F --info-script --new-volume-script"),
    starts("--rsh-command --rmt-command"),
    calls("--checkpoint-action", checkpoint_action),
    asks_flag(
        "-P --absolute-names --absolute-paths --insecure",
        DoubtReason::Elsewhere,
    ),
    asks_flag("--remove-files", DoubtReason::Writes),
    asks("--transform --xform", DoubtReason::Elsewhere),
    checks("-s", renames),
    asks("-T --files-from", DoubtReason::Loads),
    reads("-X --exclude-from"),
    writes("-g --listed-incremental --index-file --volno-file"),
    writes("-C --directory --cd"),
    asks("--one-top-level", DoubtReason::Elsewhere).glued(),
    asks_flag(
        "--keep-directory-symlink -h --dereference",
        DoubtReason::Elsewhere,
    ),
    checks("-f --file", archive_place),
];

fn checkpoint_action(view: &mut CommandInspector<'_>, action: &str) {
    let is_plain = matches!(action, "dot" | "." | "echo" | "bell" | "totals");
    let is_plain = is_plain || action.starts_with("echo=") || action.starts_with("ttyout=");
    if !is_plain {
        view.doubt_word(DoubtReason::Starts, action);
        view.start_script(action.trim_start_matches("exec="));
    }
}

/// Doubts `-s` with a value that renames members, as in BSD `tar`. In GNU `tar` the option
/// takes no value.
fn renames(value: &str) -> Option<DoubtReason> {
    let is_pattern = value.matches([',', '/', '|', '#', '@']).count() > 2;
    is_pattern.then_some(DoubtReason::Elsewhere)
}

/// Doubts `host:file`, which is fetched through a remote shell.
fn archive_place(path: &str) -> Option<DoubtReason> {
    let before = path.split('/').next().unwrap_or_default();
    before.contains(':').then_some(DoubtReason::Remote)
}

/// Turns the old form, `tar xfI archive program`, into options and reads those.
fn tar(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut words = parsed.operands.iter().map(|word| (*word).to_owned());
    let mut turned = Vec::new();
    let first = words.next().unwrap_or_default();
    if first.starts_with('-') || first.is_empty() {
        turned.push(first);
    } else {
        for letter in first.chars() {
            turned.push(format!("-{letter}"));
            if "bfCFgHIKLNTVX".contains(letter) {
                turned.extend(words.next());
            }
        }
    }
    turned.extend(words);
    turned.retain(|word| !word.is_empty());
    let Some(program) = super::table::find(TAR.names) else {
        return;
    };
    let parsed = options::read(view, program, &turned);
    super::operands::take(view, program, &parsed);
}

fn tar_operands(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let extracts = parsed.has("-x --extract --get");
    let lists = parsed.has("-t --list -d --diff --compare");
    for archive in parsed.values_of("-f --file") {
        if extracts || lists {
            view.read(archive);
        } else {
            view.write(archive);
        }
    }
    for operand in &parsed.operands {
        if operand.starts_with('@') {
            // BSD `tar` copies the members of another archive here.
            view.doubt_word(DoubtReason::Loads, operand);
        }
        if extracts && !parsed.has("-O --to-stdout") {
            view.write(operand);
        } else if !lists {
            view.read(operand);
        }
    }
}

/// Records that named members are written, wherever their names lead.
fn unzip(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let only_shows = parsed.has("-l -t -v -p -c -z -Z");
    for (at, path) in parsed.operands.iter().enumerate() {
        if at == 0 || only_shows {
            view.read(path);
        } else {
            view.write(path);
        }
    }
}

/// Reads the words by code, because the short options have one or two letters and can be
/// joined.
fn zip(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let mut words = parsed.operands.iter();
    let mut is_archive = true;
    while let Some(word) = words.next() {
        let long = word.strip_prefix("--");
        let short = word.strip_prefix('-').filter(|_| long.is_none());
        if short.is_some_and(|short| short.contains("TT"))
            || long.is_some_and(|long| long.starts_with("unz") || long.starts_with("TT"))
        {
            view.doubt_word(DoubtReason::Starts, word);
            if let Some(command) = words.next() {
                view.start_script(command);
            }
        } else if short.is_some_and(|short| short.starts_with(['b', 'O']))
            || long.is_some_and(|long| {
                ["temp", "out", "logf"]
                    .iter()
                    .any(|name| long.starts_with(name))
            })
        {
            let value = words.next().copied().unwrap_or(word);
            view.write(word.split_once('=').map_or(value, |(_, value)| value));
        } else if short.is_some_and(|short| short.contains('m')) || long == Some("move") {
            view.doubt_word(DoubtReason::Writes, word);
        } else if short.is_none() && long.is_none() {
            if is_archive {
                view.write(word);
            } else {
                view.read(word);
            }
            is_archive = false;
        }
    }
}

fn compress(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let only_shows = parsed.has("-c --stdout --to-stdout -t --test -l --list");
    for path in &parsed.operands {
        if only_shows {
            view.read(path);
        } else {
            view.write(path);
            // Unpacking `.bashrc.xz` creates `.bashrc`.
            let made = path.rsplit_once('.').map_or("", |(made, _)| made);
            if crate::path::protected(made).is_some() {
                view.write(made);
            }
        }
    }
}

fn seven_zip(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    for (at, path) in rest.iter().enumerate() {
        let is_made = at == 0 && matches!(*sub, "a" | "u" | "d" | "rn" | "m" | "mf")
            || at > 0 && matches!(*sub, "x" | "e");
        if path.starts_with('@') {
            view.doubt_word(DoubtReason::Loads, path);
        } else if is_made {
            view.write(path);
        } else {
            view.read(path);
        }
    }
}

fn ar(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let only_shows = parsed
        .operands
        .first()
        .is_some_and(|keys| keys.chars().all(|key| "tpvV".contains(key)));
    if let Some(archive) = parsed.operands.get(1) {
        if only_shows {
            view.read(archive);
        } else {
            view.write(archive);
        }
    }
    if parsed
        .operands
        .first()
        .is_some_and(|keys| keys.starts_with('x'))
    {
        parsed
            .operands
            .iter()
            .skip(2)
            .for_each(|path| view.write(path));
    }
}
