//! What of a question about a command walls cannot settle.

use std::path::Path;

use super::course::{Course, Ground};
use super::reading::{Launch, Reading};
use super::soften::PLAIN_WRITE;
use super::verdict;
use crate::programs::is_about_effects;
use crate::rules::RuleSet;
use crate::{Answer, Decision};

/// What of a question walls cannot settle, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// A rule of the person says to ask about it.
    PersonsRule,
    /// It reads a file by name that may hold keys. What it prints goes to a model, which is beyond
    /// any wall.
    Sensitive,
    /// Nobody knows which programs it would start, so no rule can tell whether it is about them.
    Unreadable,
}

/// Returns the gravest concern about a text; nothing where walls can judge it.
pub fn concern(reading: &Reading, rules: &RuleSet, workspace: Option<&Path>) -> Option<Concern> {
    if verdict::asking_rule(reading, rules, workspace).is_some() {
        return Some(Concern::PersonsRule);
    }
    if sensitive_read(reading, workspace).is_some() {
        return Some(Concern::Sensitive);
    }
    (!is_readable(reading)).then_some(Concern::Unreadable)
}

/// Returns the question about a file that a text reads by name and that may hold keys.
pub fn sensitive_read(reading: &Reading, workspace: Option<&Path>) -> Option<Decision> {
    let Ground { rule, reason } = sensitive_ground(reading, workspace)?;
    let reason = format!("{reason}, and what a command prints goes to the model");
    Some(Decision::new(Answer::Ask, rule, reason))
}

fn sensitive_ground(reading: &Reading, workspace: Option<&Path>) -> Option<Ground> {
    let mut course = Course::new(workspace);
    for launch in &reading.launches {
        let mut reads = launch.finding.reads.iter();
        if let Some(ground) = reads.find_map(|path| course.read(path)) {
            return Some(ground);
        }
        if verdict::is_change(launch) {
            let _outside = course.change(&launch.words);
        }
    }
    let course = Course::new(workspace);
    let mut redirections = reading.parts.iter().flat_map(|part| &part.redirections);
    redirections.find_map(|one| {
        let target = &one.target.text;
        (one.operator == "<").then(|| course.read(target)).flatten()
    })
}

/// Tells whether every program that it starts is known by its words.
fn is_readable(reading: &Reading) -> bool {
    let mut doubts = reading.doubts.iter();
    let mut launches = reading.launches.iter();
    reading.refusal.is_none()
        && doubts.all(|doubt| doubt.rule == PLAIN_WRITE)
        && launches.all(is_known)
}

fn is_known(launch: &Launch) -> bool {
    let mut doubts = launch.finding.doubts.iter();
    !verdict::is_open_ended(launch)
        && verdict::odd_words(launch).is_none()
        && doubts.all(|doubt| is_about_effects(doubt.rule))
}
