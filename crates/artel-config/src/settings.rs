//! The settings in force: every layer read, checked and put over the one below.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use artel_types::{Code, Failure};

use crate::layers::{Entry, Found};
use crate::schema::{Field, fields};
use crate::value::{Given, Value, Wrong};
use crate::{Clean, Environment, Journal, Origin, Output, Places, Setting, problem};

/// Every setting, typed, with where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How the journal is kept.
    pub journal: Journal,
    /// How output looks.
    pub output: Output,
    /// What may be removed, and when.
    pub clean: Clean,
    /// Variables that begin with `ARTEL_` and mean nothing to this build.
    pub unknown_variables: Vec<String>,
    /// The settings files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    values: Values,
}

/// One setting for people, as `artel config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The dotted name.
    pub key: &'static str,
    /// The value in force, as TOML.
    pub value: String,
    /// Where it came from: `default`, `user FILE:LINE`, `workshop FILE:LINE`, a variable, `--set`.
    pub origin: String,
    /// What the setting does.
    pub about: &'static str,
}

impl Settings {
    /// Reads all layers. Either everything is right, or all that is wrong is returned, lowest
    /// layer first; a bad value is reported also where a higher layer would have replaced it.
    ///
    /// `workshop` is the folder of the workshop in use, if it is one whose settings count.
    pub fn load(
        environment: &Environment,
        places: &Places,
        workshop: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Self, Vec<Failure>> {
        let mut found = Found::default();
        found.add_file(&places.user_file(), Origin::User);
        if let Some(workshop) = workshop {
            found.add_file(&workshop.join("artel.toml"), Origin::Workshop);
        }
        found.add_variables(environment);
        found.add_flags(flags);
        Self::from_found(found)
    }

    fn from_found(found: Found) -> Result<Self, Vec<Failure>> {
        let Found {
            entries,
            files,
            unknown_variables,
        } = found;
        let mut values = Values::defaults();
        let put = |entry: Result<Entry, Failure>| values.put(entry?);
        let problems: Vec<_> = entries
            .into_iter()
            .map(put)
            .filter_map(Result::err)
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        Self::typed(values, files, unknown_variables).map_err(|failure| vec![failure])
    }

    fn typed(
        values: Values,
        files: Vec<PathBuf>,
        unknown_variables: Vec<String>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            journal: Journal::from_values(&values)?,
            output: Output::from_values(&values)?,
            clean: Clean::from_values(&values)?,
            unknown_variables,
            files,
            values,
        })
    }

    /// Returns every setting in the order of the documentation.
    pub fn rows(&self) -> Vec<Row> {
        let row = |field: &'static Field| {
            let setting = self.values.0.get(field.key)?;
            Some(Row {
                key: field.key,
                value: setting.value.to_toml(),
                origin: setting.origin.to_string(),
                about: field.about,
            })
        };
        fields().filter_map(row).collect()
    }

    /// Returns the BLAKE3 hash, in hex, of the values in force. Where they came from, and how a
    /// span is spelt, does not count: it changes when and only when the configuration does.
    pub fn checksum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (key, setting) in &self.values.0 {
            hasher.update(format!("{key}={}\n", setting.value.canonical()).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// The checked values by key. The areas take theirs out of it by type; asking for a key or a type
/// that the schema does not have is our mistake, and shows in the first test that loads anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Values(BTreeMap<&'static str, Setting<Value>>);

impl Values {
    fn defaults() -> Self {
        let default = |field: &'static Field| {
            let value = field
                .kind
                .read(&Given::Bare(field.default.to_owned()))
                .ok()?;
            Some((
                field.key,
                Setting {
                    value,
                    origin: Origin::Default,
                },
            ))
        };
        Self(fields().filter_map(default).collect())
    }

    fn put(&mut self, entry: Entry) -> Result<(), Failure> {
        let Entry {
            field,
            given,
            echo,
            origin,
        } = entry;
        match field.kind.read(&given) {
            Ok(value) => {
                self.0.insert(field.key, Setting { value, origin });
                Ok(())
            }
            Err(Wrong::Type) => Err(problem::wrong_type(field, &given, &echo, &origin)),
            Err(Wrong::Value) => Err(problem::not_allowed(field, &given, &echo, &origin)),
        }
    }

    pub(crate) fn word<T: FromStr>(&self, key: &str) -> Result<Setting<T>, Failure> {
        self.take(key, |value| match value {
            Value::Word(word) => word.parse().ok(),
            _ => None,
        })
    }

    pub(crate) fn span(&self, key: &str) -> Result<Setting<Duration>, Failure> {
        self.take(key, |value| match value {
            Value::Span { length, .. } => Some(*length),
            _ => None,
        })
    }

    pub(crate) fn whole(&self, key: &str) -> Result<Setting<u64>, Failure> {
        self.take(key, |value| match value {
            Value::Whole(number) => Some(*number),
            _ => None,
        })
    }

    fn take<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Setting<T>, Failure> {
        let setting = self.0.get(key);
        setting
            .and_then(|setting| {
                Some(Setting {
                    value: read(&setting.value)?,
                    origin: setting.origin.clone(),
                })
            })
            .ok_or_else(|| {
                Failure::new(
                    Code::X001,
                    format!("the table of settings does not fit `{key}`"),
                )
            })
    }
}
