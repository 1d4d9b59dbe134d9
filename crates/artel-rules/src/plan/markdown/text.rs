//! Texts inside the file: escaped, so that they are not mistaken for structure, and
//! unescaped again.

/// Lines of the file with their numbers.
pub(super) type NumberedLines<'t> = &'t [(usize, &'t str)];

/// Returns a text with a backslash before every line that would be structure.
pub(super) fn escaped(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        if is_structure(line) {
            format!("\\{line}")
        } else {
            line.to_owned()
        }
    });
    let lines: Vec<String> = lines.collect();
    lines.join("\n")
}

/// Returns the text of some lines, without empty lines at the beginning and end.
pub(super) fn unescaped(lines: NumberedLines<'_>) -> String {
    let lines = lines.iter().map(|(_, line)| match line.strip_prefix('\\') {
        Some(rest) if is_structure(rest) => rest,
        _ => line,
    });
    let lines: Vec<&str> = lines.collect();
    crate::plan::normal::block(&lines.join("\n"))
}

/// Returns whether a line is structure, or would be without its leading backslashes.
fn is_structure(line: &str) -> bool {
    let line = line.trim_start_matches('\\');
    let is_heading = ["##", "###"].iter().any(|mark| {
        let rest = line.strip_prefix(mark);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    });
    is_heading || mark(line).is_some()
}

/// The two texts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepTextBlock {
    Work,
    Check,
}

/// Reads the line that begins one of the two texts of a step; also returns the rest of
/// that line.
pub(super) fn mark(line: &str) -> Option<(StepTextBlock, &str)> {
    let work = line
        .strip_prefix("Work:")
        .map(|rest| (StepTextBlock::Work, rest));
    work.or_else(|| {
        line.strip_prefix("Check:")
            .map(|rest| (StepTextBlock::Check, rest))
    })
}

/// Writes an entry of a list; its further lines are indented.
pub(super) fn item(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut item = format!("- {}\n", lines.next().unwrap_or_default());
    for line in lines {
        if line.is_empty() {
            item.push('\n')
        } else {
            item.push_str(&format!("  {line}\n"))
        }
    }
    item
}

/// Reads the entries of a list: each begins with a dash and continues in indented lines.
pub(super) fn items(lines: NumberedLines<'_>) -> Result<Vec<(usize, String)>, usize> {
    let mut items: Vec<(usize, Vec<&str>)> = Vec::new();
    for (number, line) in lines {
        let start = ["- ", "* ", "+ "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        match (start, items.last_mut()) {
            (Some(start), _) => items.push((*number, vec![start])),
            (None, Some((_, item))) => item.push(line.strip_prefix("  ").unwrap_or(line)),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => return Err(*number),
        }
    }
    let text = |(number, lines): (usize, Vec<&str>)| {
        (number, crate::plan::normal::item(&lines.join("\n")))
    };
    let items = items.into_iter().map(text);
    Ok(items.filter(|(_, text)| !text.is_empty()).collect())
}

/// Writes text as code, in as many backticks as it needs.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Reads code at the beginning of a text; also returns the rest.
pub(super) fn take_code(text: &str) -> Option<(String, &str)> {
    let count = text.len() - text.trim_start_matches('`').len();
    if count == 0 {
        return None;
    }
    let mut at = count;
    loop {
        let start = at + text[at..].find('`')?;
        let rest = text[start..].trim_start_matches('`');
        let end = text.len() - rest.len();
        if end - start == count {
            let inner = &text[count..start];
            let padded = inner
                .strip_prefix(' ')
                .and_then(|inner| inner.strip_suffix(' '));
            let is_padded = |inner: &&str| inner.starts_with('`') || inner.ends_with('`');
            let inner = padded.filter(is_padded).unwrap_or(inner);
            return Some((inner.to_owned(), rest));
        }
        at = end;
    }
}

/// Writes a word as plain text if possible, or else as code.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        code(text)
    }
}
