//! The policies in force, in plain words: built-in rules, rules set by people, and limits
//! of roles.

use artel_types::Failure;
use artel_workshop::{PolicyRuleRow, WorkshopFailures};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{InlineCodeText, coded};
use super::frame::PageContext;

/// Actions that are never allowed, whatever is granted.
const NEVER: &str = "changing `.git` metadata, `.artel`, policy, settings or start-up files of a \
    shell; push, merge, rewritten history; Artel's own commands; a secret in an argument";

/// Files that are read and written without a question.
const READING: &str = "reading the run's tree and its portal, except sensitive files";
const WRITING: &str = "writing the run's own tree, except protected names";

/// Commands that the setting `policy.commands` applies to.
const COMMANDS: &str =
    "any other command that can be judged, in the sandbox, without network and secrets";

/// Everything that no other rule covers.
const OTHERS: &str = "everything else; where nobody can answer, that is no";

#[derive(Debug, Clone, Default, Template)]
#[template(path = "policies.html")]
pub(super) struct PoliciesPanel {
    /// The rules; the first that matches applies.
    pub(super) rows: Vec<PoliciesPanelRule>,
    /// Why the rules that a person wrote cannot be used.
    pub(super) broken: Option<InlineCodeText>,
    pub(super) roles: Vec<PoliciesPanelRole>,
}

// The template escapes its values itself.
impl HtmlSafe for PoliciesPanel {}

#[derive(Debug, Clone)]
pub(super) struct PoliciesPanelRule {
    /// `deny`, `ask` or `allow`.
    pub(super) answer: &'static str,
    pub(super) what: InlineCodeText,
    /// The reason, if a person gave one.
    pub(super) why: String,
    pub(super) from: String,
}

/// The limits of a role.
#[derive(Debug, Clone)]
pub(super) struct PoliciesPanelRole {
    pub(super) role: String,
    pub(super) may: String,
    pub(super) never: String,
}

impl PoliciesPanel {
    /// Returns the policies in force.
    pub(super) fn of(site: &PageContext) -> Result<Self, WorkshopFailures> {
        let workshop = &site.workshop;
        let shown = workshop.policy_shown();
        let redactor = workshop.caller().redactor();
        let written = |it: &PolicyRuleRow| PoliciesPanelRule {
            answer: it.answer,
            what: coded(&format!("`{}`", redactor.redact(&it.rule))),
            why: redactor
                .redact(it.reason.as_deref().unwrap_or_default())
                .into_owned(),
            from: "Policy/rules.toml".to_owned(),
        };
        let those = |answer: &str| {
            let rules = shown.rules.iter().filter(|it| it.answer == answer);
            rules.map(written).collect::<Vec<PoliciesPanelRule>>()
        };
        let setting = format!("policy.commands, {}", shown.origin);
        let commands = row(shown.commands, COMMANDS, &setting);
        let mut rows = vec![row("deny", NEVER, "built in")];
        rows.extend(those("deny"));
        rows.extend(those("ask"));
        rows.extend(those("allow"));
        // The setting `ask` grants no commands by itself; what a rule above allows stays
        // allowed.
        rows.push(commands);
        rows.push(row("allow", READING, "shipped"));
        rows.push(row("allow", WRITING, "shipped"));
        rows.push(row("ask", OTHERS, "built in"));
        let broken = shown.broken.as_ref().map(Failure::to_string);
        Ok(Self {
            rows,
            broken: broken.map(|why| coded(&redactor.redact(&why))),
            roles: roles(site)?,
        })
    }
}

fn row(answer: &'static str, what: &str, from: &str) -> PoliciesPanelRule {
    PoliciesPanelRule {
        answer,
        what: coded(what),
        why: String::new(),
        from: from.to_owned(),
    }
}

fn roles(site: &PageContext) -> Result<Vec<PoliciesPanelRole>, WorkshopFailures> {
    let caller = site.workshop.caller();
    let bound = |id: String| match caller.agent(&id) {
        Ok(it) => PoliciesPanelRole {
            role: id,
            may: match it.tools {
                Some(tools) if tools.is_empty() => "no tool".to_owned(),
                Some(tools) => tools.join(", "),
                None => "every tool".to_owned(),
            },
            never: it.disallowed.join(", "),
        },
        Err(problems) => PoliciesPanelRole {
            role: id,
            may: format!("nothing: {}", problems.first().what),
            never: String::new(),
        },
    };
    let rows = caller.agents()?.into_iter();
    Ok(rows.map(|row| bound(row.id)).collect())
}
