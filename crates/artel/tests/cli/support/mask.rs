//! Takes ids, hashes and times out of text, so that it can be compared.

/// In a pattern `h` stands for a hexadecimal digit, `d` for a decimal one; all else for itself.
const PATTERNS: [(&str, &str); 7] = [
    ("hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "ID"),
    (
        "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
        "HASH",
    ),
    ("dddd-dd-ddTdd:dd:dd.ddddddZ", "TIME"),
    ("dddd-dd-dd dd:dd:dd", "2000-01-01 00:00:00"),
    ("dddddddd_dddddd_ddd", "STAMP"),
    ("dddddddd_dddddd", "STAMP"),
    ("  hhhhhhhh  ", "  00000000  "),
];

/// Returns the text with a word in place of everything that differs from run to run.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = PATTERNS.iter().find(|(pattern, _)| fits(rest, pattern));
        let (taken, shown) = match found {
            Some((pattern, word)) => (pattern.len(), *word),
            None => (first.len_utf8(), &rest[..first.len_utf8()]),
        };
        masked.push_str(shown);
        rest = &rest[taken..];
    }
    masked
}

fn fits(text: &str, pattern: &str) -> bool {
    let text = text.as_bytes();
    text.len() >= pattern.len()
        && pattern
            .bytes()
            .zip(text)
            .all(|(wanted, found)| match wanted {
                b'h' => found.is_ascii_hexdigit(),
                b'd' => found.is_ascii_digit(),
                other => *found == other,
            })
}
