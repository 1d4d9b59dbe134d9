//! The part of JSON Schema that Gemini understands.
//!
//! Everything else in a schema is left out: Gemini refuses the whole request for one
//! unknown keyword, and the tool runner checks the arguments against the whole schema
//! anyway.

use serde_json::{Map, Value, json};

/// Deepest nesting that is written; anything deeper becomes a plain string.
const DEEPEST: usize = 24;

/// Most nodes that are written. References can make a small schema enormous.
const MOST_NODES: usize = 1_000;

/// Keywords that mean the same in Gemini.
const PLAIN: [&str; 12] = [
    "description",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "title",
];

/// Formats that Gemini understands; it refuses others.
const FORMATS: [&str; 6] = ["date-time", "enum", "float", "double", "int32", "int64"];

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Returns the schema reduced to the keywords that Gemini understands.
pub(super) fn reduced(schema: &Value) -> Value {
    let mut reducer = GoogleSchemaReducer {
        root: schema,
        left: MOST_NODES,
        within: Vec::new(),
    };
    reducer.node(schema, DEEPEST)
}

struct GoogleSchemaReducer<'a> {
    root: &'a Value,
    left: usize,
    /// References being expanded. One that refers to itself would never end.
    within: Vec<String>,
}

impl GoogleSchemaReducer<'_> {
    fn node(&mut self, schema: &Value, depth: usize) -> Value {
        let is_spent = self.left == 0 || depth == 0;
        self.left = self.left.saturating_sub(1);
        let Some(fields) = schema.as_object().filter(|_| !is_spent) else {
            return json!({ "type": "string" });
        };
        let within = self.within.len();
        let fields = self.resolved(fields, depth);
        let node = self.written(&fields, depth - 1);
        self.within.truncate(within);
        node
    }

    fn written(&mut self, fields: &Map<String, Value>, depth: usize) -> Value {
        let mut written = plain(fields);
        let choices = choices(fields);
        if let Some(choices) = choices.filter(|_| !fields.contains_key("properties")) {
            return self.choice(written, &choices, depth);
        }
        let types = types(fields);
        if types.contains(&"null") {
            written.insert("nullable".into(), true.into());
        }
        let named: Vec<&str> = types.into_iter().filter(|name| *name != "null").collect();
        if named.len() > 1 && !fields.contains_key("enum") {
            let choices: Vec<Value> = named
                .iter()
                .map(|name| {
                    let mut one = fields.clone();
                    one.insert("type".into(), (*name).into());
                    one.remove("description");
                    Value::Object(one)
                })
                .collect();
            return self.choice(written, &choices, depth);
        }
        let name = named.first().copied().unwrap_or_else(|| guess(fields));
        written.insert("type".into(), name.into());
        match name {
            "object" => self.object(fields, &mut written, depth),
            "array" => self.array(fields, &mut written, depth),
            _ => scalar(name, fields, &mut written),
        }
        Value::Object(written)
    }

    /// Merges a schema with the target of its `$ref` and with the parts of its `allOf`.
    fn resolved(&mut self, fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut fields = fields.clone();
        while let Some(Value::String(reference)) = fields.remove("$ref") {
            if self.within.contains(&reference) {
                fields.entry("type").or_insert_with(|| "object".into());
                break;
            }
            let found = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer))
                .and_then(Value::as_object);
            merge(&mut fields, found.into_iter().flatten());
            self.within.push(reference);
        }
        let all = fields.remove("allOf");
        for part in all.iter().filter_map(Value::as_array).flatten() {
            let Some(part) = part.as_object().filter(|_| depth > 1) else {
                continue;
            };
            let part = self.resolved(part, depth - 1);
            merge(&mut fields, &part);
        }
        fields
    }

    fn choice(
        &mut self,
        mut written: Map<String, Value>,
        choices: &[Value],
        depth: usize,
    ) -> Value {
        let is_null = |choice: &&Value| choice["type"] == "null";
        if choices.iter().any(|choice| is_null(&choice)) {
            written.insert("nullable".into(), true.into());
        }
        let mut nodes: Vec<Value> = choices
            .iter()
            .filter(|choice| !is_null(choice))
            .map(|choice| self.node(choice, depth))
            .collect();
        if nodes.len() == 1
            && let Some(Value::Object(only)) = nodes.pop()
        {
            let mut only = only;
            only.extend(written);
            return Value::Object(only);
        }
        written.retain(|name, _| ["description", "nullable", "title"].contains(&name.as_str()));
        if nodes.is_empty() {
            written.insert("type".into(), "string".into());
        } else {
            written.insert("anyOf".into(), Value::Array(nodes));
        }
        Value::Object(written)
    }

    fn object(
        &mut self,
        fields: &Map<String, Value>,
        written: &mut Map<String, Value>,
        depth: usize,
    ) {
        let Some(properties) = fields.get("properties").and_then(Value::as_object) else {
            return;
        };
        if properties.is_empty() {
            return;
        }
        let nodes: Map<String, Value> = properties
            .iter()
            .map(|(name, schema)| (name.clone(), self.node(schema, depth)))
            .collect();
        // Gemini refuses a required name that has no property.
        let required = fields.get("required").and_then(Value::as_array);
        let required: Vec<Value> = required
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(|name| nodes.contains_key(name)))
            .cloned()
            .collect();
        if !required.is_empty() {
            written.insert("required".into(), Value::Array(required));
        }
        written.insert("properties".into(), Value::Object(nodes));
    }

    /// Adds the item schema, which every array must have.
    fn array(
        &mut self,
        fields: &Map<String, Value>,
        written: &mut Map<String, Value>,
        depth: usize,
    ) {
        let items = fields.get("items").or_else(|| fields.get("prefixItems"));
        let items = match items {
            Some(Value::Array(several)) => several.first(),
            one => one,
        };
        let node = self.node(items.unwrap_or(&Value::Null), depth);
        written.insert("items".into(), node);
    }
}

