//! An agent role: who does the work, as data. Ten roles and `default` are built in. A file
//! `Agents/<id>.md` in the workshop adds a role or overrides a built-in one.

use std::path::{Path, PathBuf};

use artel_policy::rules::{PolicyRule, PolicyRuleError};
use artel_types::{Failure, FailureCode};
use serde::Deserialize;

use super::policy::rule;
use super::tools::declared_names;
use crate::agents::shipped;
use crate::caller::CommandContext;
use crate::trouble::WorkshopFailures;

/// Size limit of a role file, in bytes; far more than one needs.
const LARGEST: u64 = 256 * 1024;

/// Tool calls per attempt at a step, if the role sets no number.
const USUAL_CALLS: u32 = 8;

/// The largest number of tool calls that a role can set.
const MOST_CALLS: u32 = 100;

/// Stands for all git tools in a role's list. The git matrix decides which of them the
/// role may use.
const GIT: &str = "Git";

#[derive(Debug, Clone, Default)]
pub(crate) struct AgentRole {
    /// The role's file, or `None` if it is built in.
    pub(crate) file: Option<PathBuf>,
    pub(crate) name: String,
    /// Its purpose, in one line.
    pub(crate) description: String,
    /// The model it asks for: an alias or `provider:model`.
    pub(crate) model: Option<String>,
    /// Its strengths, for people and planners. Nothing is enforced by them.
    pub(crate) capabilities: Vec<String>,
    /// The tool calls of one attempt at a step. When they are used up, the step is tried
    /// again.
    pub(crate) calls: u32,
    /// The tools it may use, or `None` for whatever policy allows.
    pub(crate) tools: Option<Vec<PolicyRule>>,
    /// The tools it may not use.
    pub(crate) deny: Vec<PolicyRule>,
    /// Errors of allowing rules that earlier versions accepted and this version does not.
    pub(crate) outdated: Vec<String>,
    /// The same for what it may not: each of these denies nearly everything.
    pub(crate) unread_bans: Vec<PolicyRuleError>,
    /// The secrets that it may use, or `None` if its file names none.
    pub(crate) secrets: Option<Vec<String>>,
    /// The file that declares its hooks, and the hooks as written.
    pub(crate) hooks: Option<(PathBuf, serde_json::Value)>,
    /// The instructions that the agent works by.
    pub(crate) persona: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AgentRoleFrontmatter {
    name: String,
    description: String,
    model: Option<String>,
    capabilities: Option<ListOrCommaText>,
    calls: Option<u32>,
    tools: Option<ListOrCommaText>,
    #[serde(alias = "disallowedTools", alias = "disallowed-tools")]
    disallowed_tools: Option<ListOrCommaText>,
    secrets: Option<ListOrCommaText>,
    hooks: Option<serde_json::Value>,
}

/// A list, or the same as comma-separated text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ListOrCommaText {
    List(Vec<String>),
    Text(String),
}

impl CommandContext {
    /// Returns the instructions of a role, or `None` if there are none or the role cannot be
    /// read.
    pub(crate) fn persona(&self, name: &str) -> Option<String> {
        let persona = self.role(name).ok()?.persona;
        (!persona.is_empty()).then_some(persona)
    }

    /// Returns the role in force: the workshop's file, or the built-in role.
    pub(crate) fn role(&self, name: &str) -> Result<AgentRole, WorkshopFailures> {
        let (file, text) = self.role_text(name)?;
        let (Some(file), Some(parts)) = (&file, self.in_force.parts()) else {
            return self.parsed_role(file.as_deref(), &text);
        };
        let known = parts.roles.get(file);
        match known {
            Some((seen, role)) if seen == text => return Ok(role),
            Some((_, role)) if !self.is_right(name, &text)? => return Ok(role),
            _ => {}
        }
        let role = self.parsed_role(Some(file), &text)?;
        if self.is_right(name, &text)? {
            parts.roles.put(file, (text, role.clone()));
        }
        Ok(role)
    }

