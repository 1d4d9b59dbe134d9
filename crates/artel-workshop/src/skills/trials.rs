//! A skill's own tests: requests that must or must not choose it, and runs with an
//! expected outcome.

use std::path::PathBuf;

use artel_skills::choose::{SkillChoice, best};
use artel_skills::{FileComplaint, Skill, cases};
use artel_types::Failure;
use serde::Serialize;

use super::rehearse::rehearse;
use crate::trouble::{WorkshopFailures, path_text};
use crate::workshop::Workshop;

/// A test request, and whether it chose the right skill.
#[derive(Debug, Clone, Serialize)]
pub struct TriggerTestOutcome {
    /// A person's words.
    pub request: String,
    /// Whether the request must choose the skill.
    pub must: bool,
    /// The choice: a skill's name, `unsure: …` with the skills that a model would be offered,
    /// or `none`.
    pub chosen: String,
    /// Whether the choice is right.
    pub ok: bool,
}

/// A rehearsed run and its differences from the expected outcome.
#[derive(Debug, Clone, Serialize)]
pub struct RehearsedRunOutcome {
    pub name: String,
    /// The file of the case, relative to the skill's folder.
    pub file: String,
    /// Whether there are no differences.
    pub ok: bool,
    /// The state in which the run ended.
    pub state: Option<String>,
    /// Number of turns that the run took.
    pub turns: u64,
    /// The differences, a sentence each.
    pub differences: Vec<String>,
}

/// All test results of one skill.
#[derive(Debug, Clone, Serialize)]
pub struct SkillTestOutcome {
    pub skill: String,
    #[serde(serialize_with = "path_text")]
    pub folder: PathBuf,
    /// Whether every test passed.
    pub ok: bool,
    /// The reason for not testing the skill, if it was skipped.
    pub skipped: Option<String>,
    /// Errors in the test files.
    pub errors: Vec<FileComplaint>,
    /// Results of the test requests.
    pub triggers: Vec<TriggerTestOutcome>,
    /// Results of the rehearsed runs.
    pub runs: Vec<RehearsedRunOutcome>,
}

impl Workshop {
    /// Runs the tests of one skill, or of all trusted skills that have tests.
    pub async fn test_skills(
        &self,
        name: Option<&str>,
    ) -> Result<Vec<SkillTestOutcome>, WorkshopFailures> {
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
                tried.push(SkillTestOutcome {
                    skipped: Some(why),
                    ..SkillTestOutcome::of(skill)
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
    ) -> Result<SkillTestOutcome, Failure> {
        let mut tried = SkillTestOutcome::of(skill);
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
                tried.runs.push(RehearsedRunOutcome {
                    file: file.clone(),
                    ..done
                });
            }
        }
        tried.ok = tried.triggers.iter().all(|it| it.ok) && tried.runs.iter().all(|it| it.ok);
        Ok(tried)
    }
}

impl SkillTestOutcome {
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

/// Whether a test request must choose the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TriggerExpectation {
    Choose,
    Leave,
}

impl From<bool> for TriggerExpectation {
    fn from(must: bool) -> Self {
        if must { Self::Choose } else { Self::Leave }
    }
}

/// Tests a request. Words alone may leave the choice open; a model is then offered several
/// skills, and this skill must be the first of them. A request for something else must not
/// choose this skill for certain.
fn trigger(
    skill: &Skill,
    all: &[Skill],
    request: &str,
    must: TriggerExpectation,
) -> TriggerTestOutcome {
    let choice = best(request, all);
    let ok = match (&choice, must) {
        (SkillChoice::One(name), TriggerExpectation::Choose) => *name == skill.name,
        (SkillChoice::Unsure(names), TriggerExpectation::Choose) => {
            names.first() == Some(&skill.name)
        }
        (SkillChoice::None, TriggerExpectation::Choose) => false,
        (SkillChoice::One(name), TriggerExpectation::Leave) => *name != skill.name,
        (SkillChoice::Unsure(_) | SkillChoice::None, TriggerExpectation::Leave) => true,
    };
    TriggerTestOutcome {
        request: request.to_owned(),
        must: must == TriggerExpectation::Choose,
        chosen: match choice {
            SkillChoice::One(name) => name,
            SkillChoice::Unsure(names) => format!("unsure: {}", names.join(", ")),
            SkillChoice::None => "none".to_owned(),
        },
        ok,
    }
}
