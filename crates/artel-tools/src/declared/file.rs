//! The file format of a declared tool, and the errors in it.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::DeclaredToolParameter;

/// Why a declaration cannot be used: the field, and its fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {what}")]
pub struct ToolDeclarationError {
    /// The field, or `line:column` if the file is not valid TOML.
    pub field: String,
    /// The fault, and what to write instead.
    pub what: String,
}

impl ToolDeclarationError {
    pub(super) fn new(field: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            what: what.into(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolFile {
    pub(super) description: String,
    pub(super) command: Vec<String>,
    pub(super) timeout: Option<String>,
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    #[serde(default)]
    pub(super) secrets: Vec<String>,
    #[serde(default)]
    pub(super) network: Vec<String>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, ToolFileParameter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolFileParameter {
    #[serde(rename = "type")]
    pub(super) sort: ToolParameterType,
    pub(super) description: String,
    pub(super) pattern: Option<String>,
    #[serde(default)]
    pub(super) choices: Vec<String>,
    #[serde(default)]
    pub(super) optional: bool,
    /// The word of a flag.
    pub(super) word: Option<String>,
    /// Whether the command writes the file at this path.
    #[serde(default)]
    pub(super) writes: bool,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolParameterType {
    /// Text that matches the pattern.
    Text,
    /// A file in the run's tree.
    Path,
    /// A whole number.
    Integer,
    /// A word that is present or absent.
    Flag,
    /// One of a few words.
    Choice,
}

/// Words that mark a parameter's name as that of a credential: every process on the
/// machine could see a credential in an argument.
const CREDENTIALS: &[&str] = &["password", "passwd", "token", "secret", "api_key", "apikey"];

impl ToolFile {
    pub(super) fn parse(stem: &str, text: &str) -> Result<Self, ToolDeclarationError> {
        let is_name =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if stem.is_empty() || stem.len() > 64 || !stem.chars().all(is_name) {
            return Err(ToolDeclarationError::new(
                "file name",
                "is the tool's name: at most 64 lower-case letters, digits and `_`",
            ));
        }
        let file: Self = toml::from_str(text).map_err(|cause| {
            let place = cause.span().map_or(0, |span| span.start);
            let before = text.get(..place).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before
                .rsplit('\n')
                .next()
                .map_or(0, |rest| rest.chars().count())
                + 1;
            ToolDeclarationError::new(format!("{line}:{column}"), cause.message().to_owned())
        })?;
        if file.command.is_empty() {
            return Err(ToolDeclarationError::new(
                "command",
                "is empty; write the program and its words: [\"wc\", \"-l\", \"{path}\"]",
            ));
        }
        if file.description.trim().is_empty() {
            return Err(ToolDeclarationError::new(
                "description",
                "is empty; say what the tool does",
            ));
        }
        Ok(file)
    }
}

impl DeclaredToolParameter {
    pub(super) fn of(name: &str, file: &ToolFileParameter) -> Result<Self, ToolDeclarationError> {
        let field = |what: &str| format!("parameters.{name}.{what}");
        let lower = name.to_lowercase();
        if CREDENTIALS.iter().any(|word| lower.contains(word)) {
            return Err(ToolDeclarationError::new(
                format!("parameters.{name}"),
                "looks like a credential; name it in `secrets` instead, then it goes into the \
                 environment and a model never sees it",
            ));
        }
        if file.sort == ToolParameterType::Text && file.pattern.is_none() {
            return Err(ToolDeclarationError::new(
                field("pattern"),
                "is missing; say what the text may be, such as \"[a-z0-9-]{1,40}\"",
            ));
        }
        if file.sort == ToolParameterType::Choice && file.choices.is_empty() {
            return Err(ToolDeclarationError::new(field("choices"), "is empty"));
        }
        if file.sort == ToolParameterType::Flag && file.word.is_none() {
            return Err(ToolDeclarationError::new(
                field("word"),
                "is missing; say the word that the flag stands for, such as \"--verbose\"",
            ));
        }
        let pattern = file
            .pattern
            .as_ref()
            .map(|pattern| regex(&field("pattern"), &format!("^(?:{pattern})$")));
        Ok(Self {
            name: name.to_owned(),
            sort: file.sort,
            pattern: pattern.transpose()?,
            choices: file.choices.clone(),
            is_optional: file.optional,
            word: file.word.clone(),
            is_written: file.writes,
        })
    }
}

pub(super) fn regex(field: &str, pattern: &str) -> Result<Regex, ToolDeclarationError> {
    Regex::new(pattern).map_err(|cause| {
        let last = cause.to_string();
        let last = last.lines().last().unwrap_or_default().trim().to_owned();
        ToolDeclarationError::new(field, format!("is not a regular expression: {last}"))
    })
}
