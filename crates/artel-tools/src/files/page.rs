//! A part of a text that fits into one result.

/// Largest amount of text in one result, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// Longest part of a line shown, in characters.
const MOST_LINE: usize = 2000;

/// Numbered lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberedTextPage {
    pub(crate) text: String,
    /// The first and the last line shown, counted from 1; zero for an empty text.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Number of lines in the whole text.
    pub(crate) total: usize,
    /// Number of shown lines that were shortened.
    pub(crate) cut: usize,
    /// The line to continue from, or `None` at the end.
    pub(crate) next: Option<usize>,
}

/// Takes lines from a text: at most `limit`, as many as fit into a result, and at least
/// one.
pub(crate) fn page(text: &str, offset: usize, limit: usize) -> Result<NumberedTextPage, String> {
    let total = text.lines().count();
    if offset > total.max(1) {
        return Err(format!(
            "offset {offset} is past the end, it has {total} lines"
        ));
    }
    let mut page = NumberedTextPage {
        text: String::new(),
        first: offset.min(total),
        last: 0,
        total,
        cut: 0,
        next: None,
    };
    for (number, line) in text.lines().enumerate().skip(offset - 1) {
        let (shown, is_cut) = cut(line);
        let line = format!("{:>6}\t{shown}", number + 1);
        let is_full = !page.text.is_empty() && page.text.len() + line.len() >= MOST_BYTES;
        if is_full || number + 1 - offset == limit {
            page.next = Some(number + 1);
            break;
        }
        if !page.text.is_empty() {
            page.text.push('\n');
        }
        page.text.push_str(&line);
        page.cut += usize::from(is_cut);
        page.last = number + 1;
    }
    Ok(page)
}

fn cut(line: &str) -> (String, bool) {
    match line.char_indices().nth(MOST_LINE) {
        None => (line.to_owned(), false),
        Some((end, _)) => {
            let left = line[end..].chars().count();
            (format!("{} … [+{left} characters]", &line[..end]), true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_comes_once_however_large() {
        let lines: Vec<String> = (0..500).map(|n| "é".repeat(n * 7 % 3000)).collect();
        let text = lines.join("\n");
        let (mut next, mut seen) = (Some(1), Vec::new());
        while let Some(offset) = next {
            let page = page(&text, offset, 2000).unwrap();
            assert!(page.text.len() <= MOST_BYTES);
            seen.extend(page.first..=page.last);
            next = page.next;
        }
        assert_eq!(seen, (1..=500).collect::<Vec<_>>());
    }

    #[test]
    fn parts_say_where_they_end() {
        let at = |text, offset, limit| {
            page(text, offset, limit).map(|page| (page.first, page.last, page.next))
        };
        assert_eq!(at("a\nb\nc\n", 1, 10), Ok((1, 3, None)));
        assert_eq!(at("a\nb\nc", 2, 1), Ok((2, 2, Some(3))));
        assert_eq!(at("a\nb\nc", 3, 1), Ok((3, 3, None)));
        assert_eq!(at("", 1, 10), Ok((0, 0, None)));
        assert!(at("a\n", 2, 10).is_err());
        let long = page(&"x".repeat(5000), 1, 1).unwrap();
        assert!(long.text.ends_with("… [+3000 characters]"));
        assert_eq!(long.cut, 1);
    }
}
