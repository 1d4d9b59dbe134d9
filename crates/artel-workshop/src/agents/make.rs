//! Creates a role: its file is built from a template and from what the person specifies.

use std::path::{Path, PathBuf};

use artel_files::{create_new, make_dirs, read_bounded};
use artel_types::{AgentChanged, Failure, FailureCode};

use super::{AgentDetail, shipped, shown, validate};
use crate::hands::{AgentRole, parse_role};
use crate::trouble::file_failure;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// The templates apart from the built-in roles: name, built-in role whose prompt is
/// copied, model, and capabilities.
const TEMPLATES: &[(&str, &str, Option<&str>, &[&str])] = &[
    ("default", "default", None, &["general"]),
    (
        "coder",
        "engineer",
        Some("strong"),
        &["code_generation", "debugging", "testing"],
    ),
    (
        "reviewer",
        "inspector",
        Some("balanced"),
        &["code_review", "security_analysis"],
    ),
    (
        "architect",
        "architect",
        Some("strong"),
        &["system_design", "documentation"],
    ),
    (
        "researcher",
        "academic",
        Some("balanced"),
        &["research", "analysis", "summarization"],
    ),
    (
        "gemini",
        "default",
        Some("google:gemini-2.5-flash"),
        &["general", "multimodal", "reasoning"],
    ),
    (
        "mock",
        "default",
        Some("rehearsal:rehearsal.yaml"),
        &["testing", "development"],
    ),
];

/// The names of the templates, not counting the built-in roles.
pub const AGENT_TEMPLATES: &[&str] = &[
    "default",
    "coder",
    "reviewer",
    "architect",
    "researcher",
    "gemini",
    "mock",
];

/// Size limit of a prompt file, in bytes; far more than a prompt needs.
const LARGEST_PROMPT: u64 = 128 * 1024;

/// A role to create. Fields that are `None` come from the template.
#[derive(Debug, Clone, Default)]
pub struct NewAgent {
    /// The id, which is also the name of the file.
    pub id: String,
    pub name: String,
    /// An alias or `provider:model`.
    pub model: Option<String>,
    /// Its purpose, in one line.
    pub description: Option<String>,
    pub capabilities: Option<Vec<String>>,
    /// The instructions that the agent works by.
    pub prompt: Option<String>,
    /// A file that holds the prompt.
    pub prompt_file: Option<PathBuf>,
    /// The template; `default` if `None`.
    pub template: Option<String>,
}

impl Workshop {
    /// Creates a role in the workshop's `Agents` folder. An existing file is never
    /// overwritten, and a role that would fail its check is not written.
    pub fn create_agent(&self, new: &NewAgent) -> Result<OutcomeWithNotes<AgentDetail>, Failure> {
        validate::id(&new.id)?;
        let file = self.root.join(format!("Agents/{}.md", new.id));
        if file.symlink_metadata().is_ok() {
            let what = format!("there is a role `{}` already", new.id);
            return Err(Failure::new(FailureCode::C004, what)
                .because(format!("its file is `{}`", file.display()))
                .advise(format!("`artel agent edit {}`, or another id", new.id)));
        }
        let text = self.agent_text(new)?;
        self.refuse_secret_in(&text)?;
        let report = self.caller.validated(&new.id, &text, &self.settings);
        if let Some(failure) = report.first_failure() {
            return Err(failure);
        }
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        let failed = |error| file_failure(FailureCode::W008, &error);
        make_dirs(&self.root.join("Agents"), 0o755).map_err(failed)?;
        create_new(&file, text.as_bytes(), 0o644).map_err(failed)?;
        let fact = AgentChanged {
            id: new.id.clone(),
            act: "created".to_owned(),
            hash: Some(blake3::hash(text.as_bytes()).to_hex().to_string()),
        };
        journal.append(self.draft(fact).on(new.id.clone())).wait()?;
        if shipped::text(&new.id).is_some() {
            notes.push(format!(
                "it takes the place of the built-in role `{}`",
                new.id
            ));
        }
        Ok(OutcomeWithNotes {
            done: shown(&new.id, parse_role(Some(&file), &text)?),
            notes,
        })
    }

