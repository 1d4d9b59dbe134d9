//! Turns a model's input into the words to execute. Only known placeholders are filled;
//! each value is checked by itself, then the whole command.

use serde_json::{Map, Value};

use super::file::{ToolDeclarationError, ToolParameterType};
use super::{DeclaredTool, DeclaredToolParameter};
use crate::{ToolError, ToolErrorKind};

/// The words of a call, and the files that they name.
pub(super) struct DeclaredToolCommand {
    pub(super) words: Vec<String>,
    pub(super) reads: Vec<String>,
    pub(super) writes: Vec<String>,
}

impl DeclaredTool {
    /// Checks that the command's placeholders and the parameters match.
    pub(super) fn check_gaps(&self) -> Result<(), ToolDeclarationError> {
        let gaps: Vec<&str> = self.command.iter().flat_map(|word| gaps(word)).collect();
        if let Some(unknown) = gaps.iter().find(|gap| self.parameter(gap).is_none()) {
            return Err(ToolDeclarationError::new(
                "command",
                format!("has the gap `{{{unknown}}}`, which is no parameter"),
            ));
        }
        let unused = self
            .parameters
            .iter()
            .find(|parameter| !gaps.contains(&parameter.name.as_str()));
        if let Some(unused) = unused {
            return Err(ToolDeclarationError::new(
                format!("parameters.{}", unused.name),
                "stands nowhere in the command",
            ));
        }
        if !gaps_of(&self.command[0]).is_empty() {
            return Err(ToolDeclarationError::new(
                "command",
                "begins with a gap; the program is fixed",
            ));
        }
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<&DeclaredToolParameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// Fills the placeholders.
    pub(super) fn assemble(&self, input: &Value) -> Result<DeclaredToolCommand, ToolError> {
        let empty = Map::new();
        let given = match input {
            Value::Object(given) => given,
            Value::Null => &empty,
            _ => return Err(bad("the input is not an object")),
        };
        if let Some(unknown) = given.keys().find(|name| self.parameter(name).is_none()) {
            let known: Vec<_> = self.parameters.iter().map(|it| it.name.as_str()).collect();
            return Err(bad(format!("there is no parameter `{unknown}`"))
                .hint(format!("parameters: {}", known.join(", "))));
        }
        let mut assembled = DeclaredToolCommand {
            words: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for word in &self.command {
            self.fill(word, given, &mut assembled)?;
        }
        let line = assembled.words.join(" ");
        if let Some(pattern) = self.blocked.iter().find(|pattern| pattern.is_match(&line)) {
            let what = format!("the command matches the blocked pattern `{pattern}`");
            return Err(ToolError::new(ToolErrorKind::Refused, what));
        }
        Ok(assembled)
    }

    /// Fills one word. The word is left out if the parameter of a placeholder is optional and
    /// missing.
    fn fill(
        &self,
        word: &str,
        given: &Map<String, Value>,
        assembled: &mut DeclaredToolCommand,
    ) -> Result<(), ToolError> {
        // One pass over the author's text: values are not searched for further placeholders.
        let mut filled = String::new();
        let mut rest = word;
        for gap in gaps(word) {
            let place = format!("{{{gap}}}");
            let Some((before, after)) = rest.split_once(&place) else {
                break;
            };
            filled.push_str(before);
            rest = after;
            let Some(parameter) = self.parameter(gap) else {
                continue;
            };
            let Some(text) = parameter.text(given.get(gap))? else {
                return Ok(());
            };
            // A word that begins with a dash would be an option of the program. The words of flags
            // and choices come from the author, so they may be options.
            let is_own = matches!(
                parameter.sort,
                ToolParameterType::Flag | ToolParameterType::Choice
            );
            if filled.is_empty() && text.starts_with('-') && !is_own {
                let what = format!("`{gap}` begins with `-` and would be read as an option");
                return Err(ToolError::new(ToolErrorKind::Refused, what)
                    .hint("write ./ in front of a file's name"));
            }
            if parameter.sort == ToolParameterType::Path {
                let files = if parameter.is_written {
                    &mut assembled.writes
                } else {
                    &mut assembled.reads
                };
                files.push(text.clone());
            }
            filled.push_str(&text);
        }
        filled.push_str(rest);
        assembled.words.push(filled);
        Ok(())
    }
}

impl DeclaredToolParameter {
    /// Returns the text for the placeholder, or `None` if it stays empty.
    fn text(&self, given: Option<&Value>) -> Result<Option<String>, ToolError> {
        let name = &self.name;
        let text = match (self.sort, given) {
            (ToolParameterType::Flag, Some(Value::Bool(true))) => return Ok(self.word.clone()),
            (ToolParameterType::Flag, None | Some(Value::Bool(false) | Value::Null)) => {
                return Ok(None);
            }
            (_, None | Some(Value::Null)) if self.is_optional => return Ok(None),
            (_, None | Some(Value::Null)) => return Err(bad(format!("`{name}` is missing"))),
            (ToolParameterType::Integer, Some(Value::Number(number)))
                if number.is_i64() || number.is_u64() =>
            {
                number.to_string()
            }
            (
                ToolParameterType::Text | ToolParameterType::Path | ToolParameterType::Choice,
                Some(Value::String(text)),
            ) => text.clone(),
            (sort, Some(_)) => {
                let wanted = format!("{sort:?}").to_lowercase();
                return Err(bad(format!("`{name}` is not of type {wanted}")));
            }
        };
        if text.contains('\0') {
            return Err(bad(format!("`{name}` holds a NUL")));
        }
        if self.sort == ToolParameterType::Choice && !self.choices.contains(&text) {
            return Err(bad(format!(
                "`{name}` is none of: {}",
                self.choices.join(", ")
            )));
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_match(&text) => Err(ToolError::new(
                ToolErrorKind::Refused,
                format!("`{name}` does not match its pattern `{pattern}`"),
            )),
            _ => Ok(Some(text)),
        }
    }
}

/// Returns the names of the placeholders in a word, in order.
fn gaps(word: &str) -> impl Iterator<Item = &str> {
    gaps_of(word).into_iter()
}

fn gaps_of(word: &str) -> Vec<&str> {
    let mut gaps = Vec::new();
    let mut rest = word;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, more)) = after.split_once('}') else {
            break;
        };
        gaps.push(name);
        rest = more;
    }
    gaps
}

fn bad(what: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::BadInput, what)
}
