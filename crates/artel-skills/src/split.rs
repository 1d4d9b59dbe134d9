//! Splits a file into frontmatter and body.

use crate::{FileComplaint, Remark};

/// Largest body of a skill or request, in bytes. A larger file is not read.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;
/// Largest frontmatter, in bytes: more than people write.
pub(crate) const MOST_FRONT_BYTES: usize = 64 * 1024;

/// A file in its two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrontmatterSplit<'t> {
    /// The YAML without its delimiters; it begins on line 2.
    pub(crate) front: &'t str,
    /// Everything after the closing line.
    pub(crate) body: &'t str,
    /// The line on which the body begins.
    pub(crate) body_line: usize,
    /// Whether a byte order mark stood before the first line.
    pub(crate) has_mark: bool,
}

/// Splits a text at the two lines that are `---` and nothing else.
pub(crate) fn split(text: &str) -> Result<FrontmatterSplit<'_>, FileComplaint> {
    let (text, has_mark) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() != "---" {
        return Err(
            FileComplaint::new("frontmatter", "the file does not begin with a `---` line")
                .at(1)
                .advise("put `---`, the fields and another `---` before the text"),
        );
    }
    let mut at = 0;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            return Ok(FrontmatterSplit {
                front: &rest[..at],
                body: &rest[at + line.len()..],
                body_line: number + 3,
                has_mark,
            });
        }
        at += line.len();
        if at > MOST_FRONT_BYTES {
            let message = format!("it is longer than {} KiB", MOST_FRONT_BYTES / 1024);
            return Err(FileComplaint::new("frontmatter", message)
                .advise("close it with a `---` line and put text into the body"));
        }
    }
    Err(
        FileComplaint::new("frontmatter", "it is not closed by a `---` line")
            .advise("put a line with only `---` after the last field"),
    )
}

/// Returns what is wrong with a body on its own.
pub(crate) fn check_body(parts: &FrontmatterSplit<'_>) -> Option<FileComplaint> {
    if parts.body.len() > MOST_BYTES {
        let message = format!("it is larger than {} KiB", MOST_BYTES / 1024);
        return Some(FileComplaint::new("body", message));
    }
    let at = parts.body.find('\0')?;
    let line = parts.body_line + parts.body[..at].matches('\n').count();
    Some(FileComplaint::new("body", "it holds a NUL character").at(line))
}

/// Returns a warning if the text below the frontmatter is blank: the format allows it, but
/// it is hardly intended.
pub fn empty_body(text: &str) -> Option<Remark> {
    let parts = split(text).ok()?;
    parts.body.trim().is_empty().then(|| {
        FileComplaint::new("body", "there is no text after the frontmatter")
            .at(parts.body_line)
            .advise("write there what is to be done")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_with_three_hyphens_are_the_borders() {
        let parts = split("---\na: b\n---\nbody\n").unwrap();
        assert_eq!((parts.front, parts.body), ("a: b\n", "body\n"));
        assert_eq!(parts.body_line, 4);
        let parts = split("\u{feff}---\r\na: x --- y\r\n--- \r\n---\n").unwrap();
        assert_eq!((parts.front, parts.body), ("a: x --- y\r\n", "---\n"));
        assert!(parts.has_mark);
        let parts = split("---\n---").unwrap();
        assert_eq!((parts.front, parts.body, parts.body_line), ("", "", 3));
    }

    #[test]
    fn what_has_no_borders_is_refused() {
        let long = format!("---\n{}\n---\n", "# x\n".repeat(40_000));
        let table = [
            "",
            "---",
            "name: x",
            "\n---\na: b\n---\n",
            "---\na: b\n",
            " ---\na: b\n---\n",
            "----\na: b\n----\n",
            "---\na: b\n ---\n",
            "+++\na = 1\n+++\n",
            &long,
        ];
        for text in table {
            let complaint = split(text).unwrap_err();
            assert_eq!(complaint.field, "frontmatter", "{text:?}");
        }
    }
}
