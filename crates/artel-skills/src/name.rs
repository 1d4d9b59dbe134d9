//! The rule for a skill's name.

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::complaint::shown;

/// Longest name, in characters.
const MOST_LETTERS: usize = 64;

/// Returns the faults of a name, one sentence each.
pub(crate) fn faults(name: &str, folder: Option<&str>) -> Vec<String> {
    let normal = normal(name);
    let mut faults = Vec::new();
    let letters = normal.chars().count();
    if letters == 0 {
        return vec!["it is empty".into()];
    }
    if letters > MOST_LETTERS {
        faults.push(format!("it has more than {MOST_LETTERS} letters"));
    }
    if normal.chars().any(|letter| !is_allowed(letter)) {
        faults.push(format!(
            "`{}` holds more than lower-case letters, digits and hyphens",
            shown(name)
        ));
    }
    if normal.starts_with('-') || normal.ends_with('-') {
        faults.push(format!("`{}` begins or ends with a hyphen", shown(name)));
    }
    if normal.contains("--") {
        faults.push(format!("`{}` has two hyphens in a row", shown(name)));
    }
    if let Some(folder) = folder
        && self::normal(folder) != normal
    {
        faults.push(format!(
            "`{}` is not the name of its folder, `{}`",
            shown(name),
            shown(folder)
        ));
    }
    faults
}

/// Normalises a name for comparison: the same letters in another Unicode form are the same
/// name.
pub(crate) fn normal(name: &str) -> String {
    // Longer names are refused for their length, whatever they contain.
    let head: String = name.chars().take(4 * MOST_LETTERS).collect();
    ComposingNormalizerBorrowed::new_nfkc()
        .normalize(&head)
        .into_owned()
}

/// Returns whether a name can be used in lists, prompts and commands although it breaks
/// the rule.
pub(crate) fn is_usable(name: &str) -> bool {
    let is_fine = |letter: char| letter.is_alphanumeric() || "-_.:+ ".contains(letter);
    !name.trim().is_empty()
        && name.trim() == name
        && name.chars().take(129).count() <= 128
        && name.chars().all(is_fine)
        && !name.starts_with(['-', '.'])
}

fn is_allowed(letter: char) -> bool {
    letter == '-' || letter.is_alphanumeric() && letter.to_lowercase().eq([letter])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_format() {
        let longest = "a".repeat(64);
        let good = [
            "a",
            "pdf",
            "pdf-tools-2",
            "1st",
            "größe",
            "技能",
            "навык",
            &longest,
        ];
        for name in good {
            assert_eq!(faults(name, None), Vec::<String>::new(), "{name}");
            assert_eq!(faults(name, Some(name)), Vec::<String>::new(), "{name}");
        }
        let too_long = "a".repeat(65);
        let bad = [
            "",
            "PDF",
            "Größe",
            "-pdf",
            "pdf-",
            "pdf--tools",
            "pdf_tools",
            "pdf tools",
            " pdf",
            "pdf/..",
            "pdf\n",
            "a\u{200b}b",
            "a.b",
            "ǅ",
            &too_long,
        ];
        for name in bad {
            assert!(!faults(name, None).is_empty(), "{name:?}");
        }
        assert_eq!(faults("pdf", Some("docx")).len(), 1);
        // Composed and decomposed, full width and plain: one name.
        assert!(faults("caf\u{e9}", Some("cafe\u{301}")).is_empty());
        assert!(faults("ｐｄｆ", Some("pdf")).is_empty());
        assert!(!faults(&"é".repeat(1_000_000), None).is_empty());
    }

    #[test]
    fn a_name_that_breaks_the_rule_may_still_be_usable() {
        assert!(is_usable("My Skill") && is_usable("doc_tools") && is_usable("plugin:skill"));
        for name in ["", " ", "a\nb", "a<b", "../x", "--yes", &"a".repeat(200)] {
            assert!(!is_usable(name), "{name:?}");
        }
    }
}
