//! Lets the walls of a run decide in place of a person.
//!
//! A command is *contained* if the sandbox is fully in force, the files are a copy, no
//! network is granted and no secret was handed out. Its effects then end with the copy, so
//! the last step of the order, "otherwise ask", becomes "run". All earlier steps stay. The
//! facts are the run's own and are checked again for every call: once one of them has
//! changed, rules decide.

use std::collections::BTreeSet;
use std::fmt;

use artel_types::SandboxOpening;

use super::{BoundAdmission, CommandApproval, Policy, PolicyBound, PolicyContext};
use crate::command::{self, CommandConcern, ShellAnalysis};
use crate::rules::{PolicyRule, PolicyRuleSet};
use crate::{PolicyAnswer, PolicyRuling};

/// The setting that allows walls to decide at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContainmentMode {
    /// Walls decide where they are complete.
    #[default]
    On,
    /// Rules decide about every command.
    Off,
}

/// The walls that contain the commands of a run: facts that no model can set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunWalls {
    /// The extent to which the sandbox is in force.
    pub sandbox: SandboxWalls,
    /// The owner of the files that commands work on.
    pub files: WorkFileOwner,
    /// The openings made in the walls during this run so far.
    pub openings: BTreeSet<SandboxOpening>,
    /// Whether a background job of the run can still reach a host.
    pub connection: BackgroundConnection,
}

/// The extent to which the sandbox is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxWalls {
    /// Less than level full.
    #[default]
    Lower,
    /// Level full.
    Full,
}

/// The owner of the files that commands work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkFileOwner {
    /// The person's own files.
    #[default]
    Person,
    /// A copy that belongs to the run.
    Copy,
}

/// Whether a background job of the run still has a connection to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackgroundConnection {
    /// No background job can.
    #[default]
    None,
    /// A job was started with a network grant and has not ended.
    Held,
}

/// Why rules decide about a command and not the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UncontainedReason {
    /// Commands of this kind are never contained: a batch check, a line of a skill, a hook.
    Never,
    /// The settings turn it off, or the profile does.
    Setting,
    /// The person wants to be asked about commands.
    Questions,
    /// The sandbox is not at level full.
    Level,
    /// The commands would work on the person's own files.
    Files,
    /// A host is granted, or was reached.
    Network,
    /// A secret was handed out.
    Secret,
    /// A background job keeps a connection.
    Connection,
}

impl fmt::Display for UncontainedReason {
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

impl RunWalls {
    /// Returns the walls of a run in a copy, without any opening.
    pub fn whole() -> Self {
        Self {
            sandbox: SandboxWalls::Full,
            files: WorkFileOwner::Copy,
            ..Self::default()
        }
    }
}

impl Policy {
    /// Returns what keeps the walls from deciding, or `None` if they decide.
    pub fn uncontained(&self, situation: &PolicyContext) -> Option<UncontainedReason> {
        let Some(walls) = &situation.walls else {
            return Some(UncontainedReason::Never);
        };
        let opened = |opening| walls.openings.contains(&opening);
        let reaches = situation.has_network || opened(SandboxOpening::Network);
        let was_given = !situation.held_secrets.is_empty() || opened(SandboxOpening::Secret);
        let holds = situation.has_secrets || was_given;
        let grounds = [
            (
                self.contained == ContainmentMode::Off,
                UncontainedReason::Setting,
            ),
            (
                self.commands == CommandApproval::Ask,
                UncontainedReason::Questions,
            ),
            (
                walls.sandbox != SandboxWalls::Full,
                UncontainedReason::Level,
            ),
            (walls.files != WorkFileOwner::Copy, UncontainedReason::Files),
            (reaches || self.grants_a_host(), UncontainedReason::Network),
            (holds, UncontainedReason::Secret),
            (
                walls.connection == BackgroundConnection::Held,
                UncontainedReason::Connection,
            ),
        ];
        let found = grounds.into_iter().find(|(is_so, _)| *is_so);
        found.map(|(_, ground)| ground)
    }

