//! The policies in force, in plain words: built-in rules, rules set by people, and limits
//! of roles.

use artel_types::Failure;
use artel_workshop::{PolicyRuleRow, WorkshopFailures};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};
use super::frame::Site;

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
pub(super) struct Policies {
    /// The rules; the first that matches applies.
    pub(super) rows: Vec<Row>,
    /// Why the rules that a person wrote cannot be used.
    pub(super) broken: Option<Coded>,
    pub(super) roles: Vec<Bound>,
}

// The template escapes its values itself.
impl HtmlSafe for Policies {}

#[derive(Debug, Clone)]
pub(super) struct Row {
    /// `deny`, `ask` or `allow`.
    pub(super) answer: &'static str,
    pub(super) what: Coded,
    /// The reason, if a person gave one.
    pub(super) why: String,
    pub(super) from: String,
}

/// The limits of a role.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) role: String,
    pub(super) may: String,
    pub(super) never: String,
}

impl Policies {
    /// Returns the policies in force.
    pub(super) fn of(site: &Site) -> Result<Self, WorkshopFailures> {
        let workshop = &site.workshop;
        let shown = workshop.policy_shown();
        let redactor = workshop.caller().redactor();
        let written = |it: &PolicyRuleRow| Row {
            answer: it.answer,
            what: coded(&format!("`{}`", redactor.redact(&it.rule))),
            why: redactor
                .redact(it.reason.as_deref().unwrap_or_default())
                .into_owned(),
            from: "Policy/rules.toml".to_owned(),
        };
        let those = |answer: &str| {
            let rules = shown.rules.iter().filter(|it| it.answer == answer);
            rules.map(written).collect::<Vec<Row>>()
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

fn row(answer: &'static str, what: &str, from: &str) -> Row {
    Row {
        answer,
        what: coded(what),
        why: String::new(),
        from: from.to_owned(),
    }
}

fn roles(site: &Site) -> Result<Vec<Bound>, WorkshopFailures> {
    let caller = site.workshop.caller();
    let bound = |id: String| match caller.agent(&id) {
        Ok(it) => Bound {
            role: id,
            may: match it.tools {
                Some(tools) if tools.is_empty() => "no tool".to_owned(),
                Some(tools) => tools.join(", "),
                None => "every tool".to_owned(),
            },
            never: it.disallowed.join(", "),
        },
        Err(problems) => Bound {
            role: id,
            may: format!("nothing: {}", problems.first().what),
            never: String::new(),
        },
    };
    let rows = caller.agents()?.into_iter();
    Ok(rows.map(|row| bound(row.id)).collect())
}
