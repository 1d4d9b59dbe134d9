//! What a person sees is what runs: one canonical record of a call, and its hash.
//!
//! The record is made when the person is asked and again right before the call runs. If
//! the two differ, a link was redirected or a file was exchanged in between, and the
//! person is asked again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::TargetTree;

/// Everything about a call that a person's consent is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsentRecord {
    /// The name of the tool.
    pub tool: String,
    /// The words that are executed; shell text is the last word.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Names of the environment variables it gets, sorted. Values may be secret and are not
    /// shown.
    pub environment: Vec<String>,
    /// The files named by the call, resolved, each with its operation.
    pub targets: Vec<ConsentRecordFile>,
    /// The programs and scripts named by the call, with the hash of their content if it is
    /// known.
    pub contents: Vec<(String, String)>,
    /// The sandbox: level, writable folders, hosts, limits.
    pub sandbox: Vec<String>,
    /// The rest of the call's input, as canonical JSON.
    pub input: String,
}

/// One resolved file of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConsentRecordFile {
    /// The operation: `read`, `write` or `delete`.
    pub operation: String,
    /// The tree it lies in: empty for the run's own tree, `@Name` for a portal.
    pub place: String,
    /// Its real path relative to that tree, links followed.
    pub path: String,
}

/// The hash of a record, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConsentRecordHash(String);

impl ConsentRecord {
    /// Returns the hash of every field. Each is written with its length, so that no two
    /// records hash the same bytes.
    pub fn hash(&self) -> ConsentRecordHash {
        let mut hasher = blake3::Hasher::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        put(b"artel record 1");
        put(self.tool.as_bytes());
        put_all(&mut put, &self.argv);
        put(self.cwd.as_bytes());
        put_all(&mut put, &self.environment);
        put(&(self.targets.len() as u64).to_le_bytes());
        for ConsentRecordFile {
            operation,
            place,
            path,
        } in &self.targets
        {
            put(operation.as_bytes());
            put(place.as_bytes());
            put(path.as_bytes());
        }
        put(&(self.contents.len() as u64).to_le_bytes());
        for (name, hash) in &self.contents {
            put(name.as_bytes());
            put(hash.as_bytes());
        }
        put_all(&mut put, &self.sandbox);
        put(self.input.as_bytes());
        ConsentRecordHash(hasher.finalize().to_hex().to_string())
    }

    /// Returns the lines that a person sees; they show every hashed field, with content hashes
    /// shortened. Characters that could deceive the reader are written as escapes.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("tool      {}", visible(&self.tool))];
        let mut put = |name: &str, text: String| {
            if !text.is_empty() {
                lines.push(format!("{name:<9} {text}"));
            }
        };
        let words: Vec<_> = self.argv.iter().map(|word| quoted(word)).collect();
        put("runs", words.join(" "));
        put("in", visible(&self.cwd));
        for ConsentRecordFile {
            operation,
            place,
            path,
        } in &self.targets
        {
            let slash = if place.is_empty() { "" } else { "/" };
            put(operation, visible(&format!("{place}{slash}{path}")));
        }
        for (name, hash) in &self.contents {
            put("content", visible(&format!("{name} ({})", short(hash))));
        }
        put("variables", visible(&self.environment.join(" ")));
        put("sandbox", visible(&self.sandbox.join(", ")));
        put("input", visible(&self.input));
        lines
    }
}

fn put_all(put: &mut impl FnMut(&[u8]), texts: &[String]) {
    put(&(texts.len() as u64).to_le_bytes());
    texts.iter().for_each(|text| put(text.as_bytes()));
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// Quotes a word so that its ends are visible.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    let text = visible(word);
    if !word.is_empty() && word.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Replaces control, invisible and direction-changing characters by escapes.
pub fn visible(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_deceptive(letter) {
            clean.extend(letter.escape_unicode());
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Returns whether a character is invisible or changes how others are displayed.
pub fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

impl ConsentRecordHash {
    /// Returns the whole hash in hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConsentRecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TargetTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worktree => Ok(()),
            Self::Portal(name) => write!(f, "@{name}"),
            Self::Skill => f.write_str("@skill"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ConsentRecord {
        ConsentRecord {
            tool: "bash".to_owned(),
            argv: vec![
                "bash".to_owned(),
                "-c".to_owned(),
                "rm 'a b'\u{202e}".to_owned(),
            ],
            cwd: "src".to_owned(),
            environment: vec!["PATH".to_owned()],
            targets: vec![ConsentRecordFile {
                operation: "write".to_owned(),
                place: String::new(),
                path: "src/a b".to_owned(),
            }],
            contents: vec![("src/x.sh".to_owned(), "0123456789abcdef".to_owned())],
            sandbox: vec!["full".to_owned(), "no network".to_owned()],
            input: "{}".to_owned(),
        }
    }

    #[test]
    fn every_field_changes_the_hash() {
        let changes: [fn(&mut ConsentRecord); 10] = [
            |record| record.tool.push('x'),
            |record| record.argv.push(String::new()),
            |record| record.argv.swap(0, 1),
            |record| record.cwd.push('x'),
            |record| record.environment.push("X".to_owned()),
            |record| record.targets[0].path.push('x'),
            |record| record.targets[0].operation = "read".to_owned(),
            |record| record.contents[0].1.push('x'),
            |record| record.sandbox.push("x".to_owned()),
            |record| record.input.push('x'),
        ];
        let mut hashes: Vec<_> = changes
            .iter()
            .map(|change| {
                let mut changed = record();
                change(&mut changed);
                changed.hash().to_string()
            })
            .collect();
        hashes.push(record().hash().to_string());
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), changes.len() + 1);
    }

    #[test]
    fn moving_a_word_between_fields_changes_the_hash() {
        let with = |argv: &[&str], environment: &[&str]| {
            let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
            ConsentRecord {
                argv: strings(argv),
                environment: strings(environment),
                ..ConsentRecord::default()
            }
            .hash()
        };
        assert_ne!(with(&["a"], &[]), with(&[], &["a"]));
        assert_ne!(with(&["ab"], &[]), with(&["a", "b"], &[]));
    }

    #[test]
    fn everything_is_shown_and_nothing_deceives() {
        insta::assert_snapshot!(record().lines().join("\n"), @r"
        tool      bash
        runs      bash -c 'rm '\''a b'\''\u{202e}'
        in        src
        write     src/a b
        content   src/x.sh (0123456789ab)
        variables PATH
        sandbox   full, no network
        input     {}
        ");
    }
}
