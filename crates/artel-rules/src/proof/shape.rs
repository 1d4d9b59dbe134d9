//! The shape of the functions that a change touches: very long or deeply nested ones are
//! reported to the person who decides. They fail nothing; if a project forbids them, its
//! own linter says so.
//!
//! The text is measured, not parsed: a function begins with its head and ends with its
//! block. Languages with another syntax are skipped.

mod clean;

use std::collections::BTreeSet;

use artel_types::plan::{FindingSeverity, VerdictFinding};

use super::ChangedLines;
use crate::plan::names::is_test_path;
use clean::{LanguageSyntax, clean};

/// Most lines of a function; longer ones are hard to check.
const LONG: u64 = 100;

/// Most nested blocks; deeper ones are hard to follow.
const DEEP: usize = 4;

/// A function, as far as it can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FunctionShape {
    name: String,
    first: u64,
    last: u64,
    deepest: usize,
}

/// Returns the functions of a file that a change touches and that are too long or too
/// deep.
pub fn unwieldy(file: &str, text: &str, changed: &ChangedLines) -> Vec<VerdictFinding> {
    let Some(style) = LanguageSyntax::of(file).filter(|_| !is_test_path(file)) else {
        return Vec::new();
    };
    let lines = clean(text, style);
    let shapes = match style {
        LanguageSyntax::Python => by_indent(&lines),
        LanguageSyntax::Braces | LanguageSyntax::Rust => by_braces(&lines, style),
    };
    let touched = shapes
        .into_iter()
        .filter(|it| changed.touch(file, it.first..=it.last));
    touched.flat_map(|it| it.findings(file)).collect()
}

impl FunctionShape {
    fn findings(&self, file: &str) -> Vec<VerdictFinding> {
        let name = &self.name;
        let count = self.last - self.first + 1;
        let long = (count > LONG).then(|| {
            let why = format!("`{name}` has {count} lines, which are hard to check together");
            (why, "split it into parts that have names")
        });
        let deep = (self.deepest > DEEP).then(|| {
            let why = format!(
                "`{name}` nests {} blocks, which are hard to follow",
                self.deepest
            );
            (why, "return early, or make a function of the inner part")
        });
        let found = [long, deep].into_iter().flatten();
        found
            .map(|(why, fix)| VerdictFinding {
                id: String::new(),
                severity: FindingSeverity::Warning,
                file: file.to_owned(),
                line: Some(self.first),
                why,
                fix: fix.to_owned(),
            })
            .collect()
    }
}

/// Words that begin a block inside of a function.
const CONTROL: [&str; 16] = [
    "if", "else", "elif", "for", "while", "loop", "match", "switch", "try", "catch", "except",
    "finally", "do", "with", "case", "select",
];

/// Measures functions in an indented language.
fn by_indent(lines: &[String]) -> Vec<FunctionShape> {
    let mut done = Vec::new();
    // Each function with its indentation and that of the blocks open in it.
    let mut open: Vec<(FunctionShape, usize, BTreeSet<usize>)> = Vec::new();
    let mut brackets = 0_usize;
    for (line, number) in lines.iter().zip(1..) {
        let code = line.trim_start();
        if code.trim().is_empty() {
            continue;
        }
        let indent = line.len() - code.len();
        let goes_on = brackets > 0;
        let opened = brackets + count(code, &['(', '[', '{']);
        brackets = opened.saturating_sub(count(code, &[')', ']', '}']));
        if !goes_on {
            while let Some((shape, ..)) = open.pop_if(|(_, at, _)| *at >= indent) {
                done.push(shape);
            }
        }
        for (shape, ..) in &mut open {
            shape.last = number;
        }
        if goes_on {
            continue;
        }
        let word = first_word(code.strip_prefix("async ").unwrap_or(code));
        if let Some((shape, _, blocks)) = open.last_mut() {
            blocks.retain(|at| *at < indent);
            if CONTROL.contains(&word) {
                blocks.insert(indent);
                shape.deepest = shape.deepest.max(blocks.len());
            }
        }
        if word == "def" {
            let shape = FunctionShape {
                name: name_in(code),
                first: number,
                last: number,
                deepest: 0,
            };
            open.push((shape, indent, BTreeSet::new()));
        }
    }
    done.extend(open.into_iter().map(|(shape, ..)| shape));
    done.sort_by_key(|shape| shape.first);
    done
}

