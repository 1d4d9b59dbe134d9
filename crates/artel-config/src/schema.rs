//! The table of every setting there is. Loading, messages, `artel config show` and the template
//! all read this one table, so that a new key is one row here and one field in its area.

use crate::value::Kind;
use crate::{clean, journal, output};

/// One setting.
#[derive(Debug)]
pub(crate) struct Field {
    /// The dotted name.
    pub(crate) key: &'static str,
    /// What it may be.
    pub(crate) kind: Kind,
    /// What it is when nobody sets it, written as for a flag.
    pub(crate) default: &'static str,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
}

/// Returns every setting, area by area.
pub(crate) fn fields() -> impl Iterator<Item = &'static Field> {
    [journal::FIELDS, output::FIELDS, clean::FIELDS]
        .into_iter()
        .flatten()
}

/// Returns the names of the areas, in order.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = fields().map(Field::section).collect();
    sections.dedup();
    sections
}

/// Finds a setting by its name in parts: a dot inside a quoted TOML key does not separate.
pub(crate) fn find<Part: AsRef<str>>(path: &[Part]) -> Option<&'static Field> {
    fields().find(|field| field.key.split('.').eq(path.iter().map(AsRef::as_ref)))
}

/// Tells whether settings lie below this name.
pub(crate) fn is_section<Part: AsRef<str>>(path: &[Part]) -> bool {
    fields().any(|field| {
        let mut parts = field.key.split('.');
        path.iter().all(|part| parts.next() == Some(part.as_ref())) && parts.next().is_some()
    })
}

impl Field {
    /// Returns the name of the table that the setting stands in.
    pub(crate) fn section(&self) -> &'static str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Returns the name inside that table.
    pub(crate) fn name(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, name)| name)
    }

    /// Returns the variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("ARTEL_{}", self.key.replace('.', "_").to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::value::Given;

    #[test]
    fn keys_and_variables_are_unique() {
        let keys: BTreeSet<_> = fields().map(|field| field.key).collect();
        let variables: BTreeSet<_> = fields().map(Field::variable).collect();
        assert_eq!(keys.len(), fields().count());
        assert_eq!(variables.len(), fields().count());
    }

    #[test]
    fn every_default_is_allowed_and_every_row_says_what_it_does() {
        for field in fields() {
            assert!(
                field
                    .kind
                    .read(&Given::Bare(field.default.to_owned()))
                    .is_ok(),
                "{field:?}"
            );
            assert!(
                field.about.len() > 10 && !field.about.contains('\n'),
                "{field:?}"
            );
        }
    }

    #[test]
    fn names_are_found_by_their_parts() {
        assert!(find(&["journal", "durability"]).is_some());
        assert!(find(&["journal.durability"]).is_none());
        assert!(is_section(&["journal"]) && !is_section(&["journal", "durability"]));
        assert!(!is_section(&["jour"]));
    }
}
