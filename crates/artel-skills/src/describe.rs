//! Takes descriptions of a skill's files from the text of `SKILL.md`.
//!
//! The folder itself decides which files exist; the text only adds descriptions. A path
//! that the text makes up, or one that leads out of the folder, therefore adds nothing.

use std::collections::HashMap;

use crate::SkillSupportingFile;

/// Longest description, in characters: it is a hint for choosing, not a summary.
const MOST_LETTERS: usize = 160;

/// Gives each file the first description of it in the text.
pub(crate) fn describe(body: &str, files: &mut [SkillSupportingFile]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        places.insert(file.path.clone(), at);
        // People write REFERENCE.md for a file named reference.md.
        places.entry(file.path.to_lowercase()).or_insert(at);
    }
    for line in body.lines() {
        for (start, end) in words(line) {
            let word = line[start..end].trim_end_matches('.');
            let end = start + word.len();
            let path = word.strip_prefix("./").unwrap_or(word);
            let path = path
                .strip_prefix('/')
                .filter(|_| follows_variable(line, start))
                .unwrap_or(path);
            let found = places
                .get(path)
                .or_else(|| places.get(&path.to_lowercase()));
            let Some(file) = found.and_then(|at| files.get_mut(*at)) else {
                continue;
            };
            if file.description.is_none() {
                file.description = said(&line[..start], &line[end..], word);
            }
        }
    }
}

/// Returns whether a word follows directly after `${SKILL_DIR}` or a similar variable.
fn follows_variable(line: &str, start: usize) -> bool {
    line[..start].ends_with('}')
}

/// Returns the start and end of each word that may be a path.
fn words(line: &str) -> Vec<(usize, usize)> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-/".contains(letter);
    let mut found = Vec::new();
    let mut begun = None;
    for (at, letter) in line.char_indices() {
        match (is_part(letter), begun) {
            (true, None) => begun = Some(at),
            (false, Some(start)) => {
                found.push((start, at));
                begun = None;
            }
            _ => {}
        }
    }
    found.extend(begun.map(|start| (start, line.len())));
    found.retain(|(start, end)| line[*start..*end].contains('.'));
    found
}

/// Returns what a line says about a path: `path: …`, `path - …`, `| path | … |`,
/// `see path for …`, or the text of a link to it.
fn said(before: &str, after: &str, word: &str) -> Option<String> {
    let rest: String = after.chars().take(2 * MOST_LETTERS).collect();
    let rest = rest.trim_start_matches(['`', '"', '\'', '*', ')', '_']);
    let rest = without_count(rest).trim_start();
    let for_what = |rest: &str| {
        let purpose = rest.strip_prefix("for ").or(rest.strip_prefix("to "))?;
        let end = purpose.find(['.', ';', '(', ')']).unwrap_or(purpose.len());
        Some(purpose[..end].to_owned())
    };
    let listed = || {
        let signs = [":", "- ", "– ", "— ", "| "];
        let text = signs.iter().find_map(|sign| rest.strip_prefix(sign))?;
        let text = text.split(" |").next().unwrap_or(text);
        Some(text.to_owned())
    };
    let linked = || {
        let label = before.strip_suffix("](")?.rsplit('[').next()?;
        let label = label.trim_matches(['`', '*']);
        (!word.ends_with(label)).then(|| label.to_owned())
    };
    let text = for_what(rest)
        .or_else(listed)
        .or_else(|| purpose_before(before))
        .or_else(linked)?;
    tidy(&text)
}

/// Extracts the purpose from `For details of the API, see reference.md`.
fn purpose_before(before: &str) -> Option<String> {
    const VERBS: &[&str] = &["see", "read", "check", "consult", "load", "refer to", "use"];
    const BEGINNINGS: &[&str] = &["For ", "If ", "When ", "To ", "Before "];
    let skipped = before.char_indices().rev().nth(2 * MOST_LETTERS);
    let near = skipped.map_or(before, |(at, _)| &before[at..]);
    let near = near.rsplit(". ").next()?;
    let near = near.trim_end_matches(['`', '"', '\'', '*', '[', '(', '_', ' ']);
    let near = VERBS.iter().find_map(|verb| {
        let end = near.len().checked_sub(verb.len())?;
        let is_verb = near.get(end..)?.eq_ignore_ascii_case(verb);
        is_verb.then(|| near[..end].trim_end())
    })?;
    let clause = near.strip_suffix(',')?.trim_start_matches(['-', '*', ' ']);
    let purpose = BEGINNINGS
        .iter()
        .find_map(|beginning| clause.strip_prefix(beginning))?;
    Some(purpose.to_owned())
}

/// Removes a leading `(1,200 lines)`: lines are counted, not taken on trust.
fn without_count(rest: &str) -> &str {
    let trimmed = rest.trim_start();
    let inner = trimmed
        .strip_prefix('(')
        .and_then(|inner| inner.split_once(')'));
    match inner {
        Some((count, rest)) if count.ends_with("lines") => rest,
        _ => rest,
    }
}

fn tidy(text: &str) -> Option<String> {
    let text = match text.rfind('(') {
        Some(at) if text[at..].trim_end().ends_with("lines)") => &text[..at],
        _ => text,
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_matches(['*', '`', '.', ' ', '|', ':', '-']);
    let is_cut = text.chars().count() > MOST_LETTERS;
    let mut text: String = text.chars().take(MOST_LETTERS).collect();
    if is_cut {
        text.push('…');
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_found_in_every_usual_form() {
        let table = [
            (
                "See reference.md for API details (1,200 lines).",
                "API details",
            ),
            ("see `reference.md` for API details)", "API details"),
            ("- reference.md: API details (1,200 lines)", "API details"),
            ("* `reference.md` - API details", "API details"),
            ("- **reference.md**: API details", "API details"),
            ("**reference.md** (1,200 lines): API details", "API details"),
            (
                "- [reference.md](reference.md) — API details",
                "API details",
            ),
            ("Read [API details](reference.md) first", "API details"),
            ("| `reference.md` | API details |", "API details"),
            (
                "Use ${SKILL_DIR}/reference.md for API details.",
                "API details",
            ),
            (
                "Steps are below. For API details, see REFERENCE.md.",
                "API details",
            ),
            (
                "- If you need API details, read `reference.md` and do it",
                "you need API details",
            ),
            (
                "Consult ./reference.md to learn API details",
                "learn API details",
            ),
        ];
        for (line, expected) in table {
            let mut files = [file("reference.md")];
            describe(line, &mut files);
            assert_eq!(files[0].description.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_paths_say_nothing() {
        let lines = [
            "see /reference.md for x",
            "see ../reference.md for x",
            "see reference.md5 for x",
            "see other/reference.md for x",
            "see reference.md",
        ];
        for line in lines {
            let mut files = [file("reference.md")];
            describe(line, &mut files);
            assert_eq!(files[0].description, None, "{line}");
        }
    }

    #[test]
    fn the_first_description_stays_and_dots_belong_to_names() {
        let mut files = [file("docs/a.b.md"), file("x.yml")];
        describe(
            "- docs/a.b.md: first\n- docs/a.b.md: second\n- x.yml: third.",
            &mut files,
        );
        assert_eq!(files[0].description.as_deref(), Some("first"));
        assert_eq!(files[1].description.as_deref(), Some("third"));
    }

    fn file(path: &str) -> SkillSupportingFile {
        SkillSupportingFile {
            path: path.into(),
            description: None,
            bytes: 1,
            lines: Some(1),
        }
    }
}