    /// Builds the text of a new role.
    fn agent_text(&self, new: &NewAgent) -> Result<String, Failure> {
        let template = template(new.template.as_deref().unwrap_or("default"))?;
        let AgentRole {
            tools,
            deny,
            calls,
            description,
            persona,
            ..
        } = template.role;
        let model = new.model.as_deref().or(template.model.as_deref());
        let capabilities = new.capabilities.as_ref().unwrap_or(&template.capabilities);
        let mut lines = vec![
            format!("name: {}", json(&new.name.trim())),
            format!(
                "description: {}",
                json(new.description.as_ref().unwrap_or(&description))
            ),
        ];
        lines.extend(model.map(|model| format!("model: {}", json(&model))));
        lines.push(format!("capabilities: {}", json(capabilities)));
        let texts = |rules: &[artel_policy::rules::PolicyRule]| {
            let texts: Vec<&str> = rules.iter().map(|rule| rule.text()).collect();
            json(&texts)
        };
        lines.extend(tools.map(|tools| format!("tools: {}", texts(&tools))));
        if !deny.is_empty() {
            lines.push(format!("disallowed-tools: {}", texts(&deny)));
        }
        lines.push(format!("calls: {calls}"));
        lines.push(format!(
            "created: {}",
            json(&self.caller.clock.now().to_string())
        ));
        lines.push(format!("created-by: {}", json(&self.caller.actor().id)));
        lines.push("version: 1.0.0".to_owned());
        let written = match &new.prompt_file {
            Some(file) => Some(read_prompt(&self.caller.absolute(file))?),
            None => new.prompt.clone(),
        };
        let prompt = written.unwrap_or(persona);
        Ok(format!(
            "---\n{}\n---\n\n{}\n",
            lines.join("\n"),
            prompt.trim()
        ))
    }
}

fn read_prompt(file: &Path) -> Result<String, Failure> {
    let bytes = read_bounded(file, LARGEST_PROMPT).map_err(|error| {
        Failure::new(FailureCode::W010, error.to_string())
            .advise("name a text file with the prompt")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        Failure::new(
            FailureCode::C004,
            format!("`{}` is no text", file.display()),
        )
        .because(error.to_string())
        .advise("name a text file with the prompt")
    })
}

struct AgentRoleTemplate {
    role: AgentRole,
    model: Option<String>,
    capabilities: Vec<String>,
}

/// Finds a template: a named one, or a built-in role.
fn template(name: &str) -> Result<AgentRoleTemplate, Failure> {
    let named = TEMPLATES.iter().find(|(id, ..)| *id == name);
    let unknown = || {
        let all = AGENT_TEMPLATES.iter().copied();
        let more = shipped::ids().filter(|id| !AGENT_TEMPLATES.contains(id));
        let all: Vec<&str> = all.chain(more).collect();
        Failure::new(FailureCode::C004, format!("there is no template `{name}`"))
            .advise(format!("one of: {}", all.join(", ")))
    };
    let base = named.map_or(name, |(_, base, ..)| base);
    let role = parse_role(None, shipped::text(base).ok_or_else(unknown)?)?;
    Ok(match named {
        Some((_, _, model, capabilities)) => AgentRoleTemplate {
            role,
            model: model.map(str::to_owned),
            capabilities: capabilities.iter().map(|&it| it.to_owned()).collect(),
        },
        None => AgentRoleTemplate {
            model: role.model.clone(),
            capabilities: role.capabilities.clone(),
            role,
        },
    })
}

/// Serializes a text or a list as JSON, which is also valid YAML.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::json!(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_that_is_named_exists() {
        let named: Vec<&str> = TEMPLATES.iter().map(|(id, ..)| *id).collect();
        assert_eq!(named, AGENT_TEMPLATES);
        for name in named.into_iter().chain(shipped::ids()) {
            assert!(template(name).is_ok(), "{name}");
        }
        let unknown = template("poet").err().and_then(|it| it.advice);
        assert!(unknown.is_some_and(|it| it.contains("coder") && it.contains("tester")));
    }
}
