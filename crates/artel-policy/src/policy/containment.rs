//! When the walls of a run judge instead of a person.
//!
//! A command is *contained* where the sandbox stands in full, the files are a copy, no network is
//! granted and no secret was handed out. What it can do then ends with the copy, so the last step of
//! the order, "otherwise ask", becomes "run". Everything before that step stays. The facts are the
//! run's own and looked at again for every call: once one of them has changed, rules judge.

use std::collections::BTreeSet;
use std::fmt;

use artel_types::WallOpening;

use super::{Admits, Bound, Commands, Policy, Situation};
use crate::command::{self, Concern, Reading};
use crate::rules::{Rule, RuleSet};
use crate::{Answer, Decision};

/// Whether walls may judge at all, as the settings have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Containment {
    /// They may, where they stand.
    #[default]
    On,
    /// Rules judge every command.
    Off,
}

/// What the commands of a run are kept in: facts that no model can set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walls {
    /// How much of the sandbox stands.
    pub sandbox: SandboxWalls,
    /// Whose files commands work on.
    pub files: WorkFiles,
    /// What was let through them in this run so far.
    pub openings: BTreeSet<WallOpening>,
    /// Whether a background job of the run can still reach a host.
    pub connection: OpenConnection,
}

/// How much of the sandbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxWalls {
    /// Less than all of it.
    #[default]
    Lower,
    /// Level full.
    Full,
}

/// Whose files commands work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkFiles {
    /// The person's own.
    #[default]
    Person,
    /// A copy that is the run's.
    Copy,
}

/// Whether a background job can still reach a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenConnection {
    /// None can.
    #[default]
    None,
    /// One was started with a network grant, and has not ended.
    Held,
}

/// Why rules judge a command and not the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Uncontained {
    /// Nothing of this kind is ever contained: a batch check, a line of a skill, a hook.
    Never,
    /// The settings or the profile say so.
    Setting,
    /// The person wants to be asked about commands.
    Questions,
    /// The sandbox is not at level full.
    Level,
    /// The files are the person's own.
    Files,
    /// A host is granted, or was reached.
    Network,
    /// A secret was handed out.
    Secret,
    /// A background job keeps a connection.
    Connection,
}

impl fmt::Display for Uncontained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "commands of this kind are never contained",
            Self::Setting => "`policy.contained` is off here, or the profile is production",
            Self::Questions => "`policy.commands` is \"ask\"",
            Self::Level => "the sandbox is not at level full",
            Self::Files => "it would work on the person's own files",
            Self::Network => "the run has a network grant",
            Self::Secret => "the run was handed a secret",
            Self::Connection => "a background job of the run keeps a connection",
        })
    }
}

impl Walls {
    /// The walls of a run in a copy, with nothing let through.
    pub fn whole() -> Self {
        Self {
            sandbox: SandboxWalls::Full,
            files: WorkFiles::Copy,
            ..Self::default()
        }
    }
}

impl Policy {
    /// Returns what keeps the walls from judging; nothing where they do.
    pub fn uncontained(&self, situation: &Situation) -> Option<Uncontained> {
        let Some(walls) = &situation.walls else {
            return Some(Uncontained::Never);
        };
        let opened = |opening| walls.openings.contains(&opening);
        let reaches = situation.has_network || opened(WallOpening::Network);
        let was_given = !situation.held_secrets.is_empty() || opened(WallOpening::Secret);
        let holds = situation.has_secrets || was_given;
        let grounds = [
            (self.contained == Containment::Off, Uncontained::Setting),
            (self.commands == Commands::Ask, Uncontained::Questions),
            (walls.sandbox != SandboxWalls::Full, Uncontained::Level),
            (walls.files != WorkFiles::Copy, Uncontained::Files),
            (reaches || self.grants_a_host(), Uncontained::Network),
            (holds, Uncontained::Secret),
            (
                walls.connection == OpenConnection::Held,
                Uncontained::Connection,
            ),
        ];
        let found = grounds.into_iter().find(|(is_so, _)| *is_so);
        found.map(|(_, ground)| ground)
    }

    /// Tells whether a host is granted that every bound of the run could admit.
    fn grants_a_host(&self) -> bool {
        let mut grants = self.grants.iter();
        let is_granted = grants.any(|grant| grant.rule.tool() == "fetch");
        is_granted && self.bounds.iter().all(Bound::can_admit_hosts)
    }

    /// Lets a command run that would be asked about, where the walls can judge it.
    pub(super) fn contain(
        &self,
        (reading, rules): (&Reading, &RuleSet),
        asked: Decision,
        situation: &Situation,
    ) -> Decision {
        if self.uncontained(situation).is_some() {
            return asked;
        }
        let workspace = situation.workspace.as_deref();
        match command::concern(reading, rules, workspace) {
            Some(Concern::PersonsRule) => return asked,
            Some(Concern::Sensitive) => {
                return command::sensitive_read(reading, workspace).unwrap_or(asked);
            }
            Some(Concern::Unreadable) => {
                if let Some(whose) = self.names_commands() {
                    let reason = format!(
                        "{}; {whose} names commands, and this could be one of them",
                        asked.reason
                    );
                    return Decision { reason, ..asked };
                }
            }
            None => {}
        }
        let reason = format!(
            "it runs in a full sandbox, on a copy of the files, without network or secrets; \
             otherwise Artel would ask: {} ({})",
            asked.reason, asked.rule
        );
        Decision::contained(reason)
    }

    /// Returns whose rules tell one command from another, if any do: then a command that cannot be
    /// read is no more admitted than it is denied.
    fn names_commands(&self) -> Option<String> {
        let mut written = self.deny.iter().chain(&self.ask);
        if let Some(rule) = written.find(|rule| rule.is_about_commands()) {
            return Some(format!("the rule `{}`", rule.text()));
        }
        let bound = self.bounds.iter().find(|bound| bound.lists_commands());
        bound.map(|bound| bound.name.clone())
    }
}

impl Bound {
    /// Tells whether any host at all could be within it.
    fn can_admit_hosts(&self) -> bool {
        match &self.admits {
            Admits::Rules(rules) => rules.iter().any(|rule| rule.tool() == "fetch"),
            Admits::Step(step) => !step.hosts.is_empty(),
            Admits::Operations(_) | Admits::GitOf(_) | Admits::RightsOf { .. } => true,
        }
    }

    /// Tells whether it admits some commands and not others. What a role may do in git is kept by the
    /// walls: nothing in them writes to a repository.
    fn lists_commands(&self) -> bool {
        match &self.admits {
            Admits::Rules(rules) => !rules.iter().any(Rule::is_blanket),
            Admits::Step(step) => !step.commands.is_empty(),
            Admits::Operations(_) | Admits::GitOf(_) | Admits::RightsOf { .. } => false,
        }
    }
}

/// Returns the answer of a rule about every command, which needs no words to apply.
pub(super) fn blanket(rules: &RuleSet) -> Option<Decision> {
    let deny = rules.deny.iter().find(|rule| rule.catches_everything());
    if let Some(rule) = deny {
        return Some(Decision::new(Answer::Deny, rule.text(), "a rule denies it"));
    }
    let ask = rules.ask.iter().find(|rule| rule.catches_everything())?;
    let reason = ask.reason().unwrap_or("a rule says to ask");
    Some(Decision::new(Answer::Ask, ask.text(), reason))
}

#[cfg(test)]
mod tests;
