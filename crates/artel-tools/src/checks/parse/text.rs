//! Small functions that the parsers share, for numbers, durations and places in files.

/// Removes escape sequences and carriage returns from terminal output.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if letters.peek() == Some(&'[') => {
                letters.next();
                // The sequence ends with the first character from `@` to `~`.
                for inner in letters.by_ref() {
                    if ('@'..='~').contains(&inner) {
                        break;
                    }
                }
            }
            '\u{1b}' | '\r' => {}
            _ => out.push(letter),
        }
    }
    out
}

/// Parses `file:line` or `file:line:column`, followed by nothing but a colon.
pub(crate) fn location(text: &str) -> Option<(String, u64)> {
    let text = text.trim().trim_end_matches(':');
    let (rest, last) = text.rsplit_once(':')?;
    let last: u64 = last.parse().ok()?;
    let (file, line) = match rest.rsplit_once(':') {
        Some((file, line)) => match line.parse() {
            Ok(line) => (file, line),
            Err(_) => (rest, last),
        },
        None => (rest, last),
    };
    let file = file.strip_prefix("file://").unwrap_or(file);
    let is_file = !file.is_empty() && file.contains(['.', '/']);
    is_file.then(|| (file.to_owned(), line))
}

/// Parses the number right before a word: `3 passed`.
pub(super) fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<_> = text
        .split(|letter: char| {
            letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '|')
        })
        .filter(|part| !part.is_empty())
        .collect();
    let is_pair = |pair: &&[&str]| pair[1] == word && pair[0].parse::<u64>().is_ok();
    words
        .windows(2)
        .find(is_pair)
        .and_then(|pair| pair[0].parse().ok())
}

/// Parses the number after a label: `failures=2`, `Failures: 2`.
pub(super) fn number_after(text: &str, label: &str) -> Option<u64> {
    let start = text.find(label)? + label.len();
    let rest = text.get(start..)?.trim_start();
    let end = rest
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Converts `0.35s`, `12 ms`, `1.5 s` or `2m` to milliseconds.
pub(super) fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let unit: String = text[end..]
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let factor = match unit.as_str() {
        "ms" => 1.0,
        "s" | "sec" | "seconds" | "" => 1000.0,
        "m" | "min" => 60_000.0,
        _ => return None,
    };
    let product = value * factor;
    // A float cast saturates, so impossible durations are dropped.
    (product.is_finite() && product < 1e15).then_some(product.round() as u64)
}
