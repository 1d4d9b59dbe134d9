//! The values of the names in a skill's text. The caller supplies all of them.

use std::collections::BTreeMap;

use super::segment::SkillVariableNotation;
use super::words::split_words;

/// The arguments that a person gave a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillArguments {
    text: String,
    words: Vec<String>,
}

impl SkillArguments {
    /// Takes words that a shell has already split.
    pub fn from_words(words: Vec<String>) -> Self {
        let text = match words.as_slice() {
            [only] => only.clone(),
            many => many
                .iter()
                .map(|word| quoted(word))
                .collect::<Vec<_>>()
                .join(" "),
        };
        Self { text, words }
    }

    /// Takes a text as the person typed it and splits it as a shell would, or at spaces if a
    /// quote is never closed.
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        let words = split_words(&text)
            .unwrap_or_else(|_| text.split_whitespace().map(str::to_owned).collect());
        Self { text, words }
    }

    /// Returns the whole text, the value of `$ARGUMENTS`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the words, the values of `$1` to `$9`.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// Quotes a word that would otherwise not stay one word.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter == '\'') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The values of the variables in one run of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillVariables {
    /// The arguments from the person.
    pub arguments: SkillArguments,
    /// The skill's folder, absolute.
    pub skill_dir: String,
    /// The folder that the skill works in, absolute.
    pub workspace: String,
    /// The id of the session or run.
    pub session: String,
    /// The person's user name on this machine.
    pub user: String,
    /// Today, as `2026-11-15`.
    pub date: String,
    /// The caller's own names; they never override the ones above.
    pub custom: BTreeMap<String, String>,
}

impl SkillVariables {
    pub(super) fn value(&self, name: &str, form: SkillVariableNotation) -> Option<&str> {
        if name == "ARGUMENTS" {
            return Some(self.arguments.text());
        }
        if let Ok(number @ 1..=9) = name.parse::<usize>() {
            return self.arguments.words().get(number - 1).map(String::as_str);
        }
        let system = self
            .system(name)
            .or((name == "USER").then_some(&*self.user));
        match system {
            Some(value) => (form == SkillVariableNotation::Braced).then_some(value),
            None => self.custom.get(name).map(String::as_str),
        }
    }

    /// Returns a value that the system supplies and no person can choose.
    pub(super) fn system(&self, name: &str) -> Option<&str> {
        Some(match name {
            "SKILL_DIR" | "CLAUDE_SKILL_DIR" => &self.skill_dir,
            "WORKSPACE" | "CLAUDE_PROJECT_DIR" => &self.workspace,
            "SESSION_ID" | "CLAUDE_SESSION_ID" => &self.session,
            "DATE" => &self.date,
            _ => return None,
        })
    }
}
