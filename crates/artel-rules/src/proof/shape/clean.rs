//! Code without what stands in quotes and notes, line by line: braces in a text are no blocks.

/// How a language is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Blocks are indented.
    Python,
    /// Blocks are in braces.
    Braces,
    /// The same, with lifetimes that begin like a quoted letter.
    Rust,
}

impl Style {
    /// Returns how a file is written, where that is known.
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

/// What a place in the text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    /// A note up to the end of the line.
    Line,
    /// A note up to its mark.
    Note,
    /// A text up to this mark.
    Text(&'static str),
}

/// Returns the lines of a text with blanks in the place of texts and notes.
pub(super) fn clean(text: &str, style: Style) -> Vec<String> {
    let mut within = Within::Code;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut kept = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            let (step, next) = look(rest, within, style);
            let is_code = within == Within::Code && next == Within::Code;
            kept.push(if is_code { letter } else { ' ' });
            within = next;
            rest = &rest[step.max(letter.len_utf8()).min(rest.len())..];
        }
        // A text of one line that is not closed is none.
        let is_one_line = matches!(within, Within::Line | Within::Text("\"" | "'"));
        if is_one_line {
            within = Within::Code;
        }
        lines.push(kept);
    }
    lines
}

/// Says how far to go from here, and what that leads into.
fn look(rest: &str, within: Within, style: Style) -> (usize, Within) {
    match within {
        Within::Line => (rest.len(), Within::Line),
        Within::Note => match rest.starts_with("*/") {
            true => (2, Within::Code),
            false => (1, Within::Note),
        },
        Within::Text(mark) if rest.starts_with(mark) => (mark.len(), Within::Code),
        Within::Text(mark) if rest.starts_with('\\') => {
            let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
            (1 + escaped, Within::Text(mark))
        }
        Within::Text(mark) => (1, Within::Text(mark)),
        Within::Code => begins(rest, style),
    }
}

fn begins(rest: &str, style: Style) -> (usize, Within) {
    let marks: &[&'static str] = match style {
        Style::Python => &["\"\"\"", "'''", "\"", "'"],
        Style::Braces => &["\"", "'", "`"],
        Style::Rust => &["\""],
    };
    let note = match style {
        Style::Python => "#",
        Style::Braces | Style::Rust => "//",
    };
    if rest.starts_with(note) {
        return (rest.len(), Within::Line);
    }
    if style != Style::Python && rest.starts_with("/*") {
        return (2, Within::Note);
    }
    if style == Style::Rust && rest.starts_with('\'') {
        return (quoted_letter(rest), Within::Code);
    }
    match marks.iter().find(|mark| rest.starts_with(**mark)) {
        Some(mark) => (mark.len(), Within::Text(mark)),
        None => (1, Within::Code),
    }
}

/// Returns how long a quoted letter is; one letter where it is the name of a lifetime.
fn quoted_letter(rest: &str) -> usize {
    let inside = &rest[1..];
    let end = match inside.starts_with('\\') {
        true => inside
            .get(2..)
            .and_then(|it| it.find('\''))
            .map(|at| at + 2),
        false => {
            let letter = inside.chars().next().map_or(0, char::len_utf8);
            inside
                .get(letter..)
                .filter(|it| it.starts_with('\''))
                .map(|_| letter)
        }
    };
    end.map_or(1, |end| end + 2)
}
