//! Adds quotes around values that are not valid YAML without them.
//!
//! People write `description: Use when: a file is big`, and other agents accept it. Each
//! entry that does not parse alone gets its value quoted; lines keep their numbers.

use crate::yaml;

/// Returns the text with missing quotes added, or `None` if no entry could be repaired.
pub(crate) fn repair(text: &str) -> Option<String> {
    let mut mended = String::new();
    let mut has_changed = false;
    for entry in entries(text) {
        match (yaml::parse(&entry).is_err())
            .then(|| mend(&entry))
            .flatten()
        {
            Some(better) => {
                has_changed = true;
                mended.push_str(&better);
            }
            None => mended.push_str(&entry),
        }
    }
    has_changed.then_some(mended)
}

/// Returns the top-level entries, each with the indented or blank lines after it.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_inside = line.starts_with([' ', '\t', '-', '#']) || line.trim().is_empty();
        match entries.last_mut() {
            Some(entry) if is_inside => entry.push_str(line),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

fn mend(entry: &str) -> Option<String> {
    let (first, rest) = entry.split_once('\n').unwrap_or((entry, ""));
    let (key, value) = keyed(first)?;
    if value.is_empty() {
        // A map or list follows: its lines are repaired one by one.
        let below: Vec<String> = rest.split_inclusive('\n').map(mend_line).collect();
        return Some(format!("{first}\n{}", below.concat()));
    }
    let below: Vec<&str> = rest.lines().map(str::trim).collect();
    let whole = std::iter::once(value)
        .chain(below.iter().copied())
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let lines = "\n".repeat(rest.matches('\n').count() + 1);
    Some(format!("{key}: {}{lines}", quoted(&whole)))
}

fn mend_line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let (margin, inner) = line.split_at(indent);
    match keyed(inner.trim_end()) {
        Some((key, value)) if !value.is_empty() && yaml::parse(inner).is_err() => {
            format!("{margin}{key}: {}\n", quoted(value))
        }
        _ => line.to_owned(),
    }
}

/// Returns the key and the value of a line such as `key: value`.
fn keyed(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_fine = !key.is_empty() && key.chars().all(is_key);
    let has_space = value.is_empty() || value.starts_with([' ', '\t', '\r']);
    (is_fine && has_space).then(|| (key, value.trim()))
}

/// Quotes a text. Text in double quotes is the same in JSON and YAML.
fn quoted(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::YamlValue;

    #[test]
    fn what_people_write_is_read() {
        let table = [
            (
                "description: Use when: a file is big",
                "Use when: a file is big",
            ),
            ("description: *bold* words", "*bold* words"),
            ("description: @mention them", "@mention them"),
            ("description: `code` first", "`code` first"),
            ("description: [file] [format]", "[file] [format]"),
            ("description: \"quoted\" and not", "\"quoted\" and not"),
            (
                "description: one: two\n  three: four\n",
                "one: two three: four",
            ),
            ("description: ends with:", "ends with:"),
        ];
        for (text, expected) in table {
            let text = format!("name: x\n{text}\nlicense: MIT\n");
            assert!(yaml::parse(&text).is_err(), "{text}");
            let mended = repair(&text).unwrap();
            let node = yaml::parse(&mended).unwrap();
            let YamlValue::Map(map) = node.value else {
                panic!("{mended}");
            };
            let line = |name: &str| text.lines().position(|line| line.starts_with(name));
            for (key, node) in &map {
                assert_eq!(Some(key.line - 1), line(&key.text), "{text}");
                if let ("description", YamlValue::Scalar { text, .. }) = (&*key.text, &node.value) {
                    assert_eq!(text, expected);
                }
            }
            assert_eq!(map.len(), 3, "{text}");
        }
        let nested = "metadata:\n  short: a: b\n  author: me\n";
        assert!(yaml::parse(&repair(nested).unwrap()).is_ok());
    }

    #[test]
    fn what_no_quotes_mend_stays_broken() {
        for text in ["", "name", "\ta: b", "name: x\nname: y", "- a\n- b"] {
            assert_eq!(repair(text), None, "{text:?}");
        }
    }
}
