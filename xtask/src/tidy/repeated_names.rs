//! Doc comments that only repeat the name of what they document.

use super::measure::{CodePlace, TidyMeasure};
use super::source::SourceFile;
use super::tree::SourceTree;

/// Words that add nothing to a name.
const EMPTY_WORDS: [&str; 9] = ["a", "an", "the", "of", "this", "its", "it", "is", "returns"];

/// Words that may stand between a comment and the name.
const KEYWORDS: [&str; 14] = [
    "pub", "const", "async", "unsafe", "extern", "static", "mut", "fn", "struct", "enum", "trait",
    "type", "union", "mod",
];

/// Counts the comments that say no more than the name.
pub(super) fn measure(tree: &SourceTree) -> TidyMeasure {
    let places = tree.files.iter().flat_map(in_file).collect();
    let advice = "delete the comment, or say what the name does not: units, limits, why";
    TidyMeasure::of_places("comments-repeating-names", advice, places)
}

fn in_file(file: &SourceFile) -> Vec<CodePlace> {
    let mut places = Vec::new();
    let mut lines = file.comment_lines().filter(|line| line.is_doc).peekable();
    while let Some(line) = lines.next() {
        let is_alone = lines.peek().is_none_or(|next| next.line > line.line + 1);
        if is_alone
            && let Some(name) = name_below(file, line.line)
            && repeats(line.text, name)
        {
            places.push(CodePlace::new(
                &file.path,
                line.line,
                format!("{} on `{name}`", line.text),
            ));
        }
        // The later lines of a longer comment are part of it.
        if !is_alone {
            let mut last = line.line;
            while let Some(next) = lines.next_if(|next| next.line == last + 1) {
                last = next.line;
            }
        }
    }
    places
}

/// Returns the name of the item that begins below the line.
fn name_below(file: &SourceFile, line: usize) -> Option<&str> {
    let code = &file.code;
    let mut at = code.first_after(file.byte_after(line));
    loop {
        if code.reads(at, &["#", "["]) || code.reads(at, &["pub", "("]) {
            at = code.partner(at + 1)? + 1;
        } else if KEYWORDS.contains(&code.at(at)) {
            at += 1;
        } else {
            break;
        }
    }
    code.is_word(at).then(|| code.at(at))
}

fn repeats(comment: &str, name: &str) -> bool {
    let mut said: Vec<String> = comment
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && !EMPTY_WORDS.contains(&&**word))
        .collect();
    let mut named: Vec<String> = words_of(name);
    named.retain(|word| !EMPTY_WORDS.contains(&&**word));
    said.sort();
    named.sort();
    !said.is_empty() && said == named
}

/// Splits `snake_case` and `CamelCase` into small words.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let begins_word = letter == '_' || (letter.is_uppercase() && was_small);
        if begins_word {
            words.push(String::new());
        }
        was_small = !letter.is_uppercase();
        if letter != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn figure(text: &str) -> usize {
        measure(&tree_of([("src/a.rs", text)])).figure
    }

    #[test]
    fn a_comment_that_repeats_the_name_is_found() {
        let text = "struct Holder {\n    /// The clock.\n    #[serde(default)]\n    clock: u8,\n}\n\
                    /// The state of this run.\npub(crate) enum RunState {}\n\
                    /// Returns the last line.\npub async fn last_line() {}\n";
        assert_eq!(figure(text), 3);
    }

    #[test]
    fn comments_that_say_more_and_plain_ones_pass() {
        let text = "//! The a.\n\nfn a() {}\n/// The clock, in seconds.\nfn clock() {}\n\
                    /// The state.\n/// It is kept.\nfn state() {}\n// The b.\nfn b() {}\n";
        assert_eq!(figure(text), 0);
    }
}