    /// Reads the text of a role by the tools that there are here.
    fn parsed_role(&self, file: Option<&Path>, text: &str) -> Result<AgentRole, WorkshopFailures> {
        let mut role = parse(file, text)?;
        // What is built in names nothing that is declared here.
        if file.is_some()
            && let Some(root) = self.workshop_root()?
        {
            role.refuse_misspelled(&declared_names(&root));
        }
        Ok(role)
    }

    fn is_right(&self, name: &str, text: &str) -> Result<bool, WorkshopFailures> {
        Ok(self.validated(name, text, &self.settings_here()?).ok)
    }

    /// Returns the text of a role, and its file unless it is built in.
    pub(crate) fn role_text(
        &self,
        name: &str,
    ) -> Result<(Option<PathBuf>, String), WorkshopFailures> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(unknown(name).into());
        }
        if let Some(root) = self.workshop_root()? {
            let file = root.join(format!("Agents/{name}.md"));
            if file.exists() {
                let bytes = artel_files::read_bounded(&file, LARGEST)
                    .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
                return Ok((Some(file), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        match shipped::text(name) {
            Some(text) => Ok((None, text.to_owned())),
            None => Err(unknown(name).into()),
        }
    }
}

impl AgentRole {
    /// Treats rules whose tool is a built-in name misspelled, and none of these that were declared, as
    /// what cannot be read: a grant grants nothing, and a ban denies nearly everything.
    pub(crate) fn refuse_misspelled(&mut self, declared: &[String]) {
        for rule in self.deny.iter_mut().filter(|rule| !rule.is_unreadable()) {
            if let Err(bad) = rule.check_name(declared) {
                *rule = PolicyRule::unreadable(rule.text());
                self.unread_bans.push(bad);
            }
        }
        let outdated = &mut self.outdated;
        if let Some(tools) = &mut self.tools {
            tools.retain(|rule| {
                let bad = rule.check_name(declared).err();
                outdated.extend(bad.iter().map(PolicyRuleError::to_string));
                bad.is_none()
            });
        }
    }

    /// Returns what is wrong with the first ban whose tool is misspelled in this way.
    pub(crate) fn misspelled_ban(&self, declared: &[String]) -> Option<PolicyRuleError> {
        let mut readable = self.deny.iter().filter(|rule| !rule.is_unreadable());
        readable.find_map(|rule| rule.check_name(declared).err())
    }
}

fn unknown(name: &str) -> Failure {
    let built_in: Vec<&str> = shipped::ids().collect();
    Failure::new(FailureCode::W010, format!("there is no role `{name}`"))
        .because(format!(
            "it is not built in ({}), and the workshop's `Agents` folder has no such file",
            built_in.join(", ")
        ))
        .advise(format!("`artel agent create {name} --name …` makes one"))
}

pub(crate) fn parse(file: Option<&Path>, text: &str) -> Result<AgentRole, Failure> {
    let text = text.replace("\r\n", "\n");
    let (front, body) = match text.strip_prefix("---\n") {
        Some(rest) => split_front(rest).ok_or_else(|| {
            broken(file, "its frontmatter has no end").advise("close it with a line `---`")
        })?,
        None => ("", text.as_str()),
    };
    let front: AgentRoleFrontmatter = if front.trim().is_empty() {
        AgentRoleFrontmatter::default()
    } else {
        serde_saphyr::from_str(front).map_err(|error| {
            broken(file, &error.to_string())
                .advise("`tools: [Read, Grep, \"Bash(cargo test:*)\"]` is what it may say")
        })?
    };
    let secrets = front.secrets.map(ListOrCommaText::items);
    if let Some(bad) = secrets.iter().flatten().find(|name| !is_secret_name(name)) {
        let why = format!("`secrets` names `{bad}`, which is no name of a secret");
        return Err(broken(file, &why).advise("`secrets: [github]` is what it may say"));
    }
    let calls = front.calls.unwrap_or(USUAL_CALLS);
    if !(1..=MOST_CALLS).contains(&calls) {
        let why = format!("`calls` is {calls}");
        return Err(broken(file, &why).advise(format!("write a number from 1 to {MOST_CALLS}")));
    }
    let unread = |names: &Option<ListOrCommaText>| names.as_ref().map(outdated).unwrap_or_default();
    Ok(AgentRole {
        outdated: unread(&front.tools)
            .iter()
            .map(PolicyRuleError::to_string)
            .collect(),
        unread_bans: unread(&front.disallowed_tools),
        file: file.map(Path::to_owned),
        name: front.name.trim().to_owned(),
        description: front.description.trim().to_owned(),
        model: front.model.filter(|model| !model.trim().is_empty()),
        capabilities: front
            .capabilities
            .map(ListOrCommaText::items)
            .unwrap_or_default(),
        calls,
        tools: front.tools.map(|it| rules(it, granting)).transpose()?,
        deny: front
            .disallowed_tools
            .map_or(Ok(Vec::new()), |it| rules(it, banning))?,
        secrets,
        hooks: file.and_then(|file| Some((file.to_owned(), front.hooks?))),
        persona: body.trim().to_owned(),
    })
}

fn is_secret_name(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.len() <= 64 && name.chars().all(is_part)
}

/// Splits a role file at the end of its frontmatter. `rest` starts after the first line.
fn split_front(rest: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..start], &rest[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

fn broken(file: Option<&Path>, why: &str) -> Failure {
    let what = match file {
        Some(file) => format!("`{}` has a broken frontmatter", file.display()),
        None => "the role has a broken frontmatter".to_owned(),
    };
    Failure::new(FailureCode::P004, what).because(why)
}

impl ListOrCommaText {
    fn items(self) -> Vec<String> {
        self.listed()
    }

    fn listed(&self) -> Vec<String> {
        let texts = match self {
            Self::List(texts) => texts.clone(),
            Self::Text(text) => split(text),
        };
        let texts = texts.iter().map(|text| text.trim());
        let texts = texts.filter(|text| !text.is_empty());
        texts.map(str::to_owned).collect()
    }
}

/// Returns what is wrong with each rule of a list that earlier versions took and this one does not.
fn outdated(names: &ListOrCommaText) -> Vec<PolicyRuleError> {
    let listed = names.listed().into_iter().filter(|text| text != GIT);
    let judged = listed.filter_map(|text| PolicyRule::parse(&text).err());
    judged.filter(PolicyRuleError::is_outdated).collect()
}

/// Parses a list of rules. `read` decides what becomes of a rule that only earlier
/// versions accepted, so that such a rule does not keep anybody from starting.
fn rules(
    names: ListOrCommaText,
    read: fn(&str) -> Result<Option<PolicyRule>, Failure>,
) -> Result<Vec<PolicyRule>, Failure> {
    let mut rules = Vec::new();
    for text in names.items() {
        if text != GIT {
            rules.extend(read(&text)?);
            continue;
        }
        let tools = artel_tools::git_tools();
        rules.extend(
            tools
                .iter()
                .map(|tool| PolicyRule::of_tool(&tool.card().name)),
        );
    }
    Ok(rules)
}

/// Parses an allowing rule. An outdated one grants nothing.
fn granting(text: &str) -> Result<Option<PolicyRule>, Failure> {
    match PolicyRule::parse(text) {
        Err(bad) if bad.is_outdated() => Ok(None),
        _ => rule(text).map(Some),
    }
}

/// Parses a denying rule. An outdated one stops every command.
fn banning(text: &str) -> Result<Option<PolicyRule>, Failure> {
    match PolicyRule::parse(text) {
        Err(bad) if bad.is_outdated() => Ok(Some(PolicyRule::unreadable(text))),
        _ => rule(text).map(Some),
    }
}

/// Splits a text at commas outside of parentheses.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
