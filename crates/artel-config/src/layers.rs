//! The layers, lowest first, and the settings in each.

use std::path::{Path, PathBuf};

use artel_types::Failure;

use crate::hooks::HookEntry;
use crate::nearest::{nearest_key, nearest_variable};
use crate::schema::{SettingField, fields, own_sections, sections};
use crate::value::RawSettingValue;
use crate::{ProcessEnvironment, SettingOrigin, document, file, names, problem, schema};

/// Variables of Artel that are not settings.
const OTHER_VARIABLES: [&str; 3] = ["ARTEL_WORKSHOP", "ARTEL_MODEL", "ARTEL_ACCOUNT"];

/// One setting, as one layer gives it.
#[derive(Debug)]
pub(crate) struct SettingLayerEntry {
    pub(crate) field: &'static SettingField,
    /// Parts of its name, with the user's own names in the places where the schema has
    /// brackets.
    pub(crate) path: Vec<String>,
    pub(crate) given: RawSettingValue,
    /// The part of the value that a message may repeat, safe to print.
    pub(crate) echo: String,
    pub(crate) origin: SettingOrigin,
}

/// Everything that the layers give, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct SettingLayers {
    pub(crate) entries: Vec<Result<SettingLayerEntry, Failure>>,
    pub(crate) hooks: Vec<HookEntry>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) unknown_variables: Vec<String>,
}

impl SettingLayers {
    /// Adds a settings file. A missing file adds nothing.
    pub(crate) fn add_file(&mut self, path: &Path, origin: fn(PathBuf, usize) -> SettingOrigin) {
        let text = match file::read_text(path) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(why) => return self.entries.push(Err(problem::unreadable(path, &why))),
        };
        self.files.push(path.to_owned());
        let read = document::read(&text, path, |line| origin(path.to_owned(), line));
        self.entries.extend(read.said);
        self.hooks.extend(read.hooks);
    }

    /// Adds the variables `ARTEL_…`. An empty one counts as not set, so that a shell line can
    /// remove a variable for one command.
    pub(crate) fn add_variables(&mut self, environment: &ProcessEnvironment) {
        for (name, text) in environment.beginning_with("ARTEL_") {
            if text.is_empty() || OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            let origin = SettingOrigin::Env(name.clone());
            let is_it = |field: &&SettingField| field.variable().as_ref() == Some(&name);
            match fields().find(is_it) {
                Some(field) => match text.to_str() {
                    Some(text) => {
                        let path = field.parts().map(str::to_owned).collect();
                        self.add_bare(field, path, text, origin);
                    }
                    None => {
                        let failure = problem::not_text(field.key, field.kind, &origin);
                        self.entries.push(Err(failure));
                    }
                },
                None if is_in(&name, own_sections()) => {
                    let failure = problem::no_variable(&name, &origin);
                    self.entries.push(Err(failure));
                }
                None if is_in(&name, sections()) => {
                    let meant = nearest_variable(&name);
                    let unknown = problem::unknown(&name, &origin, meant.as_deref());
                    self.entries.push(Err(unknown));
                }
                None => self.unknown_variables.push(problem::shown(&name)),
            }
        }
    }

    /// Adds `--set key=value` flags, in the given order.
    pub(crate) fn add_flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            let path = parts(key);
            let Some(field) = schema::find(&path) else {
                let meant = nearest_key(&path);
                let unknown = problem::unknown(key, &SettingOrigin::Flag, meant.as_deref());
                self.entries.push(Err(unknown));
                continue;
            };
            let mut prefixes = (1..=path.len()).map(|end| &path[..end]);
            match prefixes.try_for_each(|prefix| names::check(prefix, &SettingOrigin::Flag)) {
                Ok(()) => self.add_bare(field, path, text, SettingOrigin::Flag),
                Err(failure) => self.entries.push(Err(failure)),
            }
        }
    }

    fn add_bare(
        &mut self,
        field: &'static SettingField,
        path: Vec<String>,
        text: &str,
        origin: SettingOrigin,
    ) {
        self.entries.push(Ok(SettingLayerEntry {
            field,
            path,
            given: RawSettingValue::Bare(text.to_owned()),
            echo: problem::shown(&field.kind.echo(text)),
            origin,
        }));
    }
}

/// Splits the key of a flag as TOML would: a dot in double quotes does not separate.
fn parts(key: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = Some(key);
    while let Some(text) = rest {
        let quoted = text.strip_prefix('"').and_then(|text| text.split_once('"'));
        let (part, after) = match quoted {
            Some((part, "")) => (part, None),
            Some((part, after)) if after.starts_with('.') => (part, Some(&after[1..])),
            _ => match text.split_once('.') {
                Some((part, after)) => (part, Some(after)),
                None => (text, None),
            },
        };
        parts.push(part.to_owned());
        rest = after;
    }
    parts
}

/// Returns whether a variable is surely meant as a setting. Others may belong to a newer
/// Artel.
fn is_in(variable: &str, sections: Vec<&str>) -> bool {
    sections.into_iter().any(|section| {
        let prefix = format!("ARTEL_{}_", section.replace('.', "_").to_ascii_uppercase());
        variable.starts_with(&prefix)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_flags_are_taken_apart_like_toml() {
        for (key, expected) in [
            ("journal.durability", &["journal", "durability"][..]),
            ("models.\"qwen2.5\".model", &["models", "qwen2.5", "model"]),
            ("", &[""]),
            (".", &["", ""]),
            ("\"a.b", &["\"a", "b"]),
            ("\"a\"b.c", &["\"a\"b", "c"]),
            ("a.\"\"", &["a", ""]),
            ("\"a\".", &["a", ""]),
        ] {
            assert_eq!(parts(key), expected, "{key}");
        }
    }
}
