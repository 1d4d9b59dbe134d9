//! Finds stored rules that cannot be read, and says what they were for and what they do
//! now.

use artel_policy::rules::{PolicyRule, PolicyRuleError};

use super::DoctorCheck;
use crate::caller::CommandContext;
use crate::hands::{
    command_rules, declared_names, outdated_grants, stored_rules, unread_bans, unread_text,
};

/// Lists every stored rule that grants nothing or stops everything. The list is empty if
/// all rules can be read.
pub(super) fn checks(caller: &CommandContext) -> Vec<DoctorCheck> {
    let Ok(Some(root)) = caller.workshop_root() else {
        return Vec::new();
    };
    let grants = outdated_grants(&root).into_iter().map(|bad| {
        DoctorCheck::warning(
            "rules",
            format!("`Policy/grants.toml`: {bad}"),
            "`artel policy revoke RULE`, then grant it as it should be",
        )
    });
    let bans = unread_bans(&root).into_iter().map(|bad| {
        DoctorCheck::problem(
            "rules",
            format!("`Policy/rules.toml`: {}", unread_text(&bad)),
            "fix it there; until then Artel asks before nearly every tool call",
        )
    });
    let unread = command_rules(&root).err().into_iter();
    let unread = unread.map(|failure| DoctorCheck::of_failure("rules", &failure));
    let here = Here {
        declared: declared_names(&root),
        // A list that cannot be read is named among the keys.
        secrets: caller.tool_secret_names().ok(),
    };
    let rules = stored_rules(&root);
    let odd = rules.iter().flat_map(|rule| here.odd(rule, ""));
    let roles = caller.agent_ids().unwrap_or_default().into_iter();
    let roles = roles.flat_map(|id| of_role(caller, &id, &here));
    let stored = grants.chain(bans).chain(unread).chain(odd);
    stored.chain(roles).collect()
}

/// What rules can name here.
struct Here {
    declared: Vec<String>,
    secrets: Option<Vec<String>>,
}

impl Here {
    /// Tells whether a secret is stored, as far as anybody knows.
    fn has_secret(&self, name: &String) -> bool {
        self.secrets
            .as_ref()
            .is_none_or(|stored| stored.contains(name))
    }

    /// Names what a rule names and what is not here; `whose` says whose rule it is.
    fn odd(&self, rule: &PolicyRule, whose: &str) -> Vec<DoctorCheck> {
        let text = rule.text();
        let nameless = (!rule.names_a_tool(&self.declared)).then(|| {
            DoctorCheck::warning(
                "rules",
                format!("{whose}the rule `{text}` names no tool of this workshop"),
                "`artel tool list` names the tools that there are",
            )
        });
        let stored = self.secrets.iter();
        let missing = stored.flat_map(|stored| rule.secrets_beyond(stored));
        let missing = missing.map(|name| not_stored(&format!("{whose}the rule `{text}`"), name));
        nameless.into_iter().chain(missing).collect()
    }
}

/// A secret may be stored at any time, so naming one that is not is no error.
fn not_stored(whose: &str, name: &str) -> DoctorCheck {
    DoctorCheck::warning(
        "rules",
        format!("{whose} names the secret `{name}`, which is not stored"),
        "`artel auth set --tool NAME` stores it; `artel auth status` lists the stored ones",
    )
}

/// Names the rules of a role's file that cannot be read, or name what is not here. One that cannot be
/// read and was a ban denies nearly everything.
fn of_role(caller: &CommandContext, id: &str, here: &Here) -> Vec<DoctorCheck> {
    let Ok(role) = caller.role(id) else {
        return Vec::new();
    };
    let remedy = format!("fix it in `Agents/{id}.md`");
    let grants = role.outdated.iter().map(|bad| {
        let found = format!("the role `{id}`: {bad}");
        DoctorCheck::warning("rules", found, remedy.clone())
    });
    let bans = role.unread_bans.iter();
    let bans = bans.map(|bad| DoctorCheck::problem("rules", banned(id, bad), remedy.clone()));
    let mut checks: Vec<_> = grants.chain(bans).collect();
    if role.file.is_some() {
        let whose = format!("the role `{id}`: ");
        let rules = role.tools.iter().flatten().chain(&role.deny);
        checks.extend(rules.flat_map(|rule| here.odd(rule, &whose)));
        let named = role.secrets.iter().flatten();
        let missing = named.filter(|name| !here.has_secret(name));
        checks.extend(missing.map(|name| not_stored(&format!("the role `{id}`"), name)));
    }
    checks
}

/// Says what is wrong with a role's ban.
fn banned(id: &str, bad: &PolicyRuleError) -> String {
    let PolicyRuleError::Text { rule, why, .. } = bad else {
        return format!("the role `{id}`: {bad}");
    };
    format!(
        "the role `{id}` has a ban that cannot be read (`{rule}`), so nearly everything is denied: \
         {why}"
    )
}
