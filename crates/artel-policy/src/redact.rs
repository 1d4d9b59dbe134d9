//! What looks like a secret: formats of keys and tokens, found in text and in streams.
//!
//! The text is gone through once. A table look-up a byte finds the few places where a rule may
//! begin (`grams`); the rules (`rules`) look at what stands there, at most a few hundred bytes
//! far, so that the time is linear whatever the text is. A rule that would have to see more of a
//! text that may go on decides nothing yet (`view`), so that a stream comes to the same answers
//! as the whole text, wherever it is cut.

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

use artel_types::{Formats, Inside, Redactor, Secret, TextEnd};
use serde_json::Value;

pub use batch::redact_line;
use scan::Scanner;

/// Built once: the tables are the same for everyone who configures no names.
static SCANNER: LazyLock<Arc<Scanner>> = LazyLock::new(|| Arc::new(Scanner::new(&[])));

/// Something that looks like a secret. It says what and where, and never repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it looks like, such as `github token`.
    pub name: &'static str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// Returns all formats, to be handed to [`Redactor::with_formats`].
pub fn formats() -> Arc<dyn Formats> {
    SCANNER.clone()
}

/// Returns all formats, and the values of fields with these names: dashes and capitals do not
/// matter.
pub fn formats_with_fields(names: impl IntoIterator<Item = impl Into<String>>) -> Arc<dyn Formats> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    match names.is_empty() {
        true => formats(),
        false => Arc::new(Scanner::new(&names)),
    }
}

/// Makes a redactor that removes these values and whatever looks like a secret.
pub fn redactor<'a>(known: impl IntoIterator<Item = &'a Secret>) -> Redactor {
    Redactor::of_known_values(known).with_formats(formats())
}

/// Finds what looks like a secret, so that a text can be stopped that should not hold one.
pub fn find_secret_in(text: &str) -> Vec<Found> {
    let mut all = Vec::new();
    let (text, end) = (text.as_bytes(), TextEnd::Here);
    SCANNER.look_at(text, 0, Inside::Nothing, end, |range, name| {
        all.push(Found { name, range });
    });
    all
}

/// Finds what looks like a secret anywhere in a JSON value: in texts, in names, and by the names
/// of fields. Returns the path of each place, such as `/env/0/value`, and what it looks like.
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
                // A name that is a secret itself must not be told either.
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
