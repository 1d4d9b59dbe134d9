//! The values that names in a skill's text stand for. All of them are handed in.

use std::collections::BTreeMap;

use super::segment::Form;
use super::words::split_words;

/// What a person gave a skill to work on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    text: String,
    words: Vec<String>,
}

impl Arguments {
    /// Takes words as a shell has split them already.
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

    /// Takes a text as it was typed. Its words are split as a shell would, and at spaces where a
    /// quote is never closed.
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        let words = split_words(&text)
            .unwrap_or_else(|_| text.split_whitespace().map(str::to_owned).collect());
        Self { text, words }
    }

    /// Returns all of it: what `$ARGUMENTS` stands for.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the words: what `$1` to `$9` stand for.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// Puts quotes around a word that would not stay one word without them.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter == '\'') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What names stand for in one run of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// What the person gave it.
    pub arguments: Arguments,
    /// The skill's folder, absolute.
    pub skill_dir: String,
    /// The folder it works in, absolute.
    pub workspace: String,
    /// The id of the session or run.
    pub session: String,
    /// The person's name on this machine.
    pub user: String,
    /// Today, as `2026-11-15`.
    pub date: String,
    /// The caller's own names; they never stand before the ones above.
    pub custom: BTreeMap<String, String>,
}

impl Variables {
    pub(super) fn value(&self, name: &str, form: Form) -> Option<&str> {
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
            Some(value) => (form == Form::Braced).then_some(value),
            None => self.custom.get(name).map(String::as_str),
        }
    }

    /// Returns what the system makes and no person can choose.
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