fn plain(fields: &Map<String, Value>) -> Map<String, Value> {
    let kept = fields.iter().filter(|(name, value)| {
        let fits = match name.as_str() {
            "description" | "title" | "pattern" => value.is_string(),
            "nullable" => value.is_boolean(),
            _ => value.is_number(),
        };
        fits && PLAIN.contains(&name.as_str())
    });
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Adds the fields that are missing. Existing ones stay; properties and required names are
/// joined.
fn merge<'a>(
    fields: &mut Map<String, Value>,
    more: impl IntoIterator<Item = (&'a String, &'a Value)>,
) {
    for (name, value) in more {
        match (fields.get_mut(name), value) {
            (None, value) => {
                fields.insert(name.clone(), value.clone());
            }
            (Some(Value::Object(there)), Value::Object(more)) if name == "properties" => {
                for (name, value) in more {
                    there.entry(name).or_insert_with(|| value.clone());
                }
            }
            (Some(Value::Array(there)), Value::Array(more)) if name == "required" => {
                there.extend(more.iter().cloned());
            }
            _ => {}
        }
    }
}

fn choices(fields: &Map<String, Value>) -> Option<Vec<Value>> {
    let choices = fields.get("anyOf").or_else(|| fields.get("oneOf"));
    choices.and_then(Value::as_array).cloned()
}

/// Returns the known types that the schema names, `null` included.
fn types(fields: &Map<String, Value>) -> Vec<&str> {
    let named = match fields.get("type") {
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    };
    let is_known = |name: &&str| TYPES.contains(name) || *name == "null";
    named.into_iter().filter(is_known).collect()
}

/// Guesses a type for a schema that names none, because every node must have one.
fn guess(fields: &Map<String, Value>) -> &'static str {
    if fields.contains_key("properties") {
        "object"
    } else if fields.contains_key("items") || fields.contains_key("prefixItems") {
        "array"
    } else {
        "string"
    }
}

fn scalar(name: &str, fields: &Map<String, Value>, written: &mut Map<String, Value>) {
    let format = fields.get("format").and_then(Value::as_str);
    if let Some(format) = format.filter(|format| FORMATS.contains(format)) {
        written.insert("format".into(), format.into());
    }
    let only = fields.get("const").cloned().map(|value| vec![value]);
    let listed = fields.get("enum").and_then(Value::as_array).cloned();
    let Some(values) = listed.or(only) else {
        return;
    };
    let words: Vec<String> = values
        .iter()
        .filter(|value| !value.is_null())
        .map(word)
        .collect();
    if words.len() < values.len() {
        written.insert("nullable".into(), true.into());
    }
    if name == "string" {
        written.insert("enum".into(), json!(words));
    } else {
        // Only strings can be listed. A number with three allowed values stays a number,
        // and the description tells the model the values.
        let before = written.get("description").and_then(Value::as_str);
        let before = before.map_or(String::new(), |text| format!("{text} "));
        let told = format!("{before}One of: {}.", words.join(", "));
        written.insert("description".into(), told.into());
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
