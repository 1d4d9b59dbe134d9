//! Replaces text exactly: the old text must occur, and only once.
//!
//! Models write `\n`. If the lines of the file end with `\r\n`, that matches too, and the
//! new text gets the file's own line endings.

use std::borrow::Cow;

use super::near;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextReplacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) places: ReplacementLimit,
}

/// Number of places that an edit may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplacementLimit {
    One,
    All,
}

/// The text after an edit, and the places that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacementResult {
    pub(crate) text: String,
    /// The line of each place, counted from 1 in the text before the edit.
    pub(crate) lines: Vec<usize>,
}

/// Why an edit does not fit the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplacementError {
    /// The old text is empty.
    Empty,
    /// The new text is the same as the old one.
    Same,
    /// The old text does not occur; hints describe similar text.
    Absent(Vec<String>),
    /// The old text occurs more than once, on these lines.
    Many(Vec<usize>),
}

/// Replaces one place or all of them.
pub(crate) fn replace(
    text: &str,
    edit: TextReplacement<'_>,
) -> Result<ReplacementResult, ReplacementError> {
    if edit.old.is_empty() {
        return Err(ReplacementError::Empty);
    }
    if edit.old == edit.new {
        return Err(ReplacementError::Same);
    }
    let flat = if edit.old.contains('\r') {
        LineEndNormalizedText::as_is(text)
    } else {
        LineEndNormalizedText::of(text)
    };
    let found = find(&flat.text, edit);
    let lines = line_numbers(&flat.text, &found);
    match (found.len(), edit.places) {
        (0, _) => {
            return Err(ReplacementError::Absent(absent_hints(
                text, &flat.text, edit,
            )));
        }
        (2.., ReplacementLimit::One) => return Err(ReplacementError::Many(lines)),
        _ => {}
    }
    let mut result = String::with_capacity(text.len() + edit.new.len());
    let mut done = 0;
    for start in found {
        let from = flat.back(start);
        result.push_str(&text[done..from]);
        result.push_str(&with_line_ends(edit, text, from));
        done = flat.back(start + edit.old.len());
    }
    result.push_str(&text[done..]);
    Ok(ReplacementResult {
        text: result,
        lines,
    })
}

/// Returns hints about similar text, or says that the change was already made.
fn absent_hints(text: &str, flat: &str, edit: TextReplacement<'_>) -> Vec<String> {
    if edit.new.trim().len() > 3
        && let Some(at) = flat.find(edit.new)
    {
        let line = flat[..at].matches('\n').count() + 1;
        let hint = format!("nothing is left to do if line {line} was meant: it has `new` already");
        return vec![hint];
    }
    near::hints(text, edit.old)
}

/// A text without the `\r` of its line endings, with a mapping back to offsets in the
/// original.
struct LineEndNormalizedText<'a> {
    text: Cow<'a, str>,
    /// Offsets in the flat text where a line ending lost its `\r`, ascending.
    lost: Vec<usize>,
}

impl<'a> LineEndNormalizedText<'a> {
    fn as_is(text: &'a str) -> Self {
        let text = Cow::Borrowed(text);
        let lost = Vec::new();
        Self { text, lost }
    }

    fn of(text: &'a str) -> Self {
        if !text.contains("\r\n") {
            return Self::as_is(text);
        }
        let mut flat = String::with_capacity(text.len());
        let mut lost = Vec::new();
        for line in text.split_inclusive('\n') {
            if let Some(line) = line.strip_suffix("\r\n") {
                flat.push_str(line);
                lost.push(flat.len());
                flat.push('\n');
            } else {
                flat.push_str(line);
            }
        }
        let text = Cow::Owned(flat);
        Self { text, lost }
    }

    fn back(&self, at: usize) -> usize {
        at + self.lost.partition_point(|lost| *lost < at)
    }
}

/// Returns the start of each place. With a limit of one place, overlapping places count
/// too: either could be meant.
fn find(text: &str, edit: TextReplacement<'_>) -> Vec<usize> {
    let step = match edit.places {
        ReplacementLimit::All => edit.old.len(),
        ReplacementLimit::One => edit.old.chars().next().map_or(1, char::len_utf8),
    };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(edit.old)) {
        found.push(from + at);
        from += at + step;
    }
    found
}

