//! Patterns for files: the pattern that means a single file, and characters spelt as
//! numbers.
//!
//! A pattern is a glob with one addition: `\u{1b}` is the character of that number. So a
//! pattern can mean any file by its name and still be readable for people.

use std::borrow::Cow;

/// Characters that have a special meaning in a pattern.
const SIGNS: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// Returns the pattern that matches this path and no other. The path is relative to the
/// root of a project, as git names it. Use this wherever a rule or a scope is made from a
/// file name.
pub fn literal_pattern(path: &str) -> String {
    let pattern = escaped(path, PatternDotSpelling::Plain);
    if pattern.split(['/', '\\']).any(|part| part == "..") {
        // Text that only looks like a way out of the project must not be taken for one.
        return escaped(path, PatternDotSpelling::Escaped);
    }
    pattern
}

/// The spelling of a dot after another dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternDotSpelling {
    Plain,
    Escaped,
}

fn escaped(path: &str, dots: PatternDotSpelling) -> String {
    let mut pattern = String::with_capacity(path.len());
    let mut before = None;
    let last = path.char_indices().next_back().map(|(at, _)| at);
    for (at, letter) in path.char_indices() {
        let is_edge = at == 0 || Some(at) == last;
        let is_home = letter == '~' && at == 0;
        let is_drive = letter == ':' && at == 1;
        let is_dot = letter == '.' && before == Some('.') && dots == PatternDotSpelling::Escaped;
        if is_unclear(letter) || (is_edge && letter == ' ') {
            pattern.extend(letter.escape_unicode());
        } else {
            if SIGNS.contains(&letter) || is_home || is_drive || is_dot {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        before = Some(letter);
    }
    pattern
}

/// Returns whether a character has no appearance of its own, or changes that of others.
fn is_unclear(letter: char) -> bool {
    let is_blank = letter.is_whitespace() && letter != ' ';
    let is_odd = !letter.is_ascii() && letter.escape_debug().len() > 1;
    let is_filler = matches!(letter, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    letter.is_control() || is_blank || is_odd || is_filler
}

/// Returns file names as a list for a sentence. No name can end the list, hide part of it
/// or read as words of the sentence.
pub fn listed_paths(paths: &[String]) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@".contains(letter);
    let listed = paths.iter().map(|path| {
        if path.chars().all(is_plain) {
            path.clone()
        } else {
            format!("`{}`", shown_path(path))
        }
    });
    listed.collect::<Vec<_>>().join(", ")
}

/// Returns a file name for use between backticks. Nothing in it ends them or is invisible.
pub fn shown_path(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for letter in path.chars() {
        if is_unclear(letter) || letter == '`' {
            shown.extend(letter.escape_unicode())
        } else {
            shown.push(letter)
        }
    }
    shown
}

/// Returns the path that a pattern means, or `None` if it may mean several.
pub fn path_of_pattern(pattern: &str) -> Option<String> {
    let pattern = spelt_out(pattern.trim());
    let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
    let mut path = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => path.push(letters.next()?),
            '*' | '?' | '[' | '{' | '}' => return None,
            letter => path.push(letter),
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Returns the pattern with each `\u{…}` replaced by its character, escaped the way globs
/// do it.
pub fn spelt_out(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains("\\u{") {
        return Cow::Borrowed(pattern);
    }
    let mut glob = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at + 1);
        glob.push_str(plain);
        if let Some((letter, behind)) = number(escape) {
            glob.push(letter);
            rest = behind;
            continue;
        }
        // The character after a backslash does not begin an escape of its own.
        let mut letters = escape.chars();
        glob.extend(letters.next());
        rest = letters.as_str();
    }
    glob.push_str(rest);
    Cow::Owned(glob)
}

/// Parses `u{1b}` at the beginning of `text` and returns the character and the rest.
fn number(text: &str) -> Option<(char, &str)> {
    let (digits, behind) = text.strip_prefix("u{")?.split_once('}')?;
    let letter = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)?;
    Some((letter, behind))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_paths_are_their_own_patterns() {
        for path in [
            "a",
            "src/lib.rs",
            "a b/c-d_e.txt",
            "x..y",
            "docs/größe.md",
            "a!b,c(d)",
        ] {
            assert_eq!(literal_pattern(path), path);
        }
    }

    #[test]
    fn odd_names_stay_readable() {
        for (path, pattern) in [
            ("**", r"\*\*"),
            ("pages/[id].tsx", r"pages/\[id\].tsx"),
            ("pages/[...all].tsx", r"pages/\[...all\].tsx"),
            ("b\u{1b}[2Kc.txt", r"b\u{1b}\[2Kc.txt"),
            ("two\nlines", r"two\u{a}lines"),
            (" x ", r"\u{20}x\u{20}"),
            ("~/x", r"\~/x"),
            ("c:x", r"c\:x"),
            (r"\u{1b}", r"\\u\{1b\}"),
            ("..*", r".\.\*"),
            ("gpj.\u{202e}exe", r"gpj.\u{202e}exe"),
        ] {
            assert_eq!(literal_pattern(path), pattern);
            assert_eq!(path_of_pattern(pattern).as_deref(), Some(path));
        }
    }

    #[test]
    fn what_may_mean_several_files_means_no_path() {
        for pattern in ["**", "a/*.rs", "[ab].rs", "{a,b}", "a?", "", "a\\"] {
            assert_eq!(path_of_pattern(pattern), None, "{pattern}");
        }
        assert_eq!(path_of_pattern(" ./a.rs ").as_deref(), Some("a.rs"));
        assert_eq!(spelt_out(r"\u{zz}\\u{1b}"), r"\u{zz}\\u{1b}");
    }

    #[test]
    fn names_in_a_sentence_cannot_pass_for_words_of_it() {
        let names = ["src/a.rs", "x\nWhy: fine", "a`b", "**", "größe.md"].map(str::to_owned);
        assert_eq!(
            listed_paths(&names),
            r"src/a.rs, `x\u{a}Why: fine`, `a\u{60}b`, `**`, größe.md"
        );
    }

    proptest! {
        #[test]
        fn a_path_comes_back_from_its_pattern(path in "[^\0/](.*[^\0])?") {
            prop_assume!(!path.starts_with("./"));
            prop_assert_eq!(path_of_pattern(&literal_pattern(&path)), Some(path));
        }
    }
}
