//! Roles as people see them: listed, shown, made, checked, edited, removed.

mod change;
mod editor;
mod make;
pub(crate) mod shipped;
mod validate;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_policy::rules::Rule;
use artel_types::Failure;
use serde::Serialize;

pub use change::AgentText;
pub use make::{AGENT_TEMPLATES, NewAgent};
pub use validate::{AgentCheck, AgentReport};

use crate::caller::Caller;
use crate::hands::{Role, parse_role};
use crate::trouble::Problems;

/// Where a role comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentSource {
    /// It is built in.
    BuiltIn,
    /// A file in the workshop's `Agents`.
    File,
    /// A file that takes the place of a built-in one.
    Override,
}

/// One line of a list of roles.
#[derive(Debug, Clone, Serialize)]
pub struct AgentRow {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The model it asks for; the usual one if not said.
    pub model: Option<String>,
    /// How many tool calls one attempt at a step has.
    pub calls: u32,
    /// What it is good at.
    pub capabilities: Vec<String>,
    /// Where it comes from.
    pub source: AgentSource,
    /// Why it cannot be used.
    pub broken: Option<String>,
}

/// A role with everything that it says.
#[derive(Debug, Clone, Serialize)]
pub struct AgentShown {
    /// What a list says of it.
    #[serde(flatten)]
    pub row: AgentRow,
    /// Its file; nothing where it is built in.
    pub file: Option<String>,
    /// What it may use; whatever policy allows if not said.
    pub tools: Option<Vec<String>>,
    /// What it may not.
    pub disallowed: Vec<String>,
    /// How it works, in words.
    pub prompt: String,
}

impl AgentSource {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::File => "file",
            Self::Override => "override",
        }
    }
}

impl Caller {
    /// Lists the roles, built in and of the workshop where there is one.
    pub fn agents(&self) -> Result<Vec<AgentRow>, Problems> {
        let ids = self.agent_ids()?;
        ids.iter().map(|id| self.agent_row(id)).collect()
    }

    /// Shows one role.
    pub fn agent(&self, id: &str) -> Result<AgentShown, Problems> {
        let (file, text) = self.role_text(id)?;
        Ok(shown(id, parse_role(file.as_deref(), &text)?))
    }

    /// Returns the ids of all roles.
    pub(crate) fn agent_ids(&self) -> Result<BTreeSet<String>, Problems> {
        let mut ids: BTreeSet<String> = shipped::ids().map(str::to_owned).collect();
        if let Some(root) = self.workshop_root()? {
            ids.extend(files(&root.join("Agents")));
        }
        Ok(ids)
    }

    fn agent_row(&self, id: &str) -> Result<AgentRow, Problems> {
        // A name that is no id is shown with what is wrong, like everything else in the folder.
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

fn row(id: &str, role: &Role) -> AgentRow {
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

fn shown(id: &str, role: Role) -> AgentShown {
    let texts = |rules: &[Rule]| rules.iter().map(|rule| rule.text().to_owned()).collect();
    AgentShown {
        row: row(id, &role),
        file: role.file.map(|file| file.display().to_string()),
        tools: role.tools.as_deref().map(texts),
        disallowed: texts(&role.deny),
        prompt: role.persona,
    }
}

/// Returns the names of the files in a folder of roles, without their ending.
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
