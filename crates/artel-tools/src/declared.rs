//! Declared tools: `Tools/<name>.toml` declares a command as words with placeholders, and
//! the values that each placeholder accepts. A model fills placeholders; it never writes a
//! command line, and no shell reads the result.

mod assemble;
mod file;

use std::time::Duration;

use artel_policy::{FileTarget, PolicyAction, TargetTree};
use artel_types::parse_span;
use regex::Regex;
use serde_json::{Value, json};

pub use file::ToolDeclarationError;
use file::{ToolFile, ToolFileParameter, ToolParameterType};

use crate::process::{self, ToolProcessSpec};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolObservation,
    ToolSchemaDelivery,
};

/// Default timeout of a declared tool.
const PATIENCE: Duration = Duration::from_secs(10);

/// A tool that a person declared.
#[derive(Debug)]
pub struct DeclaredTool {
    card: ToolDescriptor,
    command: Vec<String>,
    parameters: Vec<DeclaredToolParameter>,
    blocked: Vec<Regex>,
    timeout: Duration,
    cwd: String,
    secrets: Vec<String>,
    network: Vec<String>,
}

/// One placeholder in a command.
#[derive(Debug)]
struct DeclaredToolParameter {
    name: String,
    sort: ToolParameterType,
    /// The pattern that values must match, anchored at both ends.
    pattern: Option<Regex>,
    choices: Vec<String>,
    is_optional: bool,
    /// The word that a true flag puts into its place.
    word: Option<String>,
    /// Whether the command writes the file that this parameter names.
    is_written: bool,
}

impl DeclaredTool {
    /// Parses a declaration. `stem` is the name of the file without its extension, and of the
    /// tool.
    pub fn parse(stem: &str, text: &str) -> Result<Self, ToolDeclarationError> {
        let file = ToolFile::parse(stem, text)?;
        let parameters = file
            .parameters
            .iter()
            .map(|(name, parameter)| DeclaredToolParameter::of(name, parameter))
            .collect::<Result<Vec<_>, _>>()?;
        let blocked = file
            .blocked
            .iter()
            .map(|pattern| file::regex("blocked", pattern))
            .collect::<Result<_, _>>()?;
        let timeout = match &file.timeout {
            None => PATIENCE,
            Some(text) => parse_span(text).map_err(|_| {
                ToolDeclarationError::new("timeout", "is not a span such as \"10s\"")
            })?,
        };
        let has_reach = !file.network.is_empty() || !file.secrets.is_empty();
        let mut effects = vec![ToolEffect::Process];
        if !file.network.is_empty() {
            effects.push(ToolEffect::Network);
        }
        let declared = Self {
            card: ToolDescriptor {
                name: stem.to_owned(),
                line: first_line(&file.description),
                description: file.description.clone(),
                input: schema(&file),
                effects,
                unknown: if has_reach {
                    ToolCrashRecovery::Once
                } else {
                    ToolCrashRecovery::Restore
                },
                bundle: "declared",
                keywords: &[],
                reach: ToolSchemaDelivery::Found,
            },
            command: file.command,
            parameters,
            blocked,
            timeout,
            cwd: file.cwd.unwrap_or_else(|| ".".to_owned()),
            secrets: file.secrets,
            network: file.network,
        };
        declared.check_gaps()?;
        Ok(declared)
    }

    /// Returns the names of the secrets that it uses.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}

impl Tool for DeclaredTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, _: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let assembled = self.assemble(input)?;
        let target = |path: &String| FileTarget {
            place: TargetTree::Worktree,
            path: path.clone(),
        };
        let mut actions = vec![PolicyAction::Words(assembled.words)];
        actions.extend(assembled.reads.iter().map(target).map(PolicyAction::Read));
        actions.extend(assembled.writes.iter().map(target).map(PolicyAction::Write));
        actions.extend(process::reached(&process::network(&self.network)?));
        actions.extend(self.secrets.iter().cloned().map(PolicyAction::Secret));
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let words = self.assemble(input)?.words;
        process::run(
            bench,
            ToolProcessSpec {
                cwd: self.cwd.clone(),
                timeout: Some(self.timeout),
                secrets: self.secrets.clone(),
                network: self.network.clone(),
                ..ToolProcessSpec::of(words)
            },
        )
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(100).collect()
}

fn schema(file: &ToolFile) -> Value {
    let property = |(name, parameter): (&String, &ToolFileParameter)| {
        let mut property = match parameter.sort {
            ToolParameterType::Integer => json!({"type": "integer"}),
            ToolParameterType::Flag => json!({"type": "boolean"}),
            ToolParameterType::Choice => json!({"enum": parameter.choices}),
            ToolParameterType::Text | ToolParameterType::Path => json!({"type": "string"}),
        };
        property["description"] = json!(parameter.description);
        if let Some(pattern) = &parameter.pattern {
            property["pattern"] = json!(format!("^(?:{pattern})$"));
        }
        (name.clone(), property)
    };
    let properties: serde_json::Map<_, _> = file.parameters.iter().map(property).collect();
    let required: Vec<_> = file
        .parameters
        .iter()
        .filter(|(_, parameter)| !parameter.optional && parameter.sort != ToolParameterType::Flag)
        .map(|(name, _)| name)
        .collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests;
