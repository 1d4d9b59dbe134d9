//! The parts of a question about a command that walls cannot settle.

use std::path::Path;

use super::course::{PathDoubt, ShellWorkingDirectory};
use super::reading::{CommandLaunch, ShellAnalysis, Step};
use super::soften::PLAIN_WRITE;
use super::verdict;
use crate::programs::is_about_effects;
use crate::rules::PolicyRuleSet;
use crate::{PolicyAnswer, PolicyRuling};

/// A reason to ask the person that walls cannot settle, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandConcern {
    /// One of the person's own rules says to ask.
    PersonsRule,
    /// The command names a file that may hold keys. Its output goes to a model, beyond any
    /// wall.
    Sensitive,
    /// It is unknown which programs would start, so no rule can tell whether it applies to
    /// them.
    Unreadable,
}

/// Returns the gravest concern about a text, or `None` if walls can judge it.
pub fn concern(
    reading: &ShellAnalysis,
    rules: &PolicyRuleSet,
    workspace: Option<&Path>,
) -> Option<CommandConcern> {
    if verdict::asking_rule(reading, rules, workspace).is_some() {
        return Some(CommandConcern::PersonsRule);
    }
    if sensitive_read(reading, workspace).is_some() {
        return Some(CommandConcern::Sensitive);
    }
    (!is_readable(reading)).then_some(CommandConcern::Unreadable)
}

/// Returns the question to ask if a text names a file to read that may hold keys.
pub fn sensitive_read(reading: &ShellAnalysis, workspace: Option<&Path>) -> Option<PolicyRuling> {
    let PathDoubt { rule, reason } = sensitive_ground(reading, workspace)?;
    let reason = format!("{reason}, and what a command prints goes to the model");
    Some(PolicyRuling::new(PolicyAnswer::Ask, rule, reason))
}

fn sensitive_ground(reading: &ShellAnalysis, workspace: Option<&Path>) -> Option<PathDoubt> {
    let mut course = ShellWorkingDirectory::new(workspace);
    for step in reading.steps() {
        let ground = match step {
            Step::Open(one) if one.is_read() => course.read(&one.target.text),
            Step::Open(_) => None,
            Step::CommandLaunch(launch) => {
                let mut reads = launch.finding.reads.iter();
                reads.find_map(|path| course.read(path))
            }
        };
        if ground.is_some() {
            return ground;
        }
        verdict::follow(&mut course, step);
    }
    None
}

/// Returns whether every program the text starts is known by its words.
fn is_readable(reading: &ShellAnalysis) -> bool {
    let mut doubts = reading.doubts.iter();
    let mut launches = reading.launches.iter();
    reading.refusal.is_none()
        && doubts.all(|doubt| doubt.rule == PLAIN_WRITE)
        && launches.all(is_known)
}

fn is_known(launch: &CommandLaunch) -> bool {
    let mut doubts = launch.finding.doubts.iter();
    !verdict::is_open_ended(launch)
        && verdict::odd_words(launch).is_none()
        && doubts.all(|doubt| is_about_effects(doubt.rule))
}
