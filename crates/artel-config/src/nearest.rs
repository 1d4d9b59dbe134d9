//! "Did you mean": the known name that a misspelt one most likely stands for.

use crate::schema::{Field, fields, sections};

/// Longer text is not a slip of the fingers, and comparing it would only cost time.
const LONGEST: usize = 100;

/// Returns the known name that is closest, if any is close enough to be what was meant.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if wanted.len() > LONGEST {
        return None;
    }
    let wanted = wanted.to_lowercase();
    let farthest = (wanted.chars().count() / 3).max(2);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= farthest && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the setting that was most likely meant. A single word may also stand for a section, or
/// for a setting written outside of its section.
pub(crate) fn nearest_key(path: &[String]) -> Option<&'static str> {
    let whole = path.join(".");
    let [only] = path else {
        return nearest(&whole, fields().map(|field| field.key));
    };
    nearest(&whole, fields().map(|field| field.key).chain(sections())).or_else(|| {
        let name = nearest(only, fields().map(Field::name))?;
        let field = fields().find(|field| field.name() == name)?;
        Some(field.key)
    })
}

/// Returns the setting whose variable was most likely meant.
pub(crate) fn nearest_variable(name: &str) -> Option<String> {
    let variables: Vec<_> = fields().map(Field::variable).collect();
    nearest(name, variables.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let check = |wanted: &str, expected: Option<&str>| {
            let path: Vec<_> = wanted.split('.').map(str::to_owned).collect();
            assert_eq!(nearest_key(&path), expected, "{wanted}");
        };
        check("journal.durabilty", Some("journal.durability"));
        check("Journal.Durability", Some("journal.durability"));
        check("jurnal", Some("journal"));
        check("durability", Some("journal.durability"));
        check("colour", Some("output.color"));
        check("outptu.color", Some("output.color"));
        check("journal.x", None);
        check("something.else", None);
        check("", None);
        let long = vec!["journal.durability".to_owned(); 10_000];
        assert_eq!(nearest_key(&long), None);
    }

    #[test]
    fn short_words_are_not_stretched() {
        assert_eq!(nearest("ful", ["full", "normal"]), Some("full"));
        assert_eq!(nearest("on", ["auto", "always", "never"]), None);
    }
}
