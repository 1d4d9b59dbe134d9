//! Finds the files that a script loads into itself. A loaded file runs as a part of the
//! check: it can end the check, or replace the functions that examine the result.

use super::words;

/// Words after which a command begins.
const BEFORE: [&str; 12] = [
    "!", "if", "then", "elif", "else", "while", "until", "do", "time", "eval", "command", "builtin",
];

/// Characters that end a word, in addition to white space.
const ENDS: &str = ";&|(){}`\"'";

/// Lists the files that a script loads with `.` or `source`, anywhere in the project.
/// `read` returns a file of the project. A path that begins with a variable is found by
/// the rest of the path.
pub(super) fn of(text: &str, folder: &str, read: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    // Such a line continues on the next one.
    let text = text.replace("\\\n", " ");
    // With these, rules of a Makefile say how a command is shown and what its failure
    // means.
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches(['@', '-', '+']));
    let named = lines.flat_map(loaded);
    let mut found: Vec<String> = named.filter_map(|it| place(it, folder, read)).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the words of a line that may name a loaded file. If it is unclear whether a
/// command begins, one does: a file too many leads to a question, a file too few decides
/// the check unseen.
fn loaded(line: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut begins, mut before, mut depth) = (true, "", 0_usize);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        match first {
            '#' => break,
            _ if first.is_whitespace() => {}
            '"' | '\'' if takes_commands(before) => begins = true,
            '"' | '\'' => {
                let (text, after) = behind.split_once(first).unwrap_or((behind, ""));
                begins &= is_assignment(before);
                if first == '\'' || !(text.contains("$(") || text.contains('`')) {
                    rest = after;
                    continue;
                }
            }
            '{' => begins = behind.starts_with(char::is_whitespace),
            '}' => begins = false,
            ')' => {
                // Without an open parenthesis, it ends a pattern of `case`.
                begins = depth == 0;
                depth = depth.saturating_sub(1);
            }
            _ if ENDS.contains(first) => {
                begins = true;
                depth += usize::from(first == '(');
            }
            _ => {
                let (word, after) = rest.split_at(word_end(rest));
                let loads = matches!(word.trim_start_matches('\\'), "." | "source");
                if begins && loads && after.starts_with(char::is_whitespace) {
                    let until = after.find([';', '|', '&']).unwrap_or(after.len());
                    all.extend(words(&after[..until]));
                }
                begins &= BEFORE.contains(&word) || is_assignment(word);
                (before, rest) = (word, after);
                continue;
            }
        }
        rest = behind;
    }
    all
}

fn word_end(text: &str) -> usize {
    let ends = |letter: char| letter.is_whitespace() || ENDS.contains(letter);
    text.find(ends).unwrap_or(text.len())
}

/// Returns whether the quoted text after a word is run: `eval "…"`, `sh -c '…'`.
fn takes_commands(word: &str) -> bool {
    let is_option = word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    is_option || word == "eval" || word == "trap"
}

/// Returns whether a word assigns a variable, after which a command may follow.
fn is_assignment(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_part))
}

/// Finds the file that is meant: beside the script, from the root, or after a variable.
fn place(named: &str, folder: &str, read: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let parts: Vec<&str> = named.split('/').collect();
    let is_step = |part: &&str| part.is_empty() || *part == "." || *part == "..";
    let beside = joined(folder, &parts);
    let parts: Vec<&str> = parts.into_iter().skip_while(is_step).collect();
    let behind = (0..parts.len()).map(|at| parts[at..].join("/"));
    let mut places = beside.into_iter().chain(behind);
    places.find(|path| !path.is_empty() && read(path).is_some())
}

/// Appends a path to a folder and resolves `..`. Returns `None` if it leads out of the
/// project.
fn joined(folder: &str, parts: &[&str]) -> Option<String> {
    let mut all: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in parts {
        match *part {
            "" | "." => {}
            ".." => drop(all.pop()?),
            part => all.push(part),
        }
    }
    Some(all.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, text: &str, expected: &[&str]) {
        let files = ["shop/invoice.sh", "tests/lib.sh", "lib.sh", "a/b/c.sh"];
        let read = |path: &str| files.contains(&path).then(String::new);
        assert_eq!(of(text, folder, &read), expected, "{text}");
    }

    #[test]
    fn what_is_loaded_is_found_wherever_it_lies() {
        check("tests", ". ./lib.sh", &["tests/lib.sh"]);
        check("", "source lib.sh --quiet", &["lib.sh"]);
        check(
            "tests",
            ". \"$(dirname \"$0\")/../shop/invoice.sh\"",
            &["shop/invoice.sh"],
        );
        check(
            "ci",
            "  set -e; . \"$root/shop/invoice.sh\" && run",
            &["shop/invoice.sh"],
        );
        check("ci", "if true; then source ${HERE}/b/c.sh; fi", &[]);
        check("a", "[ -f x ] && . b/c.sh", &["a/b/c.sh"]);
        check(
            "",
            ". \"$DIR\"/shop/invoice.sh\n. tests/lib.sh",
            &["shop/invoice.sh", "tests/lib.sh"],
        );
    }

    #[test]
    fn what_is_loaded_is_found_however_it_is_written() {
        for text in [
            "(. ./lib.sh)",
            "source\tlib.sh",
            ".\tlib.sh",
            "{ . ./lib.sh; }",
            "true&&. lib.sh",
            "set -e;. ./lib.sh",
            "eval \". lib.sh\"",
            "eval '. lib.sh'",
            "eval . lib.sh",
            "bash -ec 'set -u; source lib.sh'",
            "trap '. ./lib.sh' EXIT",
            "if . ./lib.sh; then :; fi",
            "while ! source lib.sh; do :; done",
            "command . ./lib.sh",
            "builtin source lib.sh",
            "\\. ./lib.sh",
            "LANG=C . ./lib.sh",
            "LANG=\"C D\" . ./lib.sh",
            "sum=$(. ./lib.sh; total 1)",
            "sum=\"$(. ./lib.sh; total 1)\"",
            "sum=`. ./lib.sh`",
            "setup() { . ./lib.sh; }",
            "case $1 in fast) . ./lib.sh ;; esac",
            "for name in lib; do . ./lib.sh; done",
            ". \\\n  ./lib.sh",
            "\t@. ./lib.sh && pytest",
        ] {
            check("", text, &["lib.sh"]);
        }
    }

    #[test]
    fn what_is_only_named_is_not_loaded() {
        for text in [
            "# . lib.sh",
            "run # . lib.sh",
            "echo 'now: . lib.sh'",
            "echo \"source lib.sh\"",
            "find $(pwd) . lib.sh",
            "ls ${HERE} . lib.sh",
            "./lib.sh",
            "source.lib.sh",
            "grep -q x lib.sh",
            "sh lib.sh",
            "cp . lib.sh",
            "echo source lib.sh",
            ". gone.sh",
        ] {
            check("", text, &[]);
        }
    }
}
