//! Rules about paths as walls: no spelling of a command reaches what is not there.
//!
//! A rule that denies or asks about files is judged by the names that a command says. What a command
//! computes says no names, so where rules name paths, those paths are absent from the view of commands
//! (reading) or stay as they are in it (writing).

use super::{Admits, Bound, Changes, Operation, Policy};
use crate::Answer;
use crate::rules::{PathUse, Rule};

/// A path rule of the person, as what it means for the view of commands.
#[derive(Debug, Clone)]
pub struct PathWall {
    /// The rule. Its pattern is relative to the run's tree.
    pub rule: Rule,
    /// What commands are kept from.
    pub keeps: PathKeep,
    /// What the rule says: one that asks is no wall for a command that the person said yes to.
    pub answer: Answer,
}

/// What a wall around a path keeps commands from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKeep {
    /// From reading it: it is not there.
    Reading,
    /// From changing it: it is shown read-only.
    Writing,
}

/// How the names of bounds begin that are a role's own list; the rest is the role.
const OF_A_ROLE: &str = "role ";

impl PathWall {
    /// Tells whether a path in the tree lies behind it.
    pub fn covers(&self, path: &str) -> bool {
        let path_use = match self.keeps {
            PathKeep::Reading => PathUse::Reading,
            PathKeep::Writing => PathUse::Writing,
        };
        self.rule.catches_path(path_use, path)
    }

    /// Returns the pattern of the paths.
    pub fn pattern(&self) -> &str {
        self.rule.banned_pattern().unwrap_or_default()
    }
}

impl Bound {
    /// Makes the bound of a role that lists its tools.
    pub fn of_role(role: &str, tools: Vec<Rule>) -> Self {
        Self {
            name: format!("{OF_A_ROLE}{role}"),
            admits: Admits::Rules(tools),
        }
    }

    fn is_of_a_role(&self) -> bool {
        self.name.starts_with(OF_A_ROLE)
    }

    /// Tells whether it is that of a step which only looks: in a copy that nobody gets anything from.
    fn is_of_a_look(&self) -> bool {
        matches!(&self.admits, Admits::Step(step) if step.changes == Changes::None)
    }
}

/// Tells whether a tool on a role's list changes files. One that somebody declared may.
fn may_write(rule: &Rule) -> bool {
    rule.is_about_changing_files() || !rule.is_about_built_in()
}

impl Policy {
    /// Tells whether every bound lets files be changed at all. Where one does not, commands see the
    /// tree read-only: that of a role which only reads too, but for a copy that is thrown away.
    pub fn changes_files(&self) -> bool {
        let is_thrown_away = self.bounds.iter().any(Bound::is_of_a_look);
        let may = |bound: &Bound| match &bound.admits {
            Admits::Operations(operations) => operations.contains(&Operation::Write),
            Admits::Rules(rules) => {
                is_thrown_away || !bound.is_of_a_role() || rules.iter().any(may_write)
            }
            Admits::Step(_) | Admits::GitOf(_) | Admits::RightsOf { .. } => true,
        };
        self.bounds.iter().all(may)
    }

    /// Returns what the person's rules keep commands from.
    pub fn path_walls(&self) -> Vec<PathWall> {
        let denied = self.deny.iter().map(|rule| (rule, Answer::Deny));
        let asked = self.ask.iter().map(|rule| (rule, Answer::Ask));
        let walls = denied.chain(asked).filter_map(|(rule, answer)| {
            let keeps = match rule.path_use()? {
                // Without any file no command runs: it is asked about instead.
                PathUse::Reading if !rule.names_something() => return None,
                PathUse::Reading => PathKeep::Reading,
                PathUse::Writing => PathKeep::Writing,
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
