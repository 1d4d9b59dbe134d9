//! Keeps a skill to what a person trusted during its whole run, not only at the start.

use std::sync::Arc;

use artel_skills::{Skill, SkillSizeEnforcement};

use super::house::RunEnvironment;

/// Returns why nothing of a skill may be started now, or `None` if the skill is unchanged
/// since the run started or is trusted in its present form.
pub(crate) fn why_not(house: &RunEnvironment, skill: &Skill) -> Option<String> {
    let (name, folder) = (&skill.name, skill.folder.display());
    let Ok(now) = artel_skills::load(&skill.folder, skill.scope, SkillSizeEnforcement::Warn) else {
        return Some(format!(
            "the skill `{name}` in `{folder}` cannot be read any more"
        ));
    };
    let is_trusted = || {
        let trusts = house.workshop.trusts(house.journal.reader(), &now);
        trusts.unwrap_or_default()
    };
    if now.hash == skill.hash || is_trusted() {
        return None;
    }
    Some(format!(
        "the skill `{name}` in `{folder}` has changed since it was trusted: a person has to \
         trust it again with `artel skill trust {name}`"
    ))
}

/// Returns the check that a run makes before it starts a script of its skill.
pub(crate) fn ask(house: &Arc<RunEnvironment>, skill: &Arc<Skill>) -> Arc<artel_tools::SkillHeld> {
    let (house, skill) = (Arc::clone(house), Arc::clone(skill));
    Arc::new(move || why_not(&house, &skill))
}