fn line_numbers(text: &str, places: &[usize]) -> Vec<usize> {
    let (mut line, mut done) = (1, 0);
    let mut number = |at: &usize| {
        line += text[done..*at].matches('\n').count();
        done = *at;
        line
    };
    places.iter().map(&mut number).collect()
}

/// Gives the new text the line ending of the line where it is inserted.
fn with_line_ends<'a>(edit: TextReplacement<'a>, text: &str, at: usize) -> Cow<'a, str> {
    if edit.new.contains('\r') || edit.old.contains('\r') || !edit.new.contains('\n') {
        return Cow::Borrowed(edit.new);
    }
    let end = text[at..].find('\n').map(|end| at + end);
    let end = end.or_else(|| text[..at].rfind('\n'));
    match end {
        Some(end) if text[..end].ends_with('\r') => Cow::Owned(edit.new.replace('\n', "\r\n")),
        _ => Cow::Borrowed(edit.new),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(
        text: &str,
        old: &str,
        new: &str,
        places: ReplacementLimit,
        expected: Result<&str, &str>,
    ) {
        let said = replace(text, TextReplacement { old, new, places });
        let said = said.map(|done| done.text).map_err(|misfit| match misfit {
            ReplacementError::Absent(_) => "absent".to_owned(),
            other => format!("{other:?}"),
        });
        assert_eq!(
            said.as_deref().map_err(String::as_str),
            expected,
            "{text:?}"
        );
    }

    #[test]
    fn a_place_is_replaced_if_it_is_the_only_one() {
        use ReplacementLimit::{All, One};
        check("a b c", "b", "x", One, Ok("a x c"));
        check("a b b", "b", "x", One, Err("Many([1, 1])"));
        check("a\nb\nb", "b", "x", One, Err("Many([2, 3])"));
        check("a\nb\nb", "b", "x", All, Ok("a\nx\nx"));
        check("aaa", "aa", "b", One, Err("Many([1, 1])"));
        check("aaa", "aa", "b", All, Ok("ba"));
        check("ééé", "éé", "b", One, Err("Many([1, 1])"));
        check("a", "b", "x", One, Err("absent"));
        check("a", "", "x", One, Err("Empty"));
        check("a", "a", "a", One, Err("Same"));
        check("a b", " b", "", One, Ok("a"));
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        use ReplacementLimit::{All, One};
        check(
            "a\r\nb\r\nc\r\n",
            "a\nb",
            "x\ny\nz",
            One,
            Ok("x\r\ny\r\nz\r\nc\r\n"),
        );
        check("a\r\nb\r\n", "b", "x\ny", One, Ok("a\r\nx\r\ny\r\n"));
        check("a\nb\r\nc\n", "a\nb\n", "x\n", One, Ok("x\nc\n"));
        check("a\r\nb", "b", "x\ny", One, Ok("a\r\nx\r\ny"));
        check("a\r\nb\r\n", "a\r\nb", "x\ny", One, Ok("x\ny\r\n"));
        check("a\r\na\r\n", "a\n", "", All, Ok(""));
        check("a\r\nb", "\nb", "\nc", One, Ok("a\r\nc"));
    }

    proptest! {
        #[test]
        fn replacing_everywhere_is_what_strings_do(text in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[xy]{0,3}") {
            let done = replace(&text, TextReplacement { old: &old, new: &new, places: ReplacementLimit::All });
            match done {
                Ok(done) => prop_assert_eq!(done.text, text.replace(&old, &new)),
                Err(_) => prop_assert!(!text.contains(&old)),
            }
        }

        #[test]
        fn windows_files_change_like_others(text in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[xy\n]{0,3}") {
            let edit = TextReplacement { old: &old, new: &new, places: ReplacementLimit::All };
            let plain = replace(&text, edit);
            let windows = replace(&text.replace('\n', "\r\n"), edit);
            if text.contains('\n') && let (Ok(plain), Ok(windows)) = (&plain, &windows) {
                prop_assert_eq!(plain.text.replace('\n', "\r\n"), windows.text.as_str());
            }
            prop_assert_eq!(plain.is_ok(), windows.is_ok());
        }
    }
}
