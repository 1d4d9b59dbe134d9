//! Names of portals. A name is part of `@Name/path` and of a file name, so it is plain and
//! unique.

use super::Portal;

/// Maximum length of a name, in characters.
const LONGEST: usize = 60;

/// Names for which `@Name` already has a meaning.
const TAKEN: [&str; 1] = ["skill"];

/// Turns a text into a name: letters, digits, `-`, `_` and `.` are kept; everything else
/// becomes `_`.
pub(super) fn plain(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let letter = |letter: char| if is_plain(letter) { letter } else { '_' };
    let name: String = text.trim().chars().map(letter).take(LONGEST).collect();
    // A leading dot would hide the portal's page, and a leading hyphen would look like a flag.
    let name = name.trim_start_matches(['.', '-']).trim_end_matches('.');
    match name.trim_matches('_') {
        "" => "portal".to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns whether a name is in use, ignoring case: on some file systems `Shop` and `shop`
/// are the same.
pub(super) fn is_taken(name: &str, portals: &[Portal]) -> bool {
    let same = |other: &str| other.to_lowercase() == name.to_lowercase();
    TAKEN.iter().any(|taken| same(taken)) || portals.iter().any(|portal| same(&portal.name))
}

/// Returns the name, or the first free name of the form `name-2`.
pub(super) fn free(name: &str, portals: &[Portal]) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !is_taken(name, portals))
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use artel_types::PortalOpened;

    fn named(name: &str) -> Portal {
        Portal::from(PortalOpened {
            name: name.to_owned(),
            path: "/x".to_owned(),
            operations: vec!["read".to_owned(), "fly".to_owned()],
            agents: vec!["*".to_owned()],
            privacy: "secret".to_owned(),
            stack: Vec::new(),
            checks: Vec::new(),
        })
    }

    #[test]
    fn names_are_plain() {
        let table = [
            ("shop", "shop"),
            ("My App", "My_App"),
            ("../up", "_up"),
            (".dotfiles", "dotfiles"),
            ("-rf", "rf"),
            ("a/b\n## Notes", "a_b____Notes"),
            ("Küche", "Küche"),
            ("", "portal"),
            ("...", "portal"),
            ("  ", "portal"),
        ];
        for (text, name) in table {
            assert_eq!(plain(text), name, "{text:?}");
        }
    }

    #[test]
    fn a_free_name_differs_from_all_others_in_any_case() {
        let portals = [named("Shop"), named("shop-2")];
        assert_eq!(free("shop", &portals), "shop-3");
        assert_eq!(free("other", &portals), "other");
        assert_eq!(free("skill", &[]), "skill-2");
    }

    #[test]
    fn words_of_another_version_open_nothing() {
        let portal = named("x");
        assert_eq!(portal.operations, [super::super::PortalOperation::Read]);
        assert_eq!(portal.privacy_word(), "local-only");
    }
}
