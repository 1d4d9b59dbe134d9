//! "Did you mean": finds the known name that a misspelt one most likely stands for.

use crate::schema::{SettingField, dotted, fields, is_own, sections};

/// Longest name that is compared, in bytes. A longer one is not a typing mistake, and
/// comparing it would only cost time.
const LONGEST: usize = 100;

/// Returns the closest known name, if it is close enough to be the intended one.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let known = known.into_iter();
    known
        .filter_map(|name| Some((distance(wanted, name)?, name)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the setting that was most likely meant. A single word may also stand for a
/// section, or for a setting written outside its section.
pub(crate) fn nearest_key(path: &[String]) -> Option<String> {
    if path.iter().map(String::len).sum::<usize>() > LONGEST {
        return None;
    }
    let whole = path.join(".");
    let setting = fields()
        .filter_map(|field| Some((distance_to(field, path, &whole)?, field)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, field)| as_named(field, path));
    let [only] = path else {
        return setting;
    };
    let section = || nearest(&whole, sections()).map(str::to_owned);
    let name = || {
        let names = fields()
            .map(SettingField::name)
            .filter(|name| !is_own(name));
        let name = nearest(only, names)?;
        let field = fields().find(|field| field.name() == name)?;
        Some(field.key.to_owned())
    };
    setting.or_else(section).or_else(name)
}

/// Returns the setting whose variable was most likely meant.
pub(crate) fn nearest_variable(name: &str) -> Option<String> {
    let variables: Vec<_> = fields().filter_map(SettingField::variable).collect();
    nearest(name, variables.iter().map(String::as_str)).map(str::to_owned)
}

/// Returns the distance of two names, if it is small enough for a typing mistake.
fn distance(wanted: &str, known: &str) -> Option<usize> {
    if wanted.len() > LONGEST {
        return None;
    }
    let wanted = wanted.to_lowercase();
    let farthest = (wanted.chars().count() / 3).max(2);
    let distance = strsim::osa_distance(&wanted, &known.to_lowercase());
    (distance <= farthest && distance < known.len()).then_some(distance)
}

/// Returns the distance of a setting from a misspelt one. The user's own parts are left out
/// on both sides: they are correct, and a long one would make everything next to it look
/// close. For the same reason only the last parts are compared if all others are the same.
fn distance_to(field: &SettingField, path: &[String], whole: &str) -> Option<usize> {
    let is_fixed = !field.parts().any(is_own);
    if field.parts().count() != path.len() {
        return is_fixed.then(|| distance(whole, field.key)).flatten();
    }
    let fixed = field.parts().zip(path).filter(|(part, _)| !is_own(part));
    let (known, wanted): (Vec<_>, Vec<_>) = fixed.map(|(one, other)| (one, other.as_str())).unzip();
    match (known.split_last(), wanted.split_last()) {
        (Some((known, above)), Some((wanted, same))) if above == same => {
            is_beginning(wanted, known)
                .then_some(1)
                .or_else(|| distance(wanted, known))
        }
        _ => distance(&wanted.join("."), &known.join(".")),
    }
}

/// Returns whether the person stopped typing early, as with `apikey` for `api_key_env`.
fn is_beginning(wanted: &str, known: &str) -> bool {
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    wanted.len() > 2 && plain(known).starts_with(&plain(wanted))
}

/// Returns the name of a setting with the user's own parts in it.
fn as_named(field: &SettingField, path: &[String]) -> String {
    let own = |(at, part): (usize, &str)| match path.get(at) {
        Some(own) if is_own(part) => own.clone(),
        _ => part.to_owned(),
    };
    dotted(&field.parts().enumerate().map(own).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let check = |wanted: &str, expected: Option<&str>| {
            let path: Vec<_> = wanted.split('.').map(str::to_owned).collect();
            assert_eq!(nearest_key(&path).as_deref(), expected, "{wanted}");
        };
        check("journal.durabilty", Some("journal.durability"));
        check("Journal.Durability", Some("journal.durability"));
        check("jurnal", Some("journal"));
        check("durability", Some("journal.durability"));
        check("colour", Some("output.color"));
        check("outptu.color", Some("output.color"));
        check("models.default.provder", Some("models.default.provider"));
        check("model.my-own.base_url", Some("models.my-own.base_url"));
        check("models.default.api_key", Some("models.default.api_key_env"));
        check("models.default.apikey", Some("models.default.api_key_env"));
        check("models.default.url", None);
        check("models.a-rather-long-alias.x", None);
        check("budget.run.period", None);
        check("budget.globl.usd", Some("budget.global.usd"));
        check(
            "budget.provider.google.tokns",
            Some("budget.provider.google.tokens"),
        );
        check("prices.gpt.inptu", Some("prices.gpt.input"));
        check("model", Some("models"));
        check("provider", Some("models.<alias>.provider"));
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
