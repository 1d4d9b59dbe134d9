//! The frontmatter of the Markdown files that people edit: lines of `key: value` between
//! `---`.
//!
//! It supports the part of YAML that these files need: a value is a word, a quoted text or
//! a list of them. Everything else that a person keeps there stays as it is, line for
//! line.

/// One key with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontmatterEntry {
    /// The key; empty for a comment or an empty line.
    pub(crate) key: String,
    /// Line number in the file, from 1.
    pub(crate) line: usize,
    /// The lines, unchanged.
    pub(crate) raw: Vec<String>,
}

/// A file split into frontmatter and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontmatterAndBody<'t> {
    pub(crate) entries: Vec<FrontmatterEntry>,
    pub(crate) body: &'t str,
    /// Line number at which the body begins, from 1.
    pub(crate) body_line: usize,
}

/// An error in the frontmatter as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontmatterError {
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) remedy: &'static str,
}

/// Splits a file. Returns `None` if it does not begin with `---`.
pub(crate) fn split(text: &str) -> Result<Option<FrontmatterAndBody<'_>>, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Ok(None);
    }
    let mut at = first.len();
    let mut entries: Vec<FrontmatterEntry> = Vec::new();
    for (count, line) in lines.enumerate() {
        at += line.len();
        let number = count + 2;
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return Ok(Some(FrontmatterAndBody {
                entries,
                body: &text[at..],
                body_line: number + 1,
            }));
        }
        add(&mut entries, line, number)?;
    }
    Err(FrontmatterError {
        line: 1,
        what: "the frontmatter is not closed".to_owned(),
        remedy: "put a line with `---` after its last key",
    })
}

fn add(
    entries: &mut Vec<FrontmatterEntry>,
    line: &str,
    number: usize,
) -> Result<(), FrontmatterError> {
    let is_continued = line.starts_with([' ', '\t', '-']);
    if is_continued && let Some(last) = entries.last_mut().filter(|last| !last.key.is_empty()) {
        last.raw.push(line.to_owned());
        return Ok(());
    }
    let key = if line.is_empty() || line.starts_with('#') {
        String::new()
    } else {
        key_of(line).ok_or_else(|| FrontmatterError {
            line: number,
            what: "this line of the frontmatter is no `key: value`".to_owned(),
            remedy: "write one key and its value on each line",
        })?
    };
    if !key.is_empty() && entries.iter().any(|entry| entry.key == key) {
        return Err(FrontmatterError {
            line: number,
            what: format!("`{key}` stands here a second time"),
            remedy: "keep one of them",
        });
    }
    entries.push(FrontmatterEntry {
        key,
        line: number,
        raw: vec![line.to_owned()],
    });
    Ok(())
}

fn key_of(line: &str) -> Option<String> {
    let (key, rest) = line.split_once(':')?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let is_key = !key.is_empty() && key.chars().all(is_plain);
    (is_key && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then(|| key.trim().replace('-', "_"))
}

impl FrontmatterEntry {
    /// Reads the value as one text, or returns `None` if there is no value.
    pub(crate) fn text(&self) -> Result<Option<String>, String> {
        let value = self.value();
        if self.raw.len() > 1 {
            return Err("it is more than one line".to_owned());
        }
        if matches!(value, "" | "~" | "null") {
            return Ok(None);
        }
        scalar(value).map(Some)
    }

    /// Reads the value as a list of texts.
    pub(crate) fn texts(&self) -> Result<Vec<String>, String> {
        let value = self.value();
        let more = &self.raw[1..];
        if value.is_empty() {
            let items = more.iter().filter(|line| !line.trim().is_empty());
            return items
                .map(|line| match line.trim().strip_prefix('-') {
                    Some(item) => scalar(without_comment(item.trim())),
                    None => Err("it is no list".to_owned()),
                })
                .collect();
        }
        let inner = value
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match inner {
            Some(inner) if more.is_empty() => split_list(inner)?.into_iter().map(scalar).collect(),
            _ => Err("it is no list".to_owned()),
        }
    }

    fn value(&self) -> &str {
        let line = self.raw.first().map_or("", String::as_str);
        let value = line.split_once(':').map_or("", |(_, value)| value.trim());
        without_comment(value)
    }
}

/// Writes a text as a value that reads back as the same text.
pub(crate) fn quoted(text: &str) -> String {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '@' | '-');
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = WORDS.contains(&&*text.to_ascii_lowercase());
    if starts_well && text.chars().all(is_plain) && !is_word {
        return text.to_owned();
    }
    always_quoted(text)
}

