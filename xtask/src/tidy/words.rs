//! Words that a native speaker would not use, in comments and in texts for people.

use super::lexer::is_word_byte;
use super::measure::{CodePlace, TidyMeasure};
use super::settings::{TidySettings, WordPlace, WordRule};
use super::source::SourceFile;
use super::tree::{SourceTree, TextPage};

/// Counts the words of each rule, in comments and in texts apart.
pub(super) fn measures(tree: &SourceTree, settings: &TidySettings) -> Vec<TidyMeasure> {
    let rules = settings.words.iter();
    rules
        .flat_map(|rule| {
            let advice = format!("say instead: {}", rule.better);
            let files = tree.files.iter();
            let comments = files.flat_map(|file| in_comments(file, rule)).collect();
            let name = format!("{}-in-comments", rule.name);
            let of_comments = TidyMeasure::of_places(&name, &advice, comments);
            let of_texts = (rule.place == WordPlace::Anywhere).then(|| {
                let literals = tree.files.iter().flat_map(|file| in_literals(file, rule));
                let pages = tree.pages.iter().flat_map(|page| in_page(page, rule));
                let name = format!("{}-in-texts", rule.name);
                TidyMeasure::of_places(&name, &advice, literals.chain(pages).collect())
            });
            [Some(of_comments), of_texts].into_iter().flatten()
        })
        .collect()
}

fn in_comments(file: &SourceFile, rule: &WordRule) -> Vec<CodePlace> {
    let lines = file.comment_lines();
    lines
        .flat_map(|comment| {
            let mut found = matches(comment.text, rule);
            if rule.place == WordPlace::AtStartOfCommentLine {
                found.retain(|at| *at == 0);
            }
            let places = found.into_iter();
            places.map(move |_| CodePlace::new(&file.path, comment.line, comment.text.trim()))
        })
        .collect()
}

fn in_literals(file: &SourceFile, rule: &WordRule) -> Vec<CodePlace> {
    let code = &file.code;
    let literals = (0..code.len()).filter(|token| code.is_literal(*token));
    literals
        .flat_map(|token| {
            let found = matches(code.at(token), rule).into_iter();
            found.map(move |at| {
                let line = file.line(code.start(token) + at);
                CodePlace::new(&file.path, line, file.text_of_line(line).trim())
            })
        })
        .collect()
}

fn in_page(page: &TextPage, rule: &WordRule) -> Vec<CodePlace> {
    let text = if page.path.ends_with("CHANGELOG.md") {
        unreleased(&page.text)
    } else {
        &page.text
    };
    let found = matches(text, rule).into_iter();
    let places = found.map(|at| {
        let line = 1 + text[..at].matches('\n').count();
        let note = text.lines().nth(line - 1).unwrap_or_default();
        CodePlace::new(&page.path, line, note.trim())
    });
    places.collect()
}

/// Returns the part of a changelog above the newest release: history stays as it was written.
fn unreleased(text: &str) -> &str {
    let headings = text.match_indices("\n## ");
    let mut releases = headings.filter(|(at, mark)| {
        let title = &text[at + mark.len()..];
        !title.starts_with("Unreleased")
    });
    releases.next().map_or(text, |(at, _)| &text[..at])
}

/// Returns where the phrases of the rule begin.
fn matches(text: &str, rule: &WordRule) -> Vec<usize> {
    let phrases = rule.phrases.iter();
    let mut found: Vec<usize> = phrases
        .flat_map(|phrase| phrase_places(text, phrase))
        .filter(|(start, end)| {
            let next = words(&text[*end..]).next().unwrap_or_default();
            let last = last_word(&text[..*start]);
            !rule.unless_before.contains(&next.to_lowercase())
                && !rule.unless_after.contains(&last.to_lowercase())
        })
        .map(|(start, _)| start)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the byte ranges at which `phrase` stands as whole words. A space in it matches any white
/// space, so that a line break hides nothing.
fn phrase_places(text: &str, phrase: &str) -> Vec<(usize, usize)> {
    let Some(first) = phrase.chars().next() else {
        return Vec::new();
    };
    let capital = first.to_ascii_uppercase();
    let starts = text.match_indices([first, capital]);
    starts
        .filter_map(|(start, _)| {
            let behind = start + first.len_utf8();
            let end = behind + length_of(&phrase[first.len_utf8()..], &text[behind..])?;
            let is_inside = |at: usize, outer: Option<&u8>| {
                outer.is_some_and(|byte| is_word_byte(*byte)) && is_word_byte(text.as_bytes()[at])
            };
            let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
            let is_whole =
                !is_inside(start, before) && !is_inside(end - 1, text.as_bytes().get(end));
            is_whole.then_some((start, end))
        })
        .collect()
}

/// Returns how many bytes of `text` the phrase takes up, if `text` begins with it.
fn length_of(phrase: &str, text: &str) -> Option<usize> {
    let mut rest = text;
    for (number, word) in phrase.split(' ').enumerate() {
        if number > 0 {
            let trimmed = without_white_space(rest);
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(word)?;
    }
    Some(text.len() - rest.len())
}

/// Removes white space from the front, and the `\` that continues a string on the next line.
fn without_white_space(text: &str) -> &str {
    let trimmed = text.trim_start();
    match trimmed.strip_prefix("\\\n") {
        Some(rest) => rest.trim_start(),
        None => trimmed,
    }
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    pieces.filter(|word| !word.is_empty())
}

/// Returns the word directly in front; empty where a sentence or a clause ends in between.
fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    if text.ends_with(['.', ':', ';', ',', '`', ')']) {
        return "";
    }
    words(text).next_back().unwrap_or_default()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
