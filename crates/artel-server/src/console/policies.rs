//! The policies in force, in plain words: what is built in, what people set, what bounds roles.

use artel_types::Failure;
use artel_workshop::{Problems, RuleShown};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};
use super::frame::Site;

/// What may never be done, whatever is granted.
const NEVER: &str = "changing `.git` metadata, `.artel`, policy, settings or start-up files of a \
    shell; push, merge, rewritten history; Artel's own commands; a secret in an argument";

/// What is read and written without a question.
const READING: &str = "reading the run's tree and its portal, except sensitive files";
const WRITING: &str = "writing the run's own tree, except protected names";

/// What the setting is about.
const COMMANDS: &str =
    "any other command that can be judged, in the sandbox, without network and secrets";

/// What no other rule is about.
const OTHERS: &str = "everything else; where nobody can answer, that is no";

/// The policies in force.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "policies.html")]
pub(super) struct Policies {
    /// Each rule; the first that fits counts.
    pub(super) rows: Vec<Row>,
    /// Why what a person wrote cannot be used.
    pub(super) broken: Option<Coded>,
    pub(super) roles: Vec<Bound>,
}

// What it writes is escaped where it is written.
impl HtmlSafe for Policies {}

/// One rule.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// deny, ask or allow.
    pub(super) answer: &'static str,
    pub(super) what: Coded,
    /// What it is for, if somebody said so.
    pub(super) why: String,
    pub(super) from: String,
}

/// What bounds a role.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) role: String,
    pub(super) may: String,
    pub(super) never: String,
}

impl Policies {
    /// Returns what holds here.
    pub(super) fn of(site: &Site) -> Result<Self, Problems> {
        let workshop = &site.workshop;
        let shown = workshop.policy_shown();
        let redactor = workshop.caller().redactor();
        let written = |it: &RuleShown| Row {
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
        // To ask about commands is to grant none by itself: what a rule allows is allowed.
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

fn roles(site: &Site) -> Result<Vec<Bound>, Problems> {
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
