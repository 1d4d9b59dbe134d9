//! Compares an input with the schema of its tool, and gives each fault with its remedy.

use serde_json::Value;

use crate::nearest;

/// Largest number of fields named if no name is similar.
const MOST_NAMED: usize = 12;

/// Returns hints on how to change the input so that it fits, or an empty list if it does.
pub(super) fn hints(schema: &Value, input: &Value) -> Vec<String> {
    let Some(fields) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let Some(given) = input.as_object() else {
        let names: Vec<_> = fields.keys().map(|name| format!("`{name}`")).collect();
        return vec![format!(
            "send one JSON object with the fields {}",
            names.join(", ")
        )];
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing: Vec<&str> = required
        .filter_map(Value::as_str)
        .filter(|name| !given.contains_key(*name))
        .collect();
    let mut hints = Vec::new();
    for (name, value) in given {
        if let Some(field) = fields.get(name) {
            hints.extend(misfit(name, field, value));
            continue;
        }
        let open = fields.keys().filter(|known| !given.contains_key(*known));
        let open: Vec<&str> = open.map(String::as_str).collect();
        let meant = meant(name, value, &missing, &open, &schema["properties"]);
        if let Some(meant) = meant {
            missing.retain(|other| *other != meant);
            hints.push(format!("`{name}` is no field; did you mean `{meant}`?"));
        } else {
            hints.push(format!("`{name}` is no field: leave out `{name}`"));
        }
    }
    hints.extend(missing.into_iter().map(|name| {
        let about = fields[name]["description"].as_str().unwrap_or_default();
        format!("`{name}` is required: {about}")
    }));
    if let Some(said) = named(fields.keys().map(String::as_str), &hints) {
        hints.push(said);
    }
    hints
}

/// Returns the field that an unknown one was probably meant to be: one with a similar
/// name, or the only missing one that accepts such a value.
fn meant<'f>(
    name: &str,
    value: &Value,
    missing: &[&'f str],
    open: &[&'f str],
    fields: &Value,
) -> Option<&'f str> {
    let parts = name.split(['_', '-', '.']);
    let part = parts.filter_map(|part| open.iter().find(|known| **known == part));
    let alike = nearest(name, open.iter().copied(), 1);
    let found = part.copied().next().or(alike.first().copied());
    found.or_else(|| match missing {
        [only] if is_of(&fields[*only], value) => Some(*only),
        _ => None,
    })
}

/// Returns a hint about the values that a field accepts, or `None` if this value fits.
fn misfit(name: &str, field: &Value, value: &Value) -> Option<String> {
    if let Some(choices) = field["enum"].as_array() {
        if choices.contains(value) {
            return None;
        }
        let words: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        let given = value.as_str().unwrap_or_default();
        let mut best = nearest(given, words.iter().copied(), 1);
        best.extend(words.iter().filter(|word| **word != given));
        best.dedup();
        let best: Vec<_> = best.iter().map(|word| format!("`{word}`")).collect();
        return Some(format!("write `{name}` as {}", best.join(" or ")));
    }
    if !is_of(field, value) {
        let sort = field["type"].as_str().unwrap_or("another type");
        return Some(match converted(sort, value) {
            Some(mended) => format!("write `{name}` as `{mended}`: it takes {}", article(sort)),
            None => format!("`{name}` takes {}: leave out `{name}`", article(sort)),
        });
    }
    let (least, given) = (field["minimum"].as_i64()?, value.as_i64()?);
    (given < least).then(|| format!("write `{name}` as `{least}` or more"))
}

fn is_of(field: &Value, value: &Value) -> bool {
    match field["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    }
}

/// Converts a value of another type, if its meaning is clear.
fn converted(sort: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().map(str::trim);
    match sort {
        "integer" => {
            let number = text.map_or_else(|| value.as_f64(), |text| text.parse().ok())?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it has no fraction and is small"
            )]
            let whole = (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
            whole.map(Value::from)
        }
        "boolean" => match text {
            Some("true" | "yes" | "1") => Some(Value::Bool(true)),
            Some("false" | "no" | "0") => Some(Value::Bool(false)),
            _ => None,
        },
        "string" => match value {
            Value::Number(_) | Value::Bool(_) => Some(Value::from(value.to_string())),
            Value::Array(items) => {
                let words: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
                words.map(|words| Value::from(words.join(" ")))
            }
            _ => None,
        },
        "array" if !value.is_null() => {
            let list = text.and_then(|text| serde_json::from_str(text).ok());
            Some(
                list.filter(Value::is_array)
                    .unwrap_or_else(|| Value::from(vec![value.clone()])),
            )
        }
        "object" => text
            .and_then(|text| serde_json::from_str(text).ok())
            .filter(Value::is_object),
        _ => None,
    }
}

fn article(sort: &str) -> String {
    match sort {
        "array" => "a list".to_owned(),
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        other => format!("a {other}"),
    }
}

/// Lists the field names, if for some unknown field no similar name was found.
fn named<'f>(fields: impl Iterator<Item = &'f str>, hints: &[String]) -> Option<String> {
    let is_open = hints.iter().any(|hint| hint.contains("is no field: leave"));
    let names: Vec<_> = fields.take(MOST_NAMED).collect();
    (is_open && !names.is_empty()).then(|| format!("its fields are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_has_its_mend() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file."},
                "limit": {"type": "integer", "minimum": 1},
                "all": {"type": "boolean"},
                "output": {"type": "string", "enum": ["content", "files", "count"]},
                "args": {"type": "array"},
            },
            "required": ["path"],
        });
        let table = [
            (json!({"path": "a"}), ""),
            (json!({}), "`path` is required: The file."),
            (
                json!({"file_path": "a"}),
                "`file_path` is no field; did you mean `path`?",
            ),
            (
                json!({"filename": "a"}),
                "`filename` is no field; did you mean `path`?",
            ),
            (
                json!({"path": "a", "colour": 1}),
                "`colour` is no field: leave out `colour`",
            ),
            (
                json!({"path": "a", "limit": "10"}),
                "write `limit` as `10`: it takes a whole number",
            ),
            (
                json!({"path": "a", "limit": "ten"}),
                "`limit` takes a whole number: leave out `limit`",
            ),
            (
                json!({"path": "a", "limit": 0}),
                "write `limit` as `1` or more",
            ),
            (json!({"path": "a", "all": "yes"}), "write `all` as `true`"),
            (
                json!({"path": 7}),
                "write `path` as `\"7\"`: it takes a string",
            ),
            (json!({"path": ["a", "b"]}), "write `path` as `\"a b\"`"),
            (
                json!({"path": "a", "args": "x"}),
                "write `args` as `[\"x\"]`: it takes a list",
            ),
            (
                json!({"path": "a", "output": "file"}),
                "write `output` as `files` or `content`",
            ),
            (json!("a"), "send one JSON object with the fields"),
        ];
        for (input, expected) in table {
            let said = hints(&schema, &input).join("\n");
            assert!(said.contains(expected), "{input}: {said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{input}: {said}");
        }
    }
}
