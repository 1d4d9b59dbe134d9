//! Tests that the forms of the pages send what the HTTP interface accepts: each posts to an
//! existing route, the route knows all of its fields, and no required field is missing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// A form in a template.
struct Form {
    /// The template and the path it posts to, for test failures.
    name: String,
    /// The path it posts to, with `*` for values that are filled in.
    path: String,
    /// Each field by its name, with its whole tag.
    fields: BTreeMap<String, String>,
}

#[test]
fn every_form_sends_what_its_route_takes() {
    let described = crate::openapi();
    let forms = forms();
    assert!(forms.len() >= 38, "{} forms were found", forms.len());
    for form in &forms {
        let name = &form.name;
        let schema = schema(&described, &form.path)
            .unwrap_or_else(|| panic!("nothing takes what is sent by {name}"));
        let known = schema["properties"].as_object();
        let fields = form.fields.iter().flat_map(|(field, tag)| {
            // A field whose name is filled in is named after a role.
            let roles = ["user", "developer", "admin"];
            let names = if field.contains("{{") {
                roles.to_vec()
            } else {
                vec![field.as_str()]
            };
            names.into_iter().map(move |name| (name, tag))
        });
        for (field, tag) in fields {
            let property = known.and_then(|known| known.get(field));
            let property = property.unwrap_or_else(|| panic!("`{field}` is sent by {name}"));
            let sort = sort(property);
            let sent = match attribute(tag, "data-json").as_deref() {
                Some("lines" | "words") => "array",
                Some("number") => "integer",
                Some("flag") => "boolean",
                _ if tag.contains("type=\"checkbox\"") => "array",
                _ => "string",
            };
            assert_eq!(sort, sent, "`{field}` of {name}");
        }
        let needed = schema["required"].as_array().into_iter().flatten();
        for field in needed.filter_map(Value::as_str) {
            assert!(form.fields.contains_key(field), "{name} lacks `{field}`");
        }
    }
}

/// Finds every form that posts something, in all templates.
fn forms() -> Vec<Form> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let template = path.file_name().unwrap().to_string_lossy().into_owned();
        for rest in text.split("<form ").skip(1) {
            let (head, inside) = rest.split_once('>').unwrap();
            let Some(post) = attribute(head, "data-post") else {
                continue;
            };
            let inside = &inside[..inside.find("</form>").unwrap()];
            let mut fields = fields(tags(inside));
            if let Some(id) = attribute(head, "id") {
                // Fields outside a form can refer to it by id.
                let own = format!("form=\"{id}\"");
                fields.extend(self::fields(tags(&text).filter(|tag| tag.contains(&own))));
            }
            found.push(Form {
                name: format!("{template}: {post}"),
                path: starred(&post),
                fields,
            });
        }
    }
    found
}

fn tags(text: &str) -> impl Iterator<Item = &str> {
    let tags = text.split('<').skip(1);
    tags.map(|rest| rest.split('>').next().unwrap_or_default())
}

fn fields<'t>(tags: impl Iterator<Item = &'t str>) -> BTreeMap<String, String> {
    let sends = |tag: &&str| {
        let sort = tag.split(' ').next().unwrap_or_default();
        ["input", "select", "textarea", "button"].contains(&sort)
    };
    let named = tags.filter(sends);
    let named = named.filter_map(|tag| Some((attribute(tag, "name")?, tag.to_owned())));
    named.collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = format!(" {tag}");
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

/// Replaces the values that are filled in with `*`.
fn starred(path: &str) -> String {
    let mut parts = path.split("{{");
    let mut starred = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        starred.push('*');
        starred.push_str(part.split_once("}}").unwrap().1);
    }
    starred
}

/// Returns the schema of a route's request body.
fn schema<'d>(described: &'d Value, path: &str) -> Option<&'d Value> {
    let fits = |known: &str| {
        let is_same =
            |(known, sent): (&str, &str)| known == sent || (known.starts_with('{') && sent == "*");
        let [known, sent] = [known, path].map(|path| path.split('/'));
        known.clone().count() == sent.clone().count() && known.zip(sent).all(is_same)
    };
    let paths = described["paths"].as_object()?;
    let (_, route) = paths.iter().find(|(known, _)| fits(known))?;
    let body = &route["post"]["requestBody"]["content"]["application/json"]["schema"];
    resolved(described, body)
}

fn resolved<'d>(described: &'d Value, schema: &'d Value) -> Option<&'d Value> {
    match schema["$ref"].as_str() {
        Some(name) => described.pointer(name.strip_prefix('#')?),
        None => schema.is_object().then_some(schema),
    }
}

/// Returns the type of a property, ignoring `null`.
fn sort(property: &Value) -> &str {
    match &property["type"] {
        Value::String(sort) => sort,
        Value::Array(sorts) => {
            let mut sorts = sorts.iter().filter_map(Value::as_str);
            sorts.find(|sort| *sort != "null").unwrap_or("string")
        }
        // An enum of words.
        _ => "string",
    }
}
