//! Code in a command line, and the programs that its text would start.
//!
//! Such code is asked about anyway. This check makes sure that a denied program is still
//! seen when the code starts it by a literal text: `os.system("rm x")`, `["rm", "-f",
//! "x"]`.

use super::table::DoubtReason;
use super::view::CommandInspector;

/// Names that start a program in the languages used in command lines.
const LAUNCHERS: &[&str] = &[
    "system",
    "popen",
    "spawn",
    "exec",
    "subprocess",
    "child_process",
    "check_output",
    "check_call",
    "getoutput",
    "shell-command",
    "call-process",
    "start-process",
    "Process",
    "Command",
    "shell(",
    "run(",
    "Bun.$",
    "pty",
    "qx",
    "%x",
    "`",
];

/// Number of literal texts that are examined.
const MOST: usize = 32;

/// A literal text, and whether only a comma separates it from the previous one.
struct InlineCodeLiteral {
    at: usize,
    text: String,
    is_joined: bool,
}

/// Asks about code in a command, and records what it would start.
pub(super) fn code(view: &mut CommandInspector<'_>, text: &str) {
    let quoted: String = text.chars().take(40).collect();
    view.doubt_word(DoubtReason::Inline, &quoted);
    note_launches(view, text);
}

/// Records the commands that code would start by literal texts.
pub(super) fn note_launches(view: &mut CommandInspector<'_>, code: &str) {
    let found = LAUNCHERS.iter().filter_map(|name| code.find(name)).min();
    let Some(launch) = found else {
        return;
    };
    let mut row: Vec<String> = Vec::new();
    for literal in literals(code)
        .into_iter()
        .filter(|literal| literal.at >= launch)
    {
        if !literal.is_joined {
            start_row(view, &mut row);
        }
        row.push(literal.text);
    }
    start_row(view, &mut row);
}

/// Treats the texts of one list as the words of one command.
fn start_row(view: &mut CommandInspector<'_>, row: &mut Vec<String>) {
    if row.len() > 1 {
        let words: Vec<&str> = row.iter().map(String::as_str).collect();
        view.start_words(&words);
    }
    if let Some(first) = row
        .first()
        .filter(|first| row.len() == 1 || first.contains(' '))
    {
        view.start_script(first);
    }
    row.clear();
}

/// Returns the quoted texts of code in order, including `qx{…}`, `%x(…)` and `%w[…]`.
fn literals(code: &str) -> Vec<InlineCodeLiteral> {
    let mut found = Vec::new();
    let mut between = String::new();
    let mut letters = code.char_indices();
    while let Some((at, letter)) = letters.next() {
        let is_list = between.ends_with("qx") || between.ends_with("%x") || between.ends_with("%w");
        let close = match letter {
            '"' | '\'' | '`' => letter,
            '(' if is_list => ')',
            '{' if is_list => '}',
            '[' if is_list => ']',
            '/' | '|' | '!' if is_list => letter,
            _ => {
                between.push(letter);
                continue;
            }
        };
        let mut text = String::new();
        let mut next = || letters.next().map(|(_, letter)| letter);
        while let Some(letter) = next().filter(|letter| *letter != close) {
            text.extend(if letter == '\\' { next() } else { Some(letter) });
        }
        let joins = |letter: char| ", \t\n[(".contains(letter);
        let is_joined = between.contains(',') && between.chars().all(joins);
        found.push(InlineCodeLiteral {
            at,
            text,
            is_joined,
        });
        between.clear();
        if found.len() >= MOST {
            break;
        }
    }
    found.retain(|literal| !literal.text.trim().is_empty());
    found
}
