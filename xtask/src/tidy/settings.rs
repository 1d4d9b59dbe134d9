//! `xtask/tidy.toml`: the words to avoid, the exceptions, and the allowance of each measure.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::measure::TidyMeasure;

/// Where the settings are, from the root.
pub(super) const PATH: &str = "xtask/tidy.toml";

/// What `xtask/tidy.toml` holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TidySettings {
    #[serde(default)]
    pub(super) types: TypeNameSettings,
    #[serde(default)]
    pub(super) facts: FactSettings,
    #[serde(default, rename = "word")]
    pub(super) words: Vec<WordRule>,
    #[serde(default, rename = "exception")]
    pub(super) exceptions: Vec<TextException>,
    /// The figure that each measure may have; a measure without an entry may have 0.
    #[serde(default)]
    pub(super) allowed: BTreeMap<String, usize>,
}

/// Type names that may repeat.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeNameSettings {
    /// Names that every file of `folders` may use once.
    pub(super) once_per_file: Vec<String>,
    /// The folders of commands and tools.
    pub(super) folders: Vec<String>,
}

/// How the gates treat facts.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactSettings {
    /// Text fields that hold names or free text: a comparison with a literal decides nothing.
    pub(super) open_fields: Vec<String>,
    /// The packages that may match on facts.
    pub(super) matching_packages: Vec<String>,
}

/// Words to avoid.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordRule {
    pub(super) name: String,
    /// A phrase that begins with a small letter also matches with a capital.
    pub(super) phrases: Vec<String>,
    /// The better wording.
    pub(super) better: String,
    #[serde(default)]
    pub(super) place: WordPlace,
    /// The phrase is right when one of these words follows it.
    #[serde(default)]
    pub(super) unless_before: Vec<String>,
    /// The phrase is right when it follows one of these words.
    #[serde(default)]
    pub(super) unless_after: Vec<String>,
}

/// Where a rule about words holds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WordPlace {
    /// In comments and in texts for people.
    #[default]
    Anywhere,
    InComments,
    AtStartOfCommentLine,
}

/// A decision by text that may stay.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextException {
    pub(super) file: String,
    /// A part of the line.
    pub(super) pattern: String,
    pub(super) reason: String,
}

impl TidySettings {
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns what the measure may be.
    pub(super) fn allowance(&self, measure: &str) -> usize {
        self.allowed.get(measure).copied().unwrap_or(0)
    }
}

/// Returns the text of the settings with each allowance lowered to its figure. Comments and order
/// stay, and no allowance rises.
pub(super) fn lowered(text: &str, measures: &[TidyMeasure]) -> String {
    let mut is_allowance = false;
    let lines = text.split_inclusive('\n').map(|line| {
        if line.starts_with('[') {
            is_allowance = line.trim_end() == "[allowed]";
        }
        if is_allowance {
            lowered_line(line, measures).unwrap_or_else(|| line.to_owned())
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

/// Returns `line` with a lower figure; `None` if it is not an allowance that can be lowered.
fn lowered_line(line: &str, measures: &[TidyMeasure]) -> Option<String> {
    let (key, rest) = line.split_once('=')?;
    let rest = rest.trim_start();
    let (digits, tail) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
    let allowed: usize = digits.parse().ok()?;
    let measure = measures.iter().find(|it| it.name == key.trim())?;
    let figure = measure.figure;
    (figure < allowed).then(|| format!("{key}= {figure}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# head 9\n[types]\nonce_per_file = []\nfolders = []\n\n[allowed]\n# why\n\
                        match-on-bool = 9 # note\nanew-in-texts = 3\nfiles-over-500 = 5\n";

    fn measure(name: &str, figure: usize) -> TidyMeasure {
        TidyMeasure {
            name: name.to_owned(),
            figure,
            ..TidyMeasure::default()
        }
    }

    #[test]
    fn allowances_are_read_and_unknown_keys_refused() -> Result<(), toml::de::Error> {
        let settings = TidySettings::parse(TEXT)?;
        assert_eq!(settings.allowance("match-on-bool"), 9);
        assert_eq!(settings.allowance("tuple-parameters"), 0);
        assert!(TidySettings::parse("[alowed]\n").is_err());
        Ok(())
    }

    #[test]
    fn writing_lowers_and_never_raises() {
        let found = [
            measure("match-on-bool", 7),
            measure("anew-in-texts", 5),
            measure("files-over-500", 4),
        ];
        let expected = TEXT.replace("= 9", "= 7").replace("= 5", "= 4");
        assert_eq!(lowered(TEXT, &found), expected);
    }
}
