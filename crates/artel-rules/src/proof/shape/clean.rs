//! Removes string contents and comments from code, line by line: braces in a string are
//! not blocks.

/// The syntax of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LanguageSyntax {
    /// Indented blocks.
    Python,
    /// Blocks in braces.
    Braces,
    /// Blocks in braces, with lifetimes that begin like a character literal.
    Rust,
}

impl LanguageSyntax {
    /// Returns the syntax of a file, if it is known.
    pub(super) fn of(file: &str) -> Option<Self> {
        const BRACES: [&str; 17] = [
            "go", "js", "jsx", "mjs", "cjs", "ts", "tsx", "java", "kt", "c", "h", "cc", "cpp",
            "hpp", "cs", "swift", "php",
        ];
        match file.rsplit_once('.')?.1 {
            "py" => Some(Self::Python),
            "rs" => Some(Self::Rust),
            ending => BRACES.contains(&ending).then_some(Self::Braces),
        }
    }
}

/// The context of a position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceTextContext {
    Code,
    /// A comment up to the end of the line.
    Line,
    /// A comment up to its closing mark.
    Note,
    /// A string up to this mark.
    Text(&'static str),
}

/// Returns the lines of a text with spaces in place of strings and comments.
pub(super) fn clean(text: &str, style: LanguageSyntax) -> Vec<String> {
    let mut within = SourceTextContext::Code;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut kept = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            let (step, next) = look(rest, within, style);
            let is_code = within == SourceTextContext::Code && next == SourceTextContext::Code;
            kept.push(if is_code { letter } else { ' ' });
            within = next;
            rest = &rest[step.max(letter.len_utf8()).min(rest.len())..];
        }
        // A one-line string without its end is not a string.
        let is_one_line = matches!(
            within,
            SourceTextContext::Line | SourceTextContext::Text("\"" | "'")
        );
        if is_one_line {
            within = SourceTextContext::Code;
        }
        lines.push(kept);
    }
    lines
}

/// Returns how far to advance, and the context after that.
fn look(
    rest: &str,
    within: SourceTextContext,
    style: LanguageSyntax,
) -> (usize, SourceTextContext) {
    match within {
        SourceTextContext::Line => (rest.len(), SourceTextContext::Line),
        SourceTextContext::Note => {
            if rest.starts_with("*/") {
                (2, SourceTextContext::Code)
            } else {
                (1, SourceTextContext::Note)
            }
        }
        SourceTextContext::Text(mark) if rest.starts_with(mark) => {
            (mark.len(), SourceTextContext::Code)
        }
        SourceTextContext::Text(mark) if rest.starts_with('\\') => {
            let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
            (1 + escaped, SourceTextContext::Text(mark))
        }
        SourceTextContext::Text(mark) => (1, SourceTextContext::Text(mark)),
        SourceTextContext::Code => begins(rest, style),
    }
}

fn begins(rest: &str, style: LanguageSyntax) -> (usize, SourceTextContext) {
    let marks: &[&'static str] = match style {
        LanguageSyntax::Python => &["\"\"\"", "'''", "\"", "'"],
        LanguageSyntax::Braces => &["\"", "'", "`"],
        LanguageSyntax::Rust => &["\""],
    };
    let note = match style {
        LanguageSyntax::Python => "#",
        LanguageSyntax::Braces | LanguageSyntax::Rust => "//",
    };
    if rest.starts_with(note) {
        return (rest.len(), SourceTextContext::Line);
    }
    if style != LanguageSyntax::Python && rest.starts_with("/*") {
        return (2, SourceTextContext::Note);
    }
    if style == LanguageSyntax::Rust && rest.starts_with('\'') {
        return (quoted_letter(rest), SourceTextContext::Code);
    }
    match marks.iter().find(|mark| rest.starts_with(**mark)) {
        Some(mark) => (mark.len(), SourceTextContext::Text(mark)),
        None => (1, SourceTextContext::Code),
    }
}

/// Returns the length of a character literal, or 1 if it is the name of a lifetime.
fn quoted_letter(rest: &str) -> usize {
    let inside = &rest[1..];
    let end = if inside.starts_with('\\') {
        inside
            .get(2..)
            .and_then(|it| it.find('\''))
            .map(|at| at + 2)
    } else {
        let letter = inside.chars().next().map_or(0, char::len_utf8);
        inside
            .get(letter..)
            .filter(|it| it.starts_with('\''))
            .map(|_| letter)
    };
    end.map_or(1, |end| end + 2)
}
