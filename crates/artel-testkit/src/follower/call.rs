//! Calls, the tools they call, and the plain ways to change them.

use serde_json::{Map, Value};

use super::similar::alike;

/// A tool call as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: String,
}

/// The tools that the request describes.
#[derive(Debug, Default)]
pub(super) struct Tools {
    offered: Vec<(String, Value)>,
    /// Tools of which only the name is known.
    listed: Vec<String>,
}

impl Tools {
    pub(super) fn of(offered: &Value, system: &str) -> Self {
        let offered = offered.as_array().into_iter().flatten();
        let listed = system.lines().filter_map(|line| {
            let name = line.strip_prefix("- ")?.split([':', ' ']).next()?;
            let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            name.bytes().all(is_name).then(|| name.to_owned())
        });
        Self {
            offered: offered
                .filter_map(|tool| {
                    let name = tool["name"].as_str()?;
                    Some((name.to_owned(), tool["input_schema"].clone()))
                })
                .collect(),
            listed: listed.collect(),
        }
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.schema(name).is_some() || self.listed.iter().any(|listed| listed == name)
    }

    fn schema(&self, name: &str) -> Option<&Value> {
        let found = self.offered.iter().find(|(offered, _)| offered == name)?;
        Some(&found.1)
    }
}

impl Call {
    pub(super) fn of(tool: &str, fields: Map<String, Value>) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: Value::Object(fields).to_string(),
        }
    }

    pub(super) fn fields(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(&self.arguments).ok()
    }

    /// Returns the text of a field.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.fields()?.get(name)?.as_str().map(str::to_owned)
    }

    /// Sets a field. A value that is not JSON is used as a string.
    pub(super) fn with(&self, name: &str, value: &str) -> Option<Self> {
        let mut fields = self.fields()?;
        let was_text = fields.get(name).is_some_and(Value::is_string);
        let parsed = serde_json::from_str(value).ok();
        let parsed = parsed.filter(|parsed: &Value| !was_text || !parsed.is_string());
        let value = match parsed {
            Some(value) if !(was_text && name != "limit" && value.is_number()) => value,
            _ => Value::from(value.trim_matches('"')),
        };
        fields.insert(name.to_owned(), value);
        Some(Self::of(&self.tool, fields))
    }

    /// Renames a field.
    pub(super) fn renamed(&self, from: &str, to: &str) -> Option<Self> {
        let mut fields = self.fields()?;
        let value = fields.remove(from)?;
        fields.insert(to.to_owned(), value);
        Some(Self::of(&self.tool, fields))
    }

    /// Removes a field, which may be in an inner object: `env/KEY`.
    pub(super) fn without(&self, path: &str) -> Option<Self> {
        let mut fields = self.fields()?;
        match path.split_once('/') {
            None => fields.remove(path)?,
            Some((outer, inner)) => fields.get_mut(outer)?.as_object_mut()?.remove(inner)?,
        };
        Some(Self::of(&self.tool, fields))
    }

    /// Replaces a name with another one. If `old` is not given, the most similar name is
    /// replaced.
    pub(super) fn replacing(&self, old: Option<&str>, new: &str) -> Option<Self> {
        let mut value = Value::Object(self.fields()?);
        let mut names = Vec::new();
        gather(&value, &mut names);
        let is_there = |old: &&str| names.iter().any(|name| name == old);
        let old = match old.filter(is_there) {
            Some(old) => old.to_owned(),
            None => {
                let best = names
                    .iter()
                    .max_by(|a, b| alike(a, new).total_cmp(&alike(b, new)))?;
                best.clone()
            }
        };
        if !put(&mut value, &old, new) {
            return None;
        }
        let arguments = value.to_string();
        let tool = self.tool.clone();
        Some(Self { tool, arguments })
    }

    /// Calls another tool with the same arguments: fields that it also has are kept, and
    /// the remaining values fill the fields it requires. For a command, the words after the
    /// program are used in their order.
    pub(super) fn by(&self, tool: &str, tools: &Tools) -> Option<Self> {
        let fields = self.fields()?;
        let Some(schema) = tools.schema(tool) else {
            let path = fields.get("path").cloned();
            let path = path.map(|path| ("path".to_owned(), path));
            return Some(Self::of(tool, path.into_iter().collect()));
        };
        let has = |name: &str| schema["properties"].get(name).is_some();
        let mut taken: Map<String, Value> = Map::new();
        let mut left: Vec<Value> = Vec::new();
        for (name, value) in &fields {
            match (has(name), name.as_str()) {
                (true, _) => drop(taken.insert(name.clone(), value.clone())),
                (false, "command") => {
                    let words = value
                        .as_str()
                        .unwrap_or_default()
                        .split_whitespace()
                        .skip(1);
                    let words = words.filter(|word| !word.starts_with('-'));
                    left.extend(words.map(|word| Value::from(word.trim_matches(['\'', '"']))));
                }
                (false, _) if value.as_str().is_some_and(|text| !text.is_empty()) => {
                    left.push(value.clone());
                }
                (false, _) => {}
            }
        }
        let required = schema["required"].as_array().into_iter().flatten();
        let wanted = required.filter_map(Value::as_str).chain(["path"]);
        let mut left = left.into_iter();
        for name in wanted.filter(|name| has(name)) {
            if !taken.contains_key(name)
                && let Some(value) = left.next()
            {
                taken.insert(name.to_owned(), value);
            }
        }
        Some(Self::of(tool, taken))
    }
}

/// Returns whether a character separates names in text.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "'\"()=,;<>|&".contains(letter)
}

/// Collects the names in a value: whole texts, and the words of longer ones.
fn gather(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            names.push(text.clone());
            if text.contains(is_between) {
                let words = text.split(is_between).filter(|word| !word.is_empty());
                names.extend(words.map(str::to_owned));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, names)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, names)),
        _ => {}
    }
}

/// Replaces the first occurrence of a name, and returns whether there was one.
fn put(value: &mut Value, old: &str, new: &str) -> bool {
    match value {
        Value::String(text) if text == old => {
            new.clone_into(text);
            true
        }
        Value::String(text) => {
            let places = text.match_indices(old).map(|(at, _)| at);
            let is_whole = |at: &usize| {
                let before = text[..*at].chars().next_back();
                let after = text[at + old.len()..].chars().next();
                before.is_none_or(is_between) && after.is_none_or(is_between)
            };
            let Some(at) = places.into_iter().find(is_whole) else {
                return false;
            };
            text.replace_range(at..at + old.len(), new);
            true
        }
        Value::Array(items) => items.iter_mut().any(|item| put(item, old, new)),
        Value::Object(fields) => fields.values_mut().any(|field| put(field, old, new)),
        _ => false,
    }
}
