//! A skill's own tests: `tests/*.yaml` in its folder.
//!
//! ```yaml
//! triggers:
//!   must: ["fill in this PDF form"]
//!   must_not: ["what is the weather?"]
//! runs:
//!   - name: a small table
//!     arguments: sales.csv
//!     script: basic.rehearsal.yaml
//!     files: {sales.csv: "a,b\n1,2\n"}
//!     expect:
//!       state: complete
//!       answer_contains: ["2 rows"]
//!       files: {report.md: {contains: "Total"}, draft.md: {absent: true}}
//!       turns_at_most: 5
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use artel_files::{FileEntryKind, RootFolder};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::FileComplaint;
use crate::complaint::shown;
use crate::folder::any;

/// Largest file of test cases, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
const MOST_FILES: usize = 200;

/// The test cases of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillTestCases {
    /// Requests that must choose the skill, and requests that must not.
    pub triggers: SkillTriggerCases,
    /// Rehearsed runs.
    pub runs: Vec<SkillRunCase>,
}

/// Requests that measure the choice of skills.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillTriggerCases {
    /// Requests that must choose this skill.
    pub must: Vec<String>,
    /// Requests that must not choose it.
    pub must_not: Vec<String>,
}

/// A run with a scripted model, and how it must end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillRunCase {
    /// Name of the run in reports.
    pub name: String,
    /// The arguments that the skill is started with.
    #[serde(default)]
    pub arguments: String,
    /// The rehearsal that plays the model, relative to the `tests` folder.
    pub script: String,
    /// Files that exist before the run, by their path in the workspace.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub expect: SkillRunExpectation,
}

/// Everything that must hold after a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillRunExpectation {
    /// The end of the run.
    pub state: ExpectedRunState,
    /// Texts that the answer must contain: one, or several.
    #[serde(deserialize_with = "one_or_many")]
    pub answer_contains: Vec<String>,
    /// Required states of files.
    pub files: BTreeMap<String, ExpectedFileState>,
    /// Largest number of turns that the run may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_at_most: Option<u32>,
}

/// The end that a rehearsed run must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedRunState {
    /// The run did what it was asked.
    #[default]
    Complete,
    /// The run did a part of it.
    Partial,
    /// The run did nothing that counts.
    Failed,
}

/// The required state of a file after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpectedFileState {
    /// The file contains this text.
    Contains(String),
    /// The file does not exist, or with `false`: it exists.
    Absent(bool),
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrManyTexts {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrManyTexts::deserialize(from)? {
        OneOrManyTexts::One(text) => vec![text],
        OneOrManyTexts::Many(texts) => texts,
    })
}

/// Parses one file of cases. A complaint names the line and the field of the mistake.
pub fn parse(text: &str) -> Result<SkillTestCases, FileComplaint> {
    if text.len() as u64 > MOST_BYTES {
        return Err(FileComplaint::new("tests", "the file is larger than 1 MiB"));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 16,
            max_nodes: 100_000,
            max_events: 200_000,
        },
        with_snippet: false,
    };
    if text.trim().is_empty() {
        return Ok(SkillTestCases::default());
    }
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let complaint = FileComplaint::new("tests", shown(&error.to_string()));
        match error.location() {
            Some(location) => complaint.at(usize::try_from(location.line()).unwrap_or(1)),
            None => complaint,
        }
    })
}

