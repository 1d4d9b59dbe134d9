//! Archives and compression: `tar` above all, which can start programs in many ways.

use super::options::{self, Parsed};
use super::table::{
    Entry, Operands, Program, Role, Style, Why, asks, asks_flag, checks, reads, starts, writes,
};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::works("tar gtar bsdtar")
        .style(Style::Raw)
        .operands(Operands::Call(tar)),
    TAR,
    Program::works("zip")
        .style(Style::Raw)
        .operands(Operands::Call(zip)),
    Program::works("unzip")
        .values(&["-P -x"])
        .entries(&[writes("-d")])
        .flags(&["-l -t -v -p -c -z"])
        .operands(Operands::Read),
    Program::works(
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma lzip zstd unzstd lz4 pigz \
        pbzip2 brotli compress uncompress",
    )
    .values(&["-S --suffix -T --threads -F --format -b -M --memlimit --block-size"])
    .flags(&["-c --stdout --to-stdout -t --test -l --list"])
    .entries(&[
        writes("-o --output --output-dir-flat --output-dir-mirror"),
        reads("-D --files --filelist"),
    ])
    .operands(Operands::Call(compress)),
    Program::works("7z 7za 7zr 7zz p7zip")
        .style(Style::Dash)
        .entries(&[
            writes("-o*"),
            asks_flag("-sdel", Why::Writes),
            asks("-w*", Why::Writes),
        ])
        .operands(Operands::Call(seven_zip)),
    Program::works("rar unrar").operands(Operands::Call(seven_zip)),
    Program::works("cpio")
        .values(&["-H --format -C --io-size -M --message -R --owner"])
        .entries(&[
            writes("-O -F --file"),
            starts("--rsh-command"),
            asks_flag("--absolute-filenames", Why::Elsewhere),
            asks_flag("-i --extract -p --pass-through", Why::Writes),
            asks("-D --directory", Why::Elsewhere),
        ])
        .operands(Operands::Write),
    Program::works("ar gar llvm-ar ranlib").operands(Operands::Call(ar)),
    Program::works("pax shar unshar").operands(Operands::Doubt(Why::Starts)),
    Program::works("zipinfo zipgrep zipnote")
        .role(Role::Reads)
        .operands(Operands::Read),
];

/// The options of `tar`, apart: the old form is turned into them first.
const TAR: Program = Program::works("tar-options")
    .values(&[
        "-b --blocking-factor -H --format -K --starting-file -L --tape-length -N --newer",
        "--after-date -V --label --exclude --group --owner --mtime --mode --pax-option \
            --quoting-style",
        "--record-size --sort --strip-components --suffix --warning \
            --newer-mtime",
        "--occurrence --level --hole-detection --sparse-version --anchored -s --include --options",
    ])
    .flags(TAR_FLAGS)
    .entries(TAR_ENTRIES)
    .operands(Operands::Call(tar_operands));

const TAR_FLAGS: &[&str] = &[
    "-c --create -x --extract --get -t --list -r --append -u --update -A --catenate --concatenate",
    "-d --diff --compare --delete --checkpoint --to-stdout -O --totals --verbose --verify --backup",
    "--occurrence --gzip --bzip2 --xz --zstd --lzma --force-local",
];

const TAR_ENTRIES: &[Entry] = &[
    starts("-I --use-compress-program"),
    starts("--to-command"),
    starts("-F --info-script --new-volume-script"),
    starts("--rsh-command --rmt-command"),
    checks("--checkpoint-action", checkpoint_action),
    asks_flag(
        "-P --absolute-names --absolute-paths --insecure",
        Why::Elsewhere,
    ),
    asks_flag("--remove-files", Why::Writes),
    asks("--transform --xform", Why::Elsewhere),
    asks("-T --files-from", Why::Loads),
    reads("-X --exclude-from"),
    writes("-g --listed-incremental --index-file --volno-file"),
    writes("-C --directory --cd"),
    asks("--one-top-level", Why::Elsewhere).glued(),
    asks_flag("--keep-directory-symlink -h --dereference", Why::Elsewhere),
    checks("-f --file", archive_place),
];

fn checkpoint_action(action: &str) -> Option<Why> {
    let is_plain = matches!(action, "dot" | "." | "echo" | "bell" | "totals");
    let is_plain = is_plain || action.starts_with("echo=") || action.starts_with("ttyout=");
    (!is_plain).then_some(Why::Starts)
}

/// `host:file` is fetched through a remote shell.
fn archive_place(path: &str) -> Option<Why> {
    let before = path.split('/').next().unwrap_or_default();
    before.contains(':').then_some(Why::Remote)
}

/// Turns the old form, `tar xfI archive program`, into options, then reads those.
fn tar(view: &mut View<'_>, parsed: &Parsed<'_>) {
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

fn tar_operands(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let extracts = parsed.has("-x --extract --get");
    let lists = parsed.has("-t --list -d --diff --compare");
    for archive in parsed.values_of("-f --file") {
        if extracts || lists {
            view.read(archive);
        } else {
            view.write(archive);
        }
    }
    if !extracts && !lists {
        parsed.operands.iter().for_each(|path| view.read(path));
    }
}

/// Its short options have one letter or two and stand together, so it is read by code.
fn zip(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let mut words = parsed.operands.iter();
    let mut is_archive = true;
    while let Some(word) = words.next() {
        let long = word.strip_prefix("--");
        let short = word.strip_prefix('-').filter(|_| long.is_none());
        if short.is_some_and(|short| short.contains("TT"))
            || long.is_some_and(|long| long.starts_with("unz") || long.starts_with("TT"))
        {
            view.doubt_word(Why::Starts, word);
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
            view.doubt_word(Why::Writes, word);
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

fn compress(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let only_shows = parsed.has("-c --stdout --to-stdout -t --test -l --list");
    for path in &parsed.operands {
        if only_shows {
            view.read(path);
        } else {
            view.write(path);
        }
    }
}

fn seven_zip(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    for (at, path) in rest.iter().enumerate() {
        let is_made = at == 0 && matches!(*sub, "a" | "u" | "d" | "rn" | "m" | "mf");
        if path.starts_with('@') {
            view.doubt_word(Why::Loads, path);
        } else if is_made {
            view.write(path);
        } else {
            view.read(path);
        }
    }
}

fn ar(view: &mut View<'_>, parsed: &Parsed<'_>) {
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
}
