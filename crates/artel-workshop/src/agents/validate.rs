//! Checks whether a role can be used, and reports the result of each check.

use artel_config::Settings;
use artel_model::{ModelCatalogue, ModelSelector};
use artel_types::{Failure, FailureCode};
use serde::Serialize;

use crate::caller::CommandContext;
use crate::hands::{AgentRole, declared_names, parse_role, unread_text};
use crate::trouble::WorkshopFailures;

/// Maximum length of an id, which becomes a file name.
const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 100;

/// Minimum length of a prompt.
const SHORTEST_PROMPT: usize = 50;

/// The result of one check of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentCheck {
    /// The part that was checked: id, frontmatter, name, model or prompt.
    pub what: &'static str,
    /// The failure, or `None` if the check passed.
    pub failure: Option<Failure>,
}

/// The results of all checks of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentReport {
    pub id: String,
    /// Its file, or `None` for a built-in role.
    pub file: Option<String>,
    /// Whether every check passed.
    pub ok: bool,
    pub checks: Vec<AgentCheck>,
}

impl AgentReport {
    pub(super) fn first_failure(&self) -> Option<Failure> {
        self.checks.iter().find_map(|check| check.failure.clone())
    }
}

impl CommandContext {
    /// Checks one role, or all roles if `id` is `None`.
    pub fn validate_agents(&self, id: Option<&str>) -> Result<Vec<AgentReport>, WorkshopFailures> {
        let ids = match id {
            Some(id) => vec![id.to_owned()],
            None => self.agent_ids()?.into_iter().collect(),
        };
        let settings = self.settings_here()?;
        let mut reports = Vec::new();
        for id in ids {
            let found = self.role_text(&id);
            // An invalid id is a finding of the report. A role with a valid id has to exist.
            let (file, text) = match found {
                Ok(found) => found,
                Err(_) if self::id(&id).is_err() => (None, String::new()),
                Err(problems) => return Err(problems),
            };
            let mut report = self.validated(&id, &text, &settings);
            report.file = file.map(|file| file.display().to_string());
            reports.push(report);
        }
        Ok(reports)
    }

    pub(crate) fn validated(&self, id: &str, text: &str, settings: &Settings) -> AgentReport {
        let mut checks = vec![check("id", self::id(id))];
        match parse_role(None, text) {
            Ok(role) => {
                checks.push(check("frontmatter", self.spelling(&role)));
                checks.push(check("name", name(&role.name)));
                checks.push(check("model", model(role.model.as_deref(), settings)));
                checks.push(check("prompt", prompt(&role.persona)));
            }
            Err(failure) => checks.push(check("frontmatter", Err(failure))),
        }
        AgentReport {
            id: id.to_owned(),
            file: None,
            ok: checks.iter().all(|check| check.failure.is_none()),
            checks,
        }
    }

    /// A ban whose tool is misspelled was meant for another one.
    fn spelling(&self, role: &AgentRole) -> Result<(), Failure> {
        let root = self.workshop_root().ok().flatten();
        let declared = root.map_or(Vec::new(), |root| declared_names(&root));
        match role.misspelled_ban(&declared) {
            None => Ok(()),
            Some(bad) => Err(Failure::new(FailureCode::P003, unread_text(&bad))
                .advise("`artel tool list` names the tools that there are")),
        }
    }
}

fn check(what: &'static str, came: Result<(), Failure>) -> AgentCheck {
    AgentCheck {
        what,
        failure: came.err(),
    }
}

/// Checks an id, which becomes a file name and a part of rules and branch names.
pub(super) fn id(id: &str) -> Result<(), Failure> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_good = !id.is_empty()
        && id.len() <= LONGEST_ID
        && id.bytes().all(is_plain)
        && !id.starts_with('-')
        && !id.ends_with('-');
    if is_good {
        return Ok(());
    }
    let shown: String = id.chars().take(80).collect();
    Err(
        Failure::new(FailureCode::C004, format!("`{shown}` is no id of a role"))
            .because("ids are lower-case letters, digits and hyphens between them")
            .advise("for example `code-reviewer`"),
    )
}

fn name(name: &str) -> Result<(), Failure> {
    let advice = "`name: Code reviewer`";
    if name.is_empty() {
        return Err(Failure::new(FailureCode::C004, "the role has no name").advise(advice));
    }
    let is_short = name.chars().count() <= LONGEST_NAME;
    if is_short && !name.contains(char::is_control) {
        return Ok(());
    }
    let what = format!("the role's name is not one line of at most {LONGEST_NAME} characters");
    Err(Failure::new(FailureCode::C004, what).advise(advice))
}

/// Checks that a named model is known here. Whether there is a key for it is checked
/// elsewhere.
fn model(model: Option<&str>, settings: &Settings) -> Result<(), Failure> {
    let Some(model) = model else {
        return Ok(());
    };
    let entries = settings.models.iter();
    let menu = ModelSelector {
        entries: entries
            .map(|(alias, entry)| (alias.clone(), entry.value.clone()))
            .collect(),
        catalogue: ModelCatalogue::shipped(&settings.prices),
        ..ModelSelector::default()
    };
    match menu.choose(Some(model)) {
        Err(failure) if failure.code != FailureCode::M004 => Err(failure),
        _ => Ok(()),
    }
}

fn prompt(prompt: &str) -> Result<(), Failure> {
    let length = prompt.chars().count();
    if length >= SHORTEST_PROMPT {
        return Ok(());
    }
    let what = format!("the role's prompt has {length} characters, fewer than {SHORTEST_PROMPT}");
    Err(Failure::new(FailureCode::C004, what)
        .because("what it says is all that such an agent knows about how to work")
        .advise("say what it does, how it goes about it, and what it leaves alone"))
}