/// The kind of a block in braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BraceBlockKind {
    Function,
    Control,
    Other,
}

/// Measures functions in a language with braces.
fn by_braces(lines: &[String], style: LanguageSyntax) -> Vec<FunctionShape> {
    let mut done = Vec::new();
    let mut open: Vec<(BraceBlockKind, FunctionShape)> = Vec::new();
    let (mut head, mut begun, mut brackets) = (String::new(), 0, 0_usize);
    for (line, number) in lines.iter().zip(1_u64..) {
        for letter in line.chars().chain([' ']) {
            match letter {
                '{' => {
                    let block = block_of(head.trim(), style);
                    let shape = FunctionShape {
                        name: name_in(&head),
                        first: if begun == 0 { number } else { begun },
                        last: number,
                        deepest: 0,
                    };
                    open.push((block, shape));
                    deepen(&mut open);
                }
                '}' => {
                    if let Some((BraceBlockKind::Function, mut shape)) = open.pop() {
                        shape.last = number;
                        done.push(shape);
                    }
                }
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            if matches!(letter, '{' | '}') || (letter == ';' && brackets == 0) {
                (head, begun, brackets) = (String::new(), 0, 0);
                continue;
            }
            if begun == 0 && !letter.is_whitespace() {
                begun = number;
            }
            head.push(letter);
        }
    }
    done.sort_by_key(|shape| shape.first);
    done
}

/// Updates the depth of the innermost function.
fn deepen(open: &mut [(BraceBlockKind, FunctionShape)]) {
    let Some(at) = open
        .iter()
        .rposition(|(block, _)| *block == BraceBlockKind::Function)
    else {
        return;
    };
    let inside = open[at..].iter();
    let depth = inside
        .filter(|(block, _)| *block == BraceBlockKind::Control)
        .count();
    let shape = &mut open[at].1;
    shape.deepest = shape.deepest.max(depth);
}

fn block_of(head: &str, style: LanguageSyntax) -> BraceBlockKind {
    const TYPES: [&str; 12] = [
        "impl",
        "struct",
        "enum",
        "class",
        "interface",
        "trait",
        "mod",
        "namespace",
        "union",
        "extern",
        "record",
        "object",
    ];
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = head.split(|letter| !is_part(letter)).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let before = [
        "pub", "export", "default", "public", "private", "static", "abstract", "final",
    ];
    let first = words
        .iter()
        .find(|it| !it.is_empty() && !before.contains(it));
    if first.is_some_and(|word| TYPES.contains(word)) {
        return BraceBlockKind::Other;
    }
    if has(&["fn", "func", "function", "fun"]) {
        return BraceBlockKind::Function;
    }
    if has(&CONTROL) {
        return BraceBlockKind::Control;
    }
    let is_arrow = head.ends_with("=>");
    let is_head = head.ends_with(')') || head.contains(") ->") || head.contains("):");
    match style {
        LanguageSyntax::Braces if is_arrow || is_head => BraceBlockKind::Function,
        _ => BraceBlockKind::Other,
    }
}

/// Returns the name of a function from its head: the word before its parameters.
fn name_in(head: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let before = head.split_once('(').map_or(head, |(before, _)| before);
    // Type parameters stand between the name and the parameters.
    let before = before.split_once('<').map_or(before, |(before, _)| before);
    let mut words = before.split(|letter| !is_part(letter));
    let name = words.rfind(|word| !word.is_empty());
    name.unwrap_or("a function").to_owned()
}

fn first_word(code: &str) -> &str {
    let end = code.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &code[..end.unwrap_or(code.len())]
}

fn count(code: &str, letters: &[char]) -> usize {
    code.chars().filter(|it| letters.contains(it)).count()
}

#[cfg(test)]
mod tests;
