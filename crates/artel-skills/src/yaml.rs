//! The part of YAML that frontmatter uses: scalars, lists and maps, with their line
//! numbers.
//!
//! It is read from the parser's events and not into types, because three things must
//! survive: how a scalar was written (`1.0` is a version to one author and a number to
//! another), the line of each key, and the names of duplicate keys. Anchors, aliases and
//! tags are refused: no skill needs them, and hostile YAML is made of them.

mod scalar;

use std::collections::HashSet;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

pub(crate) use scalar::{YamlScalarKind, YamlScalarStyle, kind};

use crate::complaint::shown;

/// Deepest nesting accepted; no frontmatter goes deeper.
const MOST_DEPTH: usize = 16;
/// Largest number of nodes: more than a person writes.
const MOST_NODES: usize = 10_000;
const TOO_DEEP: &str = "it is nested too deeply";

/// A value and the line where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlNode {
    /// The line in the parsed text, counted from 1.
    pub(crate) line: usize,
    pub(crate) value: YamlValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum YamlValue {
    Scalar {
        text: String,
        style: YamlScalarStyle,
    },
    List(Vec<YamlNode>),
    /// Keys in their order, without duplicates.
    Map(Vec<(YamlKey, YamlNode)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlKey {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Why a text is not accepted as YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    /// The path of keys to a duplicate key, itself included; empty for other errors.
    pub(crate) duplicate: Vec<String>,
    pub(crate) message: String,
    pub(crate) remedy: Option<&'static str>,
}

impl YamlError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            duplicate: Vec::new(),
            message: message.into(),
            remedy: None,
        }
    }

    fn of(error: &ScanError) -> Self {
        let line = error.marker().line();
        if let ErrorKind::RecursionLimitExceeded = error.kind() {
            return Self::new(line, TOO_DEEP);
        }
        Self {
            remedy: Some("values that hold `: ` or begin with a sign need quotes"),
            ..Self::new(line, shown(&error.info()))
        }
    }
}

/// Reads one document. An empty text is a null.
pub(crate) fn parse(text: &str) -> Result<YamlNode, YamlError> {
    let options = granit_parser::options! {
        disallow_directives: true,
        emit_comments: false,
        flow_nesting_limit: MOST_DEPTH,
        block_nesting_limit: MOST_DEPTH,
    };
    let mut reader = YamlTreeBuilder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| YamlError::of(&error))?;
        reader.take(event, span)?;
    }
    let empty = YamlNode {
        line: 1,
        value: plain(""),
    };
    Ok(reader.root.unwrap_or(empty))
}

fn plain(text: &str) -> YamlValue {
    YamlValue::Scalar {
        text: text.to_owned(),
        style: YamlScalarStyle::Plain,
    }
}

/// Builds the tree without recursion, so that depth is a number and not a call stack.
#[derive(Default)]
struct YamlTreeBuilder {
    open: Vec<OpenYamlCollection>,
    root: Option<YamlNode>,
    nodes: usize,
    documents: usize,
}

/// A list or map that is still being read.
enum OpenYamlCollection {
    List(usize, Vec<YamlNode>),
    Map {
        line: usize,
        entries: Vec<(YamlKey, YamlNode)>,
        seen: HashSet<String>,
        key: Option<YamlKey>,
    },
}