    /// Returns whether a host is granted that every bound of the run could admit.
    fn grants_a_host(&self) -> bool {
        let mut grants = self.grants.iter();
        let is_granted = grants.any(|grant| grant.rule.tool() == "fetch");
        is_granted && self.bounds.iter().all(PolicyBound::can_admit_hosts)
    }

    /// Lets a command run that would be asked about, if the walls can judge it.
    pub(super) fn contain(
        &self,
        (reading, rules): (&ShellAnalysis, &PolicyRuleSet),
        asked: PolicyRuling,
        situation: &PolicyContext,
    ) -> PolicyRuling {
        if self.uncontained(situation).is_some() {
            return asked;
        }
        let workspace = situation.workspace.as_deref();
        match command::concern(reading, rules, workspace) {
            Some(CommandConcern::PersonsRule) => return asked,
            Some(CommandConcern::Sensitive) => {
                return command::sensitive_read(reading, workspace).unwrap_or(asked);
            }
            Some(CommandConcern::Unreadable) => {
                if let Some(whose) = self.names_commands() {
                    let reason = format!(
                        "{}; {whose} names commands, and this could be one of them",
                        asked.reason
                    );
                    return PolicyRuling { reason, ..asked };
                }
            }
            None => {}
        }
        let reason = format!(
            "it runs in a full sandbox, on a copy of the files, without network or secrets; \
             otherwise Artel would ask: {} ({})",
            asked.reason, asked.rule
        );
        PolicyRuling::contained(reason)
    }

    /// Returns the source of rules that name particular commands, if any. Then a command that
    /// cannot be read is neither admitted nor denied for certain.
    fn names_commands(&self) -> Option<String> {
        let mut written = self.deny.iter().chain(&self.ask);
        if let Some(rule) = written.find(|rule| rule.is_about_commands()) {
            return Some(format!("the rule `{}`", rule.text()));
        }
        let bound = self.bounds.iter().find(|bound| bound.lists_commands());
        bound.map(|bound| bound.name.clone())
    }
}

impl PolicyBound {
    /// Returns whether the bound could admit any host at all.
    fn can_admit_hosts(&self) -> bool {
        match &self.admits {
            BoundAdmission::Rules(rules) => rules.iter().any(|rule| rule.tool() == "fetch"),
            BoundAdmission::Step(step) => !step.hosts.is_empty(),
            BoundAdmission::Operations(_)
            | BoundAdmission::GitOf(_)
            | BoundAdmission::RightsOf { .. } => true,
        }
    }

    /// Returns whether the bound admits some commands and not others. The walls already limit
    /// what a role does in git: no command within them writes to a repository.
    fn lists_commands(&self) -> bool {
        match &self.admits {
            BoundAdmission::Rules(rules) => !rules.iter().any(PolicyRule::is_blanket),
            BoundAdmission::Step(step) => !step.commands.is_empty(),
            BoundAdmission::Operations(_)
            | BoundAdmission::GitOf(_)
            | BoundAdmission::RightsOf { .. } => false,
        }
    }
}

/// Returns the answer of a rule about every command, which applies whatever the words are.
pub(super) fn blanket(rules: &PolicyRuleSet) -> Option<PolicyRuling> {
    let deny = rules.deny.iter().find(|rule| rule.catches_everything());
    if let Some(rule) = deny {
        return Some(PolicyRuling::new(
            PolicyAnswer::Deny,
            rule.text(),
            "a rule denies it",
        ));
    }
    let ask = rules.ask.iter().find(|rule| rule.catches_everything())?;
    let reason = ask.reason().unwrap_or("a rule says to ask");
    Some(PolicyRuling::new(PolicyAnswer::Ask, ask.text(), reason))
}

#[cfg(test)]
mod tests;
