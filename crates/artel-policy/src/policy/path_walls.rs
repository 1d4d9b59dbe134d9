//! Rules about paths as walls: no spelling of a command reaches a file that is not there.
//!
//! A rule that denies or asks about files is checked against the names in a command.
//! Computed words contain no names. So where rules name paths, those paths are missing
//! from the view of commands (reading) or read-only in it (writing).

use super::{BoundAdmission, Policy, PolicyBound, PortalPermission, StepWriteAccess};
use crate::PolicyAnswer;
use crate::rules::{PathUse, PolicyRule};

/// A path rule of the person, translated for the view of commands.
#[derive(Debug, Clone)]
pub struct PathWall {
    /// The rule. Its pattern is relative to the run's tree.
    pub rule: PolicyRule,
    /// The use of files that the wall stops.
    pub keeps: PathWallKind,
    /// The rule's answer. An asking rule is not a wall for a command that the person approved.
    pub answer: PolicyAnswer,
}

/// The use of files that a wall around a path stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathWallKind {
    /// Reading: the path is missing from the view.
    Reading,
    /// Writing: the path is read-only in the view.
    Writing,
}

/// Prefix of the names of bounds that are a role's own list; the role's name follows.
const OF_A_ROLE: &str = "role ";

impl PathWall {
    /// Returns whether a path in the tree is behind this wall.
    pub fn covers(&self, path: &str) -> bool {
        let path_use = match self.keeps {
            PathWallKind::Reading => PathUse::Reading,
            PathWallKind::Writing => PathUse::Writing,
        };
        self.rule.catches_path(path_use, path)
    }

    /// Returns the glob pattern of the walled paths.
    pub fn pattern(&self) -> &str {
        self.rule.banned_pattern().unwrap_or_default()
    }
}

impl PolicyBound {
    /// Creates the bound of a role that lists its tools.
    pub fn of_role(role: &str, tools: Vec<PolicyRule>) -> Self {
        Self {
            name: format!("{OF_A_ROLE}{role}"),
            admits: BoundAdmission::Rules(tools),
        }
    }

    fn is_of_a_role(&self) -> bool {
        self.name.starts_with(OF_A_ROLE)
    }

    /// Returns whether this bounds a step that only looks, in a copy that is thrown away.
    fn is_of_a_look(&self) -> bool {
        matches!(&self.admits, BoundAdmission::Step(step) if step.changes == StepWriteAccess::None)
    }
}

/// Returns whether a tool on a role's list changes files. A declared tool may.
fn may_write(rule: &PolicyRule) -> bool {
    rule.is_about_changing_files() || !rule.is_about_built_in()
}

impl Policy {
    /// Returns whether every bound lets files be changed at all. If one does not, commands see
    /// the tree read-only. That includes the bound of a role that only reads, except in a copy
    /// that is thrown away.
    pub fn changes_files(&self) -> bool {
        let is_thrown_away = self.bounds.iter().any(PolicyBound::is_of_a_look);
        let may = |bound: &PolicyBound| match &bound.admits {
            BoundAdmission::Operations(operations) => operations.contains(&PortalPermission::Write),
            BoundAdmission::Rules(rules) => {
                is_thrown_away || !bound.is_of_a_role() || rules.iter().any(may_write)
            }
            BoundAdmission::Step(_)
            | BoundAdmission::GitOf(_)
            | BoundAdmission::RightsOf { .. } => true,
        };
        self.bounds.iter().all(may)
    }

    /// Returns the walls that follow from the person's rules.
    pub fn path_walls(&self) -> Vec<PathWall> {
        let denied = self.deny.iter().map(|rule| (rule, PolicyAnswer::Deny));
        let asked = self.ask.iter().map(|rule| (rule, PolicyAnswer::Ask));
        let walls = denied.chain(asked).filter_map(|(rule, answer)| {
            let keeps = match rule.path_use()? {
                // Without any file no command can run, so the command is asked about instead.
                PathUse::Reading if !rule.names_something() => return None,
                PathUse::Reading => PathWallKind::Reading,
                PathUse::Writing => PathWallKind::Writing,
            };
            let rule = rule.clone();
            Some(PathWall {
                rule,
                keeps,
                answer,
            })
        });
        walls.collect()
    }
}
