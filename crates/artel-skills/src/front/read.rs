//! Reads the map of a frontmatter into a skill's fields, strictly or leniently.

use std::collections::BTreeMap;

use super::Front;
use super::fields;
use super::value::{Exactness, Fault, bounded_text, entries, text};
use crate::complaint::shown;
use crate::yaml::{Key, Node, Style, Value};
use crate::{Complaint, Remark, name};

/// Strictness of reading a frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Every violation of the format is an error.
    Strict,
    /// Only values that would change what the skill may do are errors, and skills that cannot
    /// be chosen.
    Lenient,
}

/// The fields of a frontmatter, and the faults in it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) front: Front,
    pub(crate) complaints: Vec<Complaint>,
    pub(crate) remarks: Vec<Remark>,
}

/// Severity of a wrong value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// The skill would do something else than its author meant.
    Grave,
    /// The skill loads without the value.
    Light,
}

/// Reads the fields. `above` is added to the line numbers of the nodes.
pub(crate) fn read(
    map: &[(Key, Node)],
    folder: Option<&str>,
    manner: Manner,
    above: usize,
) -> Reading {
    let mut reader = Reader {
        manner,
        above,
        reading: Reading::default(),
    };
    reader.required(map, folder);
    reader.metadata(map);
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (key, node) in map {
        let plain = key.text.replace('_', "-");
        if let Some(first) = seen.get(&plain) {
            let fault = Fault::new(format!("it says the same as `{}`", shown(first)))
                .advise("keep one of them");
            reader.note(&key.text, key.line, Weight::Light, fault);
            continue;
        }
        reader.field(&plain, &key.text, node, key.line, reader.exactness());
        seen.insert(plain, &key.text);
    }
    reader.reading
}

pub(super) struct Reader {
    manner: Manner,
    above: usize,
    pub(super) reading: Reading,
}

impl Reader {
    pub(super) fn exactness(&self) -> Exactness {
        match self.manner {
            Manner::Strict => Exactness::Exact,
            Manner::Lenient => Exactness::Loose,
        }
    }

    /// Adds a fault to the complaints or to the remarks, by its severity.
    pub(super) fn note(&mut self, field: &str, line: usize, weight: Weight, fault: Fault) {
        let mut complaint = Complaint::new(shown(field), fault.message);
        complaint.line = (line > 0).then_some(line + self.above);
        complaint.remedy = fault.remedy;
        if self.manner == Manner::Strict || weight == Weight::Grave {
            self.reading.complaints.push(complaint);
        } else {
            self.reading.remarks.push(complaint);
        }
    }

    fn required(&mut self, map: &[(Key, Node)], folder: Option<&str>) {
        let find = |field: &str| map.iter().find(|(key, _)| key.text == field);
        match find("name") {
            None => self.missing("name", Weight::Light),
            Some((key, node)) => match text(node, self.exactness()) {
                Err(fault) => self.note("name", key.line, Weight::Light, fault),
                Ok(name) => {
                    for fault in name::faults(&name, folder) {
                        let fault = Fault::new(fault).advise(
                            "a name is 1 to 64 lower-case letters, digits and single hyphens, \
                             the same as its folder's",
                        );
                        self.note("name", key.line, Weight::Light, fault);
                    }
                    self.reading.name = Some(name);
                }
            },
        }
        match find("description") {
            None => self.missing("description", Weight::Grave),
            Some((key, node)) => {
                self.description(key.line, node);
            }
        }
    }

    fn missing(&mut self, field: &str, weight: Weight) {
        let fault = Fault::new("it is missing").advise(match field {
            "name" => "add `name:` with the name of the folder",
            _ => "add `description:` and say what the skill does and when to use it",
        });
        self.note(field, 0, weight, fault);
    }

    fn description(&mut self, line: usize, node: &Node) {
        match bounded_text(node, self.exactness(), 1024) {
            Ok(text) => self.reading.description = Some(text),
            Err(fault) => match text(node, self.exactness()) {
                // A long description still works; without any, nobody could choose the skill.
                Ok(text) if !text.trim().is_empty() => {
                    self.reading.description = Some(text);
                    self.note("description", line, Weight::Light, fault);
                }
                _ => self.note("description", line, Weight::Grave, fault),
            },
        }
    }

    /// Reads `metadata`, and Artel's own fields in it.
    fn metadata(&mut self, map: &[(Key, Node)]) {
        let Some((key, node)) = map.iter().find(|(key, _)| key.text == "metadata") else {
            return;
        };
        let found = match entries(node) {
            Ok(found) => found,
            Err(fault) => {
                return self.note("metadata", key.line, Weight::Light, fault);
            }
        };
        for (inner, node) in found {
            // `version: 1.0` counts as text here, as in the format's own validator.
            match text(node, Exactness::Loose) {
                Ok(value) => {
                    if let Some(field) = inner.text.strip_prefix("artel.") {
                        let name = format!("metadata.{}", inner.text);
                        let plain = field.replace('_', "-");
                        let node = unquoted(node);
                        self.field(&plain, &name, &node, inner.line, Exactness::Loose);
                    }
                    self.reading
                        .front
                        .metadata
                        .insert(inner.text.clone(), value);
                }
                Err(fault) => {
                    let message = format!("`{}`: {}", shown(&inner.text), fault.message);
                    let fault = Fault {
                        message,
                        remedy: fault.remedy,
                    };
                    self.note("metadata", inner.line, Weight::Light, fault);
                }
            }
        }
    }

    /// Reads one of the remaining fields. Unknown fields are kept.
    fn field(&mut self, plain: &str, given: &str, node: &Node, line: usize, how: Exactness) {
        if matches!(plain, "name" | "description" | "metadata") {
            return;
        }
        if self.manner == Manner::Lenient && node.is_null() {
            let fault = Fault::new("it has no value").advise("give it one, or take the line out");
            return self.note(given, line, Weight::Light, fault);
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
fn unquoted(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar { text, .. } => Value::Scalar {
            text: text.clone(),
            style: Style::Plain,
        },
        other => other.clone(),
    };
    Node {
        line: node.line,
        value,
    }
}
