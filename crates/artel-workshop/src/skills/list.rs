//! The skills that can be used from where the caller stands.

use std::path::PathBuf;

use artel_skills::{Broken, Scope, Shadowed, SizeLimit, Skill, discover};
use artel_types::Code;
use serde::Serialize;

use crate::caller::Caller;
use crate::runs::{SkillTrust, SkillsFound};
use crate::trouble::{Problems, path_text};

/// One line of a list of skills.
#[derive(Debug, Clone, Serialize)]
pub struct SkillRow {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub scope: Scope,
    /// Whether it may be used as it is without a question.
    pub trusted: bool,
    /// How many lines its `SKILL.md` has.
    pub lines: usize,
    /// What it does and when to use it.
    pub description: String,
    /// Where it is.
    #[serde(serialize_with = "path_text")]
    pub folder: PathBuf,
    /// What its author should know, a sentence each.
    pub remarks: Vec<String>,
}

/// All that was found.
#[derive(Debug, Clone, Serialize)]
pub struct SkillList {
    /// Those that can be used.
    pub skills: Vec<SkillRow>,
    /// Those of a name that another one has, which counts.
    pub shadowed: Vec<Shadowed>,
    /// Those that could not be loaded, and why.
    pub broken: Vec<Broken>,
}

/// The skills seen from somewhere, with what is on record about them where there is a workshop.
pub(super) struct Here {
    pub(super) found: SkillsFound,
    trust: SkillTrust,
}

impl Here {
    /// Tells whether a skill may be used without a question.
    pub(super) fn trusts(&self, skill: &Skill) -> bool {
        self.trust.trusts(skill)
    }
}

impl Caller {
    /// Lists the skills. Without a workshop those of the project and of the person are found.
    pub fn skills(&self) -> Result<SkillList, Problems> {
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

    /// Returns the skills themselves, for whoever judges them.
    pub(crate) fn skills_for_profile(&self) -> Result<SkillsFound, Problems> {
        Ok(self.skills_here()?.found)
    }

    pub(super) fn skills_here(&self) -> Result<Here, Problems> {
        let folder = self.absolute(".".as_ref());
        let folder = folder.canonicalize().unwrap_or(folder);
        match self.workshop() {
            Ok(workshop) => Ok(Here {
                found: workshop.find_skills(&folder),
                trust: workshop.skill_trust(&*workshop.reader()?)?,
            }),
            Err(problems) if problems.0.iter().all(|it| it.code == Code::W001) => {
                let limit = match self.settings()?.runs.size_limit.value {
                    artel_config::SizeLimit::Warn => SizeLimit::Warn,
                    artel_config::SizeLimit::Enforce => SizeLimit::Enforce,
                };
                let found = discover(&self.skill_sources(&folder), limit);
                Ok(Here {
                    found: found.into(),
                    trust: SkillTrust::default(),
                })
            }
            Err(problems) => Err(problems),
        }
    }
}
