//! The checked values by name, and how the areas read them.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use artel_types::{Failure, FailureCode, Money};

use crate::layers::SettingLayerEntry;
use crate::schema::{SettingField, fields};
use crate::value::{RawSettingValue, SettingValue, SettingValueError};
use crate::{Setting, SettingOrigin, problem};

/// The checked values, by the parts of their names. Each area reads its values by type.
/// Asking for a name or a type that the schema does not have is our own mistake, and shows
/// in the first test that loads anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingValueTable(BTreeMap<Vec<String>, SettingFieldValue>);

/// A value with the setting that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingFieldValue {
    pub(crate) field: &'static SettingField,
    pub(crate) setting: Setting<SettingValue>,
}

/// The values below one name, by the rest of their names.
#[derive(Debug, Default)]
pub(crate) struct SettingSection<'v>(Vec<(&'v [String], &'v Setting<SettingValue>)>);

impl SettingValueTable {
    pub(crate) fn defaults() -> Self {
        let default = |field: &'static SettingField| {
            let given = RawSettingValue::Bare(field.default?.to_owned());
            let setting = Setting {
                value: field.kind.read(&given).ok()?,
                origin: SettingOrigin::Default,
            };
            let path = field.parts().map(str::to_owned).collect();
            Some((path, SettingFieldValue { field, setting }))
        };
        Self(fields().filter_map(default).collect())
    }

    pub(crate) fn put(&mut self, entry: SettingLayerEntry) -> Result<(), Failure> {
        let value = match entry.field.kind.read(&entry.given) {
            Ok(value) => value,
            Err(SettingValueError::Type) => return Err(problem::wrong_type(&entry)),
            Err(SettingValueError::Value) => return Err(problem::not_allowed(&entry)),
        };
        let SettingLayerEntry {
            field,
            path,
            origin,
            ..
        } = entry;
        let setting = Setting { value, origin };
        self.0.insert(path, SettingFieldValue { field, setting });
        Ok(())
    }

    /// Returns all values with their names, in order of name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&[String], &SettingFieldValue)> {
        self.0.iter().map(|(path, held)| (path.as_slice(), held))
    }

    /// Returns the values below a name.
    pub(crate) fn below(&self, section: &[&str]) -> SettingSection<'_> {
        let inside = self.all().filter_map(|(path, held)| {
            let (head, rest) = path.split_at_checked(section.len())?;
            let is_inside = head.iter().eq(section.iter()) && !rest.is_empty();
            is_inside.then_some((rest, &held.setting))
        });
        SettingSection(inside.collect())
    }

    /// Returns the names that the user chose below a section, each with its values.
    pub(crate) fn named(&self, section: &[&str]) -> BTreeMap<String, SettingSection<'_>> {
        let mut named = BTreeMap::<String, SettingSection<'_>>::new();
        for (path, setting) in self.below(section).0 {
            if let [name, rest @ ..] = path
                && !rest.is_empty()
            {
                named
                    .entry(name.clone())
                    .or_default()
                    .0
                    .push((rest, setting));
            }
        }
        named
    }

    pub(crate) fn word<T: FromStr>(&self, key: &str) -> Result<Setting<T>, Failure> {
        self.take(key, |value| value.word()?.parse().ok())
    }

    pub(crate) fn span(&self, key: &str) -> Result<Setting<Duration>, Failure> {
        self.take(key, SettingValue::span)
    }

    pub(crate) fn whole(&self, key: &str) -> Result<Setting<u64>, Failure> {
        self.take(key, SettingValue::whole)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Setting<String>, Failure> {
        self.take(key, |value| value.text().map(str::to_owned))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Setting<bool>, Failure> {
        self.take(key, SettingValue::flag)
    }

    pub(crate) fn list(&self, key: &str) -> Result<Setting<Vec<String>>, Failure> {
        self.take(key, SettingValue::list)
    }

    fn take<T>(
        &self,
        key: &str,
        read: impl Fn(&SettingValue) -> Option<T>,
    ) -> Result<Setting<T>, Failure> {
        let path: Vec<_> = key.split('.').map(str::to_owned).collect();
        let found = self
            .0
            .get(&path)
            .and_then(|SettingFieldValue { setting, .. }| {
                Some(Setting {
                    value: read(&setting.value)?,
                    origin: setting.origin.clone(),
                })
            });
        found.ok_or_else(|| {
            let what = format!("the table of settings does not fit `{key}`");
            Failure::new(FailureCode::X001, what)
        })
    }
}

impl SettingSection<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        self.get(name)?.value.word()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.value.text()
    }

    pub(crate) fn span(&self, name: &str) -> Option<Duration> {
        self.get(name)?.value.span()
    }

    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.whole()
    }

    pub(crate) fn usd(&self, name: &str) -> Option<Money> {
        self.get(name)?.value.usd().map(Money)
    }

    /// Returns the texts in a table whose names the user chose.
    pub(crate) fn texts_below(&self, table: &str) -> BTreeMap<String, String> {
        let text = |(path, setting): &(&[String], &Setting<SettingValue>)| match path {
            [head, name] if head == table => Some((name.clone(), setting.value.text()?.to_owned())),
            _ => None,
        };
        self.0.iter().filter_map(text).collect()
    }

    /// Returns the origin of one value or, if it is not set, of the first value.
    pub(crate) fn origin_of(&self, name: &str) -> SettingOrigin {
        let own = self.get(name).map(|setting| setting.origin.clone());
        own.unwrap_or_else(|| self.origin())
    }

    /// Returns the origin of the first of the values.
    pub(crate) fn origin(&self) -> SettingOrigin {
        let origins = self.0.iter().map(|(_, setting)| &setting.origin);
        let first = origins.min_by_key(|origin| origin.line().unwrap_or(usize::MAX));
        first.cloned().unwrap_or(SettingOrigin::Default)
    }

    fn get(&self, name: &str) -> Option<&Setting<SettingValue>> {
        let is_it = |path: &[String]| matches!(path, [only] if only == name);
        let found = self.0.iter().find(|(path, _)| is_it(path));
        found.map(|(_, setting)| *setting)
    }
}

impl SettingValue {
    fn word(&self) -> Option<&'static str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    fn list(&self) -> Option<Vec<String>> {
        match self {
            Self::List(texts) => Some(texts.clone()),
            _ => None,
        }
    }

    fn span(&self) -> Option<Duration> {
        match self {
            Self::Span { length, .. } => Some(*length),
            _ => None,
        }
    }

    fn whole(&self) -> Option<u64> {
        match self {
            Self::Whole(number) => Some(*number),
            _ => None,
        }
    }

    fn usd(&self) -> Option<u64> {
        match self {
            Self::Usd { micros, .. } => Some(*micros),
            _ => None,
        }
    }
}
