//! The table of all settings. Loading, messages, `artel config show` and the template all
//! read this one table, so that a new key is one row here and one field in its area.
//!
//! A part of a key in angle brackets, as in `models.<alias>.provider`, is a name that the
//! user chooses; `names.rs` says which names are allowed.

use crate::value::SettingKind;
use crate::{budget, clean, gateway, hands, hooks, journal, models, output, prices, runs, server};

/// One setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingField {
    /// Dotted name.
    pub(crate) key: &'static str,
    /// Kind of value that it accepts.
    pub(crate) kind: SettingKind,
    /// Value if nobody sets it, written as for a flag, or `None` if it has no default.
    pub(crate) default: Option<&'static str>,
    /// Its effect, in one sentence.
    pub(crate) about: &'static str,
}

/// A group of settings that belong together.
#[derive(Debug)]
pub(crate) struct SettingArea {
    pub(crate) fields: &'static [SettingField],
    /// Example for the template, for settings without a default.
    pub(crate) example: &'static str,
}

/// All areas, in the order of the documentation.
pub(crate) const AREAS: [SettingArea; 12] = [
    SettingArea::with_example(hands::PROFILE_FIELDS, ""),
    SettingArea::with_example(models::FIELDS, models::EXAMPLE),
    SettingArea::with_example(prices::FIELDS, prices::EXAMPLE),
    SettingArea::with_example(budget::FIELDS, budget::EXAMPLE),
    SettingArea::with_example(gateway::FIELDS, ""),
    SettingArea::with_example(journal::FIELDS, ""),
    SettingArea::with_example(output::FIELDS, ""),
    SettingArea::with_example(clean::FIELDS, ""),
    SettingArea::with_example(hands::FIELDS, ""),
    SettingArea::with_example(runs::FIELDS, ""),
    SettingArea::with_example(server::FIELDS, ""),
    SettingArea::with_example(&[], hooks::EXAMPLE),
];

impl SettingArea {
    const fn with_example(fields: &'static [SettingField], example: &'static str) -> Self {
        Self { fields, example }
    }
}

/// Returns all settings, area by area.
pub(crate) fn fields() -> impl Iterator<Item = &'static SettingField> {
    AREAS.iter().flat_map(|area| area.fields)
}

/// Returns the names of the sections in order, up to where the user's own names begin.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = fields().map(SettingField::fixed_section).collect();
    sections.dedup();
    sections
}

/// Returns the sections in which the user chooses names.
pub(crate) fn own_sections() -> Vec<&'static str> {
    let own = fields().filter(|field| field.parts().any(is_own));
    let mut sections: Vec<_> = own.map(SettingField::fixed_section).collect();
    sections.dedup();
    sections
}

/// Finds a setting by the parts of its name: a dot inside a quoted TOML key does not
/// separate.
pub(crate) fn find<Part: AsRef<str>>(path: &[Part]) -> Option<&'static SettingField> {
    beginning(path).find(|field| field.parts().count() == path.len())
}

/// Returns whether there are settings below this name.
pub(crate) fn is_section<Part: AsRef<str>>(path: &[Part]) -> bool {
    beginning(path).any(|field| field.parts().count() > path.len())
}

/// Returns the placeholder for the last part of a known name, such as `<alias>`, if the
/// user chooses that part.
pub(crate) fn own_part(path: &[String]) -> Option<&'static str> {
    let field = beginning(path).next()?;
    field
        .parts()
        .nth(path.len().checked_sub(1)?)
        .filter(|part| is_own(part))
}

/// Returns the name of the section for settings below this name.
pub(crate) fn section_of(path: &[String]) -> String {
    let name = dotted(path);
    let next = beginning(path).find_map(|field| field.parts().nth(path.len()));
    match next.filter(|part| is_own(part) && *part != "<header>") {
        Some(own) => format!("{name}.{own}"),
        None => name,
    }
}

/// Returns the name as TOML would write it: parts with special characters are quoted.
pub(crate) fn dotted(path: &[String]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let part = |part: &String| {
        let is_bare = !part.is_empty() && part.chars().all(is_plain);
        if is_bare {
            part.clone()
        } else {
            format!("\"{part}\"")
        }
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Returns whether a part of a key stands for a name that the user chooses.
pub(crate) fn is_own(part: &str) -> bool {
    part.starts_with('<')
}

/// Returns the settings whose names begin with this path.
fn beginning<Part: AsRef<str>>(path: &[Part]) -> impl Iterator<Item = &'static SettingField> {
    fields().filter(move |field| {
        let mut parts = field.parts();
        path.iter().all(|part| {
            let wanted = parts.next();
            wanted.is_some_and(|wanted| is_own(wanted) || wanted == part.as_ref())
        })
    })
}

impl SettingField {
    pub(crate) fn parts(&self) -> std::str::Split<'static, char> {
        self.key.split('.')
    }

    /// Returns the name of the table that contains the setting.
    pub(crate) fn section(&self) -> &'static str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Returns the part of the table's name before any names that users choose.
    pub(crate) fn fixed_section(&self) -> &'static str {
        let section = self.section();
        section.split_once(".<").map_or(section, |(fixed, _)| fixed)
    }

    /// Returns the name within that table.
    pub(crate) fn name(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, name)| name)
    }

    /// Returns the variable that sets it. There is none where the user chooses names:
    /// `MY_MODEL` could mean `my-model` as well as `my_model`.
    pub(crate) fn variable(&self) -> Option<String> {
        let is_fixed = !self.parts().any(is_own);
        is_fixed.then(|| format!("ARTEL_{}", self.key.replace('.', "_").to_ascii_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::value::RawSettingValue;

    #[test]
    fn keys_and_variables_are_unique() {
        let keys: BTreeSet<_> = fields().map(|field| field.key).collect();
        assert_eq!(keys.len(), fields().count());
        let named = || fields().filter_map(SettingField::variable);
        let variables: BTreeSet<_> = named().collect();
        assert_eq!(variables.len(), named().count());
    }

    #[test]
    fn every_default_is_allowed_and_every_row_says_what_it_does() {
        for field in fields() {
            if let Some(default) = field.default {
                let read = field.kind.read(&RawSettingValue::Bare(default.to_owned()));
                assert!(read.is_ok(), "{field:?}");
            }
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

    #[test]
    fn the_user_s_own_names_stand_for_themselves() {
        assert!(find(&["models", "default", "provider"]).is_some());
        assert!(find(&["models", "default", "headers", "x-team"]).is_some());
        assert!(find(&["models", "default"]).is_none() && is_section(&["models", "default"]));
        assert!(find(&["models", "default", "<header>"]).is_none());
        assert!(!is_section(&["models", "default", "model"]));
        let own =
            |path: &[&str]| own_part(&path.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(own(&["models"]), None);
        assert_eq!(own(&["models", "default"]), Some("<alias>"));
        assert_eq!(own(&["models", "default", "model"]), None);
        assert_eq!(own(&["budget", "provider", "x"]), Some("<provider>"));
        assert_eq!(own(&[]), None);
    }
}
