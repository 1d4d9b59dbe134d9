//! Finds what looks like a secret: formats of keys and tokens, in text and in streams.
//!
//! The text is read once. One table lookup per byte finds the few places where a rule may
//! begin (`grams`). The rules (`rules`) examine those places, at most a few hundred bytes
//! each, so the time is linear in any text. A rule that would need to see past the open
//! end of a text decides nothing yet (`view`), so a stream gives the same answers as the
//! whole text, wherever it is cut.

mod batch;
mod commands;
mod fields;
mod grams;
mod headers;
mod literals;
mod mend;
mod names;
mod pem;
mod rules;
mod scan;
mod separators;
mod urls;
mod values;
mod vendors;
mod verdict;
mod view;
mod words;

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use artel_types::{Secret, SecretDetector, SecretRedactor, SecretScanContext, TextEnd};
use serde_json::Value;

pub use batch::redact_line;
use scan::SecretScanner;

/// Built once: the tables are the same whenever no names are configured.
static SCANNER: LazyLock<Arc<SecretScanner>> = LazyLock::new(|| Arc::new(SecretScanner::new(&[])));

/// A suspected secret: its kind and place, never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectedSecret {
    /// The kind of secret, such as `github token`.
    pub name: &'static str,
    /// The place in the text, in bytes.
    pub range: Range<usize>,
}

/// Returns all formats, for [`SecretRedactor::with_formats`].
pub fn formats() -> Arc<dyn SecretDetector> {
    SCANNER.clone()
}

/// Returns all formats, and treats the values of fields with these names as secrets.
/// Dashes and capitals in names do not matter.
pub fn formats_with_fields(
    names: impl IntoIterator<Item = impl Into<String>>,
) -> Arc<dyn SecretDetector> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    if names.is_empty() {
        formats()
    } else {
        Arc::new(SecretScanner::new(&names))
    }
}

/// Creates a redactor that removes these values and anything that looks like a secret.
pub fn redactor<'a>(known: impl IntoIterator<Item = &'a Secret>) -> SecretRedactor {
    SecretRedactor::of_known_values(known).with_formats(formats())
}

/// Finds suspected secrets, so that a text that must not hold any can be stopped.
pub fn find_secret_in(text: &str) -> Vec<SuspectedSecret> {
    let mut all = Vec::new();
    let (text, end) = (text.as_bytes(), TextEnd::Here);
    SCANNER.look_at(text, 0, SecretScanContext::Nothing, end, |range, name| {
        all.push(SuspectedSecret { name, range });
    });
    all
}

/// Finds suspected secrets anywhere in a JSON value: in texts, in names, and by field
/// names. Returns the path of each place, such as `/env/0/value`, and the kind of secret.
pub fn find_in_json(value: &Value) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    look_into(value, &mut String::new(), &mut all);
    all
}

fn look_into(value: &Value, path: &mut String, all: &mut Vec<(String, &'static str)>) {
    let length = path.len();
    match value {
        Value::String(text) => {
            let found = find_secret_in(text).into_iter();
            all.extend(found.map(|found| (path.clone(), found.name)));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("/{index}"));
                look_into(item, path, all);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                let found = find_secret_in(name);
                path.push('/');
                // A name that is itself a secret must not be shown either.
                path.push_str(if found.is_empty() { name } else { "*" });
                all.extend(found.into_iter().map(|found| (path.clone(), found.name)));
                match inner {
                    Value::String(text) if SCANNER.is_secret_field(name, text) => {
                        all.push((path.clone(), "secret field"));
                    }
                    _ => look_into(inner, path, all),
                }
                path.truncate(length);
            }
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}
