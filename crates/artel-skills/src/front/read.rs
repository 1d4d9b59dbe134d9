//! Reads the map of a frontmatter into a skill's fields, strictly or leniently.

use std::collections::BTreeMap;

use super::SkillFrontmatter;
use super::fields;
use super::value::{FrontmatterValueError, YamlTypeStrictness, bounded_text, entries, text};
use crate::complaint::shown;
use crate::yaml::{YamlKey, YamlNode, YamlScalarStyle, YamlValue};
use crate::{FileComplaint, Remark, name};

/// Strictness of reading a frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontmatterStrictness {
    /// Every violation of the format is an error.
    Strict,
    /// Only values that would change what the skill may do are errors, and skills that cannot
    /// be chosen.
    Lenient,
}

/// The fields of a frontmatter, and the faults in it.
#[derive(Debug, Default)]
pub(crate) struct ParsedSkillFrontmatter {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) front: SkillFrontmatter,
    pub(crate) complaints: Vec<FileComplaint>,
    pub(crate) remarks: Vec<Remark>,
}

/// Severity of a wrong value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrontmatterErrorSeverity {
    /// The skill would do something else than its author meant.
    Grave,
    /// The skill loads without the value.
    Light,
}

/// Reads the fields. `above` is added to the line numbers of the nodes.
pub(crate) fn read(
    map: &[(YamlKey, YamlNode)],
    folder: Option<&str>,
    manner: FrontmatterStrictness,
    above: usize,
) -> ParsedSkillFrontmatter {
    let mut reader = SkillFrontmatterReader {
        manner,
        above,
        reading: ParsedSkillFrontmatter::default(),
    };
    reader.required(map, folder);
    reader.metadata(map);
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (key, node) in map {
        let plain = key.text.replace('_', "-");
        if let Some(first) = seen.get(&plain) {
            let fault =
                FrontmatterValueError::new(format!("it says the same as `{}`", shown(first)))
                    .advise("keep one of them");
            reader.note(&key.text, key.line, FrontmatterErrorSeverity::Light, fault);
            continue;
        }
        reader.field(&plain, &key.text, node, key.line, reader.exactness());
        seen.insert(plain, &key.text);
    }
    reader.reading
}

pub(super) struct SkillFrontmatterReader {
    manner: FrontmatterStrictness,
    above: usize,
    pub(super) reading: ParsedSkillFrontmatter,
}

impl SkillFrontmatterReader {
    pub(super) fn exactness(&self) -> YamlTypeStrictness {
        match self.manner {
            FrontmatterStrictness::Strict => YamlTypeStrictness::Exact,
            FrontmatterStrictness::Lenient => YamlTypeStrictness::Loose,
        }
    }

    /// Adds a fault to the complaints or to the remarks, by its severity.
    pub(super) fn note(
        &mut self,
        field: &str,
        line: usize,
        weight: FrontmatterErrorSeverity,
        fault: FrontmatterValueError,
    ) {
        let mut complaint = FileComplaint::new(shown(field), fault.message);
        complaint.line = (line > 0).then_some(line + self.above);
        complaint.remedy = fault.remedy;
        if self.manner == FrontmatterStrictness::Strict || weight == FrontmatterErrorSeverity::Grave
        {
            self.reading.complaints.push(complaint);
        } else {
            self.reading.remarks.push(complaint);
        }
    }

    fn required(&mut self, map: &[(YamlKey, YamlNode)], folder: Option<&str>) {
        let find = |field: &str| map.iter().find(|(key, _)| key.text == field);
        match find("name") {
            None => self.missing("name", FrontmatterErrorSeverity::Light),
            Some((key, node)) => match text(node, self.exactness()) {
                Err(fault) => self.note("name", key.line, FrontmatterErrorSeverity::Light, fault),
                Ok(name) => {
                    for fault in name::faults(&name, folder) {
                        let fault = FrontmatterValueError::new(fault).advise(
                            "a name is 1 to 64 lower-case letters, digits and single hyphens, \
                             the same as its folder's",
                        );
                        self.note("name", key.line, FrontmatterErrorSeverity::Light, fault);
                    }
                    self.reading.name = Some(name);
                }
            },
        }
        match find("description") {
            None => self.missing("description", FrontmatterErrorSeverity::Grave),
            Some((key, node)) => {
                self.description(key.line, node);
            }
        }
    }

