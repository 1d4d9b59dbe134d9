//! Programs that read, search, sort and display text.

use super::inline;
use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, asks_flag, calls, inside,
    reads, starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::reads(
        "cat tac head tail wc nl od hexdump hd strings cut paste join comm fold fmt expand \
            unexpand column rev pr tsort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum \
            b2sum b3sum cksum sum ls dir vdir stat du df realpath readlink basename dirname cmp \
            colordiff nproc uname arch hostid id whoami groups logname tty users who uptime free \
            lscpu lsblk ps pgrep pidof lsof vmstat iostat cal seq yes factor numfmt expr sleep \
            true false pwd printenv locale getconf tput clear reset tokei cloc scc zcat bzcat \
            xzcat zstdcat lz4cat zgrep zdiff zcmp exa eza lsd hexyl size readelf objdump \
            otool getent c++filt look fc-list",
    )
    .operands(OperandMeaning::Read),
    ProgramSpec::reads("nm")
        .entries(&[asks("--plugin", DoubtReason::Loads)])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("shuf tree iconv")
        .values(&["-L -I -P -n --head-count -i --input-range -f --from-code -t --to-code"])
        .entries(&[writes("-o --output")])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("xxd")
        .values(&["-l -s -c -g -o -n"])
        .operands(OperandMeaning::Call(uniq)),
    ProgramSpec::reads("ldd").operands(OperandMeaning::Doubt(DoubtReason::Loads)),
    ProgramSpec::reads("grep egrep fgrep ggrep pcregrep pcre2grep")
        .values(&[
            "-e --regexp -A --after-context -B --before-context -C --context -m --max-count",
            "-d --directories -D --devices --include --exclude --exclude-dir --label",
            "--binary-files --group-separator",
        ])
        .flags(&["--color --colour --files-with-matches --files-without-match"])
        .entries(&[reads("-f --file --exclude-from")])
        .operands(OperandMeaning::SkipThenRead("-e --regexp -f --file")),
    ProgramSpec::reads("rg ripgrep")
        .values(&[
            "-e --regexp -A --after-context -B --before-context -C --context -m --max-count -g",
            "--glob --iglob -t --type -T --type-not --type-add --type-clear -j --threads -M",
            "--max-columns -r --replace -d --max-depth --maxdepth --sort --sortr --color --colors",
            "-E --encoding --engine --max-filesize --path-separator --context-separator \
                --dfa-size-limit",
            "--regex-size-limit --field-match-separator --field-context-separator --generate",
            "--hyperlink-format --stop-on-nonmatch",
        ])
        .flags(&["--files --files-with-matches --files-without-match --type-list"])
        .entries(&[
            starts("--pre"),
            starts("--hostname-bin"),
            asks("--pre-glob", DoubtReason::Starts),
            asks_flag("-z --search-zip", DoubtReason::Starts),
            reads("-f --file"),
            inside("--ignore-file", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::SkipThenRead(
            "-e --regexp -f --file --files --type-list",
        )),
    ProgramSpec::reads("ag ack ack-grep pt ugrep ug")
        .values(&[
            "-A --after -B --before -C --context -G --file-search-regex -m --max-count --ignore",
            "--ignore-dir --depth -W --width -p --path-to-ignore --type --match -e --regexp -g",
        ])
        .entries(&[
            starts("--pager"),
            starts("--filter"),
            asks(
                "--output --ackrc --config --files-from -x",
                DoubtReason::Loads,
            ),
            asks("--save-config", DoubtReason::Writes).glued(),
        ])
        .operands(OperandMeaning::SkipThenRead("-e --regexp --match -f -g")),
    ProgramSpec::reads("sort gsort")
        .values(&[
            "-k --key -t --field-separator -S --buffer-size --parallel --batch-size --sort",
            "--random-source",
        ])
        .entries(&[
            writes("-o --output"),
            starts("--compress-program"),
            asks("-T --temporary-directory", DoubtReason::Writes),
            reads("--files0-from"),
        ])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("uniq guniq")
        .values(&["-f --skip-fields -s --skip-chars -w --check-chars"])
        .operands(OperandMeaning::Call(uniq)),
    ProgramSpec::reads("diff gdiff diff3 sdiff")
        .values(&[
            "-U -C -I --ignore-matching-lines -x --exclude -L --label -W",
            "--width -F --show-function-line --horizon-lines --tabsize --palette --from-file",
            "--to-file -S --starting-file -D --ifdef --line-format --old-line-format",
            "--new-line-format --unchanged-line-format --changed-group-format",
        ])
        .flags(&["--unified --context --color"])
        .entries(&[
            writes("-o --output"),
            starts("--diff-program"),
            asks_flag("-l --paginate", DoubtReason::Starts),
            reads("-X --exclude-from"),
        ])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("base64 base32 basenc")
        .values(&["-w --wrap -b --break"])
        .entries(&[writes("-o --output"), reads("-i --input")])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("tr").operands(OperandMeaning::Ignored),
    ProgramSpec::reads("jq gojq jaq")
        .values(&["--indent --arg --argjson"])
        .flags(&[
            "--args --jsonargs --tab --raw-output --raw-input --seq --stream --slurp -s \
            -r -n -c -e -S -a -j -M -C -R",
        ])
        .entries(&[
            asks("-f --from-file", DoubtReason::Loads),
            asks("-L --library-path", DoubtReason::Loads),
            reads("--slurpfile --rawfile --argfile"),
        ])
        .operands(OperandMeaning::Call(jq)),
    ProgramSpec::reads("yq dasel xq tomlq fx mlr")
        .values(&["-o --output-format -p --input-format -I --indent -r"])
        .entries(&[
            asks_flag("-i --inplace --in-place -w --write", DoubtReason::Writes),
            asks("--from-file -f --split-exp-file", DoubtReason::Loads),
            asks("-s --split-exp", DoubtReason::Writes),
        ])
        .operands(OperandMeaning::Call(jq)),
    ProgramSpec::reads("file")
        .values(&["-F --separator -P --parameter -e --exclude"])
        .flags(&["--mime --mime-type --mime-encoding"])
        .entries(&[
            asks("-m --magic-file", DoubtReason::Loads),
            asks_flag("-C --compile", DoubtReason::Writes),
            asks_flag(
                "-z --uncompress -Z --uncompress-noreport",
                DoubtReason::Starts,
            ),
            reads("-f --files-from"),
        ])
        .operands(OperandMeaning::Read),
    ProgramSpec::reads("date gdate")
        .values(&["-d --date"])
        .flags(&["--debug"])
        .entries(&[
            asks("-s --set", DoubtReason::Privilege),
            reads("-f --file -r --reference"),
        ]),
    ProgramSpec::reads("hostname domainname")
        .operands(OperandMeaning::Doubt(DoubtReason::Privilege)),
    ProgramSpec::reads("dmesg").entries(&[asks_flag(
        "-c --read-clear -C --clear -D -E -w",
        DoubtReason::Privilege,
    )]),
    ProgramSpec::doubtful("less more most lv pg ov moar", DoubtReason::Interactive),
    ProgramSpec::doubtful("man info", DoubtReason::Interactive)
        .entries(&[starts("-P --pager -H --html")]),
    ProgramSpec::reads("bat batcat")
        .values(&[
            "-l --language -r --line-range -H --highlight-line --theme --style --color \
                --decorations",
            "--tabs --wrap --terminal-width -m --map-syntax --file-name --paging --italic-text",
        ])
        .flags(&["--plain -p -n --number -A --show-all -d --diff -P"])
        .entries(&[
            starts("--pager"),
            asks("--config-dir --cache-dir", DoubtReason::Loads).glued(),
        ])
        .operands(OperandMeaning::Call(bat)),
    ProgramSpec::reads("delta diff-so-fancy difft")
        .values(&["--features --width -w"])
        .entries(&[starts("--pager"), asks("--config", DoubtReason::Loads)]),
    ProgramSpec::doubtful(
        "vi vim nvim view vimdiff gvim ex ed red nano pico micro helix hx kak joe mcedit code \
         subl gedit kate editor sensible-editor select-editor rvim rview evim eview gview",
        DoubtReason::Interactive,
    )
    .values(&["-c --cmd"])
    .operands(OperandMeaning::Call(editor)),
    ProgramSpec::doubtful("emacs emacsclient", DoubtReason::Interactive)
        .values(&["-l --load -f --funcall"])
        .entries(&[calls("-e --eval --execute", inline::code)]),
    ProgramSpec::doubtful(
        "fzf sk peco gum dialog whiptail mc ranger nnn lf htop top btop",
        DoubtReason::Interactive,
    ),
    ProgramSpec::reads("xmllint")
        .values(&["--xpath --encode --schema --relaxng --dtdvalid --pattern --maxmem"])
        .entries(&[
            writes("-o --output"),
            asks_flag("--shell", DoubtReason::Interactive),
            asks_flag(
                "--loaddtd --dtdattr --noent --xinclude --catalogs",
                DoubtReason::Loads,
            ),
        ])
        .operands(OperandMeaning::Read),
    ProgramSpec::works("xsltproc").entries(&[
        writes("-o --output"),
        asks_flag(
            "--xinclude \
        --catalogs",
            DoubtReason::Loads,
        ),
    ]),
    ProgramSpec::works("pandoc")
        .values(&[
            "-f --from -r --read -t --to -w --write -V --variable -M --metadata --toc-depth",
            "--highlight-style --wrap --columns",
        ])
        .confined()
        .entries(&[
            writes("-o --output --extract-media --log"),
            asks("--pdf-engine-opt", DoubtReason::Starts),
            inside(
                "-H --include-in-header -B --include-before-body -A --include-after-body --csl \
                --bibliography --syntax-definition -c --css --reference-doc",
                DoubtReason::Loads,
            ),
            starts("-F --filter"),
            asks(
                "-L --lua-filter --template -d --defaults --data-dir",
                DoubtReason::Loads,
            ),
            starts("--pdf-engine"),
        ])
        .operands(OperandMeaning::Call(pandoc)),
    ProgramSpec::works(
        "ffmpeg ffprobe ffplay convert magick mogrify identify composite montage gs",
    )
    .style(ProgramOptionStyle::Dash)
    .values(&[
        "-ss -t -to -c -c:v -c:a -vf -af -filter_complex -map -r -s -b:v -b:a -f \
            -resize -quality",
    ])
    .entries(&[
        reads("-i"),
        asks("-dump_attachment* -progress -report", DoubtReason::Writes),
        asks(
            "-init_hw_device -filter_script -protocol_whitelist -authenticate -script",
            DoubtReason::Loads,
        ),
    ])
    .operands(OperandMeaning::Call(media)),
    ProgramSpec::works("tee gtee")
        .values(&["--output-error"])
        .operands(OperandMeaning::Write),
    ProgramSpec::works("sponge").operands(OperandMeaning::Write),
];

/// Records the second operand of `uniq`, which is its output.
fn uniq(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let Some(input) = parsed.operands.first() {
        view.read(input);
    }
    for output in parsed.operands.iter().skip(1) {
        view.write(output);
    }
}

/// Checks the filter, which may load modules and other files. `--arg name value` has two
/// values, of which the option parser took one, so the filter may follow the other.
fn jq(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for text in &parsed.operands {
        view.doubt_open_text(text);
        let words = [
            "import",
            "include",
            "load",
            "load_str",
            "load_xml",
            "load_props",
            "load_base64",
        ];
        if words.iter().any(|word| has_word(text, word)) && text.contains(['"', '(']) {
            view.doubt_word(DoubtReason::Loads, text);
        }
    }
    let pairs = parsed
        .values_of("--arg --argjson --slurpfile --rawfile --argfile")
        .count();
    let own = usize::from(!parsed.has("-f --from-file")) + pairs;
    parsed
        .operands
        .iter()
        .skip(own)
        .for_each(|path| view.read(path));
}

/// Records what an editor's commands start: the text after `!`, and calls such as
/// `system`.
fn editor(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let plus = parsed
        .operands
        .iter()
        .filter_map(|word| word.strip_prefix('+'));
    for command in plus.chain(parsed.values_of("-c --cmd")) {
        if let Some((_, shell)) = command.split_once('!') {
            view.start_script(shell);
        }
        inline::note_launches(view, command);
    }
    parsed.operands.iter().for_each(|path| view.read(path));
}

fn has_word(text: &str, word: &str) -> bool {
    let is_name = |letter: char| letter == '_' || letter.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(|letter| is_name(letter) || letter == '.' || letter == '"')
            && !after.is_some_and(is_name)
    })
}

fn bat(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed
        .operands
        .first()
        .is_some_and(|first| *first == "cache")
    {
        view.doubt_word(DoubtReason::Loads, "cache");
    }
    parsed.operands.iter().for_each(|path| view.read(path));
}

fn pandoc(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for format in parsed.values_of("-f --from -r --read -t --to -w --write") {
        if format.contains(".lua") {
            view.doubt_word(DoubtReason::Loads, format);
        }
    }
    parsed.operands.iter().for_each(|path| view.read(path));
}

/// Records the last operand as written, and asks about names of pictures and films that
/// are scripts in disguise.
fn media(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for operand in &parsed.operands {
        let kind = operand.split(':').next().unwrap_or_default();
        if operand.contains(':')
            && super::table::lists(
                "msl mvg ephemeral inline concat tee \
            pipe unix",
                kind,
            )
            || operand.starts_with('|')
        {
            view.doubt_word(DoubtReason::Loads, operand);
        }
    }
    if !matches!(view.name.as_str(), "ffprobe" | "identify")
        && let Some(last) = parsed.operands.last()
    {
        view.write(last);
    }
}