/// Reads all cases of a skill, each with its path, sorted by name. Without a `tests`
/// folder the result is empty.
pub fn read(folder: &Path) -> Result<Vec<(String, SkillTestCases)>, Vec<FileComplaint>> {
    let failed =
        |error: &dyn std::fmt::Display| vec![FileComplaint::new("tests", error.to_string())];
    let root = RootFolder::open(folder).map_err(|error| failed(&error))?;
    let listing = match root.list(Path::new("tests"), MOST_FILES, &any) {
        Ok(listing) => listing,
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let (mut cases, mut complaints) = (Vec::new(), Vec::new());
    for entry in listing.entries {
        let name = entry.name.to_string_lossy();
        let is_cases = name.ends_with(".yaml") || name.ends_with(".yml");
        // Rehearsals are in the same folder as the cases that use them.
        if !is_cases || name.contains(".rehearsal.") || entry.found == FileEntryKind::Folder {
            continue;
        }
        let path = format!("tests/{name}");
        let bytes = root.read(Path::new(&path), MOST_BYTES, &any);
        let read = bytes
            .map_err(|error| FileComplaint::new("tests", error.to_string()))
            .and_then(|bytes| parse(&String::from_utf8_lossy(&bytes)));
        match read {
            Ok(found) => cases.push((path, found)),
            Err(mut complaint) => {
                complaint.file = Some(root.path().join(path));
                complaints.push(complaint);
            }
        }
    }
    if complaints.is_empty() {
        return Ok(cases);
    }
    Err(complaints)
}

/// Writes cases as YAML that [`parse`] reads back. Texts are in double quotes, as in JSON.
pub fn write(cases: &SkillTestCases) -> String {
    let mut text = String::new();
    let json = serde_json::to_value(cases).unwrap_or_default();
    emit(&json, 0, &mut text);
    text
}

/// Writes a map or a list, one entry per line.
fn emit(value: &Json, depth: usize, text: &mut String) {
    let margin = "  ".repeat(depth);
    match value {
        Json::Object(map) => {
            for (key, value) in map {
                text.push_str(&format!("{margin}{}:", word(key)));
                below(value, depth + 1, text);
            }
        }
        Json::Array(items) => {
            for item in items {
                let mut inner = String::new();
                emit(item, depth + 1, &mut inner);
                let inner = inner.get(margin.len() + 2..).unwrap_or("");
                text.push_str(&format!("{margin}- {inner}"));
            }
        }
        other => text.push_str(&format!("{margin}{}\n", scalar(other))),
    }
}

fn word(key: &str) -> String {
    let is_plain = key
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if is_plain && !key.is_empty() {
        return key.to_owned();
    }
    scalar(&Json::from(key))
}

/// Writes a scalar as JSON, which is valid YAML except that YAML requires more characters
/// to be escaped.
fn scalar(value: &Json) -> String {
    let mut text = String::new();
    for letter in value.to_string().chars() {
        match letter {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => text.push(letter),
        }
    }
    text
}

/// Writes a value after its key, on the same line or on the lines below.
fn below(value: &Json, depth: usize, text: &mut String) {
    match value {
        Json::Object(map) if !map.is_empty() => {
            text.push('\n');
            emit(value, depth, text);
        }
        Json::Array(items) if !items.is_empty() => {
            text.push('\n');
            emit(value, depth, text);
        }
        other => text.push_str(&format!(" {}\n", scalar(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_read_back_as_they_were_written() {
        let cases = SkillTestCases {
            triggers: SkillTriggerCases {
                must: vec!["say \"hi\": now".into(), "zwei\nZeilen".into()],
                must_not: vec![],
            },
            runs: vec![SkillRunCase {
                name: "a: b".into(),
                arguments: "- x".into(),
                script: "basic.rehearsal.yaml".into(),
                files: [(
                    "a b/ü.csv".into(),
                    "1,2\n\t\u{7f}\u{2028}\u{feff}\u{1f600}3 # no\n".into(),
                )]
                .into(),
                expect: SkillRunExpectation {
                    state: ExpectedRunState::Partial,
                    answer_contains: vec!["2 rows".into()],
                    files: [
                        (
                            "out.md".into(),
                            ExpectedFileState::Contains("Total: 3".into()),
                        ),
                        ("draft.md".into(), ExpectedFileState::Absent(true)),
                    ]
                    .into(),
                    turns_at_most: Some(5),
                },
            }],
        };
        let text = write(&cases);
        assert_eq!(parse(&text).unwrap(), cases, "{text}");
        assert_eq!(
            parse(&write(&SkillTestCases::default())).unwrap(),
            SkillTestCases::default()
        );
        assert_eq!(parse("").unwrap(), SkillTestCases::default());
        let one = "runs: [{name: x, script: y, expect: {answer_contains: z}}]";
        assert_eq!(parse(one).unwrap().runs[0].expect.answer_contains, ["z"]);
        assert_eq!(parse("runs: []").unwrap(), SkillTestCases::default());
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let table = [
            ("triggers:\n  musst: [a]\n", 2, "musst"),
            (
                "runs:\n  - name: x\n    expect: {state: done}\n    script: a\n",
                3,
                "done",
            ),
            ("runs:\n  - name: x\n", 2, "script"),
            ("runs: 5\n", 1, ""),
            ("a: &x 1\nb: *x\n", 1, ""),
        ];
        for (text, line, word) in table {
            let complaint = parse(text).unwrap_err();
            assert_eq!(complaint.line, Some(line), "{text}: {complaint}");
            assert!(complaint.message.contains(word), "{text}: {complaint}");
        }
    }
}
