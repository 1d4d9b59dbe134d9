//! Rules that are stored and cannot be read: what they were for, and what they do now.

use artel_policy::rules::BadRule;

use super::Check;
use crate::caller::Caller;
use crate::hands::{command_rules, nameless_rules, outdated_grants, unread_bans};

/// Names every stored rule that grants nothing or stops everything; nothing where all can be read.
pub(super) fn checks(caller: &Caller) -> Vec<Check> {
    let Ok(Some(root)) = caller.workshop_root() else {
        return Vec::new();
    };
    let grants = outdated_grants(&root).into_iter().map(|bad| {
        Check::warning(
            "rules",
            format!("`Policy/grants.toml`: {bad}"),
            "`artel policy revoke RULE`, then grant it as it should be",
        )
    });
    let bans = unread_bans(&root).into_iter().map(|bad| {
        Check::problem(
            "rules",
            format!("`Policy/rules.toml`: {}", banned(&bad)),
            "fix it there; until then Artel asks before nearly every tool call",
        )
    });
    let unread = command_rules(&root).err().into_iter();
    let unread = unread.map(|failure| Check::of_failure("rules", &failure));
    let nameless = nameless_rules(&root).into_iter().map(|rule| {
        Check::warning(
            "rules",
            format!("the rule `{}` names no tool of this workshop", rule.text()),
            "`artel tool list` names the tools that there are",
        )
    });
    let roles = caller.agent_ids().unwrap_or_default().into_iter();
    let roles = roles.flat_map(|id| of_role(caller, &id));
    let stored = grants.chain(bans).chain(unread).chain(nameless);
    stored.chain(roles).collect()
}

/// Names the rules of a role's file that cannot be read. One that was a ban denies nearly everything.
fn of_role(caller: &Caller, id: &str) -> Vec<Check> {
    let Ok(role) = caller.role(id) else {
        return Vec::new();
    };
    let remedy = format!("fix it in `Agents/{id}.md`");
    let grants = role.outdated.iter().map(|bad| {
        let found = format!("the role `{id}`: {bad}");
        Check::warning("rules", found, remedy.clone())
    });
    let bans = role.unread_bans.iter().map(|rule| {
        let found = format!(
            "the role `{id}` has a ban that cannot be read (`{rule}`), so nearly everything is \
             denied"
        );
        Check::problem("rules", found, remedy.clone())
    });
    grants.chain(bans).collect()
}

/// Says what is wrong with a ban: that it grants nothing would be no news.
fn banned(bad: &BadRule) -> String {
    match bad {
        BadRule::Text {
            rule, why, instead, ..
        } => format!("the rule `{rule}` cannot be read: {why}; try {instead}"),
        BadRule::File { .. } => bad.to_string(),
    }
}