/// Writes a text in quotes.
pub(crate) fn always_quoted(text: &str) -> String {
    // A JSON string is a YAML string, except for characters that YAML does not accept
    // unescaped.
    let json = serde_json::Value::from(text).to_string();
    let is_unprintable = |letter: char| {
        matches!(
            letter,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    json.chars().fold(String::new(), |mut quoted, letter| {
        if is_unprintable(letter) {
            quoted.push_str(&format!("\\u{:04x}", u32::from(letter)))
        } else {
            quoted.push(letter)
        }
        quoted
    })
}

/// Writes a list on one line.
pub(crate) fn listed(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

fn scalar(value: &str) -> Result<String, String> {
    let inside = |quote: char| value.strip_prefix(quote);
    if inside('"').is_some() {
        return serde_json::from_str(value).map_err(|_| "its quotes cannot be read".to_owned());
    }
    if let Some(rest) = inside('\'') {
        let inner = rest
            .strip_suffix('\'')
            .filter(|inner| !inner.replace("''", "").contains('\''));
        return inner
            .map(|inner| inner.replace("''", "'"))
            .ok_or_else(|| "its quotes cannot be read".to_owned());
    }
    if value.starts_with(['[', '{', '|', '>', '&', '*', '!', '%', '@', '`']) {
        return Err("it is no plain text".to_owned());
    }
    if value.contains(": ") || value.ends_with(':') {
        return Err("it holds a colon and stands in no quotes".to_owned());
    }
    Ok(value.to_owned())
}

/// Removes a comment: everything after a `#` that follows a space, outside of quotes.
fn without_comment(value: &str) -> &str {
    let mut quote: Option<char> = None;
    let (mut before, mut is_escaped) = (' ', false);
    for (at, letter) in value.char_indices() {
        match quote {
            Some('"') if letter == '\\' && !is_escaped => {
                is_escaped = true;
                continue;
            }
            Some(open) if letter == open && !is_escaped => quote = None,
            Some(_) => {}
            None if letter == '#' && before.is_whitespace() => return value[..at].trim_end(),
            None if matches!(letter, '"' | '\'') && matches!(before, ' ' | '[' | ',') => {
                quote = Some(letter);
            }
            None => {}
        }
        (before, is_escaped) = (letter, false);
    }
    value
}

/// Splits the inside of a list at the commas outside of quotes.
fn split_list(inner: &str) -> Result<Vec<&str>, String> {
    let mut items = Vec::new();
    let mut quote: Option<char> = None;
    let (mut start, mut is_escaped) = (0, false);
    for (at, letter) in inner.char_indices() {
        match quote {
            Some('"') if letter == '\\' && !is_escaped => {
                is_escaped = true;
                continue;
            }
            Some(open) if letter == open && !is_escaped => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') && inner[start..at].trim().is_empty() => {
                quote = Some(letter);
            }
            None if letter == ',' => {
                items.push(inner[start..at].trim());
                start = at + 1;
            }
            None => {}
        }
        is_escaped = false;
    }
    if quote.is_some() {
        return Err("a quote in it is not closed".to_owned());
    }
    let last = inner[start..].trim();
    if !last.is_empty() {
        items.push(last);
    }
    if items.iter().any(|item| item.is_empty()) {
        Err("an entry of it is empty".to_owned())
    } else {
        Ok(items)
    }
}
