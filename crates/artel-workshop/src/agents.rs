//! Agent roles as people see them: list, show, create, check, edit and remove.

mod change;
mod editor;
mod make;
pub(crate) mod shipped;
mod validate;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_policy::rules::PolicyRule;
use artel_types::Failure;
use serde::Serialize;

pub use change::AgentText;
pub use make::{AGENT_TEMPLATES, NewAgent};
pub use validate::{AgentCheck, AgentReport};

use crate::caller::CommandContext;
use crate::hands::{AgentRole, parse_role};
use crate::trouble::WorkshopFailures;

/// Where a role comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentSource {
    BuiltIn,
    /// A file in the workshop's `Agents` folder.
    File,
    /// A file that overrides a built-in role.
    Override,
}

/// One row of the list of roles.
#[derive(Debug, Clone, Serialize)]
pub struct AgentRow {
    pub id: String,
    pub name: String,
    /// Its purpose, in one line.
    pub description: String,
    /// The model it asks for, or `None` for the default model.
    pub model: Option<String>,
    /// Maximum number of tool calls per attempt at a step.
    pub calls: u32,
    pub capabilities: Vec<String>,
    pub source: AgentSource,
    /// Why it cannot be used, or `None` if it can.
    pub broken: Option<String>,
}

/// A role with everything its file says.
#[derive(Debug, Clone, Serialize)]
pub struct AgentDetail {
    /// The same facts as in the list.
    #[serde(flatten)]
    pub row: AgentRow,
    /// Its file, or `None` for a built-in role.
    pub file: Option<String>,
    /// The tools it may use, or `None` for whatever policy allows.
    pub tools: Option<Vec<String>>,
    /// The tools it may not use.
    pub disallowed: Vec<String>,
    /// The instructions that the agent works by.
    pub prompt: String,
}

impl AgentSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::File => "file",
            Self::Override => "override",
        }
    }
}

impl CommandContext {
    /// Lists the built-in roles, and those of the workshop if there is one.
    pub fn agents(&self) -> Result<Vec<AgentRow>, WorkshopFailures> {
        let ids = self.agent_ids()?;
        ids.iter().map(|id| self.agent_row(id)).collect()
    }

    pub fn agent(&self, id: &str) -> Result<AgentDetail, WorkshopFailures> {
        let (file, text) = self.role_text(id)?;
        Ok(shown(id, parse_role(file.as_deref(), &text)?))
    }

    pub(crate) fn agent_ids(&self) -> Result<BTreeSet<String>, WorkshopFailures> {
        let mut ids: BTreeSet<String> = shipped::ids().map(str::to_owned).collect();
        if let Some(root) = self.workshop_root()? {
            ids.extend(files(&root.join("Agents")));
        }
        Ok(ids)
    }

    fn agent_row(&self, id: &str) -> Result<AgentRow, WorkshopFailures> {
        // A file whose name is not a valid id is shown with its error, like every other file in
        // the folder.
        let (file, text) = match self.role_text(id) {
            Ok(found) => found,
            Err(problems) => return Ok(broken(id, AgentSource::File, &problems.first())),
        };
        let source = source(id, file.as_deref());
        Ok(match parse_role(file.as_deref(), &text) {
            Ok(role) => row(id, &role),
            Err(failure) => broken(id, source, &failure),
        })
    }
}

fn source(id: &str, file: Option<&Path>) -> AgentSource {
    match (file, shipped::text(id)) {
        (None, _) => AgentSource::BuiltIn,
        (Some(_), None) => AgentSource::File,
        (Some(_), Some(_)) => AgentSource::Override,
    }
}

fn row(id: &str, role: &AgentRole) -> AgentRow {
    AgentRow {
        id: id.to_owned(),
        name: match role.name.as_str() {
            "" => id.to_owned(),
            name => name.to_owned(),
        },
        description: role.description.clone(),
        model: role.model.clone(),
        calls: role.calls,
        capabilities: role.capabilities.clone(),
        source: source(id, role.file.as_deref()),
        broken: None,
    }
}

fn broken(id: &str, source: AgentSource, failure: &Failure) -> AgentRow {
    let why = failure.why.as_deref();
    AgentRow {
        id: id.to_owned(),
        name: id.to_owned(),
        description: String::new(),
        model: None,
        calls: 0,
        capabilities: Vec::new(),
        source,
        broken: Some(why.unwrap_or(&failure.what).to_owned()),
    }
}

fn shown(id: &str, role: AgentRole) -> AgentDetail {
    let texts = |rules: &[PolicyRule]| rules.iter().map(|rule| rule.text().to_owned()).collect();
    AgentDetail {
        row: row(id, &role),
        file: role.file.map(|file| file.display().to_string()),
        tools: role.tools.as_deref().map(texts),
        disallowed: texts(&role.deny),
        prompt: role.persona,
    }
}

/// Returns the names of the role files in a folder, without their extension.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |path: PathBuf| {
        let is_role = path.extension().is_some_and(|ending| ending == "md") && path.is_file();
        path.file_stem()?
            .to_str()
            .filter(|_| is_role)
            .map(str::to_owned)
    };
    entries.filter_map(|entry| name(entry.path())).collect()
}