    fn missing(&mut self, field: &str, weight: FrontmatterErrorSeverity) {
        let fault = FrontmatterValueError::new("it is missing").advise(match field {
            "name" => "add `name:` with the name of the folder",
            _ => "add `description:` and say what the skill does and when to use it",
        });
        self.note(field, 0, weight, fault);
    }

    fn description(&mut self, line: usize, node: &YamlNode) {
        match bounded_text(node, self.exactness(), 1024) {
            Ok(text) => self.reading.description = Some(text),
            Err(fault) => match text(node, self.exactness()) {
                // A long description still works; without any, nobody could choose the skill.
                Ok(text) if !text.trim().is_empty() => {
                    self.reading.description = Some(text);
                    self.note("description", line, FrontmatterErrorSeverity::Light, fault);
                }
                _ => self.note("description", line, FrontmatterErrorSeverity::Grave, fault),
            },
        }
    }

    /// Reads `metadata`, and Artel's own fields in it.
    fn metadata(&mut self, map: &[(YamlKey, YamlNode)]) {
        let Some((key, node)) = map.iter().find(|(key, _)| key.text == "metadata") else {
            return;
        };
        let found = match entries(node) {
            Ok(found) => found,
            Err(fault) => {
                return self.note("metadata", key.line, FrontmatterErrorSeverity::Light, fault);
            }
        };
        for (inner, node) in found {
            // `version: 1.0` counts as text here, as in the format's own validator.
            match text(node, YamlTypeStrictness::Loose) {
                Ok(value) => {
                    if let Some(field) = inner.text.strip_prefix("artel.") {
                        let name = format!("metadata.{}", inner.text);
                        let plain = field.replace('_', "-");
                        let node = unquoted(node);
                        self.field(&plain, &name, &node, inner.line, YamlTypeStrictness::Loose);
                    }
                    self.reading
                        .front
                        .metadata
                        .insert(inner.text.clone(), value);
                }
                Err(fault) => {
                    let message = format!("`{}`: {}", shown(&inner.text), fault.message);
                    let fault = FrontmatterValueError {
                        message,
                        remedy: fault.remedy,
                    };
                    self.note(
                        "metadata",
                        inner.line,
                        FrontmatterErrorSeverity::Light,
                        fault,
                    );
                }
            }
        }
    }

    /// Reads one of the remaining fields. Unknown fields are kept.
    fn field(
        &mut self,
        plain: &str,
        given: &str,
        node: &YamlNode,
        line: usize,
        how: YamlTypeStrictness,
    ) {
        if matches!(plain, "name" | "description" | "metadata") {
            return;
        }
        if self.manner == FrontmatterStrictness::Lenient && node.is_null() {
            let fault = FrontmatterValueError::new("it has no value")
                .advise("give it one, or take the line out");
            return self.note(given, line, FrontmatterErrorSeverity::Light, fault);
        }
        match fields::read(&mut self.reading.front, plain, node, how) {
            None => {
                let other = &mut self.reading.front.other;
                if !given.starts_with("metadata.") {
                    other.insert(given.to_owned(), node.to_json());
                }
            }
            Some((_, Ok(()))) => {}
            Some((weight, Err(fault))) => self.note(given, line, weight, fault),
        }
    }
}

/// Removes the quotes: metadata holds only text, so a quoted value may mean a number.
fn unquoted(node: &YamlNode) -> YamlNode {
    let value = match &node.value {
        YamlValue::Scalar { text, .. } => YamlValue::Scalar {
            text: text.clone(),
            style: YamlScalarStyle::Plain,
        },
        other => other.clone(),
    };
    YamlNode {
        line: node.line,
        value,
    }
}
