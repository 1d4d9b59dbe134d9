//! `find` and similar programs: searches that can start, delete and write.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionStyle, ProgramSpec, asks, lists, reads, starts,
};
use super::view::{CommandInspector, UNKNOWN_WORD};

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::reads("find gfind")
        .style(ProgramOptionStyle::Raw)
        .operands(OperandMeaning::Call(find)),
    ProgramSpec::reads("fd fdfind")
        .values(&[
            "-e --extension -t --type -d --max-depth --min-depth --exact-depth -E --exclude",
            "-S --size -c --color -j --threads -o --owner --changed-within --changed-before",
            "--max-results --format --newer --older --path-separator --max-buffer-time",
        ])
        .entries(&[
            starts("-x --exec -X --exec-batch"),
            asks("-C --base-directory --ignore-file", DoubtReason::Elsewhere),
            reads("--search-path"),
        ])
        .operands(OperandMeaning::SkipThenRead("")),
    ProgramSpec::reads("locate plocate mlocate").entries(&[reads("-d --database")]),
];

/// Parts of an expression without a value.
const ALONE: &str = "-a -and -o -or -not ! ( ) , -daystart -depth -d -follow -help --help \
    -version --version -ignore_readdir_race -noignore_readdir_race -mount -xdev -x -nowarn -warn \
    -noleaf -empty -executable -false -nogroup -nouser -readable -writable -true -print -print0 \
    -prune -quit -ls -sparse -H -L -P -E -X -s";

/// Parts of an expression with a value.
const VALUED: &str = "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group \
    -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer \
    -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -maxdepth \
    -mindepth -regextype -printf -D -Bmin -Btime -flags";

fn find(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let words = parsed.operands.as_slice();
    let mut at = 0;
    let mut in_expression = false;
    while let Some(word) = words.get(at).copied() {
        at += 1;
        let value = words.get(at).copied().unwrap_or_default();
        let is_part = word.starts_with('-') && word.len() > 1 || lists("! ( ) ,", word);
        if word.starts_with(UNKNOWN_WORD) {
            view.doubt_word(DoubtReason::OpenWords, word);
        } else if !is_part {
            if in_expression {
                view.doubt_word(DoubtReason::Unknown, word);
            }
            view.read(word);
            continue;
        }
        in_expression |= !lists("-H -L -P -D -E -X -s -d -x --", word) && !word.starts_with("-O");
        match word {
            "-exec" | "-execdir" | "-ok" | "-okdir" => at += execute(view, word, &words[at..]),
            "-delete" => view.doubt_word(DoubtReason::Writes, word),
            "-fprint" | "-fprint0" | "-fls" => {
                view.write(value);
                at += 1;
            }
            "-fprintf" => {
                view.write(value);
                at += 2;
            }
            "-files0-from" | "-f" => {
                view.read(value);
                at += 1;
            }
            _ if lists(VALUED, word) || is_newer(word) => at += 1,
            _ if lists(ALONE, word) || word == "--" || word.starts_with("-O") => {}
            _ => view.doubt_word(DoubtReason::Unknown, word),
        }
    }
}

/// Matches `-newerXY`, which compares two kinds of time.
fn is_newer(word: &str) -> bool {
    word.strip_prefix("-newer")
        .is_some_and(|kinds| kinds.len() == 2)
}

/// Checks a command in the expression and returns how many words it has.
fn execute(view: &mut CommandInspector<'_>, action: &str, words: &[&str]) -> usize {
    let ends =
        |at: usize| words[at] == ";" || (words[at] == "+" && at > 0 && words[at - 1] == "{}");
    let end = (0..words.len()).find(|at| ends(*at));
    if end.is_none() {
        view.doubt_word(DoubtReason::Unknown, action);
    }
    if action != "-exec" {
        // In another directory the same names mean different files.
        view.doubt_word(DoubtReason::Elsewhere, action);
    }
    let end = end.unwrap_or(words.len());
    let known: Vec<String> = words[..end].iter().map(|word| (*word).to_owned()).collect();
    // Found paths begin with the place where the search began, so they are never taken for
    // options.
    let found = format!("./{UNKNOWN_WORD}");
    let trial: Vec<String> = known
        .iter()
        .map(|word| word.replace("{}", &found))
        .collect();
    let mut named = known;
    if named.last().is_some_and(|last| last == "{}") {
        named.pop();
    }
    view.start_open(&named, &trial);
    end + 1
}
