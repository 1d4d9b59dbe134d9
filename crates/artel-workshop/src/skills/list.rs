//! The skills that can be used from the caller's folder.

use std::path::PathBuf;

use artel_skills::{
    BrokenSkillFolder, ShadowedSkill, Skill, SkillOrigin, SkillSizeEnforcement, discover,
};
use artel_types::FailureCode;
use serde::Serialize;

use crate::caller::CommandContext;
use crate::runs::{SkillTrust, SkillsFound};
use crate::trouble::{WorkshopFailures, path_text};

/// One row of a list of skills.
#[derive(Debug, Clone, Serialize)]
pub struct SkillRow {
    pub name: String,
    /// The skill's origin.
    pub scope: SkillOrigin,
    /// Whether the skill in its present form may be used without a question.
    pub trusted: bool,
    /// Number of lines in its `SKILL.md`.
    pub lines: usize,
    /// The skill's purpose, and when to use it.
    pub description: String,
    #[serde(serialize_with = "path_text")]
    pub folder: PathBuf,
    /// Remarks for its author, a sentence each.
    pub remarks: Vec<String>,
}

/// All skills that were found.
#[derive(Debug, Clone, Serialize)]
pub struct SkillList {
    /// Usable skills.
    pub skills: Vec<SkillRow>,
    /// Skills hidden by another skill of the same name.
    pub shadowed: Vec<ShadowedSkill>,
    /// Skills that could not be loaded, and why.
    pub broken: Vec<BrokenSkillFolder>,
}

/// The skills found from a folder, with their recorded trust if there is a workshop.
pub(super) struct SkillsWithTrust {
    pub(super) found: SkillsFound,
    trust: SkillTrust,
}

impl SkillsWithTrust {
    /// Returns whether a skill may be used without a question.
    pub(super) fn trusts(&self, skill: &Skill) -> bool {
        self.trust.trusts(skill)
    }
}

impl CommandContext {
    /// Lists the skills. Without a workshop, only those of the project and of the person are
    /// found.
    pub fn skills(&self) -> Result<SkillList, WorkshopFailures> {
        let here = self.skills_here()?;
        let row = |skill: &Skill| SkillRow {
            name: skill.name.clone(),
            scope: skill.scope,
            trusted: here.trusts(skill),
            lines: skill.lines,
            description: skill.description.clone(),
            folder: skill.folder.clone(),
            remarks: skill.remarks.iter().map(ToString::to_string).collect(),
        };
        Ok(SkillList {
            skills: here.found.skills.iter().map(row).collect(),
            shadowed: here.found.shadowed,
            broken: here.found.broken,
        })
    }

    /// Returns the skills themselves, for the profile.
    pub(crate) fn skills_for_profile(&self) -> Result<SkillsFound, WorkshopFailures> {
        Ok(self.skills_here()?.found)
    }

    pub(super) fn skills_here(&self) -> Result<SkillsWithTrust, WorkshopFailures> {
        let folder = self.absolute(".".as_ref());
        let folder = folder.canonicalize().unwrap_or(folder);
        match self.workshop() {
            Ok(workshop) => Ok(SkillsWithTrust {
                found: workshop.find_skills(&folder),
                trust: workshop.skill_trust(&*workshop.reader()?)?,
            }),
            Err(problems) if problems.0.iter().all(|it| it.code == FailureCode::W001) => {
                let limit = match self.settings()?.runs.size_limit.value {
                    artel_config::SkillSizeChoice::Warn => SkillSizeEnforcement::Warn,
                    artel_config::SkillSizeChoice::Enforce => SkillSizeEnforcement::Enforce,
                };
                let found = discover(&self.skill_sources(&folder), limit);
                Ok(SkillsWithTrust {
                    found: found.into(),
                    trust: SkillTrust::default(),
                })
            }
            Err(problems) => Err(problems),
        }
    }
}
