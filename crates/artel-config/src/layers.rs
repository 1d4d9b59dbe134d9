//! The layers, lowest first, and what each of them says.

use std::path::{Path, PathBuf};

use artel_types::Failure;

use crate::nearest::{nearest_key, nearest_variable};
use crate::schema::{Field, fields, sections};
use crate::value::Given;
use crate::{Environment, Origin, document, file, problem, schema};

/// Variables of Artel that are not settings.
const OTHER_VARIABLES: [&str; 3] = ["ARTEL_WORKSHOP", "ARTEL_MODEL", "ARTEL_ACCOUNT"];

/// One setting as one layer has it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) field: &'static Field,
    pub(crate) given: Given,
    /// The value as it is written there, safe to print.
    pub(crate) echo: String,
    pub(crate) origin: Origin,
}

/// What the layers say, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) entries: Vec<Result<Entry, Failure>>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) unknown_variables: Vec<String>,
}

impl Found {
    /// Adds a settings file; one that does not exist says nothing.
    pub(crate) fn add_file(&mut self, path: &Path, origin: fn(PathBuf, usize) -> Origin) {
        let text = match file::read_text(path) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(why) => return self.entries.push(Err(problem::unreadable(path, &why))),
        };
        self.files.push(path.to_owned());
        self.entries.extend(document::read(&text, path, |line| {
            origin(path.to_owned(), line)
        }));
    }

    /// Adds the variables `ARTEL_…`. An empty one counts as not set, which is how a shell line
    /// takes a variable away from one command.
    pub(crate) fn add_variables(&mut self, environment: &Environment) {
        for (name, text) in environment.beginning_with("ARTEL_") {
            if text.is_empty() || OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            let origin = Origin::Env(name.clone());
            match fields().find(|field| field.variable() == name) {
                Some(field) => match text.to_str() {
                    Some(text) => self.add_bare(field, text, origin),
                    None => self.entries.push(Err(problem::not_text(field, &origin))),
                },
                None if is_in_section(&name) => {
                    let meant = nearest_variable(&name);
                    let unknown = problem::unknown(&name, &origin, meant.as_deref());
                    self.entries.push(Err(unknown));
                }
                None => self.unknown_variables.push(problem::shown(&name)),
            }
        }
    }

    /// Adds `--set key=value` flags, in the order given.
    pub(crate) fn add_flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            let path: Vec<_> = key.split('.').map(str::to_owned).collect();
            match schema::find(&path) {
                Some(field) => self.add_bare(field, text, Origin::Flag),
                None => {
                    let meant = nearest_key(&path);
                    self.entries
                        .push(Err(problem::unknown(key, &Origin::Flag, meant)));
                }
            }
        }
    }

    fn add_bare(&mut self, field: &'static Field, text: &str, origin: Origin) {
        let given = Given::Bare(text.to_owned());
        self.entries.push(Ok(Entry {
            field,
            given,
            echo: problem::shown(text),
            origin,
        }));
    }
}

/// Tells whether a variable is surely meant as a setting: others may belong to a newer Artel.
fn is_in_section(variable: &str) -> bool {
    sections().into_iter().any(|section| {
        let prefix = format!("ARTEL_{}_", section.replace('.', "_").to_ascii_uppercase());
        variable.starts_with(&prefix)
    })
}
