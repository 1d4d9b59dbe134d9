//! A skill's own tests: what must choose it, and runs that must come out as they are written.

use std::path::PathBuf;

use artel_skills::choose::{Choice, best};
use artel_skills::{Complaint, Skill, cases};
use artel_types::Failure;
use serde::Serialize;

use super::rehearse::rehearse;
use crate::trouble::{Problems, path_text};
use crate::workshop::Workshop;

/// A request, and whether the choice of skills is as it must be.
#[derive(Debug, Clone, Serialize)]
pub struct TriggerTried {
    /// What somebody asks.
    pub request: String,
    /// Whether the skill must be chosen.
    pub must: bool,
    /// What was chosen: its name, `unsure: …` with what a model would be offered, or `none`.
    pub chosen: String,
    /// Whether that is right.
    pub ok: bool,
}

/// A rehearsed run, and what differs from what was expected.
#[derive(Debug, Clone, Serialize)]
pub struct RunTried {
    /// What it is called.
    pub name: String,
    /// The file it stands in, relative to the skill's folder.
    pub file: String,
    /// Whether nothing differs.
    pub ok: bool,
    /// How it ended.
    pub state: Option<String>,
    /// How many turns it took.
    pub turns: u64,
    /// What differs, a sentence each.
    pub differences: Vec<String>,
}

/// All tests of one skill.
#[derive(Debug, Clone, Serialize)]
pub struct SkillTried {
    /// Its name.
    pub skill: String,
    /// Where it is.
    #[serde(serialize_with = "path_text")]
    pub folder: PathBuf,
    /// Whether everything is as it must be.
    pub ok: bool,
    /// Why it was not tried, if it was not.
    pub skipped: Option<String>,
    /// What is wrong with the files of the tests.
    pub errors: Vec<Complaint>,
    /// Requests.
    pub triggers: Vec<TriggerTried>,
    /// Runs.
    pub runs: Vec<RunTried>,
}

impl Workshop {
    /// Runs the tests of a skill, or of all that have any and are trusted.
    pub async fn test_skills(&self, name: Option<&str>) -> Result<Vec<SkillTried>, Problems> {
        let found = self.find_skills(&self.run_folder(None)?);
        let reader = self.reader()?;
        let mut trusted = Vec::new();
        for skill in &found.skills {
            if self.trusts(&reader, skill)? {
                trusted.push(skill);
            }
        }
        let is_trusted = |skill: &Skill| trusted.iter().any(|it| it.folder == skill.folder);
        if let Some(name) = name {
            let skill = found.get(name)?;
            if !is_trusted(skill) {
                return Err(self
                    .untrusted_skill(skill, "its tests run what it brings")
                    .into());
            }
            return Ok(vec![self.tried(skill, &found.skills, &trusted).await?]);
        }
        let mut tried = Vec::new();
        for skill in &found.skills {
            let has_any = cases::read(&skill.folder).map_or(true, |cases| !cases.is_empty());
            if !has_any {
                continue;
            }
            if is_trusted(skill) {
                tried.push(self.tried(skill, &found.skills, &trusted).await?);
            } else {
                let why = format!("not trusted; `artel skill trust {}`", skill.name);
                tried.push(SkillTried {
                    skipped: Some(why),
                    ..SkillTried::of(skill)
                });
            }
        }
        Ok(tried)
    }

    async fn tried(
        &self,
        skill: &Skill,
        all: &[Skill],
        trusted: &[&Skill],
    ) -> Result<SkillTried, Failure> {
        let mut tried = SkillTried::of(skill);
        let files = match cases::read(&skill.folder) {
            Ok(files) => files,
            Err(complaints) => {
                tried.errors = complaints;
                tried.ok = false;
                return Ok(tried);
            }
        };
        for (file, cases) in files {
            let must = cases.triggers.must.iter().map(|request| (request, true));
            let must_not = cases.triggers.must_not.iter().map(|it| (it, false));
            for (request, must) in must.chain(must_not) {
                tried
                    .triggers
                    .push(trigger(skill, all, request, must.into()));
            }
            for run in &cases.runs {
                let done = rehearse(&self.caller, skill, trusted, run).await;
                tried.runs.push(RunTried {
                    file: file.clone(),
                    ..done
                });
            }
        }
        tried.ok = tried.triggers.iter().all(|it| it.ok) && tried.runs.iter().all(|it| it.ok);
        Ok(tried)
    }
}

impl SkillTried {
    fn of(skill: &Skill) -> Self {
        Self {
            skill: skill.name.clone(),
            folder: skill.folder.clone(),
            ok: true,
            skipped: None,
            errors: Vec::new(),
            triggers: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// Whether a request is for a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Must {
    Choose,
    Leave,
}

impl From<bool> for Must {
    fn from(must: bool) -> Self {
        if must { Self::Choose } else { Self::Leave }
    }
}

/// Tries a request. Words alone may leave the choice open; then a model is offered some, and the
/// skill must be the first of them. A request for something else must not choose it for sure.
fn trigger(skill: &Skill, all: &[Skill], request: &str, must: Must) -> TriggerTried {
    let choice = best(request, all);
    let ok = match (&choice, must) {
        (Choice::One(name), Must::Choose) => *name == skill.name,
        (Choice::Unsure(names), Must::Choose) => names.first() == Some(&skill.name),
        (Choice::None, Must::Choose) => false,
        (Choice::One(name), Must::Leave) => *name != skill.name,
        (Choice::Unsure(_) | Choice::None, Must::Leave) => true,
    };
    TriggerTried {
        request: request.to_owned(),
        must: must == Must::Choose,
        chosen: match choice {
            Choice::One(name) => name,
            Choice::Unsure(names) => format!("unsure: {}", names.join(", ")),
            Choice::None => "none".to_owned(),
        },
        ok,
    }
}