impl YamlTreeBuilder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let line = span.start.line();
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(YamlError::new(line, "there is a second document"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse(line, anchor, tag.as_deref())?;
                let value = YamlValue::Scalar {
                    text: text.into_owned(),
                    style: match style {
                        ScalarStyle::Plain => YamlScalarStyle::Plain,
                        _ => YamlScalarStyle::Quoted,
                    },
                };
                self.put(YamlNode { line, value })?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                refuse(line, anchor, tag.as_deref())?;
                self.begin(OpenYamlCollection::List(line, Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                refuse(line, anchor, tag.as_deref())?;
                self.begin(OpenYamlCollection::Map {
                    line,
                    entries: Vec::new(),
                    seen: HashSet::new(),
                    key: None,
                })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                return Err(YamlError::new(line, "aliases (`*name`) are not used here"));
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, open: OpenYamlCollection) -> Result<(), YamlError> {
        let (OpenYamlCollection::List(line, _) | OpenYamlCollection::Map { line, .. }) = &open;
        if self.open.len() >= MOST_DEPTH {
            return Err(YamlError::new(*line, TOO_DEEP));
        }
        if let Some(OpenYamlCollection::Map { key: None, .. }) = self.open.last() {
            return Err(YamlError::new(*line, "a key must be plain text"));
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), YamlError> {
        let node = match self.open.pop() {
            Some(OpenYamlCollection::List(line, items)) => YamlNode {
                line,
                value: YamlValue::List(items),
            },
            Some(OpenYamlCollection::Map { line, entries, .. }) => YamlNode {
                line,
                value: YamlValue::Map(entries),
            },
            None => return Ok(()),
        };
        self.put(node)
    }

    /// Adds a finished node to the innermost open list or map: as an item, a key, or the value
    /// of the last key.
    fn put(&mut self, node: YamlNode) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            let message = format!("it has more than {MOST_NODES} values");
            return Err(YamlError::new(node.line, message));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(OpenYamlCollection::List(_, items)) => items.push(node),
            Some(OpenYamlCollection::Map { entries, key, .. }) if key.is_some() => {
                entries.extend(key.take().map(|key| (key, node)));
            }
            Some(OpenYamlCollection::Map { seen, key, .. }) => {
                let YamlValue::Scalar { text, .. } = node.value else {
                    return Err(YamlError::new(node.line, "a key must be plain text"));
                };
                if !seen.insert(text.clone()) {
                    return Err(self.duplicate(text, node.line));
                }
                *key = Some(YamlKey {
                    text,
                    line: node.line,
                });
            }
        }
        Ok(())
    }

    fn duplicate(&self, text: String, line: usize) -> YamlError {
        let above = self.open.iter().filter_map(|open| match open {
            OpenYamlCollection::Map { key, .. } => key.as_ref().map(|key| key.text.clone()),
            OpenYamlCollection::List(..) => None,
        });
        let message = format!("the key `{}` is given twice", shown(&text));
        YamlError {
            line,
            duplicate: above.chain([text]).collect(),
            message,
            remedy: Some("keep one of them"),
        }
    }
}

fn refuse(line: usize, anchor: usize, tag: Option<&Tag>) -> Result<(), YamlError> {
    if anchor != 0 {
        return Err(YamlError::new(line, "anchors (`&name`) are not used here"));
    }
    if tag.is_some() {
        return Err(YamlError::new(line, "tags (`!name`) are not used here"));
    }
    Ok(())
}

impl YamlNode {
    /// Returns whether the value is empty.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, YamlValue::Scalar { text, style } if kind(text, *style) == YamlScalarKind::Null)
    }

    /// Returns the value as JSON, for storing or display.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            YamlValue::Scalar { text, style } => match kind(text, *style) {
                YamlScalarKind::Null => Json::Null,
                YamlScalarKind::Bool(yes) => Json::Bool(yes),
                YamlScalarKind::Int(number) => Json::from(number),
                YamlScalarKind::Number(_) | YamlScalarKind::Text => Json::from(text.as_str()),
            },
            YamlValue::List(items) => items.iter().map(Self::to_json).collect(),
            YamlValue::Map(entries) => entries
                .iter()
                .map(|(key, node)| (key.text.clone(), node.to_json()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_named_with_what_is_above() {
        let error = parse("a: 1\nb:\n  c: 1\n  c: 2\n").unwrap_err();
        assert_eq!(error.duplicate, ["b", "c"]);
        assert_eq!(error.line, 4);
        let error = parse("{x: 1, \"x\": 2}").unwrap_err();
        assert_eq!(error.duplicate, ["x"]);
    }

    #[test]
    fn hostile_yaml_is_refused_at_once() {
        let laughs = (1..9).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
            let above = level - 1;
            text + &format!("a{level}: &a{level} [*a{above}, *a{above}]\n")
        });
        let deep_block = (0..500).fold(String::new(), |text, depth| {
            text + &" ".repeat(depth) + "a:\n"
        });
        let hostile = [
            laughs,
            "[".repeat(60_000),
            "{a: ".repeat(15_000),
            "- ".repeat(30_000),
            deep_block,
            "? ".repeat(30_000),
            "a: !!python/object:os.system x".into(),
            "a: !ruby/object {}".into(),
            "a: &x 1\nb: *x".into(),
            "<<: *missing".into(),
            "[a]: b".into(),
            "{a: b}: c".into(),
            "a: b\n---\nc: d".into(),
            "a: \"unclosed".into(),
            "a:\n\tb: c".into(),
            "a: b\n\tc: d".into(),
            "%YAML 1.1\n---\na: b".into(),
            "x,".repeat(30_000).replace("x,", "- a\n"),
        ];
        for text in hostile {
            assert!(parse(&text).is_err(), "{}", shown(&text));
        }
    }
}
